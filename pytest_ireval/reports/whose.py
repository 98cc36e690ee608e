"""Whose suites are red."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_ireval.results.suite_result import RunResult
from pytest_ireval.text_table import wrapped

LISTED = 5
"""So many suites of an owner are named, the others counted."""
RED = ("fail", "error")


def whose_lines(run: RunResult, limit: int = 80) -> list[str]:
    """The owners of red suites with what is red; nothing where no red suite has an owner."""
    by_owner = owners_of(run)
    if not any(by_owner):
        return []
    said = [f"{owner or 'without an owner'} ({_some(names)})" for owner, names in by_owner.items()]
    return wrapped(f"red: {', '.join(said)}", limit, then="  ")


def owners_of(run: RunResult) -> dict[str, list[str]]:
    """The names of red suites by owner, in the order of the run; those of nobody come last, under no name."""
    red = [suite for suite in run.suites if suite.verdict in RED]
    owners = [owner for owner in dict.fromkeys(suite.owner for suite in red) if owner]
    found = {owner: [suite.name for suite in red if suite.owner == owner] for owner in owners}
    unowned = [suite.name for suite in red if not suite.owner]
    return {**found, **({"": unowned} if unowned else {})}


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more
