"""What a suite's text is before it has a type, and what is said of text that has none."""

from __future__ import annotations

import math
import re
from typing import Any

from pytest_ireval.errors import shown

NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class Scalar(str):
    """Text of a suite that knows where it stands."""

    __slots__ = ("column", "file", "folder", "line")

    file: str
    """The file as messages show it."""
    folder: str
    """The folder of that file, absolute: paths are relative to it."""
    line: int
    column: int


def scalar(text: str, file: str = "", folder: str = "", line: int = 0, column: int = 0) -> Scalar:
    """Text that stands there."""
    made = Scalar(text)
    made.file, made.folder, made.line, made.column = file, folder, line, column
    return made


class UnfitError(ValueError):
    """A value is not what it should be; raised by types of options, which makes it a mistake at the value's place."""

    def __init__(self, complaint: str, suggestion: str = "", allowed: str = "") -> None:
        self.complaint, self.suggestion, self.allowed = complaint, suggestion, allowed
        super().__init__("\n".join(filter(None, (complaint, suggestion, allowed))))


def plain(value: Any, what: str) -> str:
    """The text of a scalar, without blanks around it."""
    if isinstance(value, str):
        return str(value).strip()
    raise unfit(value, what)


def number_of(value: Any, what: str) -> float:
    """The finite number that ``value`` is, or is the text of."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    text = plain(value, what)
    if not NUMBER.fullmatch(text) or not math.isfinite(number := float(text)):
        raise unfit(value, what)
    return number


def unfit(value: Any, what: str) -> UnfitError:
    """The error that says that ``value`` is none, where ``what`` is such as ``bound: write '>= 0.85'``."""
    kind = "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, (list, tuple)) else ""
    return UnfitError(f"{kind or shown(str(value))} is no {what}")
