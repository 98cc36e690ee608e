"""Types of options: each reads the text of a suite, or refuses it with what to write.

A type is one of pydantic's with a check of ours before it, as pydantic takes ``inf``, ``1_000`` and ``t``; or one of
our own, which a function reads.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetPydanticSchema,
    PlainValidator,
    TypeAdapter,
    ValidationInfo,
    WithJsonSchema,
)

from pytest_ireval.data.queries import normalize_text
from pytest_ireval.errors import MetricNameError, did_you_mean, find_closest, quote
from pytest_ireval.masking import SHORTEST, register_secret
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.suite import editor_types, quantities, watches
from pytest_ireval.suite.quantities import Amount, Bound, Tolerance, Tolerances
from pytest_ireval.suite.scalars import Keys, Scalar, UnfitError, number_in_scalar, plain_value, unfit
from pytest_ireval.suite.sources_and_rules import read_reference, registry_of
from pytest_ireval.suite.suite import Reference, Watch
from pytest_ireval.words import is_placeholder


def read_with(read: Callable[..., Any], schema: editor_types.Schema) -> GetPydanticSchema:
    """Let a function make the values of a type of ours, into which pydantic does not look; ``schema`` is for editors.

    Constraints such as ``ge`` cannot be added to such a type.
    """
    return GetPydanticSchema(
        lambda _source, handler: handler.generate_schema(Annotated[Any, PlainValidator(read)]),
        lambda _schema, _handler: dict(schema),
    )


def _read_list(value: Any) -> Any:
    """Make a list of one value."""
    return value if isinstance(value, (list, tuple)) else [value]


def _read_some(value: Any) -> Any:
    """Make a list of one value, and refuse an empty list."""
    if isinstance(value, list) and not value:
        raise UnfitError("an empty list has no effect: name at least one")
    return _read_list(value)


Text = str
"""Any text."""
Texts = Annotated[tuple[Text, ...], BeforeValidator(_read_list, json_schema_input_type=Text | tuple[Text, ...])]
"""One text or a list of them."""


def _check_reason(text: str) -> str:
    if is_placeholder(text):
        raise UnfitError(f"{quote(text)} is no reason", "name a ticket, or say what has to happen")
    return text


ReasonText = Annotated[Text, AfterValidator(_check_reason)]


def _read_secret(value: str, info: ValidationInfo) -> str:
    """Hide a text from all outputs from now on: they show the name of the option in its place."""
    if 0 < len(value) < SHORTEST:
        raise UnfitError(f"this secret has fewer than {SHORTEST} characters, so it cannot be hidden")
    register_secret(info.field_name or "secret", value)
    return value


SecretText = Annotated[str, AfterValidator(_read_secret)]
"""Text that no output shows: a password, a token. At least 8 characters, or empty."""
Cell = Annotated[str, AfterValidator(normalize_text)]
"""A value of a column of queries."""
Cells = Annotated[tuple[Cell, ...], BeforeValidator(_read_list, json_schema_input_type=Cell | tuple[Cell, ...])]
"""One of them or a list of them."""


def _read_filter(value: Any) -> Any:
    """Refuse anything but a mapping with keys."""
    if not isinstance(value, dict) or (isinstance(value, Keys) and not value):
        raise UnfitError("a filter is a mapping of columns and values: {segment: tail} or {segment: [head, tail]}")
    return value


Filter = Annotated[dict[Text, Cells], BeforeValidator(_read_filter), Field(title="mapping of columns and values")]
"""Columns, each with the values that count."""
TAG = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
MARKS_OF_PYTEST = "skip skipif xfail parametrize usefixtures filterwarnings tryfirst trylast ireval".split()  # noqa: SIM905
RESERVED = {
    **dict.fromkeys(("and", "or", "not"), "it is an operator of pytest -m"),
    **dict.fromkeys(MARKS_OF_PYTEST, "pytest acts on a mark of that name"),
}


def _check_tag(tag: str) -> str:
    complaint = "" if TAG.fullmatch(tag) else f"{quote(tag)} is not a tag"
    if tag in RESERVED:
        complaint = f"{tag!r} is not a tag: {RESERVED[tag]}"
    if complaint:
        raise UnfitError(complaint, allowed="a tag is a word of letters, digits, _ . and -, and begins with a letter")
    return tag


Tags = Annotated[
    tuple[Annotated[str, AfterValidator(_check_tag)], ...],
    BeforeValidator(_read_list, json_schema_input_type=Text | tuple[Text, ...]),
]
"""Marks of tests."""
FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
A_FLAG = "flag: write true or false"


def _read_flag(value: Any) -> bool:
    """Read ``true`` or ``false``, or YAML's other words for them."""
    if isinstance(value, bool):
        return value
    text = plain_value(value, A_FLAG).lower()
    if text not in FLAGS:
        raise unfit(value, A_FLAG)
    return FLAGS[text]


Flag = Annotated[bool, BeforeValidator(_read_flag)]
"""``true`` or ``false``."""
MOST = 10**12
"""Larger numbers are a mistake, and arrays could not hold them. An option that costs time has a lower limit."""
A_WHOLE = "whole number: write one such as 10"


def _read_whole(value: Any) -> int:
    """Read a whole number; pydantic would take ``1_000``."""
    number = number_in_scalar(value, A_WHOLE)
    if not number.is_integer():
        raise unfit(value, A_WHOLE)
    if number > MOST:
        raise UnfitError(f"{quote(str(value))} is out of range: write {MOST:,} or less")
    return int(number)


Whole = Annotated[int, Field(ge=1), BeforeValidator(_read_whole)]
"""A whole number from 1."""
Count = Annotated[int, Field(ge=0), BeforeValidator(_read_whole)]
"""A whole number from 0."""
A_NUMBER = "number: write one such as 0.5"


def _read_number(value: Any) -> float:
    """Read a finite number; pydantic would take ``inf`` and ``1_000``."""
    return number_in_scalar(value, A_NUMBER)


Number = Annotated[float, BeforeValidator(_read_number)]
"""A finite number."""


def read_path(value: Any) -> Path:
    """Make an absolute path; a suite writes it relative to its file."""
    if isinstance(value, Path):
        return value.absolute()
    text = plain_value(value, "path of a file")
    if not text or "\0" in text:
        raise unfit(value, "path of a file")
    folder = value.folder if isinstance(value, Scalar) else ""
    return Path(os.path.abspath(os.path.join(folder, text)))


PathText = Annotated[Path, BeforeValidator(read_path)]
"""An absolute path; a suite writes it relative to its file."""
PathTexts = Annotated[
    tuple[PathText, ...], BeforeValidator(_read_some, json_schema_input_type=PathText | tuple[PathText, ...])
]
"""One path or a list of them."""


def _refuse_exceptions_alone(globs: tuple[Watch, ...]) -> tuple[Watch, ...]:
    """With exceptions alone a suite would never take part."""
    if globs and all(glob.excludes for glob in globs):
        raise UnfitError("only excludes files", "also name the files to watch: /** is everything")
    return globs


Watches = Annotated[
    tuple[Annotated[Watch, read_with(watches.read_watch, editor_types.GLOB)], ...],
    BeforeValidator(_read_some),
    AfterValidator(_refuse_exceptions_alone),
    WithJsonSchema(editor_types.GLOBS),
]
"""Globs of files that a suite depends on; ``!`` before one takes files out again."""


def _read_metrics(value: Any, info: ValidationInfo) -> list[Metric]:
    """Look up the metrics that one text names: ``P@[5, 10]`` names two."""
    if isinstance(value, Metric):
        return [value]
    text = plain_value(value, "name of a metric")
    known: dict[str, list[Metric]] = (info.context or {}).get("metrics", {})
    if text not in known:
        known[text] = _parse_metrics(text, registry_of(info))
    return known[text]


def _parse_metrics(text: str, registry: Registry) -> list[Metric]:
    try:
        return registry.parse_metrics([text])
    except MetricNameError as error:
        problem = error.problems[0]
        where = problem.place.rpartition(", ")[2]
        about = problem.complaint if "unknown metric" in problem.complaint else f"{text!r}: {problem.complaint}"
        at = f" ({where})" if where.startswith("column ") and where != "column 1" else ""
        raise UnfitError(about + at, problem.suggestion, problem.allowed) from None


def read_metric(value: Any, info: ValidationInfo) -> Metric:
    """Look up the one metric that a text names."""
    found = _read_metrics(value, info)
    if len(found) > 1:
        raise UnfitError(f"{str(value)!r} names {len(found)} metrics, but only one is allowed here")
    return found[0]


def _join_metrics(found: tuple[list[Metric], ...]) -> tuple[Metric, ...]:
    """Put all metrics into one tuple, each once."""
    return tuple({str(metric): metric for metrics in found for metric in metrics}.values())


MetricText = Annotated[Metric, read_with(read_metric, editor_types.METRIC)]
"""One metric; the validation's context has the registry that knows it."""
MetricTexts = Annotated[
    tuple[Annotated[Metric, read_with(_read_metrics, editor_types.METRIC)], ...],
    BeforeValidator(_read_some),
    AfterValidator(_join_metrics),
    WithJsonSchema(editor_types.METRICS),
]
"""Metrics, each once; ``P@[5, 10]`` is two."""
BoundText = Annotated[Bound, read_with(quantities.read_bound, editor_types.BOUND)]
"""``>= 0.85``."""
FigureText = Annotated[float, read_with(quantities.read_figure, editor_types.FIGURE)]
"""A value of a metric: ``0.85``; of one in milliseconds also ``150ms`` or ``0.15s``."""
ToleranceText = Annotated[Tolerance, read_with(quantities.read_tolerance, editor_types.TOLERANCE)]
"""``1%`` of the baseline, or ``{absolute: 0.01}``."""
_BY_VALUE = TypeAdapter(dict[Cell, ToleranceText], config=ConfigDict(defer_build=True))


def _read_tolerances(value: Any) -> Tolerances:
    """Read a tolerance for all, or a mapping with one for each value."""
    if isinstance(value, Tolerances):
        return value
    if not isinstance(value, dict) or list(value) == ["absolute"]:
        return Tolerances(_BY_VALUE.validate_python({"default": value})["default"])
    if not value:
        raise unfit("", quantities.describe_tolerance())
    for key, each in value.items():  # a bare number is no tolerance of a value
        if isinstance(each, str) and "%" not in each and find_closest(str(key), ["absolute"]):
            raise UnfitError(f"unknown key {quote(str(key))}", did_you_mean(str(key), ["absolute"]))
    found = _BY_VALUE.validate_python(value)
    return Tolerances(found.pop("default", None), found)


TolerancesText = Annotated[Tolerances, read_with(_read_tolerances, editor_types.TOLERANCES)]
"""A tolerance, or one for each value of ``per``: ``{head: 1%, default: 3%}``."""
AmountText = Annotated[Amount, read_with(quantities.read_amount, editor_types.AMOUNT)]
"""``2``, or ``5%`` of all."""
ShareText = Annotated[float, read_with(quantities.read_share, editor_types.SHARE)]
"""``60%``, above 0."""
LeastShareText = Annotated[float, read_with(quantities.read_least_share, editor_types.LEAST_SHARE)]
"""``>= 98%``, above 0."""
DURATION = re.compile(r"([0-9.]+)\s*(ms|s|m|h)")
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
LONGEST_DURATION = 7 * 24 * 3600
A_DURATION = "duration: write 30s, 500ms or 2m"


def _read_duration(value: Any) -> float:
    """Read seconds."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
        return float(value)
    match = DURATION.fullmatch(plain_value(value, A_DURATION))
    seconds = number_in_scalar(match[1], A_DURATION) * SECONDS[match[2]] if match else 0.0
    if not seconds:
        raise unfit(value, A_DURATION)
    if seconds > LONGEST_DURATION:  # of much longer ones, waiting itself would be an error
        raise UnfitError(f"{quote(str(value))} is out of range: write {LONGEST_DURATION // 3600}h or less")
    return seconds


DurationText = Annotated[float, BeforeValidator(_read_duration), WithJsonSchema(editor_types.DURATION)]
"""Seconds: ``30s``, ``500ms``, ``2m``."""
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
A_DAY = "day: write 2027-04-01"


def _read_day(value: Any) -> date:
    """Read a date."""
    if isinstance(value, date):
        return value
    text = plain_value(value, A_DAY)
    if not DAY.fullmatch(text):
        raise unfit(value, A_DAY)
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UnfitError(f"{text!r} is not a calendar day: {error}") from None


DayText = Annotated[date, BeforeValidator(_read_day), WithJsonSchema(editor_types.DAY)]
"""``2027-04-01``."""
Against = Annotated[Reference, read_with(read_reference, editor_types.AGAINST)]
"""A reference to compare with."""
