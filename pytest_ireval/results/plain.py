"""Results as what JSON knows, and back: by the type hints of their fields, the same for every class."""

from __future__ import annotations

import math
import operator
import types
from collections.abc import Callable, Mapping
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
    wanted: Any = hint
    return cast("T", _make_reader(wanted)(data, place, ()))


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


Reader = Callable[[Any, str, Path], Any]
"""Reads a plain value; a place and a path for messages."""


@cache
def _make_reader(hint: Any) -> Reader:
    """The function that reads values of a type; put together once, since there may be many of them."""
    kind, inner = classify_type(hint)
    if kind == "record":
        return _make_record_reader(hint)
    if kind == "choice":
        return _make_choice_reader(inner)
    if kind == "scalar":
        return _make_scalar_reader(hint)
    read = _make_reader(inner[0])
    if kind == "optional":
        return lambda data, place, path: None if data is None else read(data, place, path)
    return _make_list_reader(read) if kind == "list" else _make_mapping_reader(read)


def _make_record_reader(record: Any) -> Reader:
    readers = {name: _make_reader(hint) for name, hint in read_type_hints(record).items()}
    needed = [each.name for each in fields(record) if each.default is MISSING and each.default_factory is MISSING]

    def read_record(data: Any, place: str, path: Path) -> Any:
        if not isinstance(data, dict):
            raise _make_misfit_error(data, "an object", place, path)
        problems = [Problem("is missing", place, (*path, name)) for name in needed if name not in data]
        problems += [
            Problem("unknown key", place, (*path, key), did_you_mean(key, readers))
            for key in data
            if key not in readers
        ]
        if problems:
            raise InputError(*problems)
        return record(**{key: readers[key](each, place, (*path, key)) for key, each in data.items()})

    return read_record


def _make_list_reader(read: Reader) -> Reader:
    def read_list(data: Any, place: str, path: Path) -> Any:
        if not isinstance(data, list):
            raise _make_misfit_error(data, "a list", place, path)
        return tuple([read(each, place, (*path, str(i))) for i, each in enumerate(data)])

    return read_list


def _make_mapping_reader(read: Reader) -> Reader:
    def read_mapping(data: Any, place: str, path: Path) -> Any:
        if not isinstance(data, dict):
            raise _make_misfit_error(data, "an object", place, path)
        return {key: read(each, place, (*path, key)) for key, each in data.items()}

    return read_mapping


def _make_choice_reader(choices: tuple[Any, ...]) -> Reader:
    def read_choice(data: Any, place: str, path: Path) -> Any:
        if data not in choices:
            raise _make_misfit_error(data, f"one of {', '.join(choices)}", place, path)
        return choices[choices.index(data)]

    return read_choice


def _make_scalar_reader(hint: Any) -> Reader:
    if hint is Any:
        return lambda data, _place, _path: data

    def read_scalar(data: Any, place: str, path: Path) -> Any:
        # True is an int to Python, and a whole number a number.
        if type(data) is not hint and not (hint is float and type(data) is int):
            raise _make_misfit_error(data, _CALLED[hint], place, path)
        if hint is not float:
            return data
        if not _is_finite(data):
            raise _make_misfit_error(data, _CALLED[hint], place, path)
        return float(data)

    return read_scalar


def _is_finite(number: float) -> bool:
    """Tell whether it is one that a float can be; JSON has whole numbers of any length."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def _make_misfit_error(data: Any, wanted: str, place: str, path: Path) -> InputError:
    found = "null" if data is None else repr(data) if isinstance(data, str | int | float) else type(data).__name__
    return InputError(Problem(f"expected {wanted}, found {found[:80]}", place, path))


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
