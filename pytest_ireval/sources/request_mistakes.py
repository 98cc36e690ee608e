"""Mistakes of requests that show without asking: unknown columns, no word of the query, too few documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from pytest_ireval.data.queries import Queries
from pytest_ireval.errors import Problem, SourceError, did_you_mean, quote

SAME_FOR_ALL = frozenset(("depth", "size", "from", "page"))
"""Placeholders whose value does not depend on the query."""

OF_ANY_QUERY = SAME_FOR_ALL | {"id", "text"}
"""Placeholders that need no column."""


def refuse_unknown_columns(used: Iterable[str], known: Collection[str], queries: Queries, written: str) -> None:
    """Refuse the name of a column that the queries do not have; ``written`` is the form of a name in the suite."""
    unknown = next((name for name in sorted(used) if name not in known), None)
    if unknown is not None:
        complaint = f"{written % unknown} is not a column of the queries ({queries.origin})"
        allowed = f"allowed: {', '.join(sorted(known))}"
        raise SourceError(Problem(complaint, suggestion=did_you_mean(unknown, known), allowed=allowed))


def find_mistakes(
    used: Collection[str], sizes: Iterable[tuple[str, Any]], queries: Queries | None, depth: int, written: str
) -> Iterator[Problem]:
    """Mistakes of requests: names that are no columns, nothing that depends on the query, too few documents.

    ``used`` are the names in the request, and ``written`` is how a suite writes one. ``sizes`` are the numbers of
    documents that it asks for, by the name of the parameter. ``queries`` are None if they have not been read.
    """
    if queries is not None:
        try:
            refuse_unknown_columns(used, OF_ANY_QUERY | {*queries.columns}, queries, written)
        except SourceError as error:
            yield from error.problems
            return
    if not set(used) - SAME_FOR_ALL:
        text = written % "text"
        complaint = f"every query gets the same request: it has neither {text} nor a column of the queries"
        yield Problem(complaint, suggestion=f"write {text} where the words of the query belong")
    elif queries is not None and "text" in used and (query := find_query_without_text(queries)):
        complaint = f"query {quote(query)} has no text ({queries.origin}), but the request needs {written % 'text'}"
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
