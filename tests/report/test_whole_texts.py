"""What every format looks like as a whole, of a plain run and of one that is hard to lay out: see tests/golden."""

import json
from dataclasses import replace

import pytest
from odd_run import CHANGES, failing, odd_run
from runs import FAILED, RUN, SHOP

from pytest_ireval.pytest_plugin.code_host import format_annotations
from pytest_ireval.report.failure_text import format_failure, format_short_failure
from pytest_ireval.report.markdown_summary import format_markdown_summary
from pytest_ireval.report.markdown_text import SourceLinks
from pytest_ireval.report.metrics_file import format_metrics
from pytest_ireval.report.results_file import format_results
from pytest_ireval.report.terminal_summary import format_brief_summary, format_summary, format_updates
from pytest_ireval.report.to_judge_file import format_to_judge
from pytest_ireval.results.suite_result import ToJudge
from pytest_ireval.text_table import measure_width

LINKS = SourceLinks("https://github.com/acme/search/blob/3b1c0ff")
NEVER_WRAPPED = ("  why: ", "  accept: ")
"""Commands are one line, to be copied."""


def lines_of(lines):
    return "\n".join(lines) + "\n"


def failure(outcome, suite, columns, queries=3):
    return format_failure(outcome, suite, date=RUN.date, width=columns, queries=queries) + "\n"


@pytest.mark.parametrize(("name", "columns"), [("failure-80.txt", 80), ("failure-200.txt", 200)])
def test_a_failure(golden, name, columns):
    golden(name, failure(FAILED, SHOP, columns))


@pytest.mark.parametrize(("name", "columns"), [("odd-failure-80.txt", 80), ("odd-failure-200.txt", 200)])
def test_a_failure_that_is_hard_to_lay_out(golden, name, columns):
    golden(name, failure(*failing(), columns, queries=10))


@pytest.mark.parametrize("columns", [80, 200])
def test_only_a_single_id_or_command_is_wider_than_the_terminal(columns):
    _place, *lines = failure(*failing(), columns, queries=None).splitlines()
    wide = [line for line in lines if measure_width(line) > columns and not line.startswith(NEVER_WRAPPED)]

    assert wide == [f"  {CHANGES[3].query}"]


@pytest.mark.parametrize("columns", [80, 200])
def test_no_line_of_a_summary_is_wider_than_the_terminal(columns):
    run = odd_run()
    lines = [*format_summary(run, columns), *format_brief_summary(run, columns), *format_updates(run, columns)]

    assert [line for line in lines if measure_width(line) > columns] == []


def test_a_failure_that_is_told_in_short(golden):
    golden("short-failure.txt", format_short_failure(FAILED, SHOP, 80, "ireval-report/results.json") + "\n")


@pytest.mark.parametrize(("name", "columns"), [("summary-80.txt", 80), ("summary-200.txt", 200)])
def test_the_end_of_a_run(golden, name, columns):
    golden(name, lines_of(format_summary(RUN, columns)))


@pytest.mark.parametrize(("name", "columns"), [("odd-summary-80.txt", 80), ("odd-summary-200.txt", 200)])
def test_the_end_of_a_run_that_is_hard_to_lay_out(golden, name, columns):
    golden(name, lines_of(format_summary(odd_run(), columns)))


def test_the_end_of_a_quiet_run(golden):
    golden("brief-summary.txt", lines_of(format_brief_summary(odd_run(), 80)))


def test_an_inconclusive_verdict_fits_into_80_columns(golden):
    doubtful = replace(FAILED, verdict="inconclusive")
    metrics = (replace(SHOP.metrics[0], name="TopGrade@10"), *SHOP.metrics)
    shop = replace(SHOP, verdict="inconclusive", metrics=metrics, outcomes=(doubtful,))

    golden("inconclusive-80.txt", lines_of(format_summary(replace(RUN, suites=(shop,)), 80)))


def test_what_was_accepted(golden):
    golden("update.txt", lines_of(format_updates(replace(RUN, accepted=(SHOP.name,), dirty=True))))


def test_the_page_of_a_pull_request(golden):
    golden("summary.md", format_markdown_summary(RUN, LINKS, "", "ireval-report/results.json"))


def test_everything_for_programs(golden):
    golden("results.json", json.dumps(json.loads(format_results(RUN)), indent=1, ensure_ascii=False) + "\n")


def test_figures_for_dashboards(golden):
    golden("metrics.txt", format_metrics(RUN))


def test_what_to_judge_first(golden):
    documents = (ToJudge("q052", "q052-n29", "nDCG@10", 0.0125, "aeropress filter", 1, None),)

    golden("to_judge.tsv", format_to_judge(replace(RUN, suites=(replace(SHOP, to_judge=documents),))))


def test_annotations(golden):
    golden("annotations.txt", lines_of(format_annotations(RUN, LINKS)))
