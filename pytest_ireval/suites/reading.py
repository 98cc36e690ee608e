"""Readers of single values of a suite: each returns the value, or raises UnfitError with what to write."""

from __future__ import annotations

import os
import re
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import ValidationInfo

from pytest_ireval.errors import MetricNameError
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.registry import Registry, installed
from pytest_ireval.secrets import SHORTEST, keep
from pytest_ireval.suites.scalars import Keys, Scalar, UnfitError, number_in_scalar, plain_value, unfit

FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
DURATION = re.compile(r"([0-9.]+)\s*(ms|s|m|h)")
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
A_FLAG = "flag: write true or false"
A_DAY = "day: write 2027-04-01"
A_DURATION = "duration: write 30s, 500ms or 2m"
A_WHOLE = "whole number: write one such as 10"
A_NUMBER = "number: write one such as 0.5"


def registry_of(info: ValidationInfo) -> Registry:
    """The registry that names are looked up in; unless given, that of the installed packages."""
    given: Registry | None = (info.context or {}).get("registry")
    return given if given is not None else installed()


def read_secret(value: str, info: ValidationInfo) -> str:
    """Hide a text from all outputs from now on: they show the name of the option in its place."""
    if 0 < len(value) < SHORTEST:
        raise UnfitError(f"this secret has fewer than {SHORTEST} characters, so it cannot be hidden")
    keep(info.field_name or "secret", value)
    return value


def read_list(value: Any) -> Any:
    """Make a list of one value."""
    return value if isinstance(value, (list, tuple)) else [value]


def read_some(value: Any) -> Any:
    """Make a list of one value, and refuse an empty list."""
    if isinstance(value, list) and not value:
        raise UnfitError("an empty list has no effect: name at least one")
    return read_list(value)


def read_flag(value: Any) -> bool:
    """Read ``true`` or ``false``, or YAML's other words for them."""
    if isinstance(value, bool):
        return value
    text = plain_value(value, A_FLAG).lower()
    if text not in FLAGS:
        raise unfit(value, A_FLAG)
    return FLAGS[text]


def read_whole(value: Any) -> int:
    """Read a whole number; pydantic would take ``1_000``."""
    number = number_in_scalar(value, A_WHOLE)
    if not number.is_integer():
        raise unfit(value, A_WHOLE)
    return int(number)


def read_number(value: Any) -> float:
    """Read a finite number; pydantic would take ``inf`` and ``1_000``."""
    return number_in_scalar(value, A_NUMBER)


def read_filter(value: Any) -> Any:
    """Refuse anything but a mapping with keys."""
    if not isinstance(value, dict) or (isinstance(value, Keys) and not value):
        raise UnfitError("a filter is a mapping of columns and values: {segment: tail} or {segment: [head, tail]}")
    return value


def read_path(value: Any) -> Path:
    """Make an absolute path; a suite writes it relative to its file."""
    if isinstance(value, Path):
        return value.absolute()
    text = plain_value(value, "path of a file")
    if not text or "\0" in text:
        raise unfit(value, "path of a file")
    folder = value.folder if isinstance(value, Scalar) else ""
    return Path(os.path.abspath(os.path.join(folder, text)))


def read_duration(value: Any) -> float:
    """Read seconds."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
        return float(value)
    match = DURATION.fullmatch(plain_value(value, A_DURATION))
    seconds = number_in_scalar(match[1], A_DURATION) * SECONDS[match[2]] if match else 0.0
    if not seconds:
        raise unfit(value, A_DURATION)
    return seconds


def read_day(value: Any) -> date:
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


def read_metrics(value: Any, info: ValidationInfo) -> list[Metric]:
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
    found = read_metrics(value, info)
    if len(found) > 1:
        raise UnfitError(f"{str(value)!r} names {len(found)} metrics, but only one is allowed here")
    return found[0]


def join_metrics(found: tuple[list[Metric], ...]) -> tuple[Metric, ...]:
    """Put all metrics into one tuple, each once."""
    return tuple({str(metric): metric for metrics in found for metric in metrics}.values())
