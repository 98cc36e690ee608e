"""Runs that are told of again are known; those that happen again are attempts; git's word gives way to the run's."""

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_runs import COMMIT, outcome, run, suite, tail

from pytest_ireval.history import spreads, trend
from pytest_ireval.history.kept import KeptFigures, KeptRun, KeptSuite, append, kept_run, merge, old_runs, prune
from pytest_ireval.history.trends import Wanted, rows

ACCEPTED = run("2026-03-02T10:00:00Z", suite(now=0.9), accepted=("shop",), reason="synonyms v2")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "history.sqlite"


def by_git(date, reason="", name="shop", value=0.9, commit=COMMIT):
    figures = () if value is None else (KeptFigures("nDCG@10", "all", value, queries=3),)
    kept = KeptSuite(name, f"baselines/{name}.json", "", accepted=True, reason=reason, figures=figures)
    return KeptRun(date, commit, "main", False, "", "", (kept,), "git")


def told(path):
    return [(row.date[:10], row.origin, row.suite, row.value, row.reason) for row in rows(path)]


def test_a_run_that_happens_again_is_another_attempt(file):
    append(file, kept_run(run("2026-03-01T10:00:00Z", suite(verdict="fail"))))
    append(file, kept_run(run("2026-03-01T10:05:00Z", suite(verdict="fail"))))
    append(file, kept_run(run("2026-03-01T10:10:00Z", suite(verdict="pass"))))

    assert [(row.attempt, row.suite_verdict) for row in rows(file)] == [(3, "pass"), (2, "fail"), (1, "fail")]


def test_the_same_run_at_the_same_moment_is_another_attempt_too(file):
    for _ in range(2):
        append(file, kept_run(run()))

    assert [row.attempt for row in rows(file)] == [2, 1]


@pytest.mark.parametrize(
    "other", [{"commit": "f" * 40}, {"dirty": True}, {"commit": ""}], ids=["another commit", "not committed", "no git"]
)
def test_what_is_not_of_the_same_commit_is_no_attempt(file, other):
    append(file, kept_run(run()))
    append(file, kept_run(run("2026-03-01T11:00:00Z", **other)))

    assert rows(file)[0].attempt in (1, None)
    assert rows(file)[1].attempt == 1


def test_suites_are_tried_each_for_itself(file):
    append(file, kept_run(run("2026-03-01T10:00:00Z", suite("shop"))))
    append(file, kept_run(run("2026-03-01T11:00:00Z", suite("shop"), suite("blog"))))

    assert {row.suite: row.attempt for row in rows(file) if "T11" in row.date} == {"shop": 2, "blog": 1}


def test_a_run_that_a_file_tells_of_again_is_known(file):
    append(file, kept_run(run()))

    assert merge(file, [kept_run(run(), "results")]) == (0, 1)
    assert [row.origin for row in rows(file)] == ["run"]


def test_nothing_to_merge_makes_no_file(file):
    assert merge(file, []) == (0, 0)
    assert not file.exists()


def test_an_acceptance_that_a_run_tells_of_is_not_told_by_git_again(file):
    append(file, kept_run(ACCEPTED))

    assert merge(file, [by_git("2026-03-02T10:00:00Z", "synonyms v2")]) == (0, 1)
    assert told(file) == [("2026-03-02", "run", "shop", 0.9, "synonyms v2")]


def test_a_run_takes_the_place_of_what_git_told_of_its_acceptance(file):
    merge(file, [by_git("2026-03-01T10:00:00Z", "first"), by_git("2026-03-02T10:00:00Z", "synonyms v2")])

    assert merge(file, [kept_run(ACCEPTED, "results")]) == (1, 0)
    assert told(file) == [
        ("2026-03-02", "results", "shop", 0.9, "synonyms v2"),
        ("2026-03-01", "git", "shop", 0.9, "first"),
    ]


def test_a_run_outside_of_the_repository_is_the_one_that_its_baseline_tells_of(file):
    append(file, kept_run(run("2026-03-02T10:00:00Z", accepted=("shop",), commit="")))

    assert merge(file, [by_git("2026-03-02T10:00:00Z")]) == (0, 1)


def test_git_brings_the_reason_that_an_older_file_lacks(file):
    merge(file, [kept_run(run("2026-03-02T10:00:00Z", accepted=("shop",)), "results")])
    merge(file, [by_git("2026-03-02T10:00:00Z", "synonyms v2")])

    assert [(row.origin, row.reason) for row in rows(file)] == [("results", "synonyms v2")]


def test_git_brings_the_figures_that_a_shallow_clone_lacked(file):
    assert merge(file, [by_git("2026-03-02T10:00:00Z", "v2", value=None)]) == (1, 0)
    assert merge(file, [by_git("2026-03-02T10:00:00Z", "v2")]) == (0, 1)
    assert merge(file, [by_git("2026-03-02T10:00:00Z", "v2", value=None)]) == (0, 1)

    assert told(file) == [("2026-03-02", "git", "shop", 0.9, "v2")]


KNOWN = [
    kept_run(run("2026-03-01T10:00:00Z", suite("shop"), suite("blog")), "results"),
    kept_run(ACCEPTED, "results"),
    kept_run(run("2026-03-03T10:00:00Z", suite("blog"), accepted=("blog",)), "results"),
    by_git("2026-03-02T10:00:00Z", "synonyms v2"),
    by_git("2026-03-03T10:00:00Z", "a reason", "blog"),
    by_git("2025-01-01T10:00:00Z", "the first", "blog"),
    by_git("2025-01-01T10:00:00Z", "the first", "blog", value=None),
]
WHOLE = [
    ("2026-03-03", "results", "blog", 0.8, "a reason"),
    ("2026-03-02", "results", "shop", 0.9, "synonyms v2"),
    ("2026-03-01", "results", "shop", 0.8, ""),
    ("2026-03-01", "results", "blog", 0.8, ""),
    ("2025-01-01", "git", "blog", 0.9, "the first"),
]


@given(st.lists(st.lists(st.sampled_from(KNOWN), max_size=4), max_size=5))
def test_in_whatever_pieces_and_order_it_is_rebuilt_the_history_is_the_same(pieces):
    folder = Path(tempfile.mkdtemp())
    try:
        for piece in (*pieces, [KNOWN[3], KNOWN[4]], KNOWN):
            merge(folder / "history.sqlite", piece)
        found = told(folder / "history.sqlite")
    finally:
        shutil.rmtree(folder)

    assert found == WHOLE


def test_the_spreads_of_a_suite_are_the_newest_last_and_without_runs_in_which_nothing_changed(file):
    for day, sd in ((3, 0.3), (1, 0.1), (2, 0.0), (4, None)):
        append(file, kept_run(run(f"2026-03-0{day}T10:00:00Z", suite("shop", 0.8, outcome(), sd=sd))))
    append(file, kept_run(run("2026-03-05T10:00:00Z", suite("shop", 0.8, outcome("segment=tail", "pass", tail())))))
    append(file, kept_run(run("2026-03-06T10:00:00Z", suite("blog", sd=9.0))))

    assert spreads(file, "shop", "main") == {("nDCG@10", "all"): [0.1, 0.3, 0.1], ("nDCG@10", "segment=tail"): [0.3]}


@pytest.mark.parametrize(
    ("verdict", "accepted", "counts"),
    [
        ("pass", False, True),
        ("inconclusive", False, True),
        ("fail", False, False),
        ("error", False, False),
        ("fail", True, True),
    ],
)
def test_a_red_run_says_how_far_changes_spread_only_if_it_was_accepted(file, verdict, accepted, counts):
    kept = kept_run(run("2026-03-01T10:00:00Z", suite("shop", 0.8, outcome(), sd=0.2)))
    of_it = replace(kept.suites[0], verdict=verdict, accepted=accepted)
    append(file, replace(kept, suites=(of_it,)))

    assert spreads(file, "shop", "main") == ({("nDCG@10", "all"): [0.2]} if counts else {})


def test_a_trend_has_runs_and_acceptances_the_newest_last(file):
    append(file, kept_run(ACCEPTED))
    append(file, kept_run(run("2026-03-01T10:00:00Z", suite(now=0.7), suite("blog"))))
    merge(file, [by_git("2026-01-01T10:00:00Z", "the first", value=0.6)])

    points = trend(file, "shop", "nDCG@10")

    assert [(point.date[:10], point.value, point.accepted, point.reason) for point in points] == [
        ("2026-01-01", 0.6, True, "the first"),
        ("2026-03-01", 0.7, False, ""),
        ("2026-03-02", 0.9, True, "synonyms v2"),
    ]


def test_rows_can_be_asked_for_by_suite_metric_slice_branch_and_date(file):
    append(file, kept_run(run("2026-03-01T10:00:00Z", suite("shop"), suite("blog"), branch="old")))
    append(file, kept_run(run("2026-03-05T10:00:00Z", suite("shop", 0.8, outcome("segment=tail", "pass", tail())))))

    def asked(**wanted):
        return [(row.date[8:10], row.suite, row.slice) for row in rows(file, Wanted(**wanted))]

    assert asked(suite="blog") == [("01", "blog", "all")]
    assert asked(slice="segment=tail") == [("05", "shop", "segment=tail")]
    assert asked(branch="old") == [("01", "shop", "all"), ("01", "blog", "all")]
    assert asked(since="2026-03-02") == [("05", "shop", "all"), ("05", "shop", "segment=tail")]
    assert asked(metric="AP") == []


def test_old_runs_go_with_all_that_is_theirs(file):
    append(file, kept_run(ACCEPTED))
    for day in range(3, 9):
        append(file, kept_run(run(f"2026-03-0{day}T10:00:00Z")))
    size = file.stat().st_size

    assert old_runs(file, "2026-03-04T00:00:00Z") == (2, 1, "2026-03-02T10:00:00Z", "2026-03-03T10:00:00Z", 5)
    assert prune(file, "2026-03-04T00:00:00Z").runs == 2
    assert prune(file, keep=2).runs == 3
    assert [row.date[8:10] for row in rows(file)] == ["08", "07"]
    assert prune(file, keep=0) == (2, 0, "2026-03-07T10:00:00Z", "2026-03-08T10:00:00Z", 0)
    assert rows(file) == []
    assert file.stat().st_size <= size
