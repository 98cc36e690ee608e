"""Single values from outside: ids, grades and scores, from text or as numbers, refused with the reason."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import numpy as np

FRACTIONS = 'fractional grades are read with grades="float" (command line: --grades float)'
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)


class Unfit(ValueError):  # noqa: N818 - it says what a value is
    """Its text says what is wrong with a value, and ``suggestion`` what to do about it."""

    def __init__(self, complaint: str, suggestion: str = "") -> None:
        super().__init__(complaint)
        self.suggestion = suggestion


def id_of(value: Any) -> str:
    """An id as text; whole numbers are written out."""
    if isinstance(value, str) and value and (value.isascii() or _has_utf8(value)):
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(int(value))
    raise Unfit(f"{value!r} is no id; ids are text (or whole numbers)")


def _has_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Named(NamedTuple):
    """What messages call a number; put together only when there is something to say."""

    kind: str
    document: Any
    query: Any

    def __str__(self) -> str:
        return f"the {self.kind} of document {self.document!r} for query {self.query!r}"


def number_of(value: Any, what: Named) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise Unfit(f"{what} is {value!r}, not a number")
    try:
        number = float(value)
    except OverflowError:
        raise Unfit(f"{what} is too large for a number") from None
    if not math.isfinite(number):
        raise Unfit(f"{what} is {number!r}, not finite")
    return number


def number_in(value: Any, what: Named) -> float:
    """The same from a cell, where a number may be written as text."""
    if not isinstance(value, str):
        return number_of(value, what)
    text = value.strip()  # of more than float() does
    if not NUMBER.fullmatch(text):
        raise Unfit(f"{what} is {value!r}, not a number")
    number = number_of(float(text), what)
    if not number and what.kind == "grade" and text.lower().partition("e")[0].strip("+-.0"):
        raise Unfit(f"{what} is {value!r}, which is too small for a number")
    return number


def whole(number: float, value: Any, what: Named) -> float:
    """The number, if it has no fraction."""
    if not number.is_integer():
        raise Unfit(f"{what} is {value!r}, not a whole number", FRACTIONS)
    return number


def id_in(value: Any) -> str:
    """An id from a cell: blanks around it do not count."""
    return id_of(value.strip() if isinstance(value, str) else value)


def is_quoted(cell: object) -> bool:
    """Whether it stands in quotes."""
    return isinstance(cell, str) and len(cell) > 1 and cell[0] == cell[-1] == '"'


def text_in(value: Any) -> str:
    """Text from a cell; nothing for a missing one."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, int | float | np.integer | np.floating):
        return str(value)
    raise Unfit(f"{value!r} is no text")


def cell_text(value: Any) -> str:
    """A cell that is kept as text; what has parts is written as JSON."""
    if isinstance(value, dict | list):
        import json

        return json.dumps(value, ensure_ascii=False, default=str)
    return "" if value is None else value if isinstance(value, str) else str(value)
