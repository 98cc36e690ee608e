"""How a query becomes a request to a live system, and where the answer has what."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, WithJsonSchema

from pytest_ireval.data.queries import Queries
from pytest_ireval.errors import Problem, SourceError, did_you_mean, shown
from pytest_ireval.suite.scalars import NUMBER, Scalar, UnfitError


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


class Exchange(NamedTuple):
    """How a query becomes a request, and the answer a ranking. Texts have placeholders, paths are JMESPath."""

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


class TimedAnswer(NamedTuple):
    """An answer, and the seconds that it took."""

    answer: Any
    seconds: float | None
    """None for one of several answers to one request."""


LONGEST_WAIT = 60.0
"""Seconds between two attempts; a system that asks for more is not asked again."""


class AttemptError(Exception):
    """An attempt without a result; ``again`` is true if another one may succeed, ``after`` that many seconds."""

    def __init__(self, complaint: str, shows: str = "", *, again: bool = False, after: float = 0.0) -> None:
        super().__init__(complaint)
        self.complaint, self.shows, self.again, self.after = complaint, shows, again, after


_PLACEHOLDER = re.compile(r"\{\{(?P<literal>[A-Za-z_][\w.-]*)\}\}|\{(?P<json>json:)?(?P<name>[A-Za-z_][\w.-]*)\}")
Encode = Callable[[Any], str]


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
        complaint = f"{{json:{name}}} needs JSON in the column {name}, which has {shown(str(values[name])[:100])}"
        raise AttemptError(complaint, f"write {{{name}}} for a text") from None


def refuse_unknown(used: Iterable[str], known: Collection[str], queries: Queries, written: str) -> None:
    """Refuse the name of a column that the queries do not have; ``written`` is the form of a name in the suite."""
    unknown = next((name for name in sorted(used) if name not in known), None)
    if unknown is not None:
        complaint = f"{written % unknown} is not a column of the queries ({queries.origin})"
        allowed = f"allowed: {', '.join(sorted(known))}"
        raise SourceError(Problem(complaint, suggestion=did_you_mean(unknown, known), allowed=allowed))


SAME_FOR_ALL = frozenset(("depth", "size", "from", "page"))
"""Placeholders whose value does not depend on the query."""
OF_ANY_QUERY = SAME_FOR_ALL | {"id", "text"}
"""Placeholders that need no column."""


def find_mistakes(
    used: Collection[str], sizes: Iterable[tuple[str, Any]], queries: Queries | None, depth: int, written: str
) -> Iterator[Problem]:
    """Mistakes of requests: names that are no columns, nothing that depends on the query, too few documents.

    ``used`` are the names in the request, and ``written`` is how a suite writes one. ``sizes`` are the numbers of
    documents that it asks for, by the name of the parameter. ``queries`` are None if they have not been read.
    """
    if queries is not None:
        try:
            refuse_unknown(used, OF_ANY_QUERY | {*queries.columns}, queries, written)
        except SourceError as error:
            yield from error.problems
            return
    if not set(used) - SAME_FOR_ALL:
        text = written % "text"
        complaint = f"every query gets the same request: it has neither {text} nor a column of the queries"
        yield Problem(complaint, suggestion=f"write {text} where the words of the query belong")
    elif queries is not None and "text" in used and (query := find_query_without_text(queries)):
        complaint = f"query {shown(query)} has no text ({queries.origin}), but the request needs {written % 'text'}"
        yield Problem(complaint, suggestion="set queries: to a file with columns id and text")
    for name, size in sizes:
        number = int(size) if str(size).isascii() and str(size).isdigit() else depth
        if number < depth:
            complaint = f"{name}: {number} asks for fewer documents than the suite, whose depth is {depth}"
            yield Problem(
                complaint, suggestion=f"ask for {written % 'depth'} documents, or write depth: {number} in the suite"
            )


def find_query_without_text(queries: Queries) -> str:
    """The first query without a text; "" if there is none."""
    return next((query for query, text in zip(queries.ids, queries.text, strict=True) if not text), "")


def find_sizes(tree: Any, *names: str) -> Iterator[tuple[str, Any]]:
    """The values that a mapping has under some names."""
    if isinstance(tree, Mapping):
        yield from ((name, tree[name]) for name in names if name in tree)


_PLAIN_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


def compile_path(expression: str) -> Callable[[Any], Any]:
    """A function that finds the value of a JMESPath expression; plain names, which are most, without the library."""
    if _PLAIN_PATH.fullmatch(expression):
        *parents, last = expression.split(".")

        def follow_names(value: Any) -> Any:
            for name in parents:
                value = value.get(name) if isinstance(value, dict) else None
            return value.get(last) if isinstance(value, dict) else None

        return follow_names
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
