"""Who took part in a run of suites that are affected by a change, and who did not."""

from __future__ import annotations

from pytest_ireval.plurals import counted
from pytest_ireval.results.suite_result import RunResult
from pytest_ireval.text_table import printable, wrapped

LISTED = 40
"""So many of them are named; all are in the results."""


def affected_lines(run: RunResult, limit: int = 80) -> list[str]:
    """Those that took no part, by name: nobody shall take them for suites that passed."""
    if not run.unaffected:
        return []
    count = counted(len(run.unaffected), "suite")
    more = ", …" if len(run.unaffected) > LISTED else ""
    names = ", ".join(run.unaffected[:LISTED]) + more
    text = f"not affected by what changed since {run.changed_since}: {names} ({count})"
    return wrapped(text, limit, then="  ")


def reason_lines(run: RunResult, limit: int = 80) -> list[str]:
    """Why each of the others took part."""
    reasons = [f"{suite.name}: {suite.affected_by}" for suite in run.suites if suite.affected_by]
    lines = [line for reason in reasons for line in wrapped(printable(reason), limit, then="  ")]
    return [f"affected by what changed since {printable(run.changed_since)}:", *lines, ""] if lines else []
