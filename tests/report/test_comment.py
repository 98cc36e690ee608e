"""``comment.md``: a pull request is told at most 25 lines, and nothing where nothing happened."""

from dataclasses import replace

import pytest
from runs import FAILED, GREEN, NDCG, PASSED, RUN, SHOP, UNFINISHED, WARNED, make_suite_of_red_rules

from pytest_ireval.report.comment import QUIET, format_comment
from pytest_ireval.results.outcome import Cause

STEADY = replace(NDCG, verdict="pass")


def with_suite(**changes):
    return replace(GREEN, suites=(replace(GREEN.suites[0], **changes),))


def test_a_run_in_which_nothing_happened_is_one_quiet_line():
    _, second, verdict = format_comment(with_suite(metrics=(STEADY,))).splitlines()
    assert second == QUIET
    assert verdict.startswith("**Safe to land**")


@pytest.mark.parametrize(
    ("run", "tells"),
    [
        (with_suite(metrics=(replace(STEADY, low=0.01, high=0.05),)), "90% interval +0.010 .. +0.050"),
        (with_suite(outcomes=(PASSED, WARNED)), "q044-d0"),
        (replace(GREEN, warnings=("a metric was left out",)), "a metric was left out"),
        (UNFINISHED, "the run did not end"),
        (replace(RUN, suites=(replace(SHOP, outcomes=(), verdict="error", error="no such file"),)), "no such file"),
    ],
    ids=["moved", "warned", "note", "unfinished", "error"],
)
def test_whatever_a_reviewer_should_know_is_told(run, tells):
    text = format_comment(run)
    assert QUIET not in text
    assert tells in text


def test_a_slice_that_is_too_small_to_be_checked_is_no_news():
    small = replace(PASSED, verdict="inconclusive")
    assert QUIET in format_comment(with_suite(verdict="inconclusive", outcomes=(small,), metrics=(STEADY,)))


def test_a_known_failure_is_no_news_where_no_list_changed():
    known = replace(WARNED, broken=True)
    same = Cause(rankings=0, compared=59)

    def is_quiet(outcome, cause):
        return QUIET in format_comment(with_suite(outcomes=(PASSED, outcome), metrics=(STEADY,), cause=cause))

    assert is_quiet(known, same)
    assert not is_quiet(known, Cause(rankings=1, compared=59))
    assert not is_quiet(known, None)
    assert not is_quiet(replace(known, broken=False), same)  # it holds now
    assert not is_quiet(replace(known, kind="threshold"), same)  # other judgments may have moved it


def test_a_failed_check_has_its_query_its_document_and_what_to_type():
    text = format_comment(RUN)
    assert "**nDCG@10 fell 34.8% on segment=tail (tolerance 3%)**" in text
    assert "`q052` aeropress filter: 1.000 -> 0.000; q052-d0 (grade 3)" in text
    assert "`ireval why nDCG@10 --suite suites/product-search.ireval.yaml --query q052`" in text
    assert "Accept: `pytest --ireval suites/product-search.ireval.yaml --ireval-update" in text


def test_it_has_at_most_25_lines_and_counts_what_it_leaves_out():
    text = format_comment(replace(RUN, suites=tuple(make_suite_of_red_rules(12, name) for name in ("a", "b", "c"))))
    assert len(text.splitlines()) <= 23  # a recipe adds two for the link to the report
    assert "more findings" in text
    assert "5. " in text
    assert "6. " not in text


def test_texts_of_others_have_no_effect_in_it():
    odd = replace(FAILED, headline="<img src=x> @everyone [a](b)")
    text = format_comment(replace(RUN, suites=(replace(SHOP, outcomes=(odd,)),)))
    assert "<img" not in text
    assert "@everyone" not in text
    assert "[a](b)" not in text
