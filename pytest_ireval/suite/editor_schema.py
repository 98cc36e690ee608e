"""The JSON Schema of a suite with everything from plugins, for completion and checks in editors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from pytest_ireval.plugins.registry import Registry
from pytest_ireval.suite.editor_types import FILLED_IN, NUMERIC, VARIABLE, Schema
from pytest_ireval.suite.suite_keys import SuiteKeys

TITLE = "A suite of pytest-ireval"


class PlainSchema(GenerateJsonSchema):
    """Pydantic's schemas without titles of fields, null and defaults that say nothing to a reader."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - as pydantic calls it
        """No: a title would repeat the key."""
        return False

    def nullable_schema(self, schema: Any) -> Schema:
        """The schema of the value: an optional key is left out."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> Schema:
        """Add the default if it is as simple as in a suite."""
        made = self.generate_inner(schema["schema"])
        default = schema.get("default")
        return {**made, "default": default} if isinstance(default, (str, int, float)) and default != "" else made

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> Schema:  # noqa: ARG002 - as pydantic calls it
        """Anything: a type of a plugin that JSON Schema has no words for."""
        return {}


class EditorSchema(PlainSchema):
    """The same for editors, which read numbers and booleans where a suite has text; any value may be a variable."""

    def str_schema(self, schema: Any) -> Schema:
        """Text, which looks like a number at times."""
        return {**super().str_schema(schema), "type": ["string", "number", "boolean"]}

    def int_schema(self, schema: Any) -> Schema:
        """A number, or its text."""
        return _allow_text(super().int_schema(schema), r"^\s*[+-]?[0-9]+\s*$")

    def float_schema(self, schema: Any) -> Schema:
        """A number, or its text."""
        return _allow_text(super().float_schema(schema), NUMERIC)

    def bool_schema(self, schema: Any) -> Schema:
        """A boolean, or its text."""
        return _allow_text(super().bool_schema(schema), "^(?:true|false|yes|no|on|off)$")

    def literal_schema(self, schema: Any) -> Schema:
        """One of the words."""
        return _allow_text(super().literal_schema(schema), "")

    def enum_schema(self, schema: Any) -> Schema:
        """One of the words."""
        return _allow_text(super().enum_schema(schema), "")


def _allow_text(schema: Schema, pattern: str) -> Schema:
    text = {"type": "string", "pattern": f"{pattern}|{VARIABLE}".removeprefix("|")}
    return {"anyOf": [schema, text]}


def suite_schema(registry: Registry) -> Schema:
    """The schema of suites that may use what the registry has."""
    models: list[type[BaseModel]] = [SuiteKeys]
    models += [kind.options for kind in registry.rules.values()]
    models += [kind.options for kind in registry.sources.values()]
    references, whole = models_json_schema([(model, "validation") for model in models], schema_generator=EditorSchema)
    of_model = {model: references[model, "validation"] for model in models}
    top = whole["$defs"].pop(of_model[SuiteKeys]["$ref"].rpartition("/")[2])
    del top["required"]
    top["properties"]["ireval"] = {"enum": [1, "1"], "description": top["properties"]["ireval"]["description"]}
    rules = {name: {**of_model[kind.options], "description": kind.summary} for name, kind in registry.rules.items()}
    sources = [
        {**of_model[kind.options], "description": kind.summary, "required": [kind.name]}
        for kind in registry.sources.values()
    ]
    filled_in = {
        "metric": _make_metric_schema(registry),
        "rule": {
            "description": "A rule: a mapping with one key, its kind.",
            "type": "object",
            "properties": rules,
            "additionalProperties": False,
            "minProperties": 1,
            "maxProperties": 1,
        },
        "source": {"description": "Where rankings come from: a mapping with the key of its kind.", "anyOf": sources},
        "against": {
            "description": "The reference: the stored baseline, the anchor, or the rankings of a source.",
            "anyOf": [{"enum": ["baseline", "anchor"]}, {"$ref": "#/$defs/source"}],
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://www.schemastore.org/pytest-ireval-suite.json",
        **_finish(top, registry),
        "title": TITLE,
        "anyOf": [
            {"required": ["ireval", "suite", "source"]},
            {"required": ["ireval", "extends"]},
            {"not": {"required": ["ireval"]}},
        ],
        "$defs": {name: _finish(each, registry) for name, each in sorted((whole["$defs"] | filled_in).items())},
    }


def _finish(schema: Any, registry: Registry) -> Any:
    """Refer to the parts that plugins bring, read examples, and leave out names of models."""
    if isinstance(schema, list):
        return [_finish(each, registry) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made: Schema = {}
    for key, value in schema.items():
        if key == "examples":
            made[key] = [yaml.load(each, Loader=yaml.BaseLoader) for each in value]  # noqa: S506 - it makes text alone
        elif key == "description":
            made[key] = value.replace("``", "`")
        elif key in ("properties", "$defs"):
            made[key] = {name: _finish(each, registry) for name, each in value.items()}
        else:
            made[key] = value if key in ("enum", "const", "default", "required") else _finish(value, registry)
    if "properties" in made:
        made.pop("title", None)
    filled_in = made.pop(FILLED_IN, "")
    if filled_in == "keys":
        bound = made["additionalProperties"]
        made["properties"] |= {name: {**bound, "description": about} for name, about in _list_metric_names(registry)}
    elif filled_in:
        made["$ref"] = f"#/$defs/{filled_in}"
    return made


def _make_metric_schema(registry: Registry) -> Schema:
    return {
        "description": "A metric: Name(parameter=value, …)@cutoff, or its common name.",
        "anyOf": [
            *({"const": name, "description": about} for name, about in _list_metric_names(registry)),
            {"type": "string", "pattern": rf"^\s*(?:{_match_beginnings(registry)})(?![A-Za-z0-9])|{VARIABLE}"},
        ],
    }


def _match_beginnings(registry: Registry) -> str:
    """A pattern of the beginning of a metric's text, in any letter case; the rest is checked when the suite is read."""
    vocabulary = registry.vocabulary
    words = {*vocabulary.heads, *vocabulary.stems, *vocabulary.of_distributions, *vocabulary.resolvers}
    heads = sorted(words, key=lambda name: (-len(name), name))
    return "|".join("".join(map(_match_either_case, head)) for head in heads)


def _match_either_case(letter: str) -> str:
    if letter == "_":
        return "[_.]"  # both occur before numbers
    return f"[{letter.upper()}{letter}]" if letter.isalpha() else re.escape(letter)


def _list_metric_names(registry: Registry) -> Iterator[tuple[str, str]]:
    """Names that can be written as they are, each with the summary of the metric."""
    for metric in sorted(registry.metrics.values(), key=lambda each: each.name.lower()):
        at = metric.parameter(metric.at) if metric.at else None
        missing = [name for name in metric.missing if name != metric.at]
        if not missing and (at is None or not at.required):
            yield metric.name, metric.info.summary
        if not missing and metric.at == "cutoff":
            yield f"{metric.name}@10", metric.info.summary
