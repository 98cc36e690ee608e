"""The types that options are made of: what a suite says as text, and what becomes of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BeforeValidator, GetPydanticSchema, TypeAdapter, ValidationInfo, WithJsonSchema

from pytest_ireval.errors import MetricNameError
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.suites import editor_types, quantities
from pytest_ireval.suites.quantities import Amount, Bound, Tolerance, Tolerances
from pytest_ireval.suites.scalars import Scalar, UnfitError, number_of, plain, unfit

if TYPE_CHECKING:
    from pytest_ireval.plugins.registry import Registry
    from pytest_ireval.suites.suite import SourceAsked

__all__ = [
    "STORED",
    "Against",
    "Amount",
    "AmountText",
    "Bound",
    "BoundText",
    "DayText",
    "DurationText",
    "Filter",
    "Flag",
    "MetricText",
    "MetricTexts",
    "Number",
    "PathText",
    "PathTexts",
    "Reference",
    "Text",
    "Texts",
    "Tolerance",
    "ToleranceText",
    "Tolerances",
    "TolerancesText",
    "Whole",
]

FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
DURATION = re.compile(r"([0-9.]+)\s*(ms|s|m|h)")
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
A_FLAG = "flag: write true or false"
A_DAY = "day: write 2027-04-01"
A_DURATION = "duration: write 30s, 500ms or 2m"


@dataclass(frozen=True)
class Reference:
    """What a rule compares with: the stored baseline, or what a source returns."""

    source: SourceAsked | None = None

    @property
    def stored(self) -> bool:
        """Whether it is the stored baseline."""
        return self.source is None


STORED = Reference()


def registry_of(info: ValidationInfo) -> Registry:
    """The registry that names are looked up in; without any, what is installed."""
    from pytest_ireval.plugins.manager import installed

    given: Registry | None = (info.context or {}).get("registry")
    return given if given is not None else installed()


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str) else plain(value, "text")


def _listed(value: Any) -> Any:
    """One value is a list of one."""
    return value if isinstance(value, (list, tuple)) else [value]


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    text = plain(value, A_FLAG).lower()
    if text not in FLAGS:
        raise unfit(value, A_FLAG)
    return FLAGS[text]


def _whole(value: Any) -> int:
    what = "whole number from 1"
    number = number_of(value, what)
    if number < 1 or not number.is_integer():
        raise unfit(value, what)
    return int(number)


def _number(value: Any) -> float:
    return number_of(value, "number")


def _filter(value: Any) -> Any:
    if not isinstance(value, dict) or not value:
        raise UnfitError("a filter is a mapping of columns and values: {segment: tail} or {segment: [head, tail]}")
    return value


def _path(value: Any) -> Path:
    if isinstance(value, Path):
        return value.absolute()
    text = plain(value, "path of a file")
    if not text or "\0" in text:
        raise unfit(value, "path of a file")
    folder = value.folder if isinstance(value, Scalar) else ""
    return Path(os.path.abspath(os.path.join(folder, text)))


def _some(value: tuple[Any, ...]) -> tuple[Any, ...]:
    """At least one."""
    if not value:
        raise UnfitError("an empty list says nothing: name at least one")
    return value


def _metrics_of(value: Any, info: ValidationInfo) -> list[Metric]:
    """The metrics that one text names."""
    if isinstance(value, Metric):
        return [value]
    text = plain(value, "name of a metric")
    known: dict[str, list[Metric]] = (info.context or {}).get("metrics", {})
    if text not in known:
        known[text] = _parsed(text, registry_of(info))
    return known[text]


def _parsed(text: str, registry: Registry) -> list[Metric]:
    try:
        return registry.parse_metrics([text])
    except MetricNameError as error:
        problem = error.problems[0]
        where = problem.place.rpartition(", ")[2]
        about = problem.complaint if "unknown metric" in problem.complaint else f"{text!r}: {problem.complaint}"
        at = f" ({where})" if where.startswith("column ") and where != "column 1" else ""
        raise UnfitError(about + at, problem.suggestion, problem.allowed) from None


def _metric(value: Any, info: ValidationInfo) -> Metric:
    found = _metrics_of(value, info)
    if len(found) > 1:
        raise UnfitError(f"{str(value)!r} names {len(found)} metrics, and here is room for one")
    return found[0]


def _flat(value: tuple[list[Metric], ...]) -> tuple[Metric, ...]:
    """Each metric once, in order."""
    return tuple({str(metric): metric for found in value for metric in found}.values())


def _duration(value: Any) -> float:
    match = DURATION.fullmatch(plain(value, A_DURATION))
    seconds = number_of(match[1], A_DURATION) * SECONDS[match[2]] if match else 0.0
    if not seconds:
        raise unfit(value, A_DURATION)
    return seconds


def _day(value: Any) -> date:
    if isinstance(value, date):
        return value
    text = plain(value, A_DAY)
    if not DAY.fullmatch(text):
        raise unfit(value, A_DAY)
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UnfitError(f"{text!r} is no day of any calendar: {error}") from None


def _by_value(value: Any) -> Any:
    """One tolerance for all becomes the default."""
    if isinstance(value, Tolerances):
        return {**value.by_value, **({"default": value.default} if value.default else {})}
    if isinstance(value, dict) and list(value) != ["absolute"]:
        return value
    return {"default": value}


def _tolerances(value: dict[str, Tolerance]) -> Tolerances:
    if not value:
        raise unfit("", quantities.A_TOLERANCE)
    others = {str(key): each for key, each in value.items() if key != "default"}
    return Tolerances(value.get("default"), others)


def _against(value: Any, info: ValidationInfo) -> Reference:
    if isinstance(value, Reference):
        return value
    if value == "baseline":
        return STORED
    from pytest_ireval.suites.source_models import source_asked

    registry = registry_of(info)
    if not isinstance(value, dict):
        kinds = ", ".join(f"{{{name}: …}}" for name in registry.sources)
        complaint = (
            f"{_text(value)!r} is nothing that can be compared with"
            if isinstance(value, str)
            else "a list is no reference"
        )
        raise UnfitError(complaint, allowed=f"allowed: baseline{', ' if kinds else ''}{kinds}")
    if list(value) == ["source"] and "source" not in registry.sources:
        return Reference(_NESTED.validate_python(value, context={"registry": registry})["source"])
    return Reference(source_asked(value, registry))


def _source(value: Any, info: ValidationInfo) -> Any:
    from pytest_ireval.suites.source_models import source_asked

    return source_asked(value, registry_of(info))


_NESTED: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Annotated[Any, BeforeValidator(_source)]])
"""``{source: {…}}``, whose mistakes are found below ``source``."""


def typed(read: Callable[..., Any], schema: editor_types.Schema) -> GetPydanticSchema:
    """A type that ``read`` makes of whatever a suite says; ``schema`` is for editors."""
    return GetPydanticSchema(
        lambda _source, handler: handler.generate_schema(Annotated[Any, BeforeValidator(read)]),
        lambda _schema, _handler: dict(schema),
    )


_Metrics = Annotated[Any, BeforeValidator(_metrics_of)]

Text = Annotated[str, typed(_text, editor_types.TEXT)]
"""Any text."""
Texts = Annotated[tuple[Text, ...], BeforeValidator(_listed), WithJsonSchema(editor_types.TEXTS)]
"""One text or a list of them."""
Flag = Annotated[bool, typed(_flag, editor_types.FLAG)]
"""``true`` or ``false``."""
Whole = Annotated[int, typed(_whole, editor_types.WHOLE)]
"""A whole number from 1."""
Number = Annotated[float, typed(_number, editor_types.NUMBER)]
"""A finite number."""
Filter = Annotated[dict[Text, Texts], BeforeValidator(_filter), WithJsonSchema(editor_types.FILTER)]
"""Columns, each with the values that count."""
PathText = Annotated[Path, typed(_path, editor_types.PATH)]
"""A path, absolute; what is written is relative to the file it is written in."""
PathTexts = Annotated[
    tuple[PathText, ...], BeforeValidator(_listed), AfterValidator(_some), WithJsonSchema(editor_types.PATHS)
]
"""One path or a list of them."""
MetricText = Annotated[Metric, typed(_metric, editor_types.METRIC)]
"""One metric; the validation's context has the registry that knows it."""
MetricTexts = Annotated[
    tuple[Metric, ...],
    GetPydanticSchema(
        lambda _source, handler: handler.generate_schema(
            Annotated[tuple[_Metrics, ...], BeforeValidator(_listed), AfterValidator(_some), AfterValidator(_flat)]
        ),
        lambda _schema, _handler: dict(editor_types.METRICS),
    ),
]
"""Metrics, each once; ``P@[5, 10]`` is two."""
BoundText = Annotated[Bound, typed(quantities.bound, editor_types.BOUND)]
"""``>= 0.85``."""
ToleranceText = Annotated[Tolerance, typed(quantities.tolerance, editor_types.TOLERANCE)]
"""``1%`` of the baseline, or ``{absolute: 0.01}``."""
TolerancesText = Annotated[
    Tolerances,
    GetPydanticSchema(
        lambda _source, handler: handler.generate_schema(
            Annotated[dict[Text, ToleranceText], BeforeValidator(_by_value), AfterValidator(_tolerances)]
        ),
        lambda _schema, _handler: dict(editor_types.TOLERANCES),
    ),
]
"""A tolerance, or one for each value of ``per``: ``{head: 1%, default: 3%}``."""
AmountText = Annotated[Amount, typed(quantities.amount, editor_types.AMOUNT)]
"""``2``, or ``5%`` of all."""
DurationText = Annotated[float, typed(_duration, editor_types.DURATION)]
"""Seconds: ``30s``, ``500ms``, ``2m``."""
DayText = Annotated[date, typed(_day, editor_types.DAY)]
"""``2027-04-01``."""
Against = Annotated[Reference, typed(_against, editor_types.AGAINST)]
"""What to compare with."""
