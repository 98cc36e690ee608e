"""Why figures differ from the baseline: each thing that can change is told apart from the others."""

from dataclasses import replace

import pytest
from made_baselines import GRADES, LISTS, baseline_of

from pytest_ireval.baseline.changes import find_cause, find_cause_between, find_changed_queries
from pytest_ireval.baseline.fingerprints import fingerprint_judgments
from pytest_ireval.baseline.reading import read_baseline
from pytest_ireval.baseline.record import NO_JUDGMENTS, Search
from pytest_ireval.baseline.writing import write_baseline
from pytest_ireval.data.from_objects import convert_judgments, convert_queries, convert_rankings
from pytest_ireval.results.outcome import Cause, JudgmentEdit

QUERIES = convert_queries({"q1": "mug", "q2": "pot", "q3": "cup"})
METRICS = {"nDCG@10": (1, "pytest-ireval")}


@pytest.fixture
def baseline(tmp_path):
    write_baseline(tmp_path, baseline_of())
    return read_baseline(tmp_path, "shop")


def get_cause(baseline, lists=None, grades=None, queries=QUERIES, metrics=None, judged=True, prints=None, source=""):
    return find_cause(
        baseline,
        rankings=[convert_rankings(lists or LISTS)],
        judgments=fingerprint_judgments(convert_judgments(grades or GRADES)) if judged else None,
        queries=queries,
        metrics=METRICS if metrics is None else metrics,
        fingerprints=baseline.fingerprints._replace(**(prints or {})),
        search=Search(source),
    )


def test_a_baseline_says_what_its_source_was_called(tmp_path):
    write_baseline(tmp_path, baseline_of(search=Search("run: old.txt")))
    kept = read_baseline(tmp_path, "shop")

    assert get_cause(kept, prints={"source": "x"}, source="run: new.txt").sources == ("run: old.txt", "run: new.txt")
    assert get_cause(kept, source="run: old.txt").nothing
    write_baseline(tmp_path / "old", baseline_of())
    assert get_cause(read_baseline(tmp_path / "old", "shop"), source="run: new.txt").sources == ()


def test_nothing_changed(baseline):
    assert get_cause(baseline) == Cause(compared=3)
    assert get_cause(baseline).nothing


def test_rankings_that_changed_are_counted(baseline):
    assert get_cause(baseline, {"q1": ["a", "c", "b"], "q2": ["b", "a"], "q3": ["x"]}) == Cause(rankings=2, compared=3)


@pytest.mark.parametrize(
    ("now", "changed"),
    [
        ({"q1": ["a", "b", "c"]}, ()),
        ({"q1": ["a", "b"]}, ("q1",)),
        ({"q1": ["a", "b", "c", "d"]}, ("q1",)),
        ({"q1": ["a", "b", "C"]}, ("q1",)),
        ({"q1": []}, ("q1",)),
        ({"q9": ["a"]}, ()),
        ({"q3": [], "q2": ["b", "a"]}, ()),
    ],
)
def test_a_ranking_is_the_same_only_document_by_document(now, changed):
    assert find_changed_queries([convert_rankings(LISTS)], [convert_rankings(now)], 10) == changed


def test_only_the_first_documents_count():
    assert find_changed_queries([convert_rankings(LISTS)], [convert_rankings({"q1": ["a", "b", "x"]})], 2) == ()
    assert find_changed_queries([convert_rankings(LISTS)], [convert_rankings({"q1": ["a", "x"]})], 2) == ("q1",)


def test_answers_that_were_given_before_are_no_change():
    before = [convert_rankings({"q": ["a", "b"], "r": ["a"]}), convert_rankings({"q": ["b", "a"], "r": ["a"]})]
    now = [convert_rankings({"q": ["b", "a"], "r": ["a"]}), convert_rankings({"q": ["b", "a"], "r": ["d"]})]

    assert find_changed_queries(before, now, 10) == ("r",)


def test_edited_judgments_are_named(baseline):
    found = get_cause(baseline, grades={"q1": {"a": 2, "b": 0, "z": 1}, "q2": {"b": 1}})

    assert found == Cause(
        compared=3,
        judgments=2,
        edited=4,
        edits=(
            JudgmentEdit("q1", "a", 3, 2),
            JudgmentEdit("q1", "z", None, 1),
            JudgmentEdit("q2", "a", 1, None),
            JudgmentEdit("q2", "b", None, 1),
        ),
    )


def test_a_hundred_edits_are_named_and_all_are_counted(baseline):
    found = get_cause(baseline, grades={**GRADES, "q1": {f"d{i}": 1 for i in range(200)}})

    assert (len(found.edits), found.edited, found.judgments) == (100, 202, 1)


def test_where_judgments_are_not_kept_the_queries_are_counted_all_the_same(baseline):
    found = get_cause(
        replace(baseline, judgments=baseline.judgments._replace(grades=None)), grades={**GRADES, "q2": {"a": 0}}
    )

    assert found == Cause(compared=3, judgments=1, edited=None)


def test_judgments_that_are_gone_altogether(baseline):
    found = get_cause(baseline, judged=False)

    assert (found.judgments, found.edited, len(found.edits)) == (2, 3, 3)


def test_queries_that_came_and_went_are_named_and_their_judgments_are_no_edits(baseline):
    queries = convert_queries({"q1": "mug", "q3": "cup", "q4": "jug"})
    found = get_cause(
        baseline, {"q1": ["a", "b", "c"], "q3": [], "q4": ["z"]}, {"q1": GRADES["q1"], "q4": {"z": 3}}, queries
    )

    assert found == Cause(compared=2, added=("q4",), removed=("q2",))


def test_without_a_queries_file_what_is_judged_counts(baseline):
    found = get_cause(baseline, grades={"q1": GRADES["q1"], "q3": {"a": 1}}, queries=None)

    assert (found.added, found.removed) == (("q3",), ("q2",))


def test_without_judgments_what_is_ranked_counts():
    baseline = baseline_of(judgments=NO_JUDGMENTS, values={})
    found = get_cause(baseline, {"q1": ["a", "b", "c"], "q5": ["a"]}, queries=None, judged=False)

    assert (found.added, found.removed) == (("q5",), ("q2", "q3"))


@pytest.mark.parametrize("part", ["queries", "source", "policies"])
def test_what_else_is_described_otherwise(baseline, part):
    assert get_cause(baseline, prints={part: "another"}) == Cause(compared=3, **{part: True})


def test_metrics_that_are_defined_otherwise(baseline):
    metrics = {"nDCG@10": (2, "pytest-ireval"), "AP": (1, "pytest-ireval")}

    assert get_cause(baseline, metrics=metrics) == Cause(compared=3, metrics=("nDCG@10",))
    assert get_cause(baseline, metrics={"nDCG@10": (1, "acme")}).metrics == ("nDCG@10",)


def test_two_baselines_are_compared_like_a_baseline_and_now():
    after = baseline_of({**LISTS, "q1": ["b"]}, {**GRADES, "q2": {"a": 0}})

    assert find_cause_between(baseline_of(), after) == Cause(
        rankings=1, compared=3, judgments=1, edited=1, edits=(JudgmentEdit("q2", "a", 1, 0),)
    )


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ({"A": 3}, {"A": 4}, ""),
        ({}, {"A": 4}, ""),
        ({"A": 3}, {}, ""),
        ({"A": 3}, {"B": 1}, "A (3 judgments) to B (1 judgment)"),
        ({"A": 3}, {"A": 3, "bob": 2}, "bob (2 judgments) added"),
        ({"A": 3, "bob": 2}, {"A": 3}, "bob (2 judgments) gone"),
    ],
)
def test_judges_that_came_and_went_are_named(tmp_path, before, now, said):
    def judged_by(judges):
        return replace(baseline_of(), judgments=baseline_of().judgments._replace(judges=judges))

    write_baseline(tmp_path, judged_by(before))
    stored = read_baseline(tmp_path, "shop")

    assert stored.judgments.judges == before
    assert find_cause_between(stored, judged_by(now)).judges == said
