"""Schemas of all types of values for editors, which read numbers and booleans where a suite has text."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

WORDS = "x-words"
STANDS_FOR = "x-ireval"
"""The mark of a place for parts from plugins, which are filled in when a schema is written."""

VARIABLE = r"\$\{|\{\w+\}"
"""Any value may be ``${NAME}`` of the environment or ``{name}`` of a matrix."""
NUMERIC = r"^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
IN_UNIT = r"\s*(ms|s)?\s*$"


def any_of(*schemas: Schema) -> Schema:
    """One of the schemas."""
    return {"anyOf": list(schemas)}


def text_like(pattern: str, *others: Schema) -> Schema:
    """Text of a pattern, or a variable, or something else."""
    return any_of(*others, {"type": "string", "pattern": f"{pattern}|{VARIABLE}"})


def mapping_of(schema: Schema, **more: Any) -> Schema:
    """A mapping whose values have one schema."""
    return {"type": "object", "additionalProperties": schema, "minProperties": 1, **more}


def one_or_list(schema: Schema) -> Schema:
    """One value or a list of values."""
    return any_of(schema, {"type": "array", "items": schema, "minItems": 1})


def called(words: str, schema: Schema) -> Schema:
    """The schema with the name of its values in the documentation."""
    return {**schema, WORDS: words}


TEXT = called("text", {"type": ["string", "number", "boolean"]})
TEXTS = called("text, or a list", any_of(TEXT, {"type": "array", "items": TEXT}))
FLAG = called("true or false", text_like("^(?:true|false|yes|no|on|off)$", {"type": "boolean"}))
WHOLE = called("whole number from 1", text_like(r"^\s*[1-9][0-9]*\s*$", {"type": "integer", "minimum": 1}))
COUNT = called("whole number from 0", text_like(r"^\s*[0-9]+\s*$", {"type": "integer", "minimum": 0}))
NUMBER = called("number", text_like(NUMERIC, {"type": "number"}))
FIGURE = called("number", text_like(NUMERIC.replace(r"\s*$", IN_UNIT), {"type": "number"}))
FILTER = called("mapping of columns and values", mapping_of(TEXTS))
PATH = called("path", {"type": "string", "minLength": 1})
PATHS = called("path, or a list", one_or_list(PATH))
GLOBS = called("glob, or a list", one_or_list({"type": "string", "minLength": 1}))
METRIC = called("metric", {"type": "string", STANDS_FOR: "metric"})
METRICS = called("metric, or a list", one_or_list(METRIC))
BOUND = called("bound", text_like(r"^\s*(>=|<=|>|<|≥|≤)\s*[+-]?[0-9.]+([eE][+-]?[0-9]+)?" + IN_UNIT))
TOLERANCE = called(
    "tolerance",
    text_like(
        r"^\s*[0-9.]+\s*%\s*$",
        {
            "type": "object",
            "properties": {"absolute": {**FIGURE, "description": "In the metric's own unit."}},
            "required": ["absolute"],
            "additionalProperties": False,
        },
    ),
)
TOLERANCES = called(
    "tolerance, or one for each value of `per`",
    any_of(
        *TOLERANCE["anyOf"],
        mapping_of(TOLERANCE, properties={"default": {**TOLERANCE, "description": "For all other values."}}),
    ),
)
AMOUNT = called("amount", text_like(r"^\s*([0-9]+|[0-9.]+\s*%)\s*$", {"type": "integer", "minimum": 0}))
SHARE = called("share", text_like(r"^\s*[0-9.]+\s*%\s*$"))
DURATION = called("duration", text_like(r"^\s*[0-9.]+\s*(ms|s|m|h)\s*$"))
DAY = called("day", text_like(r"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}\s*$"))
AGAINST = called("`baseline`, `anchor`, or a source", {STANDS_FOR: "against"})
SOURCE = called("source", {STANDS_FOR: "source"})
RULES = called("list of rules", {"items": {STANDS_FOR: "rule"}})
