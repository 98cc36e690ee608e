"""A rule as a suite writes it: a mapping with one key, its kind, and below it the kind's options."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from pytest_ireval.errors import IrevalError, Problem, did_you_mean
from pytest_ireval.plugins.kinds import Part, RuleKind
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.suites.mistakes import KEY, Spot, problems_of, spot
from pytest_ireval.suites.scalars import Keys, Scalar, place_of
from pytest_ireval.suites.suite import Place, RuleAsked


@lru_cache(maxsize=64)
def context_of(registry: Registry) -> dict[str, Any]:
    """What validators are told; the same for all suites of a registry, so that a name is read once."""
    return {"registry": registry, "metrics": {}}


@lru_cache(maxsize=256)
def _reader_of(options: Hashable) -> TypeAdapter[dict[str, Any]]:
    """Reads ``{kind: options}``, so that locations begin with the kind."""
    return TypeAdapter(dict[str, options])  # type: ignore[valid-type]  # known when plugins are


def rule_asked(value: Any, registry: Registry, start: Spot, problems: list[Problem]) -> RuleAsked | None:
    """The rule with its options; None if it is wrong, which ``problems`` tell then."""
    kinds = registry.rules
    wrong = _misshapen(value, registry, start)
    if wrong is not None:
        problems.append(wrong)
        return None
    key: Scalar = next(iter(value))
    kind = kinds[key]
    content = {} if value[key] == "" else value[key]
    try:
        read = _reader_of(kind.options).validate_python  # type: ignore[arg-type]  # a class can be hashed
        options = read({str(key): content}, context=context_of(registry))[key]
    except ValidationError as error:
        problems += problems_of(error, value, start._replace(place=place_of(key)), dict[str, kind.options])  # type: ignore[name-defined]  # as above
        return None
    except Exception as error:  # noqa: BLE001 - a plugin's options may raise anything
        problems.append(_raised(kind, error, key, start))
        return None
    return _with_parts(kind, options, value, start, problems)


def _misshapen(value: Any, registry: Registry, start: Spot) -> Problem | None:
    kinds = registry.rules
    at, allowed = str(start.place), "available: " + ", ".join(kinds)
    if isinstance(value, Scalar):
        suggestion = f"write {value}: {{…}}" if value in kinds else did_you_mean(value, kinds)
        return Problem("a rule is a mapping with one key, its kind", at, start.path, suggestion, allowed)
    if not isinstance(value, Keys) or not value:
        return Problem("a rule is a mapping with one key, its kind", at, start.path, allowed=allowed)
    key = next(iter(value))
    if len(value) > 1:
        others = ", ".join(str(each) for each in value if each != key)
        suggestion = f"indent {others} deeper than {key}" if key in kinds and value[key] == "" else ""
        complaint = f"a rule is a mapping with one key, its kind, and here are {', '.join(map(str, value))}"
        return Problem(complaint, at, start.path, suggestion, allowed)
    if key not in kinds:
        complaint = f"unknown rule {str(key)!r}"
        return Problem(complaint, str(place_of(key)), start.path, did_you_mean(key, kinds), allowed)
    return None


def _with_parts(kind: RuleKind, options: Any, value: Keys, start: Spot, problems: list[Problem]) -> RuleAsked | None:
    key = next(iter(value))
    try:
        parts: tuple[Part, ...] = tuple(kind.parts_of(options))
        places: tuple[Place, ...] = tuple(spot(value, (key, *part.place, KEY), start).place for part in parts)
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        problems.append(_raised(kind, error, key, start))
        return None
    return RuleAsked(kind, options, place_of(key), parts, places)


def _raised(kind: RuleKind, error: Exception, key: Scalar, start: Spot) -> Problem:
    if isinstance(error, IrevalError):
        return Problem(str(error), str(place_of(key)), (*start.path, str(key)))
    complaint = f"rule {kind.name} of {kind.source} raised {type(error).__name__}: {error}"
    return Problem(complaint, str(place_of(key)), (*start.path, str(key)))
