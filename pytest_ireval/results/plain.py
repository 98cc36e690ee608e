"""Results as what JSON knows, and back: by the type hints of their fields, the same for every class."""

from __future__ import annotations

import math
import operator
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pytest_ireval.errors import InputError, Problem, did_you_mean
from pytest_ireval.masking import mask_text, mask_values
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.suite_result import SuiteResult

T = TypeVar("T")
Path = tuple[str, ...]


def to_plain(value: Any) -> Any:
    """Dicts, lists, texts and numbers; a field of type float is a float there, whatever kind of number it was."""
    record: Any = type(value)
    return _make_writer(record)(value)


def from_plain(data: Any, hint: type[T], place: str = "") -> T:
    """The value that :func:`to_plain` made ``data`` of; raises InputError with the path to what does not fit.

    What is left out has the field's default, if there is one.
    """
    return cast("T", _read(data, hint, place, ()))


@cache
def read_type_hints(record: Any) -> dict[str, Any]:
    """The type of each field of a dataclass, in order."""
    hints = get_type_hints(record)
    return {each.name: hints[each.name] for each in fields(record)}


@cache
def classify_type(hint: Any) -> tuple[str, tuple[Any, ...]]:
    """The kind of a type, and the types of its parts."""
    origin, inner = get_origin(hint), get_args(hint)
    if is_dataclass(hint):
        return "record", ()
    if origin in (Union, types.UnionType):
        return "optional", tuple(each for each in inner if each is not type(None))
    if origin is tuple:
        return "list", inner[:1]
    if origin is Mapping:
        return "mapping", inner[1:]
    if origin is Literal:
        return "choice", inner
    return "scalar", (hint,)


@cache
def _make_writer(hint: Any) -> Callable[[Any], Any]:
    """The function that makes values of a type plain; put together once, since there may be many of them."""
    kind, inner = classify_type(hint)
    if kind == "record":
        parts = [(name, _make_writer(each)) for name, each in read_type_hints(hint).items()]
        return lambda value: {name: write(getattr(value, name)) for name, write in parts}
    write = (
        _make_writer(inner[0]) if kind in ("optional", "list", "mapping") else _SCALARS.get(hint, lambda value: value)
    )
    if kind == "optional":
        return lambda value: None if value is None else write(value)
    if kind == "list":
        return lambda value: [write(each) for each in value]
    if kind == "mapping":
        return lambda value: {str(key): write(each) for key, each in value.items()}
    return write


_SCALARS: dict[Any, Callable[[Any], Any]] = {float: float, int: operator.index, bool: bool, str: str}
_CALLED = {float: "a number", int: "a whole number", bool: "true or false", str: "text"}


def _read(data: Any, hint: Any, place: str, path: Path) -> Any:
    kind, inner = classify_type(hint)
    if kind == "optional":
        return None if data is None else _read(data, inner[0], place, path)
    if kind == "record":
        return _read_record(data, hint, place, path)
    if kind == "list":
        _expect(isinstance(data, list), data, "a list", place, path)
        return tuple(_read(each, inner[0], place, (*path, str(i))) for i, each in enumerate(data))
    if kind == "mapping":
        _expect(isinstance(data, dict), data, "an object", place, path)
        return {key: _read(each, inner[0], place, (*path, key)) for key, each in data.items()}
    if kind == "choice":
        _expect(data in inner, data, f"one of {', '.join(inner)}", place, path)
        return inner[inner.index(data)]
    return _read_scalar(data, hint, place, path)


def _is_finite(number: float) -> bool:
    """Tell whether it is one that a float can be; JSON has whole numbers of any length."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def _read_scalar(data: Any, hint: type[Any], place: str, path: Path) -> Any:
    if hint is Any:
        return data
    allowed: tuple[type[Any], ...] = (int, float) if hint is float else (hint,)
    fits = isinstance(data, allowed) and (hint is bool or not isinstance(data, bool))
    _expect(fits and (hint is not float or _is_finite(data)), data, _CALLED[hint], place, path)
    return float(data) if hint is float else data


def _read_record(data: Any, record: Any, place: str, path: Path) -> Any:
    _expect(isinstance(data, dict), data, "an object", place, path)
    hints = read_type_hints(record)
    needed = (each.name for each in fields(record) if each.default is MISSING and each.default_factory is MISSING)
    problems = [Problem("is missing", place, (*path, name)) for name in needed if name not in data]
    problems += [
        Problem("unknown key", place, (*path, key), did_you_mean(key, hints)) for key in data if key not in hints
    ]
    if problems:
        raise InputError(*problems)
    return record(**{key: _read(each, hints[key], place, (*path, key)) for key, each in data.items()})


def _expect(fits: bool, data: Any, wanted: str, place: str, path: Sequence[str]) -> None:
    if not fits:
        found = "null" if data is None else repr(data) if isinstance(data, str | int | float) else type(data).__name__
        raise InputError(Problem(f"expected {wanted}, found {found[:80]}", place, tuple(path)))


def mask_secrets(result: SuiteResult) -> SuiteResult:
    """The result with secrets hidden in all texts; ids, queries and figures stay as they are."""
    return replace(
        result,
        error=mask_text(result.error),
        source=mask_text(result.source),
        judgments=mask_text(result.judgments),
        notes=mask_values(result.notes),
        affected_by=mask_text(result.affected_by),
        metrics=tuple(replace(each, error=mask_text(each.error)) for each in result.metrics),
        outcomes=tuple(map(_mask_outcome, result.outcomes)),
        diagnoses=tuple(
            replace(each, headline=mask_text(each.headline), advice=mask_text(each.advice)) for each in result.diagnoses
        ),
        cause=result.cause
        and replace(result.cause, **{name: mask_values(getattr(result.cause, name)) for name in _TEXTS}),
    )


_TEXTS = ("request", "system", "files", "index", "rebuilt", "judges", "sources")
"""The fields of a cause that hold text of a suite or of a system."""


def _mask_outcome(outcome: Outcome) -> Outcome:
    return replace(
        outcome,
        headline=mask_text(outcome.headline),
        sentence=mask_text(outcome.sentence),
        queries_title=mask_text(outcome.queries_title),
        facts=mask_values(outcome.facts),
        statistics=mask_values(outcome.statistics),
        against=mask_text(outcome.against),
        queries=tuple(replace(each, note=mask_text(each.note)) for each in outcome.queries),
    )
