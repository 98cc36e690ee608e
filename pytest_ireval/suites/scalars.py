"""What a suite's text is before it has a type, and the message for text that has none."""

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


class Scalar(str):
    """Text of a suite that knows where it stands."""

    __slots__ = ("column", "file", "line")

    file: File
    line: int
    column: int

    @property
    def folder(self) -> str:
        """The folder of its file, absolute."""
        return self.file.folder

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(self.file.shown, self.line, self.column)


class Items(list[Any]):
    """A list of a suite that knows where it begins."""

    __slots__ = ("column", "file", "line")

    file: File
    line: int
    column: int

    @property
    def place(self) -> Place:
        """Where it begins."""
        return Place(self.file.shown, self.line, self.column)


class Keys(dict[Any, Any]):
    """A mapping of a suite that knows where it begins; its keys know where they stand."""

    __slots__ = ("column", "file", "line")

    file: File
    line: int
    column: int

    @property
    def place(self) -> Place:
        """Where it begins."""
        return Place(self.file.shown, self.line, self.column)


Written = TypeVar("Written", Scalar, Items, Keys)
NOWHERE = File("", "")


def put_value(value: Written, file: File, line: int, column: int) -> Written:
    """The same, standing there."""
    value.file, value.line, value.column = file, line, column
    return value


def place_of(value: Any) -> Place:
    """Where a value stands; nowhere, if it was not read from a file."""
    return value.place if isinstance(value, (Scalar, Items, Keys)) else Place("", 0, 0)


class UnfitError(ValueError):
    """A value is not what it should be; raised by types of options, which makes it a mistake at the value's place."""

    def __init__(self, complaint: str, suggestion: str = "", allowed: str = "") -> None:
        self.complaint, self.suggestion, self.allowed = complaint, suggestion, allowed
        super().__init__("\n".join(filter(None, (complaint, suggestion, allowed))))


def plain_value(value: Any, what: str) -> str:
    """The text of a scalar, without blanks around it."""
    if isinstance(value, str):
        return str(value).strip()
    raise unfit(value, what)


def number_in_scalar(value: Any, what: str) -> float:
    """The finite number that ``value`` is, or is the text of."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    text = plain_value(value, what)
    if not NUMBER.fullmatch(text) or not math.isfinite(number := float(text)):
        raise unfit(value, what)
    return number


def unfit(value: Any, what: str) -> UnfitError:
    """The error that says that ``value`` is none, where ``what`` is such as ``bound: write '>= 0.85'``."""
    kind = "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, (list, tuple)) else ""
    return UnfitError(f"{kind or shown(str(value))} is not a valid {what}")
