"""The text of a suite before it has a type, and the message for text that does not fit its type."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple, TypeVar

from pytest_ireval.errors import shown
from pytest_ireval.suites.suite import Place

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

    __slots__ = ("column", "file", "line", "quoted")
    quoted: bool

    def __new__(cls, text: str, *, quoted: bool = False) -> Scalar:
        """Keep whether it is written in quotes: ``"10"`` is a text where a text and a number are different things."""
        made = super().__new__(cls, text)
        made.quoted = quoted
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
    kind = "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, (list, tuple)) else ""
    return UnfitError(f"{kind or shown(str(value))} is not a valid {what}")
