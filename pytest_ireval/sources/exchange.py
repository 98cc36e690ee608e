"""The exchange with a live system: how a query becomes a request, and where its answer has what."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, WithJsonSchema

from pytest_ireval.errors import Problem, SourceError, did_you_mean, shown
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.suites.scalars import NUMBER, Scalar, UnfitError


def _json_tree(value: Any) -> Any:
    """Read a JSON value as a suite writes it: ``10``, ``true`` and ``null`` as in JSON, and what is quoted as text."""
    if isinstance(value, Mapping):
        return {str(key): _json_tree(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_tree(each) for each in value]
    if not isinstance(value, Scalar):
        return value
    text = str(value)
    if not value.quoted and (text in ("true", "false", "null") or NUMBER.fullmatch(text)):
        with suppress(ValueError):  # a number such as 007, which JSON does not know
            return json.loads(text)
    return text


JsonTree = Annotated[Any, BeforeValidator(_json_tree), WithJsonSchema({})]


class Exchange(NamedTuple):
    """The way in which a query becomes a request, and the answer a ranking. Texts have holes, paths are JMESPath."""

    url: str
    method: str
    params: Mapping[str, str]
    body: Any
    hits: str
    id: str
    score: str = ""
    fields: Mapping[str, str] = {}
    took: str = ""
    complete: str = ""
    page_size: int | None = None


class AttemptError(Exception):
    """An attempt without a result; ``again`` is true if another one may succeed, ``after`` that many seconds."""

    def __init__(self, complaint: str, shows: str = "", *, again: bool = False, after: float = 0.0) -> None:
        super().__init__(complaint)
        self.complaint, self.shows, self.again, self.after = complaint, shows, again, after


_HOLE = re.compile(r"\{\{(?P<literal>[A-Za-z_][\w.-]*)\}\}|\{(?P<json>json:)?(?P<name>[A-Za-z_][\w.-]*)\}")
Encode = Callable[[Any], str]


def holes(tree: Any) -> Iterator[str]:
    """The names of all placeholders."""
    if isinstance(tree, str):
        yield from (hole["name"] for hole in _HOLE.finditer(tree) if hole["name"])
    elif isinstance(tree, Mapping | list | tuple):
        for each in tree.values() if isinstance(tree, Mapping) else tree:
            yield from holes(each)


def filled(tree: Any, values: Mapping[str, Any], encode: Encode = str) -> Any:
    """The tree with placeholders filled in; a text that is one placeholder becomes its value, which may be a number.

    ``{json:name}`` is the value of JSON in a column.
    """
    if isinstance(tree, str):
        if "{" not in tree:
            return tree
        whole = _HOLE.fullmatch(tree)
        if whole and whole["name"] and encode is str:
            return _from_json(whole["name"], values) if whole["json"] else values[whole["name"]]
        return _HOLE.sub(lambda hole: encode(values[hole["name"]]) if hole["name"] else f"{{{hole['literal']}}}", tree)
    if isinstance(tree, Mapping):
        return {key: filled(each, values, encode) for key, each in tree.items()}
    return [filled(each, values, encode) for each in tree] if isinstance(tree, list) else tree


def _from_json(name: str, values: Mapping[str, Any]) -> Any:
    """The JSON value that a column has as text, such as the list of numbers of a vector."""
    try:
        return json.loads(str(values[name]))
    except ValueError:
        complaint = f"{{json:{name}}} needs JSON in the column {name}, which has {shown(str(values[name])[:100])}"
        raise AttemptError(complaint, f"write {{{name}}} for a text") from None


def refuse_unknown(used: Iterable[str], known: Collection[str], queries: Queries, written: str) -> None:
    """Refuse the name of a column that the queries do not have; ``written`` is the form of a name in the suite."""
    unknown = next((name for name in sorted(used) if name not in known), None)
    if unknown is not None:
        complaint = f"{written % unknown} is not a column of the queries ({queries.origin})"
        allowed = f"allowed: {', '.join(sorted(known))}"
        raise SourceError(Problem(complaint, suggestion=did_you_mean(unknown, known), allowed=allowed))


_PLAIN_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


def json_path(expression: str) -> Callable[[Any], Any]:
    """A function that finds the value of a JMESPath expression; plain names, which are most, without the library."""
    if _PLAIN_PATH.fullmatch(expression):
        *parents, last = expression.split(".")

        def found(value: Any) -> Any:
            for name in parents:
                value = value.get(name) if isinstance(value, dict) else None
            return value.get(last) if isinstance(value, dict) else None

        return found
    try:
        import jmespath
    except ImportError:
        needs = "jmespath must be installed, for paths other than names and dots"
        raise UnfitError(f"{shown(expression)}: {needs}", "pip install 'pytest-ireval[live]'") from None
    try:
        search: Callable[[Any], Any] = jmespath.compile(expression).search
    except jmespath.exceptions.JMESPathError as error:
        complaint = " ".join(str(error).split("\n")[0].split())
        raise UnfitError(f"{shown(expression)} is not JMESPath: {complaint}", "see https://jmespath.org") from None
    return search
