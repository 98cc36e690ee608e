"""Pydantic's errors in the words of a suite: what is wrong, where, what is allowed, and what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from pytest_ireval.errors import Problem, did_you_mean, find_closest, quote
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.suite.scalars import KEY, UnfitError, describe_kind, find_place, unfit
from pytest_ireval.suite.suite import Reference, RuleSpec, SourceSpec

Location = tuple[str | int, ...]
QUOTED = re.compile(r"'([^']*)'")
A_MAPPING = "a mapping is expected here, such as {key: value}"
A_LIST = "a list is expected here, such as [one, two]"
EXPECTED = {
    **dict.fromkeys(("model_type", "model_attributes_type", "dataclass_type", "dict_type"), A_MAPPING),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), A_LIST),
}
LIMITS = {
    "greater_than_equal": "write {ge:,.15g} or more",
    "greater_than": "write a number above {gt:,.15g}",
    "less_than_equal": "write {le:,.15g} or less",
    "less_than": "write a number below {lt:,.15g}",
}
"""What to write, by type of error, with pydantic's names of the limits."""


class _Message(NamedTuple):
    complaint: str
    suggestion: str = ""
    allowed: str = ""


def translate_errors(error: ValidationError, tree: Any, model: Any, registry: Registry) -> list[Problem]:
    """Return every error of ``tree`` as a ``model`` in the words of a suite, with its place."""
    problems: list[Problem] = []
    misspelt: set[Location] = set()
    missing: list[tuple[Location, Problem]] = []
    for each in error.errors(include_url=False):
        location, above = each["loc"], each["loc"][:-1]
        last = str(location[-1]) if location else ""
        fields = _find_fields(model, above, tree, registry)
        about = f"{last}: {fields[last].description}" if last in fields and fields[last].description else ""
        spot = find_place(tree, location)
        place, path = spot.place, spot.path
        if each["type"] == "extra_forbidden":
            misspelt.add((*above, find_closest(last, fields)))
            place, path = find_place(tree, (*location, KEY)).place, path[:-1]
            message = _describe_unknown_key(last, list(fields))
        elif each["type"] == "missing":
            message = _Message(f"the key {last!r} is missing", about)
        elif each["type"] == "string_type":
            message = _Message(f"a text is expected here, not {describe_kind(each['input'])}", about)
        else:
            message = _describe_value(each)
        problem = Problem(
            message.complaint, str(place) if place.file else "", path, message.suggestion, message.allowed
        )
        if each["type"] == "missing":
            missing.append((location, problem))
        else:
            problems.append(problem)
    # a misspelt key is one mistake
    return [*problems, *(problem for location, problem in missing if location not in misspelt)]


def _describe_value(error: Any) -> _Message:
    """Say what is wrong with a value."""
    kind, written, context = error["type"], error["input"], error.get("ctx", {})
    text = quote(written) if isinstance(written, str) else ""
    if kind in ("value_error", "assertion_error"):
        reason = context["error"]
        if isinstance(reason, UnfitError):
            return _Message(reason.complaint, reason.suggestion, reason.allowed)
        return _Message(str(reason))
    if kind in ("literal_error", "enum"):
        names = QUOTED.findall(context["expected"])
        complaint = f"{text} is unknown" if text else str(unfit(written, "value"))
        return _Message(complaint, did_you_mean(written, names) if text else "", f"allowed: {', '.join(names)}")
    if kind in EXPECTED:
        return _Message(EXPECTED[kind])
    if kind in LIMITS:
        return _Message(f"{text or format(written, 'g')} is out of range: {LIMITS[kind].format(**context)}")
    if kind == "string_too_short" and not written:
        return _Message("a text is missing here")
    words = str(error["msg"])  # of a type that a plugin uses
    return _Message(f"{text}{': ' if text else ''}{words[:1].lower()}{words[1:]}")


def _describe_unknown_key(key: str, known: Sequence[str]) -> _Message:
    name, colon, value = key.partition(":")
    no_space = colon and value and name in known
    suggestion = f"missing space after the colon: {name}: {value}" if no_space else did_you_mean(key, known)
    return _Message(f"unknown key {quote(key)}", suggestion, f"allowed: {', '.join(known)}" if known else "")


def _find_fields(annotation: Any, location: Location, written: Any, registry: Registry) -> dict[str, FieldInfo]:
    """The fields of the model at a location, by their keys in a suite; empty if there is no model."""
    model = _find_model(annotation, location, written, registry)
    return {field.alias or name: field for name, field in model.model_fields.items()} if model else {}


def _find_model(annotation: Any, location: Location, written: Any, registry: Registry) -> type[BaseModel] | None:
    """Follow the annotations; the models of sources and rules are the options of the kind that is written."""
    if annotation in (SourceSpec, Reference) and isinstance(written, dict):
        kinds = [registry.sources[key] for key in written if key in registry.sources]
        annotation = kinds[0].options if kinds else None
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    arguments = get_args(annotation)
    if not location:
        models = (_find_model(each, (), written, registry) for each in arguments)
        return annotation if is_model else next(filter(None, models), None)
    part, below = location[0], location[1:]
    inside = written.get(part, written) if isinstance(written, dict) else written
    if isinstance(written, list) and isinstance(part, int) and part < len(written):
        inside = written[part]
    if annotation is RuleSpec:
        rule = registry.rules.get(str(part))
        return _find_model(rule.options, below, inside, registry) if rule else None
    if is_model:
        field = _find_fields(annotation, (), written, registry).get(str(part))
        return _find_model(field.annotation, below, inside, registry) if field else None
    found = [_find_model(each, location, written, registry) for each in arguments]
    found += [_find_model(each, below, inside, registry) for each in arguments]
    return next(filter(None, found), None)
