"""What the terminal shows in the end: a row for each suite and metric, and what was accepted."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Literal, NamedTuple, Protocol

import pytest

from pytest_ireval.pytest_adapter.accepting import Accepting
from pytest_ireval.pytest_adapter.code_host import as_printed
from pytest_ireval.pytest_adapter.items import RULE
from pytest_ireval.reports.summary_table import brief_lines, reason_lines, section_warnings, summary_lines, update_lines
from pytest_ireval.results.suite_result import RunResult

WIDTH = 80
WIDEST = 200


def width_of(config: pytest.Config) -> int:
    """Columns of the terminal that pytest writes to; 80 where there is none."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not reporter.isatty:
        return int(shutil.get_terminal_size((WIDTH, 24)).columns) if "COLUMNS" in os.environ else WIDTH
    return min(WIDEST, shutil.get_terminal_size((WIDTH, 24)).columns)


def summarise(
    reporter: pytest.TerminalReporter,
    config: pytest.Config,
    result: RunResult,
    accepting: Accepting,
    files: Sequence[str],
) -> None:
    """The rows; with -q a line for each red suite, and the verdict unless all is well."""
    quiet, width = config.get_verbosity() < 0, width_of(config)
    if not quiet:
        reporter.section("ireval")
        reasons = reason_lines(result, width) if config.get_verbosity() > 0 else []
        lines = [*reasons, *summary_lines(result, width, statistics=config.get_verbosity() > 0)]
    else:
        lines = [*brief_lines(result, width), *section_warnings(result)]
    for line in (*lines, *update_lines(result, width), *accepting.told):
        _write_summary_line(reporter, as_printed(line))
    for problem in accepting.problems:
        reporter.write_line(as_printed(f"not accepted: {problem}"), red=True)
    if not quiet:
        for path in files:
            reporter.write_line(f"written: {path}")


_Tone = Literal["plain", "good", "doubtful", "bad"]
TONES: dict[str, _Tone] = {
    "pass": "good",
    "accepted": "good",
    "warning": "doubtful",
    "inconclusive": "doubtful",
    "fail": "bad",
    "error": "bad",
    "problem": "bad",
    "red": "bad",
    "likely cause": "bad",
    "look at this": "doubtful",
    "where": "bad",
}
_VERDICT = "pass|accepted|warning|inconclusive|fail|error"
_ROW = re.compile(rf"(?P<before>.* {{2}})(?P<word>{_VERDICT})(?P<after>)")
"""A row of a table that ends in a verdict."""
_NOTE = re.compile(rf"(?P<before>)(?P<word>{_VERDICT}|problem|likely cause|where|look at this|red)(?P<after>: .*)")
_RUN = re.compile(rf"(?P<before>ireval: )(?P<word>{_VERDICT})(?P<after>[:,] .*)")
_DECIDES = re.compile(r" {2}.* <- (over tolerance|breaks the rule|over|red)")
"""A line of figures that the verdict rests on."""


class Piece(NamedTuple):
    """Text in one tone."""

    text: str
    tone: _Tone = "plain"


def summary_pieces(line: str) -> tuple[Piece, ...]:
    """A line of a summary, its verdict in the tone of it."""
    found = _RUN.fullmatch(line) or _NOTE.fullmatch(line) or _ROW.fullmatch(line)
    if found is None:
        return (Piece(line),)
    word = found["word"]
    return (Piece(found["before"]), Piece(word, TONES[word]), Piece(found["after"]))


def failure_pieces(text: str) -> Iterator[Piece]:
    """The lines of a failure: its headline and the figures that decided stand out."""
    for number, line in enumerate(text.split("\n")):
        yield Piece(line, "bad" if number == 0 or _DECIDES.fullmatch(line) else "plain")


MARKUP: Mapping[_Tone, Mapping[str, bool]] = {
    "plain": {},
    "good": {"green": True},
    "doubtful": {"yellow": True},
    "bad": {"red": True, "bold": True},
}


class Writer(Protocol):
    """What writes to a terminal; it leaves the markup out where the terminal has none or nobody wants any."""

    def write(self, text: str, *, flush: bool = False, **markup: bool) -> None:
        """The text as it is."""

    def line(self, text: str = "", **markup: bool) -> None:
        """The text and the end of the line."""


def _write_summary_line(reporter: pytest.TerminalReporter, line: str) -> None:
    """The line, its verdict in colour."""
    for piece in summary_pieces(line):
        reporter.write(piece.text, **MARKUP[piece.tone])
    reporter.write("\n")


class FailureShown:
    """What pytest keeps of a failure, drawn in colour; as a string, and wherever else it is read, it is as it was."""

    def __init__(self, plain: Any) -> None:
        self.reprcrash, self.reprtraceback = plain.reprcrash, plain.reprtraceback
        self.sections = plain.sections
        self.text = "\n".join(plain.reprtraceback.reprentries[0].lines)

    def __str__(self) -> str:
        return self.text.strip()

    def toterminal(self, writer: Writer) -> None:
        """Called by pytest, also for those who want no colours: their writers leave them out."""
        for piece in failure_pieces(self.text):
            writer.line(piece.text, **MARKUP[piece.tone])


def colour(report: pytest.TestReport) -> None:
    """A verdict against the change is drawn in colour; a failure of anything else stays as pytest has it.

    This is done where reports are shown: those of other processes arrive as plain data.
    """
    if not report.failed or not any(_names_a_rule(each) for each in report.user_properties):
        return
    plain: Any = report.longrepr
    entries: Sequence[Any] = getattr(getattr(plain, "reprtraceback", None), "reprentries", ())
    if len(entries) == 1 and getattr(entries[0], "style", "") == "value":
        report.longrepr = FailureShown(plain)  # type: ignore[assignment] # pytest asks for these names only


def as_one(reports: Sequence[pytest.TestReport], title: str, text: str) -> pytest.TestReport | None:
    """Several failures of a suite as one, for the terminal; None where somebody else failed or printed something."""
    first, *others = reports
    if not all(isinstance(each.longrepr, FailureShown) for each in reports) or any(each.sections for each in others):
        return None
    one = copy(first)
    one.longrepr = copy(first.longrepr)
    one.longrepr.text = as_printed(text)  # type: ignore[union-attr] # it is a FailureShown
    one.location = (*first.location[:2], title)
    return one


def _names_a_rule(recorded: object) -> bool:
    """Properties of other tests may be anything."""
    return isinstance(recorded, tuple | list) and len(recorded) == 2 and recorded[0] == RULE
