"""Tables of other names: which document is called what now, and which documents are variants of one thing.

CSV or TSV whose first line names the columns: ``from`` and ``to``, or ``document`` and ``group``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pytest_ireval.errors import InputError, Mistakes, Problem, shown
from pytest_ireval.retrieval.formats.delimited import table
from pytest_ireval.retrieval.formats.input_file import FilePath, input_file
from pytest_ireval.retrieval.tables import COLUMN_NAMES, Table, named
from pytest_ireval.retrieval.values import Unfit, id_in, is_quoted

LISTED = 20
"""Columns, or steps of a circle, that a message names."""


class _Entry(NamedTuple):
    """What one row says of an id."""

    other: str
    place: str


def read_aliases(path: FilePath) -> dict[str, str]:
    """Every old id with its name now.

    An id on the left is in use no more, so rows a → b and b → c say that a is c now. A row that names an id after
    itself says nothing.
    """
    entries = {old: entry for old, entry in _entries(path, "from", "to", "called").items() if old != entry.other}
    mistakes = Mistakes()
    names: dict[str, str] = {}
    for old in entries:
        _follow(old, entries, names, mistakes)
    mistakes.refuse()
    return names


def read_groups(path: FilePath) -> dict[str, str]:
    """Every document with its group. A document that is called like a group belongs to that group."""
    entries = _entries(path, "document", "group", "in group")
    groups = {entry.other for entry in entries.values()}
    mistakes = Mistakes()
    for document, entry in entries.items():
        if document in groups and entry.other != document:
            mistakes.add(
                Problem(
                    f"{shown(document)} is in group {shown(entry.other)}, and is itself the group of others",
                    place=entry.place,
                    suggestion="a document that is called like a group belongs to it: put all of them into one group",
                )
            )
    mistakes.refuse()
    return {document: entry.other for document, entry in entries.items()}


def _entries(path: FilePath, key: str, value: str, says: str) -> dict[str, _Entry]:
    """The rows by their key, checked; two rows may say the same, and not different things."""
    with input_file(path) as file:
        found = table(file)
        literal = file.delimiter == "\t"
    keys, values = _column(found, key), _column(found, value)
    if not keys:
        raise InputError(Problem("there is nothing below the names of the columns", place=found.origin))
    entries: dict[str, _Entry] = {}
    mistakes = Mistakes()
    for row, cells in enumerate(zip(keys, values, strict=True)):
        place = found.place(row)
        try:
            name, other = (_id(cell, literal) for cell in cells)
        except Unfit as unfit:
            mistakes.add(Problem(str(unfit), place=place, suggestion=unfit.suggestion))
            continue
        known = entries.setdefault(name, _Entry(other, place))
        if known.other != other:
            twice = f"{shown(name)} is {says} {shown(other)} here, and {says} {shown(known.other)} at {known.place}"
            mistakes.add(Problem(twice, place=place))
    mistakes.refuse()
    return entries


def _column(found: Table, kind: str) -> list[str]:
    """The column of that kind; an error that says what the first line should have been."""
    name = named(found.columns, kind)
    if name is None:
        left = len(found.columns) - LISTED
        names = ", ".join(map(shown, list(found.columns)[:LISTED])) + (f" and {left:,} more" if left > 0 else "")
        names_of_kind = ", ".join(each for group in COLUMN_NAMES[kind] for each in group)
        complaint = f"no column is called {kind!r}: the first line names {names}"
        raise InputError(Problem(complaint, place=found.origin, allowed=f"one of {names_of_kind}"))
    return list(found.column(kind))


def _id(cell: str, literal: bool) -> str:
    if literal and is_quoted(cell.strip()):
        raise Unfit(f"the id {cell.strip()} is in quotes", "TSV is taken literally: leave the quotes out, or write CSV")
    return id_in(cell)


def _follow(old: str, entries: Mapping[str, _Entry], names: dict[str, str], mistakes: Mistakes) -> None:
    """Enter the name at the end of the chain that begins with ``old``, for all ids on the way."""
    way: dict[str, None] = {}
    name = old
    while name in entries and name not in names:
        if name in way:
            steps = list(way)
            circle = [*map(shown, [*steps[steps.index(name) :], name])]
            left = len(circle) - LISTED
            if left > 0:
                circle[LISTED - 1 : -1] = [f"{left + 1:,} more"]
            complaint = f"aliases lead in a circle: {' → '.join(circle)}"
            mistakes.add(Problem(complaint, place=entries[name].place))
            break
        way[name] = None
        name = entries[name].other
    names.update(dict.fromkeys(way, names.get(name, name)))
