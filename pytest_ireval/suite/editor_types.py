"""Schemas for editors of the types that pydantic does not know; a title says what a value is called."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

FILLED_IN = "x-ireval"
"""The mark of a place for parts from plugins, which are filled in when the schema of suites is written."""

VARIABLE = r"\$\{|\{\w+\}"
"""Any value may be ``${NAME}`` of the environment or ``{name}`` of a matrix."""
NUMERIC = r"^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
IN_UNIT = r"\s*(ms|s)?\s*$"


def text_like(title: str, pattern: str, *others: Schema) -> Schema:
    """Text of a pattern, or a variable, or something else."""
    text = {"type": "string", "pattern": f"{pattern}|{VARIABLE}"}
    return {"title": title, "anyOf": [*others, text]} if others else {"title": title, **text}


def one_or_list(schema: Schema) -> Schema:
    """One value or a list of values."""
    both = [schema, {"type": "array", "items": schema, "minItems": 1}]
    return {"title": f"{schema['title']}, or a list", "anyOf": both}


PATH = {"title": "path", "type": "string", "format": "path"}
GLOB = {"title": "glob", "type": "string", "minLength": 1}
GLOBS = one_or_list(GLOB)
METRIC = {"title": "metric", FILLED_IN: "metric"}
METRICS = one_or_list(METRIC)
FIGURE = text_like("number", NUMERIC.replace(r"\s*$", IN_UNIT), {"type": "number"})
BOUND = text_like("bound", r"^\s*(>=|<=|>|<|≥|≤)\s*[+-]?[0-9.]+([eE][+-]?[0-9]+)?" + IN_UNIT)
ABSOLUTE = {
    "type": "object",
    "properties": {"absolute": {**FIGURE, "description": "In the metric's own unit."}},
    "required": ["absolute"],
    "additionalProperties": False,
}
TOLERANCE = text_like("tolerance", r"^\s*[0-9.]+\s*%\s*$", ABSOLUTE)
BY_VALUE = {
    "type": "object",
    "properties": {"default": {**TOLERANCE, "description": "For all other values."}},
    "additionalProperties": TOLERANCE,
    "minProperties": 1,
}
TOLERANCES = {"title": "tolerance, or one for each value of `per`", "anyOf": [*TOLERANCE["anyOf"], BY_VALUE]}
AMOUNT = text_like("amount", r"^\s*([0-9]+|[0-9.]+\s*%)\s*$", {"type": "integer", "minimum": 0})
SHARE = text_like("share", r"^\s*[0-9.]+\s*%\s*$")
LEAST_SHARE = text_like("share of queries", r"^\s*(>=|≥)\s*[0-9.]+\s*%\s*$")
DURATION = text_like("duration", r"^\s*[0-9.]+\s*(ms|s|m|h)\s*$")
DAY = text_like("day", r"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}\s*$")
AGAINST = {"title": "`baseline`, `anchor`, or a source", FILLED_IN: "against"}
SOURCE = {"title": "source", FILLED_IN: "source"}
RULE = {"title": "rule", FILLED_IN: "rule"}
