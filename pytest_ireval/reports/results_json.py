"""A run as ``results.json``: everything, for programs, in a form with a version and a published schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.results.plain import from_plain, to_plain
from pytest_ireval.results.suite_result import RunResult

FOLDER = "ireval-report"
"""Where a run writes unless it is told otherwise."""
RESULTS = "results.json"
FORMAT = 1
"""The version of the form; a reader refuses another one."""
DEEPEST = 6
"""The queries of an outcome lie this deep: a line each."""
_flat = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""Made once: ``json.dumps`` would make an encoder for each value."""


def results_text(run: RunResult) -> str:
    """The same text for equal runs; lists of plain values take one line each."""
    text = "".join(_laid_out({"format": FORMAT, **to_plain(run)})) + "\n"
    return text.encode("utf-8", "backslashreplace").decode()  # JSON has these escapes for names that are no UTF-8


def run_of(text: str, place: str = "results.json") -> RunResult:
    """The run that :func:`results_text` wrote; ``place`` is what messages call the file."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(Problem(f"is no JSON: {error}", place)) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        found = f"format {data.get('format')!r}" if isinstance(data, dict) else type(data).__name__
        raise InputError(Problem(f"{found} cannot be read as results; this version reads format {FORMAT}", place))
    return from_plain({key: value for key, value in data.items() if key != "format"}, RunResult, place)


def _laid_out(value: Any, depth: int = 0) -> Iterator[str]:
    """A line for each entry, but for what lies deep or holds nothing but plain values."""
    within = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if depth >= DEEPEST or not any(isinstance(each, dict | list) and each for each in within):
        yield _flat(value)
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    keys = [f"{_flat(key)}: " for key in value] if isinstance(value, dict) else [""] * len(within)
    yield opening
    for number, (key, each) in enumerate(zip(keys, within, strict=True)):
        yield f"{',' if number else ''}\n{' ' * (depth + 1)}{key}"
        yield from _laid_out(each, depth + 1)
    yield f"\n{' ' * depth}{closing}"
