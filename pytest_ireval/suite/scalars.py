"""The tree of a suite's text: scalars, lists and mappings with their places, and the error of a text that is wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from pytest_ireval.errors import Problem, quote
from pytest_ireval.suite.suite import Place

NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class File(NamedTuple):
    """A YAML file: as messages show it, and the folder that paths in it are relative to."""

    shown: str
    folder: str


class _Placed:
    """A value of a suite with the place where it begins."""

    __slots__ = ()

    file: File
    line: int
    column: int

    @property
    def place(self) -> Place:
        """The place where it begins."""
        return Place(self.file.shown, self.line, self.column)


class Scalar(_Placed, str):
    """Text of a suite with its place."""

    __slots__ = ("column", "file", "line", "public", "quoted")
    quoted: bool
    public: str
    """What reports and baselines show of it: variables that may hold a secret are names, as ``${TOKEN}``."""

    def __new__(cls, text: str, *, quoted: bool = False, public: str | None = None) -> Scalar:
        """Keep whether it is written in quotes: ``"10"`` is a text where a text and a number are different things."""
        made = super().__new__(cls, text)
        made.quoted, made.public = quoted, text if public is None else public
        return made

    @property
    def folder(self) -> str:
        """The folder of its file, absolute."""
        return self.file.folder


class Items(_Placed, list[Any]):
    """A list of a suite with its place."""

    __slots__ = ("column", "file", "line")


class Keys(_Placed, dict[Any, Any]):
    """A mapping of a suite with its place; its keys have places, too."""

    __slots__ = ("column", "file", "line")


Written = TypeVar("Written", Scalar, Items, Keys)


def put_value(value: Written, file: File, line: int, column: int) -> Written:
    """The same value with that place."""
    value.file, value.line, value.column = file, line, column
    return value


def place_of(value: Any) -> Place:
    """The place of a value; an empty one if it was not read from a file."""
    return value.place if isinstance(value, _Placed) else Place("", 0, 0)


KEY = "[key]"
"""The last part of the location of a key; pydantic adds it, too."""


def list_public_texts(tree: Any) -> Any:
    """The same tree with the texts that reports may show."""
    if isinstance(tree, Keys):
        return {str(key): list_public_texts(each) for key, each in tree.items()}
    if isinstance(tree, Items):
        return [list_public_texts(each) for each in tree]
    return tree.public if isinstance(tree, Scalar) else tree


class Spot(NamedTuple):
    """The keys that lead to a value, as messages show them, and its place."""

    path: tuple[str, ...]
    place: Place


def find_place(tree: Any, location: Sequence[str | int]) -> Spot:
    """Find the value at a location of pydantic's; parts that are not written are skipped.

    The place of a list or a mapping is that of its key. Items of a list are counted by file, as rules of several files
    are in one list.
    """
    path: list[str] = []
    place = place_of(tree)
    for part in location:
        if part == KEY:
            break
        if isinstance(tree, Keys) and part in tree:
            key = next(each for each in tree if each == part)
            tree = tree[key]
            at_key = isinstance(tree, (Keys, Items)) or location[-1] == KEY or tree == ""
            path, place = [*path, str(key)], place_of(key if at_key else tree)
        elif isinstance(tree, Items) and isinstance(part, int) and part < len(tree):
            file = tree[part].file
            path.append(str(sum(each.file == file for each in tree[: part + 1])))
            tree = tree[part]
            place = place_of(tree)
    return Spot(tuple(path), place)


def problem_at(
    tree: Any, location: Sequence[str | int], complaint: str, suggestion: str = "", allowed: str = ""
) -> Problem:
    """A problem of the value at a location."""
    path, place = find_place(tree, location)
    return Problem(complaint, str(place) if place.file else "", path, suggestion, allowed)


class UnfitError(ValueError):
    """A value does not fit its type. Types of options raise it; it becomes a mistake at the value's place."""

    def __init__(self, complaint: str, suggestion: str = "", allowed: str = "") -> None:
        self.complaint, self.suggestion, self.allowed = complaint, suggestion, allowed
        super().__init__("\n".join(filter(None, (complaint, suggestion, allowed))))


def plain_value(value: Any, what: str) -> str:
    """The text of a scalar, without blanks around it."""
    if isinstance(value, str):
        return str(value).strip()
    raise unfit(value, what)


def number_in_scalar(value: Any, what: str) -> float:
    """The finite number of ``value``, a number or its text."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    text = plain_value(value, what)
    if not NUMBER.fullmatch(text) or not math.isfinite(number := float(text)):
        raise unfit(value, what)
    return number


def unfit(value: Any, what: str) -> UnfitError:
    """The error of an invalid value; ``what`` is such as ``bound: write '>= 0.85'``."""
    return UnfitError(f"{describe_kind(value)} is not a valid {what}")


def describe_kind(value: Any) -> str:
    """``a mapping``, ``a list``, or the value itself."""
    return (
        "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, (list, tuple)) else quote(str(value))
    )
