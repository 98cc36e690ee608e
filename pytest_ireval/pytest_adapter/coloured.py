"""Our texts in the colours of the terminal, where pytest uses any; files and other programs get them without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import pytest

from pytest_ireval.pytest_adapter.suite_files import RULE
from pytest_ireval.reports.colours import Tone, failure_pieces, summary_pieces

MARKUP: Mapping[Tone, Mapping[str, bool]] = {
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


def write_summary_line(reporter: pytest.TerminalReporter, line: str) -> None:
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


def _names_a_rule(recorded: object) -> bool:
    """Properties of other tests may be anything."""
    return isinstance(recorded, tuple | list) and len(recorded) == 2 and recorded[0] == RULE
