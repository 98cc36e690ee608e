"""The summary in the terminal: a row for each suite and metric, and what was accepted."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Literal, NamedTuple, cast

import pytest

from pytest_ireval.pytest_adapter.accepting import Accepting
from pytest_ireval.pytest_adapter.code_host import as_printed
from pytest_ireval.pytest_adapter.items import RULE
from pytest_ireval.reports.summary_table import brief_lines, reason_lines, section_warnings, summary_lines, update_lines
from pytest_ireval.results.suite_result import RunResult

WIDTH = 80


def width_of(config: pytest.Config) -> int:
    """Columns of the terminal that pytest writes to; 80 where there is none."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not reporter.isatty:
        return int(shutil.get_terminal_size((WIDTH, 24)).columns) if "COLUMNS" in os.environ else WIDTH
    return min(200, shutil.get_terminal_size((WIDTH, 24)).columns)


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
        for piece in summary_pieces(as_printed(line)):
            reporter.write(piece.text, **MARKUP[piece.tone])
        reporter.write("\n")
    for problem in accepting.problems:
        reporter.write_line(as_printed(f"not accepted: {problem}"), red=True)
    if not quiet:
        for path in files:
            reporter.write_line(f"written: {path}")


_Tone = Literal["plain", "good", "doubtful", "bad"]
TONES: dict[str, _Tone] = {
    **dict.fromkeys(("pass", "accepted"), "good"),
    **dict.fromkeys(("warning", "inconclusive", "look at this"), "doubtful"),
    **dict.fromkeys(("fail", "error", "problem", "red", "likely cause", "where"), "bad"),
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


class FailureShown:
    """A failure as pytest keeps it, drawn in colour; its text and other attributes are unchanged."""

    def __init__(self, plain: Any) -> None:
        self.reprcrash, self.reprtraceback = plain.reprcrash, plain.reprtraceback
        self.sections = plain.sections
        self.text = "\n".join(plain.reprtraceback.reprentries[0].lines)

    def __str__(self) -> str:
        return self.text.strip()

    def toterminal(self, writer: Any) -> None:
        """Called by pytest, also without colours: then the writer leaves them out."""
        for piece in failure_pieces(self.text):
            writer.line(piece.text, **MARKUP[piece.tone])


def colour(report: pytest.TestReport) -> None:
    """Draw a verdict in colour where reports are shown: those of other processes arrive as plain data."""
    if not report.failed or not recorded(report, RULE):
        return
    plain: Any = report.longrepr
    entries: Sequence[Any] = getattr(getattr(plain, "reprtraceback", None), "reprentries", ())
    if len(entries) == 1 and getattr(entries[0], "style", "") == "value":
        report.longrepr = FailureShown(plain)  # type: ignore[assignment] # pytest asks for these names only


def as_one(reports: Sequence[pytest.TestReport], title: str, text: str) -> pytest.TestReport | None:
    """Several failures of a suite as one, for the terminal; None if one has another text or printed something."""
    first, *others = reports
    if not all(isinstance(each.longrepr, FailureShown) for each in reports) or any(each.sections for each in others):
        return None
    one, block = copy(first), copy(cast(Any, first.longrepr))
    block.text = as_printed(text)
    one.longrepr, one.location = block, (*first.location[:2], title)
    return one


def recorded(report: pytest.TestReport, name: str) -> list[object]:
    """The values that a test recorded under a name; properties of other tests may be anything."""
    pairs = [each for each in report.user_properties if isinstance(each, tuple | list) and len(each) == 2]
    return [value for key, value in pairs if key == name]
