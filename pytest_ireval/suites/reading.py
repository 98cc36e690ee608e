"""Readers of a suite's values; each returns the value, or an error that shows what to write."""

from __future__ import annotations

import glob
import os
import re
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, TypeAdapter, ValidationError, ValidationInfo

from pytest_ireval.errors import MetricNameError, Problem, closest, did_you_mean, name_in_full, raised, shown
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.retrieval.queries import composed
from pytest_ireval.secrets import SHORTEST, keep
from pytest_ireval.suites import quantities
from pytest_ireval.suites.checks import Spot, problems_of
from pytest_ireval.suites.quantities import Tolerance, Tolerances
from pytest_ireval.suites.scalars import Keys, Scalar, UnfitError, number_in_scalar, place_of, plain_value, unfit
from pytest_ireval.suites.suite import SourceAsked

FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
DURATION = re.compile(r"([0-9.]+)\s*(ms|s|m|h)")
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
A_FLAG = "flag: write true or false"
A_DAY = "day: write 2027-04-01"
A_DURATION = "duration: write 30s, 500ms or 2m"


@dataclass(frozen=True)
class Reference:
    """The reference of a rule: the stored baseline, the anchor, or the answer of a source."""

    source: SourceAsked | None = None
    anchored: bool = False
    """True for the anchor, which does not move with each acceptance."""

    @property
    def stored(self) -> bool:
        """True for the stored baseline."""
        return self.source is None and not self.anchored


STORED = Reference()
ANCHOR = Reference(anchored=True)


def registry_of(info: ValidationInfo) -> Registry:
    """The registry that names are looked up in; unless given, that of the installed packages."""
    from pytest_ireval.plugins.registry import installed

    given: Registry | None = (info.context or {}).get("registry")
    return given if given is not None else installed()


def text(value: Any) -> str:
    """Any text, as it stands."""
    return str(value) if isinstance(value, str) else plain_value(value, "text")


def cell(value: Any) -> str:
    """The value of a column of queries, which are compared in their composed form."""
    return composed(text(value))


def secret(value: Any, info: ValidationInfo) -> str:
    """Text that no output shows from now on: there is the name of the option in its place."""
    found = text(value)
    if 0 < len(found) < SHORTEST:
        raise UnfitError(f"this secret has fewer than {SHORTEST} characters, so it cannot be hidden")
    keep(info.field_name or "secret", found)
    return found


def read_list(value: Any) -> Any:
    """The list, or a list of the one value."""
    return value if isinstance(value, (list, tuple)) else [value]


def flag(value: Any) -> bool:
    """``true`` or ``false``."""
    if isinstance(value, bool):
        return value
    text = plain_value(value, A_FLAG).lower()
    if text not in FLAGS:
        raise unfit(value, A_FLAG)
    return FLAGS[text]


def read_whole(value: Any, least: int = 1) -> int:
    """A whole number from 1, or from another one."""
    what = f"whole number from {least}"
    number = number_in_scalar(value, what)
    if number < least or not number.is_integer():
        raise unfit(value, what)
    return int(number)


def read_number(value: Any) -> float:
    """A finite number."""
    return number_in_scalar(value, "number")


def a_filter(value: Any) -> Any:
    """A mapping that is not empty; its content is read by its type."""
    if not isinstance(value, dict) or (isinstance(value, Keys) and not value):
        raise UnfitError("a filter is a mapping of columns and values: {segment: tail} or {segment: [head, tail]}")
    return value


def path(value: Any) -> Path:
    """An absolute path; a suite writes it relative to its file."""
    if isinstance(value, Path):
        return value.absolute()
    text = plain_value(value, "path of a file")
    if not text or "\0" in text:
        raise unfit(value, "path of a file")
    folder = value.folder if isinstance(value, Scalar) else ""
    return Path(os.path.abspath(os.path.join(folder, text)))


def read_some(value: Any) -> Any:
    """The same list, or a list of the one value; a suite writes at least one."""
    if isinstance(value, list) and not value:
        raise UnfitError("an empty list has no effect: name at least one")
    return read_list(value)


def metrics_of(value: Any, info: ValidationInfo) -> list[Metric]:
    """The metrics that one text names."""
    if isinstance(value, Metric):
        return [value]
    text = plain_value(value, "name of a metric")
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


def one_metric(value: Any, info: ValidationInfo) -> Metric:
    """The one metric that a text names."""
    found = metrics_of(value, info)
    if len(found) > 1:
        raise UnfitError(f"{str(value)!r} names {len(found)} metrics, but only one is allowed here")
    return found[0]


def flat(value: tuple[list[Metric], ...]) -> tuple[Metric, ...]:
    """Each metric once, in order."""
    return tuple({str(metric): metric for found in value for metric in found}.values())


def duration(value: Any) -> float:
    """Seconds."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
        return float(value)
    match = DURATION.fullmatch(plain_value(value, A_DURATION))
    seconds = number_in_scalar(match[1], A_DURATION) * SECONDS[match[2]] if match else 0.0
    if not seconds:
        raise unfit(value, A_DURATION)
    return seconds


def day(value: Any) -> date:
    """A date."""
    if isinstance(value, date):
        return value
    text = plain_value(value, A_DAY)
    if not DAY.fullmatch(text):
        raise unfit(value, A_DAY)
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UnfitError(f"{text!r} is not a calendar day: {error}") from None


def by_value(value: Any) -> Any:
    """The tolerances by value; one tolerance for all becomes the default."""
    if isinstance(value, Tolerances):
        return {**value.by_value, **({"default": value.default} if value.default else {})}
    if isinstance(value, dict) and list(value) != ["absolute"]:
        for key, each in value.items():  # a bare number is no tolerance of a value
            if isinstance(each, str) and "%" not in each and closest(str(key), ["absolute"]):
                raise UnfitError(f"unknown key {shown(str(key))}", did_you_mean(str(key), ["absolute"]))
        return value
    return {"default": value}


def tolerances(value: dict[str, Tolerance]) -> Tolerances:
    """Tolerances by value, and the one for all others."""
    if not value:
        raise unfit("", quantities.A_TOLERANCE)
    others = {str(key): each for key, each in value.items() if key != "default"}
    return Tolerances(value.get("default"), others)


def against(value: Any, info: ValidationInfo) -> Reference:
    """The stored baseline, the anchor, or a source."""
    if isinstance(value, Reference):
        return value
    if value in ("baseline", "anchor"):
        return STORED if value == "baseline" else ANCHOR
    registry = registry_of(info)
    if not isinstance(value, dict):
        kinds = ", ".join(f"{{{name}: …}}" for name in registry.sources)
        complaint = f"{text(value)!r} is not a reference" if isinstance(value, str) else "a list is not a reference"
        raise UnfitError(complaint, allowed=f"allowed: baseline, anchor{', ' if kinds else ''}{kinds}")
    if list(value) == ["source"] and "source" not in registry.sources:
        return Reference(_NESTED.validate_python(value, context={"registry": registry})["source"])
    return Reference(source_asked(value, registry))


def validated_source(value: Any, info: ValidationInfo) -> SourceAsked:
    """The source with its options, for validators."""
    return value if isinstance(value, SourceAsked) else source_asked(value, registry_of(info))


_NESTED: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Annotated[Any, BeforeValidator(validated_source)]])
"""``{source: {…}}``, whose mistakes are found below ``source``."""

RELATIVE = "a path is relative to the file it is written in"
"""The suggestion for a missing file."""


def source_asked(value: Any, registry: Registry) -> SourceAsked:
    """The source with its options; raises UnfitError or a ValidationError."""
    key = _kind_key(value, registry)
    kind = registry.sources[key]
    if str(key) != kind.name:  # acme:shop, whose options know the key as shop
        value = {kind.name if each is key else each: given for each, given in value.items()}
    options = kind.options.model_validate(value, context={"registry": registry})
    return SourceAsked(kind, options, place_of(key))


def _kind_key(value: Any, registry: Registry) -> Any:
    """The key that names the kind; raises UnfitError if there is not exactly one."""
    kinds = registry.sources
    allowed = "available: " + ", ".join(kinds)
    if not isinstance(value, dict):
        raise UnfitError("a source is a mapping with the key of its kind, such as {run: file}", allowed=allowed)
    named = [key for key in value if key in kinds]
    if len(named) > 1:
        raise UnfitError(f"a source is of one kind, but here are {' and '.join(map(str, named))}", allowed=allowed)
    if not named:
        for key in value:
            if several := name_in_full(str(key), kinds):
                raise UnfitError(f"several plugins have a source {str(key)!r}", several, allowed)
        suggestion = next(filter(None, (did_you_mean(key, kinds) for key in value)), "")
        keys = ", ".join(map(repr, map(str, value))) or "no key"
        raise UnfitError(f"none of its keys is a kind of source: {keys}", suggestion, allowed)
    return named[0]


def read_source(value: Any, registry: Registry, start: Spot, problems: list[Problem]) -> SourceAsked | None:
    """The source; None if it is wrong, and ``problems`` say why."""
    try:
        asked = source_asked(value, registry)
    except UnfitError as error:
        problems.append(Problem(error.complaint, str(start.place), start.path, error.suggestion, error.allowed))
    except ValidationError as error:
        problems += problems_of(error, value, start, registry.sources[_kind_key(value, registry)].options)
    except Exception as error:  # noqa: BLE001 - a plugin's options may raise anything
        kind = registry.sources[_kind_key(value, registry)]
        problem = raised(f"source {kind.name} of {kind.source}", error)
        problems.append(replace(problem, place=str(start.place), path=start.path))
    else:
        problems += _absent(asked, value, _kind_key(value, registry), start)
        return asked
    return None


def _absent(asked: SourceAsked, value: Any, key: Any, start: Spot) -> list[Problem]:
    """Missing files of the key of the kind; a pattern may have no files yet."""
    paths = getattr(asked.options, asked.kind.name)
    paths = paths if isinstance(paths, tuple) else (paths,)
    written = value[key]
    return [
        Problem(f"no such file: {text}", str(place_of(text)), (*start.path, str(key)), RELATIVE)
        for path, text in zip(paths, written if isinstance(written, list) else [written], strict=False)
        if isinstance(path, Path) and not glob.has_magic(str(text)) and not os.path.exists(path)
    ]
