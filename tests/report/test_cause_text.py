"""What changed since the baseline, in words."""

import pytest

from pytest_ireval.report.input_changes import describe_inputs
from pytest_ireval.results.outcome import Cause, JudgmentEdit, Restated

EDITS = (JudgmentEdit("q017", "d4", 2, 0), JudgmentEdit("q017", "d5", None, 3), JudgmentEdit("q018", "d1", 1.5, None))


@pytest.mark.parametrize(
    ("cause", "sentence"),
    [
        (
            Cause(compared=60),
            "nothing changed: rankings, queries, judgments, source and metrics are those of the baseline",
        ),
        (
            Cause(judgments=40, edits=(*EDITS, *EDITS), edited=1200, restated={"AP": Restated(0.902, 0.895)}),
            "judgments changed: 1,200 in 40 queries (q017 d4: 2 -> 0, q017 d5: not judged -> 3, q018 d1: 1.5 -> not "
            "judged, … and 1,197 more); the baseline itself is now 0.8950 (was 0.9020); "
            "rankings, queries, source and metrics are those of the baseline",
        ),
        (
            Cause(queries=True, added=("a", "b", "c", "d", "e", "f"), removed=("z",)),
            "6 queries added (a, b, c, d, e, … and 1 more), 1 query removed (z); "
            "rankings, judgments, source and metrics are those of the baseline",
        ),
        (
            Cause(queries=True, source=True, rankings=1, metrics=("nDCG@10", "TopGrade@10")),
            "rankings changed; the content of the queries file changed; "
            "the source is not that of the baseline; nDCG@10 and TopGrade@10 are defined differently; "
            "judgments are those of the baseline",
        ),
        (
            Cause(policies=True, metrics=("AP",), restated={"AP": Restated(None, 0.5), "P@5": Restated(1, 0)}),
            "queries are evaluated under different policies; AP is defined differently; "
            "the baseline itself is now 0.5000 (was -); rankings, queries, judgments and source are those of the "
            "baseline",
        ),
    ],
)
def test_cause(cause, sentence):
    assert describe_inputs(cause, "AP") == sentence


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        ("run: old.txt", "run: new.txt", "rankings from new.txt (baseline: old.txt)"),
        ("python: shop:search", "python: shop:search, mode: all", "the source has mode: all (baseline: without)"),
        ("python: shop:search, mode: any", "python: shop:search", "the source has fewer options (baseline: mode: any)"),
    ],
)
def test_a_source_that_changed_is_named(before, now, words):
    assert words in describe_inputs(Cause(source=True, sources=(before, now)))


def test_the_baseline_is_restated_for_the_metric_in_question_only():
    cause = Cause(judgments=1, restated={"AP": Restated(0.9, 0.8)})

    assert "baseline itself" not in describe_inputs(cause, "P@5")
    assert "baseline itself" not in describe_inputs(cause)
