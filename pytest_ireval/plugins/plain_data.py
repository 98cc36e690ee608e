"""What a plugin hands over, checked and copied as JSON knows it: pages drawn from it now and later are the same."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from pytest_ireval.errors import PluginError

DEEPEST = 50
"""Levels; a value that holds itself has no end."""
SHOWN = 3
"""So many things that are no data are named."""


def plain(data: Any) -> dict[str, Any]:
    """A copy of it with lists for tuples; raises PluginError that names the path to what JSON does not know."""
    if not isinstance(data, dict):
        raise PluginError(f"returned {_called(data)}, where a dict is expected")
    wrong = []
    for each in _wrong(data, "", 0):
        wrong.append(each)
        if len(wrong) == SHOWN:
            break
    if wrong:
        raise PluginError(f"returned what is no plain data: {'; '.join(wrong)}")
    try:
        copy: dict[str, Any] = json.loads(json.dumps(data, allow_nan=False))
    except ValueError as error:  # a whole number of thousands of digits
        raise PluginError(f"returned what is no plain data: {error}") from error
    return copy


def _wrong(value: Any, path: str, depth: int) -> Iterator[str]:
    """Path and complaint of everything that does not fit."""
    if depth > DEEPEST:
        yield f"{path[:200]} lies deeper than {DEEPEST} levels"
    elif isinstance(value, dict):
        yield from (
            f"{path or 'it'} has the key {key!r}, which is no text" for key in value if not isinstance(key, str)
        )
        for key, each in value.items():
            yield from _wrong(each, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list | tuple):
        for number, each in enumerate(value):
            yield from _wrong(each, f"{path}[{number}]", depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{path} is {float(value)!r}"
    elif value is not None and not isinstance(value, str | bool | int | float):
        yield f"{path} is {_called(value)}"


def _called(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
