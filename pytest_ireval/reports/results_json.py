"""A run as ``results.json``: everything, for programs, in a form with a version and a published schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.results.outcome import VERDICTS, Verdict
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


def refuse_contradictions(run: RunResult, place: str) -> RunResult:
    """The run, if no whole of it is said to be better than its parts; no run writes such a file."""
    if wrong := next(_contradictions(run), ""):
        complaint = f"is inconsistent, so it may have been edited: {wrong}"
        raise InputError(Problem(complaint, place, suggestion="run the suites again and use the new file"))
    return run


def _contradictions(run: RunResult) -> Iterator[str]:
    """Where a whole is said to be better than its parts."""
    for suite in run.suites:
        for each in suite.outcomes:
            if _better(suite.verdict, each.verdict):
                yield f"suite {suite.name} is said to {_be(suite.verdict)}, and its {each.id} to {_be(each.verdict)}"
        if _better(run.verdict, suite.verdict):
            yield f"the run is said to {_be(run.verdict)}, and suite {suite.name} to {_be(suite.verdict)}"
    if run.failed_tests and _better(run.verdict, "fail"):
        yield f"the run is said to {_be(run.verdict)}, and {run.failed_tests[0]} to fail"
    if run.verdict != "error" and (run.problems or not (run.suites or run.unaffected)):
        yield f"the run is said to {_be(run.verdict)}, and {run.problems[0] if run.problems else 'no suite was judged'}"


def _better(one: Verdict, other: Verdict) -> bool:
    return VERDICTS.index(one) < VERDICTS.index(other)


def _be(verdict: Verdict) -> str:
    return verdict if verdict in ("pass", "fail") else f"be {verdict}" if verdict == "inconclusive" else "be an error"


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
