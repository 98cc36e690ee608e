"""User oriented ratios: from a table that says what the user knew, and against definitions."""

from itertools import permutations, product

import pytest
from graded_rankings import value
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval import MetricError, evaluate

TABLE = "query\tdocument\tgrade\tknown\nq\ta\t1\tyes\nq\tb\t2\tno\nq\tc\t1\tyes\nq\td\t0\tyes\nr\ta\t1\t\n"


def of_table(tmp_path, metrics, text=TABLE):
    (tmp_path / "judgments.tsv").write_text(text)
    found = evaluate(tmp_path / "judgments.tsv", {"q": ["d", "a", "b"], "r": ["a"]}, metrics)
    return [list(metric.values.values()) for metric in found.metrics]


def test_a_column_of_the_judgments_says_what_the_user_knew(tmp_path):
    metrics = ["CoverageRatio", "CoverageRatio@1", "NoveltyRatio", "NoveltyRatio(rel=2)", "NoveltyRatio@2"]

    assert of_table(tmp_path, metrics) == [[1 / 2, 0], [0, 0], [1 / 2, 1], [1, 0], [0, 1]]


def test_a_cell_that_is_neither_yes_nor_no_is_refused_with_its_line(tmp_path):
    with pytest.raises(MetricError, match=r"judgments\.tsv:3: known is 'maybe'; allowed are yes and no"):
        of_table(tmp_path, ["NoveltyRatio"], TABLE.replace("2\tno", "2\tmaybe"))


def test_a_column_that_is_missing_is_named():
    with pytest.raises(MetricError, match=r"no column 'seen' \(other columns: none\); add it to a table of judgments"):
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, "CoverageRatio(column='seen')")


@pytest.mark.parametrize(
    ("metric", "retrieved", "missed", "expected"),
    [
        ("RelativeRecall(wanted=5)@2", [1, 0, 1], [], 1 / 2),
        ("RelativeRecall(wanted=2)", [0, 0], [0], 0),
        ("RecallEffort(wanted=9)", [1, 0, 1], [], 2 / 3),
        ("RecallEffort(wanted=2)", [1, 0], [1], 0),
        ("ESL@5", [0, 0], [1], 5),
        ("ESL@2", [0, 0, 0, 1], [], 2),
        ("ESL@5", [0, 0], [0], 0),
    ],
)
def test_at_the_ends(metric, retrieved, missed, expected):
    assert value(metric, retrieved, missed) == pytest.approx(expected)


@given(
    groups=st.lists(st.lists(st.sampled_from([0, 1, 2, None]), min_size=1, max_size=3), min_size=1, max_size=3),
    wanted=st.integers(1, 3),
)
def test_search_length_is_the_mean_over_all_orders_of_equal_scores(groups, wanted):
    ids = [[(f"d{i}{j}", grade) for j, grade in enumerate(group)] for i, group in enumerate(groups)]
    grades = {name: grade for group in ids for name, grade in group if grade is not None} | {"m": 0}
    relevant = sum(grade >= 1 for grade in grades.values())
    lengths = []
    for order in product(*(permutations(group) for group in ids)):
        good = [(grade or 0) >= 1 for group in order for _, grade in group]
        last = next((i for i in range(len(good)) if sum(good[: i + 1]) == min(wanted, relevant)), 0)
        lengths.append(good[: last + 1].count(False) if relevant else 0)
    scores = {"q": {name: -float(i) for i, group in enumerate(ids) for name, _ in group}}

    found = evaluate({"q": grades}, scores, f"ESL(wanted={wanted})@50").metrics[0].values["q"]

    assert found == pytest.approx(sum(lengths) / len(lengths))
