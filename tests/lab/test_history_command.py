"""``ireval history``: figures of earlier runs, read from the results.json files that were kept."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_ireval.report.results_file import format_results, format_results_files
from pytest_ireval.results.outcome import Outcome, SliceFigures
from pytest_ireval.results.suite_result import MetricFigures, QueryTable, RunResult, SliceRow, SuiteResult


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def metric(name="nDCG@10", now=0.8, **more):
    return MetricFigures(name, "higher", "query", "mean", now, 0.75, paired=now, **more)


def suite(name="shop", *metrics, verdict="pass", tail=None, outcomes=(), **more):
    slices = () if tail is None else (SliceRow("nDCG@10", SliceFigures("segment=tail", 12, tail, 0.7)),)
    outcomes = outcomes or (Outcome("no_regression::nDCG_10", "no_regression", verdict, "said", metric="nDCG@10"),)
    plan_checks = tuple(each.id for each in outcomes)
    table = QueryTable(ids=("q1",), texts=("red mug",), now={"nDCG@10": (0.8,)})
    about = {"outcomes": outcomes, "planned": plan_checks, "slices": slices, "queries": table, "metrics": metrics}
    return SuiteResult(name, f"suites/{name}.yaml", verdict, **{**about, **more})


def run(date, *suites, **more):
    about = {"version": "0.1.0", "verdict": "pass", "commit": "0123456789abcdef", "branch": "main", **more}
    return RunResult(date=date, suites=suites or (suite("shop", metric()),), **about)


def write(folder, result):
    for name, text in format_results_files(result).items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(text), encoding="utf-8")


@pytest.fixture
def ci_runs():
    red = suite("shop", metric(now=0.7), metric("RR@10", 0.5), verdict="fail", tail=0.6)
    write("kept/2", run("2026-03-02T11:30:00Z", red, verdict="fail", branch="change", dirty=True))
    green = suite("shop", metric(now=0.8), metric("RR@10", 0.55), tail=0.71)
    write("kept/deep/1", run("2026-03-01T10:00:00Z", green, suite("blog"), accepted=("shop",), reason="v2"))
    write("kept/3", run("2026-03-03T12:00:00Z", replace(suite("blog"), verdict="error", outcomes=()), verdict="error"))


TABLES = """\
shop
date              commit   branch  nDCG@10   RR@10  verdict  notes
2026-03-01 10:00  0123456  main     0.8000  0.5500  pass     accepted: v2
2026-03-02 11:30  0123456  change   0.7000  0.5000  fail     uncommitted changes

blog
date              commit   branch  verdict  notes
2026-03-01 10:00  0123456  main    pass
2026-03-03 12:00  0123456  main    error    0 of 1 check
"""


@pytest.mark.parametrize("places", [("kept",), ("kept/**/results.json",), ("kept/[23]", "kept/deep/1/results.json")])
def test_each_suite_has_a_table_of_its_runs_the_oldest_first(ireval, ci_runs, places):
    assert ireval("history", *places) == (0, TABLES, "")


def test_one_suite_one_metric_and_a_slice(ireval, ci_runs):
    asked = ("--suite", "shop", "-m", "nDCG@10", "--slice", "segment=tail")

    assert ireval("history", "kept", *asked).out == (
        "shop, segment=tail\n"
        "date              commit   branch  nDCG@10  verdict  notes\n"
        "2026-03-01 10:00  0123456  main     0.7100  pass     accepted: v2\n"
        "2026-03-02 11:30  0123456  change   0.6000  fail     uncommitted changes\n"
    )


def test_programs_get_a_row_for_each_figure_with_all_digits(ireval, ci_runs):
    lines = csv.DictReader(io.StringIO(ireval("history", "kept", "--format", "csv").out))
    said = json.loads(ireval("history", "kept", "--format", "json").out)

    assert said["format"] == 1
    assert [(row["date"][:10], row["suite"], row["metric"], row["slice"], row["value"]) for row in said["rows"]] == [
        ("2026-03-01", "shop", "nDCG@10", "all", 0.8),
        ("2026-03-01", "shop", "RR@10", "all", 0.55),
        ("2026-03-01", "shop", "nDCG@10", "segment=tail", 0.71),
        ("2026-03-01", "blog", "", "", None),
        ("2026-03-02", "shop", "nDCG@10", "all", 0.7),
        ("2026-03-02", "shop", "RR@10", "all", 0.5),
        ("2026-03-02", "shop", "nDCG@10", "segment=tail", 0.6),
        ("2026-03-03", "blog", "", "", None),
    ]
    assert said["rows"][4] == {
        "date": "2026-03-02T11:30:00Z",
        "commit": "0123456789abcdef",
        "branch": "change",
        "dirty": True,
        "suite": "shop",
        "verdict": "fail",
        "checks": 1,
        "planned": 1,
        "accepted": False,
        "reason": "",
        "metric": "nDCG@10",
        "slice": "all",
        "value": 0.7,
        "baseline": 0.75,
        "change": pytest.approx(-0.05),
    }
    for line, row in zip(lines, said["rows"], strict=True):
        assert line == {name: "" if value is None else str(value) for name, value in row.items()}


def test_markdown_makes_what_others_wrote_harmless(ireval):
    write("kept", run("2026-03-01T10:00:00Z", suite("shop", metric()), branch="<b>@all|x", accepted=("shop",)))

    lines = ireval("history", "kept", "--format", "markdown").out.splitlines()

    assert lines[:4] == [
        "### shop",
        "",
        "| date | commit | branch | nDCG@10 | verdict | notes |",
        "| --- | --- | --- | ---: | --- | --- |",
    ]
    assert lines[4].startswith("| 2026-03-01 10:00 | 0123456 | &lt;b>@\u200ball&#124;x | 0.8000 | pass | accepted |")


def test_a_run_that_is_found_twice_counts_once_and_a_second_try_counts(ireval):
    for folder in ("kept/1", "kept/copy"):
        write(folder, run("2026-03-01T10:00:00Z"))
    write("kept/again", run("2026-03-01T10:20:00Z"))

    assert ireval("history", "kept", "kept/1/results.json").out.count("2026-03-01") == 2


def test_a_run_without_a_suite_is_named(ireval):
    write("kept/1", run("2026-03-01T10:00:00Z"))
    ended = replace(run("2026-03-02T10:00:00Z", verdict="error", problems=("the run did not end",)), suites=())
    write("kept/2", ended)

    said = "kept/2/results.json: the run of 2026-03-02T10:00:00Z has no suite: the run did not end\n"
    assert ireval("history", "kept")[::2] == (0, said)
    assert ireval("history", "kept/2") == (2, "", f"{said}error: none of these runs has a suite\n")


UNREADABLE = {
    "{": "is not JSON: ",
    format_results(run("yesterday")): "'yesterday' is not a date\n  2026-11-20T19:20:00Z is one",
    format_results(run("2026-03-01T10:00:00Z", suite(verdict="fail"))): "is inconsistent, so it may have been edited: ",
}


@pytest.mark.parametrize("text", UNREADABLE, ids=["cut", "date", "edited"])
def test_a_file_that_cannot_be_read_is_an_error_with_its_name(ireval, ci_runs, text):
    Path("kept/bad").mkdir()
    Path("kept/bad/results.json").write_text(text)

    code, out, err = ireval("history", "kept")

    assert (code, out) == (2, "")
    assert err.startswith("error: kept/bad/results.json")
    assert UNREADABLE[text] in err


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("nowhere", "nowhere\n  not found\n  a results.json file, a folder that has some, or a pattern"),
        ("kept empty", "empty\n  has no results.json in it or below"),
        ("kept --suite shp", "no run has the suite 'shp'\n  did you mean 'shop'?\n  the runs have shop, blog"),
        (
            "kept -m ndcg@10",
            "no run has the metric 'ndcg@10'\n  did you mean 'nDCG@10'?\n  the runs have nDCG@10, RR@10",
        ),
        ("kept --slice tail", "no run has the slice 'tail'\n  the runs have all, segment=tail"),
    ],
)
def test_a_question_without_an_answer_says_what_there_is(ireval, ci_runs, asked, says):
    Path("empty").mkdir()

    assert ireval("history", *asked.split()) == (2, "", f"error: {says}\n")
