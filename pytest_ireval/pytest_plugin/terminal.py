"""What a run prints: failures of a suite as one block, a summary of all suites, and lines for a code host."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Generator, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, cast

import pytest

from pytest_ireval.clock import format_moment
from pytest_ireval.pytest_plugin.baseline_update import BaselineUpdate
from pytest_ireval.pytest_plugin.code_host import format_annotations, is_in_github, make_printable, source_links
from pytest_ireval.pytest_plugin.finish import RunEnd, read_user_property
from pytest_ireval.pytest_plugin.items import RULE_PROPERTY
from pytest_ireval.report.red_checks import format_suite_failures
from pytest_ireval.report.terminal_summary import (
    format_brief_summary,
    format_reasons,
    format_summary,
    format_updates,
    list_section_warnings,
)
from pytest_ireval.results.suite_result import RunResult
from pytest_ireval.words import format_count

DEFAULT_WIDTH, MAX_WIDTH = 80, 200


def get_width(config: pytest.Config) -> int:
    """Columns of the terminal that pytest writes to."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and reporter.isatty:
        return min(MAX_WIDTH, shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns)
    return shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns if "COLUMNS" in os.environ else DEFAULT_WIDTH


@dataclass(eq=False, repr=False)
class TerminalSummary:
    """Shapes what pytest shows of the reports that ``end`` has counted; pytest still counts and names each of them.

    Three hooks have one specification; pytest only looks at methods whose names begin with ``pytest_``.
    """

    end: RunEnd
    all_failures: dict[str, list[pytest.TestReport]] = field(default_factory=dict)
    """The failures as pytest counts them, while it shows those of a suite as one."""
    repeated_errors: dict[str, list[pytest.TestReport]] = field(default_factory=dict)
    """By suite, the errors that repeat what the first one says."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        colour_failure(report)

    @pytest.hookimpl(specname="pytest_terminal_summary", wrapper=True, tryfirst=True)
    def pytest_merge_failures_of_suites(self, terminalreporter: pytest.TerminalReporter) -> Generator[None, None, None]:
        """Around pytest's own summary: several red checks of a suite are one block."""
        config, stats = self.end.config, terminalreporter.stats
        self.all_failures = {key: stats[key] for key in ("failed", "error") if key in stats}
        brief = config.get_verbosity() <= 0
        if brief and config.getoption("tbstyle") not in ("line", "no"):
            stats.update({key: self._merge_failures(reports) for key, reports in self.all_failures.items()})
        self.repeated_errors = dict(self._find_repeated_errors()) if brief else {}
        yield
        stats.update(self.all_failures)
        if terminalreporter.hasopt("E"):
            for name, reports in self.repeated_errors.items():
                count = format_count(len(reports), "more check")
                terminalreporter.write_line(f"… and {count} of {name}, for the same reason")

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """A row for each suite and metric, what was accepted, and why the exit status is not 0."""
        end = self.end
        terminalreporter.stats.update(self.all_failures)
        if not end.is_gate:
            return
        say = terminalreporter.write_line
        if not end.collected.files:
            say("--ireval: no suite was collected (*.ireval.yaml, or a line ireval: 1); this does not count as a pass")
        elif end.result is not None:
            if not end.result.suites and not end.result.problems and not end.is_no_suite_affected:
                say("--ireval: no verdict of a suite was selected; this does not count as a pass")
            uncollected = tuple(f"{node} could not be collected" for node in end.uncollected)
            result = replace(end.result, problems=uncollected)  # pytest has shown the texts
            write_summary(terminalreporter, end.config, result, end.update, end.files.written)
            if kept := end.files.shown_kept_grades:
                say(f"kept: {kept}, the grades from to_judge.tsv")
            for problem in filter(None, (*end.problems, end.write_error)):
                say(f"problem: {problem}", red=True)
        if end.summary_error:
            say(f"warning: {end.summary_error}", yellow=True)
        if end.result is not None and is_in_github():
            # this plugin marks tests that failed; it passes over those that could not be set up, as our errors are
            failures = not end.config.pluginmanager.hasplugin("pytest_github_actions_annotate_failures")
            for line in format_annotations(end.result, source_links(end.config.invocation_params.dir), failures):
                say(line)

    @pytest.hookimpl(specname="pytest_terminal_summary", trylast=True)
    def pytest_drop_repeated_errors(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Before pytest's list of failures: broken inputs are one line, not one for each check."""
        repeated = [id(report) for reports in self.repeated_errors.values() for report in reports]
        if repeated:
            errors = terminalreporter.stats.get("error", [])
            terminalreporter.stats["error"] = [report for report in errors if id(report) not in repeated]

    def _find_repeated_errors(self) -> Iterator[tuple[str, list[pytest.TestReport]]]:
        """By suite with broken inputs, all but the check that has the whole error."""
        for suite in self.end.collected.suites:
            evaluation = self.end.evaluations.read_evaluation(suite.name)
            reports = [report for report in self.all_failures.get("error", ()) if report.nodeid in suite.nodes]
            reports.sort(key=lambda report: suite.nodes[report.nodeid] != suite.selected[0])
            if evaluation is not None and evaluation.result.error and reports[1:]:
                yield suite.name, reports[1:]

    def _merge_failures(self, reports: Sequence[pytest.TestReport]) -> list[pytest.TestReport]:
        """One report in place of those of a suite, where there are several."""
        end, shown = self.end, list(reports)
        for suite in end.collected.suites:
            of_suite = [report for report in shown if report.nodeid in suite.nodes]
            checks = {suite.nodes[report.nodeid] for report in of_suite}
            evaluation = end.evaluations.read_evaluation(suite.name)
            if len(checks) < 2 or evaluation is None or not _can_be_merged(of_suite):
                continue
            result = evaluation.result
            text = format_suite_failures(
                [outcome for outcome in result.outcomes if outcome.id in checks],
                result,
                date=format_moment(end.moment),
                width=get_width(end.config),
                report=end.files.format_page_link(result),
            )
            merged = _merge_reports(of_suite[0], suite.name, text)
            shown = [merged if report is of_suite[0] else report for report in shown if report not in of_suite[1:]]
        return shown


def _can_be_merged(reports: Sequence[pytest.TestReport]) -> bool:
    """Not where one has another text than ours, or another than the first printed something."""
    return all(isinstance(report.longrepr, ColouredFailure) for report in reports) and not any(
        report.sections for report in reports[1:]
    )


def _merge_reports(first: pytest.TestReport, title: str, text: str) -> pytest.TestReport:
    report, failure = copy(first), copy(cast(Any, first.longrepr))
    failure.text = make_printable(text)
    report.longrepr, report.location = failure, (*first.location[:2], title)
    return report


def write_summary(
    reporter: pytest.TerminalReporter,
    config: pytest.Config,
    result: RunResult,
    update: BaselineUpdate,
    files: Sequence[str],
) -> None:
    """Write the rows; with -q a line for each red suite, and the verdict unless all is well."""
    verbosity, width = config.get_verbosity(), get_width(config)
    if verbosity < 0:
        lines = [*format_brief_summary(result, width), *list_section_warnings(result)]
    else:
        reporter.section("ireval")
        reasons = format_reasons(result, width) if verbosity > 0 else []
        lines = [*reasons, *format_summary(result, width, statistics=verbosity > 0)]
    for line in (*lines, *format_updates(result, width), *update.messages):
        for piece in colour_summary_line(make_printable(line)):
            reporter.write(piece.text, **MARKUP[piece.tone])
        reporter.write("\n")
    for problem in update.problems:
        reporter.write_line(make_printable(f"not accepted: {problem}"), red=True)
    if verbosity >= 0:
        for path in files:
            reporter.write_line(f"written: {path}")


Tone = Literal["plain", "good", "doubtful", "bad"]
TONES: dict[str, Tone] = {
    **dict.fromkeys(("pass", "accepted"), "good"),
    **dict.fromkeys(("warning", "inconclusive", "look at this"), "doubtful"),
    **dict.fromkeys(("fail", "error", "problem", "red", "likely cause", "mostly in"), "bad"),
}
MARKUP: Mapping[Tone, Mapping[str, bool]] = {
    "plain": {},
    "good": {"green": True},
    "doubtful": {"yellow": True},
    "bad": {"red": True, "bold": True},
}
_VERDICT = "pass|accepted|warning|inconclusive|fail|error"
_ROW = re.compile(rf"(?P<before>.* {{2}})(?P<word>{_VERDICT})(?P<after>)")
"""A row of a table that ends in a verdict."""
_NOTE = re.compile(rf"(?P<before>)(?P<word>{_VERDICT}|problem|likely cause|mostly in|look at this|red)(?P<after>: .*)")
_RUN = re.compile(rf"(?P<before>ireval: )(?P<word>{_VERDICT})(?P<after>[:,] .*)")
_DECISIVE = re.compile(r" {2}.* <- (over tolerance|breaks the rule|over|red)")
"""A line of figures that the verdict rests on."""


class Piece(NamedTuple):
    """Text in one tone."""

    text: str
    tone: Tone = "plain"


def colour_summary_line(line: str) -> tuple[Piece, ...]:
    """A line of a summary, its verdict in the tone of it."""
    match = _RUN.fullmatch(line) or _NOTE.fullmatch(line) or _ROW.fullmatch(line)
    if match is None:
        return (Piece(line),)
    word = match["word"]
    return (Piece(match["before"]), Piece(word, TONES[word]), Piece(match["after"]))


def colour_failure_lines(text: str) -> Iterator[Piece]:
    """The lines of a failure: its headline and the figures that decided stand out."""
    for number, line in enumerate(text.split("\n")):
        yield Piece(line, "bad" if number == 0 or _DECISIVE.fullmatch(line) else "plain")


class ColouredFailure:
    """A failure as pytest keeps it, shown in colour; its text and other attributes are unchanged."""

    def __init__(self, plain: Any) -> None:
        self.reprcrash, self.reprtraceback = plain.reprcrash, plain.reprtraceback
        self.sections = plain.sections
        self.text = "\n".join(plain.reprtraceback.reprentries[0].lines)

    def __str__(self) -> str:
        return self.text.strip()

    def toterminal(self, writer: Any) -> None:
        """Pytest calls this also without colours: then the writer leaves them out."""
        for piece in colour_failure_lines(self.text):
            writer.line(piece.text, **MARKUP[piece.tone])


def colour_failure(report: pytest.TestReport) -> None:
    """Show the failure of a check in colour; done where reports are shown, because workers send them as plain data."""
    if not report.failed or not read_user_property(report, RULE_PROPERTY):
        return
    plain: Any = report.longrepr
    entries: Sequence[Any] = getattr(getattr(plain, "reprtraceback", None), "reprentries", ())
    if len(entries) == 1 and getattr(entries[0], "style", "") == "value":
        report.longrepr = ColouredFailure(plain)  # type: ignore[assignment] # pytest asks for these names only
