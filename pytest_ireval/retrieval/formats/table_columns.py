"""What a table's first line lacks to be queries, judgments or rankings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pytest_ireval.retrieval.formats.reader import Content
from pytest_ireval.retrieval.tables import COLUMN_NAMES, identifies, named

NEEDED: dict[Content, tuple[tuple[str, ...], ...]] = {
    "queries": (("id",), ("text",)),
    "judgments": (("query",), ("document",), ("grade",)),
    "rankings": (("query",), ("document",), ("score", "rank")),
}
"""The kinds of columns, one of each; see COLUMN_NAMES."""


class Lack(NamedTuple):
    """What is there, what is missing, and what that is called."""

    there: str
    missing: str
    known: str


def lack(names: Sequence[str], content: Content) -> Lack | None:
    """What columns of these names lack; None if they have all, or nothing of it."""
    found = {kinds: _found(names, kinds) for kinds in NEEDED[content]}
    missing = [kinds for kinds, name in found.items() if not name]
    if not missing or len(missing) == len(found):
        return None
    there = [f"the {kinds[0]} ({name})" for kinds, name in found.items() if name]
    return Lack(
        " and ".join(there),
        " nor for the ".join(" or ".join(kinds) for kinds in missing),
        "\n  ".join(f"the {kind} is called {_called(kind)}" for kinds in missing for kind in kinds),
    )


def _found(names: Sequence[str], kinds: Sequence[str]) -> str:
    """The column that is one of these kinds; nothing if there is none."""
    found = next((name for kind in kinds if (name := named(names, kind)) is not None), "")
    return "query" if kinds == ("id",) and not found and identifies(names) else str(found)


def _called(kind: str) -> str:
    return ", ".join(name for group in COLUMN_NAMES[kind] for name in group)
