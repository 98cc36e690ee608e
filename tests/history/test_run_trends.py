"""The figures of a run beside those of earlier ones: the lines that its report draws."""

import sqlite3
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from made_runs import COMMIT, outcome, run, suite, tail

from pytest_ireval.errors import HistoryError
from pytest_ireval.history.database import writing
from pytest_ireval.history.kept import append, kept_run
from pytest_ireval.history.trends import MOST_POINTS, MOST_TRENDS, known, spreads, trend, with_trends
from pytest_ireval.results.suite_result import Accepted, BaselineInfo, TrendPoint

FILE = Path("history.sqlite")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def remember(day, value, **more):
    told = {"commit": f"{day:040}", **more}
    append(FILE, kept_run(run(moment(day), suite(now=value), **told)))


def moment(day):
    return f"2026-{1 + day // 28:02}-{1 + day % 28:02}T10:00:00Z"


def trends(day=20, *outcomes, **more):
    (found,) = with_trends(FILE, run(moment(day), suite("shop", 0.8, *outcomes), **more)).suites
    return {(trend.metric, trend.slice): trend.points for trend in found.trends}


def values(**more):
    return [point.value for points in trends(**more).values() for point in points]


def test_earlier_runs_come_first_and_the_run_itself_last():
    remember(2, 0.7)
    remember(1, 0.6)

    assert trends() == {
        ("nDCG@10", "all"): (
            TrendPoint(moment(1), 0.6, "pass", f"{1:040}"),
            TrendPoint(moment(2), 0.7, "pass", f"{2:040}"),
            TrendPoint(moment(20), 0.8, "pass", COMMIT, this=True),
        )
    }


def test_slices_that_rules_compare_have_a_trend_of_their_own():
    about = outcome("segment=tail", "fail", tail())
    append(FILE, kept_run(run(moment(1), suite("shop", 0.8, about))))

    found = trends(20, about)

    assert [(point.value, point.verdict) for point in found["nDCG@10", "segment=tail"]] == [(0.6, "fail")] * 2
    assert [point.verdict for point in found["nDCG@10", "all"]] == [None, None]  # no rule is about it


def test_a_figure_that_no_earlier_run_has_is_no_trend():
    remember(1, 0.6)

    assert ("nDCG@10", "segment=tail") not in trends(20, outcome("segment=tail", "fail", tail()))


def test_without_a_history_there_is_no_trend_and_no_file():
    assert trends() == {}
    assert not FILE.exists()


def test_other_suites_are_other_trends():
    append(FILE, kept_run(run(moment(1), suite("books", 0.1))))

    assert trends() == {}


def test_an_acceptance_is_marked_with_its_reason():
    remember(1, 0.6, accepted=("shop",), reason="synonyms v2")

    accepted, own = trends(accepted=("shop",), reason="synonyms v3")["nDCG@10", "all"]

    assert (accepted.accepted, accepted.reason, accepted.this) == (True, "synonyms v2", False)
    assert (own.accepted, own.reason, own.this) == (True, "synonyms v3", True)


def test_of_other_branches_only_acceptances_that_were_merged_count():
    remember(1, 0.61, branch="main")
    remember(2, 0.62, branch="main", accepted=("shop",))
    remember(3, 0.63, branch="rerank", accepted=("shop",))
    remember(4, 0.64, branch="synonyms")
    merged = replace(suite("shop", 0.8), acceptances=(Accepted(moment(2), "2" * 40, "main"),))

    (found,) = with_trends(FILE, run(moment(20), merged, branch="synonyms")).suites
    assert [point.value for point in found.trends[0].points] == [0.62, 0.64, 0.8]
    assert values(branch="synonyms") == [0.64, 0.8]


@pytest.mark.parametrize("base", ["main", "origin/main"])
def test_the_branch_that_it_is_held_against_counts(base):
    remember(1, 0.61, branch="main")
    remember(2, 0.62, branch="rerank")

    assert values(branch="synonyms", base=base) == [0.61, 0.8]


def test_the_branch_whose_baseline_it_is_compared_with_counts():
    remember(1, 0.61, branch="main")
    remember(2, 0.62, branch="rerank")
    of_main = BaselineInfo("b.json", moment(1), "3f9c2e1", "main", False, "", False, ())
    made = run(moment(20), replace(suite("shop", 0.8), baseline=of_main), branch="synonyms")

    (found,) = with_trends(FILE, made).suites

    assert [point.value for trend in found.trends for point in trend.points] == [0.61, 0.8]


def test_on_no_branch_all_runs_count():
    remember(1, 0.61, branch="main")
    remember(2, 0.62, branch="")

    assert values(branch="") == [0.61, 0.62, 0.8]
    assert values(branch="synonyms") == []


def test_runs_of_the_same_moment_or_later_are_not_earlier():
    remember(19, 0.6)
    remember(20, 0.7)
    remember(21, 0.9)

    assert values(day=20) == [0.6, 0.8]


def test_the_last_points_are_kept():
    for day in range(70):
        remember(day, day / 100)

    points = values(day=80)

    assert len(points) == MOST_POINTS
    assert (points[0], points[-2:]) == (0.11, [0.69, 0.8])


def test_of_very_many_slices_the_worst_are_kept():
    parts = [f"brand=b{i:02}" for i in range(50)]
    outcomes = [outcome(part, "fail" if i > 45 else "pass", tail(slice=part)) for i, part in enumerate(parts)]
    append(FILE, kept_run(run(moment(1), suite("shop", 0.8, *outcomes))))

    found = [part for _, part in trends(20, *outcomes)]

    assert found[:6] == ["all", *parts[46:], "brand=b00"]
    assert len(found) == MOST_TRENDS


def test_a_part_of_a_suite_measures_all_queries_all_the_same():
    append(FILE, kept_run(run(moment(1), suite("shop", 0.6, planned=("one", "two", "three")))))

    assert values() == [0.6, 0.8]


@pytest.mark.parametrize(("column", "value"), [("now", 9e999), ("now", "none"), ("verdict", "perhaps")])
def test_bytes_that_went_wrong_are_told(column, value):
    remember(1, 0.6)
    with writing(FILE) as connection:
        connection.execute(f"UPDATE figures SET {column} = ?", (value,))

    with pytest.raises(HistoryError, match="is damaged"):
        trends()


def test_a_date_that_is_none_is_told():
    remember(1, 0.6)
    with writing(FILE) as connection:
        connection.execute("UPDATE runs SET date = '2026'")

    with pytest.raises(HistoryError, match="is damaged: '2026' is not a date"):
        trends()


def test_a_history_that_another_process_is_writing_is_waited_for_a_little(monkeypatch):
    monkeypatch.setattr("pytest_ireval.history.trends.PATIENCE", 0.01)
    remember(1, 0.6)
    other = sqlite3.connect(FILE, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(HistoryError, match="another process has not finished writing it"):
            trends()
    finally:
        other.close()


def test_a_slice_that_was_kept_in_decomposed_letters_is_the_same_slice():
    then, now = (f"구간={unicodedata.normalize(form, '긴꼬리')}" for form in ("NFD", "NFC"))
    append(FILE, kept_run(run(moment(1), suite("shop", 0.8, outcome(then, "pass", tail(slice=then))))))

    assert [point.value for point in trends(20, outcome(now, "pass", tail(slice=now)))["nDCG@10", now]] == [0.6, 0.6]
    assert spreads(FILE, "shop", "main")["nDCG@10", now] == [0.3]
    assert [row.value for row in trend(FILE, "shop", "nDCG@10", then)] == [0.6]
    assert known(FILE, "slice") == ("all", now)
