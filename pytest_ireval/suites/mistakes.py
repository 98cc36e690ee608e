"""What pydantic finds wrong, as problems with a place: each once, pointing at what a user would change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel, ValidationError

from pytest_ireval.errors import Problem, closest, did_you_mean, shown
from pytest_ireval.suites.scalars import Items, Keys, Scalar, UnfitError, place_of
from pytest_ireval.suites.suite import Place

Location = Sequence[str | int]
QUOTED = re.compile(r"'([^']*)'")
KEY = "[key]"
"""What pydantic adds to the location of a key that is wrong."""


class Spot(NamedTuple):
    """What a location leads to: the keys on the way that are there, and where it stands."""

    path: tuple[str, ...]
    place: Place


def spot(tree: Any, location: Location, start: Spot) -> Spot:
    """Where a location leads, from ``tree`` which is at ``start``; parts that nobody wrote are skipped."""
    path, place = list(start.path), start.place
    for part in location:
        if part == KEY:
            break
        if isinstance(tree, Keys) and part in tree:
            key = next(each for each in tree if each == part)
            tree = tree[key]
            at_key = isinstance(tree, (Keys, Items)) or location[-1] == KEY or tree == ""
            path, place = [*path, str(key)], place_of(key if at_key else tree)
        elif isinstance(tree, Items) and isinstance(part, int) and part < len(tree):
            tree = tree[part]
            path, place = [*path, str(part + 1)], place_of(tree)
    return Spot(tuple(path), place)


def problems_of(error: ValidationError, tree: Any, start: Spot, model: Any) -> list[Problem]:
    """All that is wrong with ``tree`` as a ``model``."""
    found = error.errors(include_url=False)
    meant = {meant for each in found if each["type"] == "extra_forbidden" for meant in [_meant(each["loc"], model)]}
    return [
        _problem(each, tree, start, model)
        for each in found
        if not (each["type"] == "missing" and tuple(each["loc"]) in meant)  # a misspelt key is one mistake
    ]


def key_problem(key: Any, place: Place, path: tuple[str, ...], known: Sequence[str]) -> Problem:
    """A key that does not exist."""
    allowed = "allowed: " + ", ".join(known) if known else ""
    name, colon, value = str(key).partition(":")
    torn = colon and value and name in known
    suggestion = f"a blank is missing behind the colon: {name}: {value}" if torn else did_you_mean(str(key), known)
    return Problem(f"unknown key {shown(str(key))}", str(place), path, suggestion, allowed)


def _meant(location: Location, model: Any) -> tuple[str | int, ...]:
    return (*location[:-1], closest(str(location[-1]), keys_of_model(model, location[:-1])))


def _problem(error: Any, tree: Any, start: Spot, model: Any) -> Problem:
    location, kind = error["loc"], error["type"]
    path, place = spot(tree, location, start)
    if kind == "extra_forbidden":
        path, place = spot(tree, (*location, KEY), start)
        return key_problem(location[-1], place, path[:-1], keys_of_model(model, location[:-1]))
    at = str(place)
    if kind == "missing":
        description = _described(model, location)
        return Problem(f"the key {location[-1]!r} is missing", at, path, description)
    if kind == "value_error":
        reason = error["ctx"]["error"]
        if isinstance(reason, UnfitError):
            return Problem(reason.complaint, at, path, reason.suggestion, reason.allowed)
        return Problem(str(reason), at, path)
    if kind in ("literal_error", "enum"):
        allowed = QUOTED.findall(error["ctx"]["expected"])
        complaint = f"{shown(str(error['input']))} is unknown"
        return Problem(
            complaint, at, path, did_you_mean(str(error["input"]), allowed), "allowed: " + ", ".join(allowed)
        )
    return Problem(_in_words(error, _written(tree, location)), at, path)


def _written(tree: Any, location: Location) -> str:
    """The text that stands at a location; nothing if there is none."""
    for part in location:
        if isinstance(tree, Keys):
            tree = tree.get(part, tree)
        elif isinstance(tree, Items) and isinstance(part, int) and part < len(tree):
            tree = tree[part]
    return f"{shown(tree)}: " if isinstance(tree, Scalar) else ""


def _in_words(error: Any, written: str) -> str:
    """What pydantic says of types that are not ours."""
    kind = error["type"]
    if kind in ("model_type", "dict_type", "model_attributes_type", "dataclass_type"):
        return "a mapping is expected here, such as {key: value}"
    if kind in ("list_type", "tuple_type", "set_type", "frozen_set_type"):
        return "a list is expected here, such as [one, two]"
    message = str(error["msg"])
    return written + message[:1].lower() + message[1:]


def keys_of_model(model: Any, location: Location) -> list[str]:
    """The keys that are known at a location below a model."""
    found = next((m for m in _models(model, location)), None)
    return [field.alias or name for name, field in found.model_fields.items()] if found else []


def _described(model: Any, location: Location) -> str:
    found = next((m for m in _models(model, location[:-1])), None)
    for name, field in found.model_fields.items() if found else ():
        if location[-1] in (name, field.alias):
            return f"{location[-1]}: {field.description}" if field.description else ""
    return ""


def _models(annotation: Any, location: Location) -> Iterator[type[BaseModel]]:
    """The models that may stand at a location."""
    if get_origin(annotation) is None and isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if not location:
            yield annotation
            return
        field = annotation.model_fields.get(str(location[0]))
        field = field or next((f for f in annotation.model_fields.values() if f.alias == location[0]), None)
        if field is not None:
            yield from _models(field.annotation, location[1:])
        return
    for argument in get_args(annotation):
        yield from _models(argument, location)
        if location:
            yield from _models(argument, location[1:])
