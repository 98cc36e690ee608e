"""What editors are told of each type of value: YAML in an editor has numbers and booleans, where a suite has text."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

VARIABLE = r"\$\{|\{\w+\}"
"""Any value may be ``${NAME}`` of the environment or ``{name}`` of a matrix."""
NUMERIC = r"^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"


def any_of(*schemas: Schema) -> Schema:
    """One of them."""
    return {"anyOf": list(schemas)}


def text_like(pattern: str, *others: Schema) -> Schema:
    """Text of a pattern, or a variable, or something else."""
    return any_of(*others, {"type": "string", "pattern": f"{pattern}|{VARIABLE}"})


def mapping_of(schema: Schema, **more: Any) -> Schema:
    """A mapping whose values are all alike."""
    return {"type": "object", "additionalProperties": schema, "minProperties": 1, **more}


def one_or_list(schema: Schema) -> Schema:
    """One value or a list of such."""
    return any_of(schema, {"type": "array", "items": schema, "minItems": 1})


TEXT: Schema = {"type": ["string", "number", "boolean"]}
TEXTS = any_of(TEXT, {"type": "array", "items": TEXT})
FLAG = text_like("^(?:true|false|yes|no|on|off)$", {"type": "boolean"})
WHOLE = text_like(r"^\s*[1-9][0-9]*\s*$", {"type": "integer", "minimum": 1})
NUMBER = text_like(NUMERIC, {"type": "number"})
FILTER = mapping_of(TEXTS)
PATH: Schema = {"type": "string", "minLength": 1}
PATHS = one_or_list(PATH)
METRIC: Schema = {"type": "string", "x-ireval": "metric"}
"""Stands for the metrics at hand, which are known when the schema is written."""
METRICS = one_or_list(METRIC)
BOUND = text_like(r"^\s*(>=|<=|>|<|≥|≤)\s*[+-]?[0-9.]+([eE][+-]?[0-9]+)?\s*$")
TOLERANCE = text_like(
    r"^\s*[0-9.]+\s*%\s*$",
    {
        "type": "object",
        "properties": {"absolute": {**NUMBER, "description": "In the metric's own unit."}},
        "required": ["absolute"],
        "additionalProperties": False,
    },
)
TOLERANCES = any_of(
    *TOLERANCE["anyOf"],
    mapping_of(TOLERANCE, properties={"default": {**TOLERANCE, "description": "For all other slices."}}),
)
AMOUNT = text_like(r"^\s*([0-9]+|[0-9.]+\s*%)\s*$", {"type": "integer", "minimum": 0})
DURATION = text_like(r"^\s*[0-9.]+\s*(ms|s|m|h)\s*$")
DAY = text_like(r"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}\s*$")
AGAINST: Schema = {"x-ireval": "against"}
"""Stands for ``baseline`` or one of the sources at hand."""
SOURCE: Schema = {"x-ireval": "source"}
"""Stands for the sources at hand."""
RULES: Schema = {"items": {"x-ireval": "rule"}}
"""Stands for the rules at hand."""
