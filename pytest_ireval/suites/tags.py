"""Whether tags can be marks of tests: a mark that pytest acts on would skip verdicts, and a skip is green."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytest_ireval.errors import Problem, shown

if TYPE_CHECKING:
    from pytest_ireval.suites.checks import Read

TAG = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
ACTS = frozenset(
    ("skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings", "tryfirst", "trylast", "ireval")
)
"""Marks with a meaning of their own."""
OPERATORS = frozenset(("and", "or", "not"))
ALLOWED = "a tag is a word of letters, digits, _ . and -, and begins with a letter"


def unfit_tags(read: Read) -> Iterator[Problem]:
    """Tags of the suite, each at its place, then those of its rules."""
    for number, tag in enumerate(read.values.get("tags", ())):
        if complaint := wrong_with(tag):
            where = read.at("tags", number)
            yield Problem(complaint, str(where.place), where.path, allowed=ALLOWED)
    for placed in read.rules:
        for tag in getattr(placed.asked.options, "tags", ()):
            if complaint := wrong_with(tag):
                path = (*placed.path, placed.asked.kind.name, "tags")
                yield Problem(complaint, str(placed.asked.place), path, allowed=ALLOWED)


def wrong_with(tag: str) -> str:
    """Why it can be no tag; nothing if it can."""
    if not TAG.fullmatch(tag):
        return f"{shown(tag)} is no tag"
    if tag in ACTS:
        return f"{tag!r} is no tag: pytest acts on a mark of that name"
    return f"{tag!r} is no tag: it is an operator of pytest -m" if tag in OPERATORS else ""
