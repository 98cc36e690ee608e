"""Writes docs/results.schema.json from the classes of results: ``python docs/results_schema.py``."""

from __future__ import annotations

import ast
import inspect
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

from pytest_ireval.report.results_file import FORMAT, IN_PARTS, PARTS
from pytest_ireval.results.plain import classify_type, read_type_hints
from pytest_ireval.results.suite_result import RunResult

PAGE = Path(__file__).with_name("results.schema.json")
SCALARS = {str: "string", float: "number", int: "integer", bool: "boolean"}


def schema() -> dict[str, Any]:
    """The schema of what ``pytest --ireval`` writes as results.json."""
    definitions: dict[str, Any] = {}
    run = _record(RunResult, definitions)
    suite = definitions["SuiteResult"]["properties"]
    suite["part"] = {
        "type": "string",
        "pattern": f"^{re.escape(PARTS)}/",
        "description": "In a large run, the file beside this one with the queries and documents, which are empty here.",
    }
    told = {"format": {"const": FORMAT}, "date": {"type": "string"}, "suite": {"type": "string"}}
    definitions["Part"] = {
        "type": "object",
        "description": "The file of a part, with the date of the run and the name of the suite.",
        "properties": {**told, **{name: suite[name] for name in IN_PARTS}},
        "required": [*told, *IN_PARTS],
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://www.schemastore.org/pytest-ireval-results.json",
        "title": "results.json of pytest-ireval",
        **run,
        "properties": {"format": {"const": FORMAT, "description": "The version of this form."}, **run["properties"]},
        "required": ["format", *run["required"]],
        "$defs": dict(sorted(definitions.items())),
    }


def _record(record: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """An object with every field of a dataclass, described by the text below the field."""
    said = _said_of(record)
    properties = {}
    for name, hint in read_type_hints(record).items():
        about = {"description": said[name]} if name in said else {}
        properties[name] = {**_type(hint, definitions), **about}
    return {
        "type": "object",
        "description": _plain((inspect.getdoc(record) or "").partition("\n\n>>>")[0]),
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _type(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    kind, inner = classify_type(hint)
    if kind == "record":
        if hint.__name__ not in definitions:
            definitions[hint.__name__] = {}
            definitions[hint.__name__] = _record(hint, definitions)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if kind == "optional":
        return _or_null(_type(inner[0], definitions))
    if kind == "list":
        return {"type": "array", "items": _type(inner[0], definitions)}
    if kind == "mapping":
        return {"type": "object", "additionalProperties": _type(inner[0], definitions)}
    if hint is Any:
        return {}
    return {"enum": list(inner)} if kind == "choice" else {"type": SCALARS[hint]}


def _or_null(type_: dict[str, Any]) -> dict[str, Any]:
    if isinstance(type_.get("type"), str):
        return {**type_, "type": [type_["type"], "null"]}
    return {"anyOf": [type_, {"type": "null"}]}


def _said_of(record: type[Any]) -> dict[str, str]:
    """The text below each field in the source."""
    (node,) = ast.parse(inspect.getsource(record)).body
    body = node.body if isinstance(node, ast.ClassDef) else []
    said = {}
    for field, text in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
            said[field.target.id] = _plain(ast.literal_eval(text.value))
    return said


def _plain(text: str) -> str:
    return " ".join(text.replace("``", "`").split())


def page() -> str:
    """The text of the file."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
