"""Placeholders such as ``{text}`` in a request, and the JSON that a suite writes as the body of one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from pytest_ireval.errors import quote
from pytest_ireval.sources.live.exchange import AttemptError
from pytest_ireval.suite.scalars import NUMBER, Scalar

_PLACEHOLDER = re.compile(r"\{\{(?P<literal>[A-Za-z_][\w.-]*)\}\}|\{(?P<json>json:)?(?P<name>[A-Za-z_][\w.-]*)\}")

Encode = Callable[[Any], str]


def _read_json_tree(value: Any) -> Any:
    """Read a JSON value as a suite writes it: ``10``, ``true`` and ``null`` as in JSON, and what is quoted as text."""
    if isinstance(value, Mapping):
        return {str(key): _read_json_tree(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_read_json_tree(each) for each in value]
    if not isinstance(value, Scalar):
        return value
    text = str(value)
    if not value.quoted and (text in ("true", "false", "null") or NUMBER.fullmatch(text)):
        with suppress(ValueError):  # a number such as 007, which JSON does not know
            return json.loads(text)
    return text


JsonTree = Annotated[Any, BeforeValidator(_read_json_tree), WithJsonSchema({})]


def find_placeholders(tree: Any) -> Iterator[str]:
    """The names of all placeholders."""
    if isinstance(tree, str):
        yield from (found["name"] for found in _PLACEHOLDER.finditer(tree) if found["name"])
    elif isinstance(tree, Mapping | list | tuple):
        for each in tree.values() if isinstance(tree, Mapping) else tree:
            yield from find_placeholders(each)


def fill(tree: Any, values: Mapping[str, Any], encode: Encode = str) -> Any:
    """The tree with placeholders filled in; a text that is one placeholder becomes its value, which may be a number.

    ``{json:name}`` is the value of JSON in a column.
    """
    if isinstance(tree, str):
        if "{" not in tree:
            return tree
        whole = _PLACEHOLDER.fullmatch(tree)
        if whole and whole["name"] and encode is str:
            return _read_json_column(whole["name"], values) if whole["json"] else values[whole["name"]]
        return _PLACEHOLDER.sub(
            lambda found: encode(values[found["name"]]) if found["name"] else f"{{{found['literal']}}}", tree
        )
    if isinstance(tree, Mapping):
        return {key: fill(each, values, encode) for key, each in tree.items()}
    return [fill(each, values, encode) for each in tree] if isinstance(tree, list) else tree


def _read_json_column(name: str, values: Mapping[str, Any]) -> Any:
    """The JSON value that a column has as text, such as the list of numbers of a vector."""
    try:
        return json.loads(str(values[name]))
    except ValueError:
        complaint = f"{{json:{name}}} needs JSON in the column {name}, which has {quote(str(values[name])[:100])}"
        raise AttemptError(complaint, f"write {{{name}}} for a text") from None
