"""What unjudged documents leave open: worked cases, and held against judging them in every way there is."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sides import TwoSides

from pytest_ireval import per_query_metric

WORKED = {
    "judgments": {"q": {"r1": 1, "r2": 1, "n1": 0, "n2": 0}},
    "before": {"q": ["r1", "n1", "u1", "r2", "n2", "u2"]},
    "now": {"q": ["u3", "r1", "u1", "u4", "r2", "u2"]},
}
"""u1 stands at rank 3 on both sides, u2 below the cutoff of 5, u3 and u4 are new."""


def work_out(name, **options):
    sides = TwoSides(metrics=[name], **{**WORKED, **options})
    return sides, sides.left_open(name)


def test_the_bounds_of_dcg_know_that_a_label_is_the_same_on_both_sides():
    sides, found = work_out("DCG@5")

    assert sides.difference("DCG@5") == pytest.approx([-0.4129], abs=5e-5)
    assert (found.worst, found.best) == (pytest.approx([-0.413], abs=5e-4), pytest.approx([1.018], abs=5e-4))
    assert found.exact
    assert [(each.document, round(each.effect, 3)) for each in found.documents] == [("u3", 1.0), ("u4", 0.431)]
    first = found.documents[0]
    assert (first.query, first.text, first.metric, first.now, first.baseline) == ("q", "text of q", "DCG@5", 1, None)

    _, found = work_out("DCG@5", policies={"scale": 3.0})
    assert found.documents[0].effect == pytest.approx(3.0)  # the label is the top of the scale


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Judged@5", {}),
        ("IDCG@5", {}),
        ("AP", {"judgments": {"q": {**WORKED["judgments"]["q"], "u1": 0, "u2": 1, "u3": 0, "u4": 0}}}),
        ("AP", {"now": WORKED["before"]}),
        ("AP", {"judgments": {"q": {"r1": 0}}}),
    ],
    ids=["no label is better", "of the judgments alone", "all judged", "the same lists", "no grade above 0"],
)
def test_nothing_is_open_where_no_label_moves_the_difference(name, options):
    _, found = work_out(name, **options)

    assert found is None


def test_three_differences_of_ndcg():
    sides, found = work_out("nDCG@5")

    assert sides.difference("nDCG@5") == pytest.approx([-0.253], abs=5e-4)
    assert found.condensed_current - found.condensed_baseline == pytest.approx([0.080], abs=5e-4)
    assert (found.worst, found.best) == (pytest.approx([-0.253], abs=5e-4), pytest.approx([0.397], abs=5e-4))


def test_a_document_at_the_same_rank_moves_ndcg_by_its_ideal_alone():
    _, found = work_out("nDCG@5")

    assert [each.document for each in found.documents] == ["u3", "u4", "u1"]  # u2 stands below the cutoff
    assert found.documents[-1].effect == pytest.approx(-0.41289 / 2.13093 + 0.41289 / 1.63093, abs=1e-4)


def test_of_a_metric_where_lower_is_better_the_worst_is_the_highest():
    @per_query_metric(name="Wasted", direction="lower", no_relevant=None)
    def wasted(ranking, *, cutoff: int) -> float:
        """Share of the first documents that are not relevant."""
        return float(np.mean([grade <= 0 for grade in ranking.grades[:cutoff]]))

    sides = TwoSides(metrics=[wasted @ 5], **WORKED)
    found = sides.left_open("Wasted@5")

    assert sides.difference("Wasted@5") == pytest.approx([0.0])
    assert (found.worst, found.best) == (pytest.approx([0.0]), pytest.approx([-0.4]))
    assert {each.document: round(each.effect, 3) for each in found.documents} == {"u3": -0.2, "u4": -0.2}


def test_of_several_askings_the_means_count_and_bounds_are_approximate():
    sides, found = work_out("P@5", now=[WORKED["now"], WORKED["before"]])

    assert sides.difference("P@5") == pytest.approx([0.0])
    assert (found.worst, found.best, found.exact) == (pytest.approx([0.0]), pytest.approx([0.2]), False)
    assert [(each.document, each.effect) for each in found.documents] == [
        ("u3", pytest.approx(0.1)),
        ("u4", pytest.approx(0.1)),
    ]


def test_a_query_that_does_not_count_has_no_bounds():
    judgments = {**WORKED["judgments"], "none": {"n": 0}}
    lists = {side: {**WORKED[side], "none": [f"u-{side}", "n"]} for side in ("now", "before")}
    sides = TwoSides(judgments, **lists, metrics=["P@5"], policies={"no_relevant": "ignore"})
    found = sides.left_open("P@5")

    assert np.isnan([found.worst[1], found.best[1], found.condensed_current[1], found.condensed_baseline[1]]).all()
    assert {each.query for each in found.documents} == {"q"}


def test_a_query_without_a_ranking_scores_the_worst_there_is_under_all_labels():
    judgments = {**WORKED["judgments"], "lost": {"r": 1}}
    before = {**WORKED["before"], "lost": ["r", "u"]}
    sides = TwoSides(judgments, WORKED["now"], before, ["P@2"], policies={"missing_queries": "zero"})
    found = sides.left_open("P@2")

    assert (found.worst[1], found.best[1]) == (-1.0, -0.5)


DOCUMENTS = [f"d{number}" for number in range(8)]
lists = st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=8)


def values_under(labellings, grades, now, before, metrics, policies):
    """``now - before`` for each of many labellings, by a path that knows nothing of unjudged documents."""
    queries = {f"q{number}": {**grades, **labels} for number, labels in enumerate(labellings)}
    sides = (dict.fromkeys(queries, side) for side in (now, before))
    found = TwoSides(queries, *sides, metrics, policies=policies)
    return {name: found.difference(name) for name in found.metrics}


@pytest.mark.ci
@given(now=lists, before=lists, grades=st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 1), max_size=4))
@pytest.mark.parametrize(
    ("names", "policies"),
    [
        (["AP", "RR", "ERR@5", "Rprec", "Success@3", "Bpref"], {}),
        (["P@3", "R@3", "F@3", "DCG@3", "nDCG@3", "RBP@3"], {}),
        (["nDCG@3", "AP"], {"unjudged": "removed"}),
    ],
)
def test_enumerated_bounds_are_the_lowest_and_highest_difference_of_all_labels(names, policies, now, before, grades):
    grades, policies = {**grades, "elsewhere": 1}, {"scale": 1.0, **policies}
    looked = TwoSides({"q": grades}, {"q": now}, {"q": before}, names, policies=policies)
    cut = 3 if "P@3" in names else 8
    free = sorted({document for side in (now, before) for document in side[:cut]} - set(grades))
    labellings = [dict(zip(free, labels, strict=True)) for labels in product((0, 1), repeat=len(free))]
    told = values_under(labellings, grades, now, before, names, policies)
    for name, values in told.items():
        found, as_it_is = looked.left_open(name), looked.difference(name)
        low, high = min(*values, *as_it_is), max(*values, *as_it_is)
        if found is None:
            assert np.ptp(values) == pytest.approx(0), name
            continue
        assert found.exact, name
        assert (found.worst, found.best) == (pytest.approx([low], abs=1e-12), pytest.approx([high], abs=1e-12)), name
