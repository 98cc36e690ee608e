"""The JSON Schema of a suite with everything from plugins, for completion and checks in editors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

import yaml
from pydantic import BaseModel
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema

from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.suites.editor_types import STANDS_FOR, VARIABLE, WORDS, Schema
from pytest_ireval.suites.suite_keys import SuiteKeys

FILLED: dict[str, Schema] = {name: {"$ref": f"#/$defs/{name}"} for name in ("metric", "rule", "source", "against")}


class _Quiet(GenerateJsonSchema):
    """Pydantic's schemas; defaults other than text and numbers are left out without a warning."""

    ignored_warning_kinds = {"skipped-choice"}  # noqa: RUF012 - as pydantic names it

    def encode_default(self, dft: Any) -> Any:
        """The default as JSON; none for values of our own types, which pydantic must not look into."""
        return list(dft) if isinstance(dft, tuple) else dft if isinstance(dft, (str, int, float)) else None


def suite_schema(registry: Registry) -> Schema:
    """The schema of suites that may use what the registry has."""
    definitions: dict[str, Schema] = {"metric": _metric(registry)}
    top = _of_model(SuiteKeys, "suite", definitions, registry)
    top["properties"]["ireval"]["enum"] = [1, "1"]
    del top["properties"]["ireval"]["anyOf"], top["required"]
    definitions["rule"] = _rule(registry, definitions)
    definitions["source"] = _source(registry, definitions)
    definitions["against"] = _against()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A suite of pytest-ireval",
        **top,
        "anyOf": [
            {"required": ["ireval", "suite", "source"]},
            {"required": ["ireval", "extends"]},
            {"not": {"required": ["ireval"]}},
        ],
        "$defs": dict(sorted(definitions.items())),
    }


def model_schema(model: type[BaseModel]) -> Schema:
    """Pydantic's schema of a model."""
    try:
        return model.model_json_schema(schema_generator=_Quiet)
    except PydanticInvalidForJsonSchema:  # a type of a plugin that JSON Schema has no words for
        return {"description": model.__doc__ or ""}


def _of_model(model: type[BaseModel], name: str, definitions: dict[str, Schema], registry: Registry) -> Schema:
    """A model's schema; those of models inside it become definitions below its name."""
    schema = model_schema(model)
    for inner, each in schema.pop("$defs", {}).items():
        definitions[f"{name}.{inner}"] = _for_editors(each, name)
    made: Schema = _for_editors(schema, name)
    if isinstance(made.get("additionalProperties"), dict) and _keys_are_metrics(model):
        made["properties"] |= {
            key: {**made["additionalProperties"], "description": about} for key, about in _metric_names(registry)
        }
    return made


def _keys_are_metrics(model: type[BaseModel]) -> bool:
    keys = [get_args(field.annotation)[0] for field in model.model_fields.values() if get_args(field.annotation)]
    return any(getattr(key, "__origin__", None) is Metric for key in keys)


def _for_editors(schema: Any, name: str) -> Any:
    """Numbers where a suite has text that is a number, variables everywhere, and no titles."""
    if isinstance(schema, list):
        return [_for_editors(each, name) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if STANDS_FOR in schema:
        kept = {key: each for key, each in schema.items() if key == "description"}
        return {**FILLED[schema[STANDS_FOR]], **kept}
    made = {key: _below(key, each, name) for key, each in schema.items() if key not in ("title", WORDS)}
    if "$ref" in made:
        made["$ref"] = made["$ref"].replace("#/$defs/", f"#/$defs/{name}.")
    default = made.get("default")
    if default in (None, "", [], {}) or isinstance(default, dict):  # it would say nothing to a reader
        made.pop("default", None)
    _without_null(made)
    return _loosened(made)


def _below(key: str, value: Any, name: str) -> Any:
    if key in ("properties", "$defs"):
        return {each: _for_editors(schema, name) for each, schema in value.items()}
    if key in ("enum", "const", "default", "required"):
        return value
    if key == "examples":
        return [yaml.load(each, Loader=yaml.BaseLoader) for each in value]  # noqa: S506 - it makes text alone
    if key == "description":
        return value.replace("``", "`")
    return _for_editors(value, name)


def _without_null(schema: Schema) -> None:
    """Take null out of the choices: optional keys are left out instead."""
    choices = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if "anyOf" in schema and len(choices) < len(schema["anyOf"]):
        del schema["anyOf"]
        schema.update({**choices[0], **schema} if len(choices) == 1 else {"anyOf": choices})


def _loosened(schema: Schema) -> Schema:
    """The schema of a plugin's type: text may be written as a number, and anything as a variable."""
    kind = schema.get("type")
    if "enum" in schema or "const" in schema:
        values = schema.get("enum") or [schema["const"]]
        rest = {key: each for key, each in schema.items() if key not in ("enum", "const", "type")}
        return {**rest, "anyOf": [{"enum": values}, {"type": "string", "pattern": VARIABLE}]}
    if kind == "string" and not {"pattern", "minLength", "format"} & set(schema):
        return {**schema, "type": ["string", "number", "boolean"]}
    if kind in ("integer", "number", "boolean") and "minimum" not in schema:
        return {**schema, "type": [kind, "string"]}
    return schema


def _metric(registry: Registry) -> Schema:
    names = list(_metric_names(registry))
    return {
        "description": "A metric: Name(parameter=value, …)@cutoff, or its common name.",
        "anyOf": [
            *({"const": name, "description": about} for name, about in names),
            {"type": "string", "pattern": rf"^\s*(?:{_begins(registry)})(?![A-Za-z0-9])|{VARIABLE}"},
        ],
    }


def _begins(registry: Registry) -> str:
    """A pattern of the beginning of a metric's text, in any letter case; the rest is checked when the suite is read."""
    vocabulary = registry.vocabulary
    words = {*vocabulary.heads, *vocabulary.stems, *vocabulary.of_distributions, *vocabulary.resolvers}
    heads = sorted(words, key=lambda name: (-len(name), name))
    return "|".join("".join(map(_either_case, head)) for head in heads)


def _either_case(letter: str) -> str:
    if letter == "_":
        return "[_.]"  # both occur before numbers
    return f"[{letter.upper()}{letter}]" if letter.isalpha() else re.escape(letter)


def _metric_names(registry: Registry) -> Iterator[tuple[str, str]]:
    """Names that can be written as they are, each with the summary of the metric."""
    for metric in sorted(registry.metrics.values(), key=lambda each: each.name.lower()):
        at = metric.parameter(metric.at) if metric.at else None
        missing = [name for name in metric.missing if name != metric.at]
        if not missing and (at is None or not at.required):
            yield metric.name, metric.summary
        if not missing and metric.at == "cutoff":
            yield f"{metric.name}@10", metric.summary


def _rule(registry: Registry, definitions: dict[str, Schema]) -> Schema:
    """A mapping with one key."""
    for name, kind in registry.rules.items():
        schema = _of_model(kind.options, f"rule.{name}", definitions, registry)
        definitions[f"rule.{name}"] = {**schema, "description": kind.summary}
    return {
        "description": "A rule: a mapping with one key, its kind.",
        "type": "object",
        "properties": {name: {"$ref": f"#/$defs/rule.{name}"} for name in registry.rules},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }


def _source(registry: Registry, definitions: dict[str, Schema]) -> Schema:
    """A mapping with the key of the kind and the options of the kind."""
    for name, kind in registry.sources.items():
        schema = _of_model(kind.options, f"source.{name}", definitions, registry)
        required = list(dict.fromkeys([name, *schema.get("required", ())]))
        definitions[f"source.{name}"] = {**schema, "description": kind.summary, "required": required}
    return {
        "description": "Where rankings come from: a mapping with the key of its kind.",
        "anyOf": [{"$ref": f"#/$defs/source.{name}"} for name in registry.sources],
    }


def _against() -> Schema:
    return {
        "description": "The reference to compare with: the stored baseline, the anchor, or the rankings of a source.",
        "anyOf": [
            {"enum": ["baseline", "anchor"]},
            FILLED["source"],
            {
                "type": "object",
                "properties": {"source": FILLED["source"]},
                "required": ["source"],
                "additionalProperties": False,
            },
        ],
    }
