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


_HOLE = re.compile(r"\{\{(?P<literal>[A-Za-z_][\w.-]*)\}\}|\{(?P<name>[A-Za-z_][\w.-]*)\}")
Encode = Callable[[Any], str]


def holes(tree: Any) -> Iterator[str]:
    """The names of all placeholders."""
    if isinstance(tree, str):
        yield from (hole["name"] for hole in _HOLE.finditer(tree) if hole["name"])
    elif isinstance(tree, Mapping | list | tuple):
        for each in tree.values() if isinstance(tree, Mapping) else tree:
            yield from holes(each)


def filled(tree: Any, values: Mapping[str, Any], encode: Encode = str) -> Any:
    """The tree with placeholders filled in; a text that is one placeholder becomes its value, which may be a number."""
    if isinstance(tree, str):
        if "{" not in tree:
            return tree
        whole = _HOLE.fullmatch(tree)
        if whole and whole["name"] and encode is str:
            return values[whole["name"]]
        return _HOLE.sub(lambda hole: encode(values[hole["name"]]) if hole["name"] else f"{{{hole['literal']}}}", tree)
    if isinstance(tree, Mapping):
        return {key: filled(each, values, encode) for key, each in tree.items()}
    return [filled(each, values, encode) for each in tree] if isinstance(tree, list) else tree


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
        names = expression.split(".")

        def found(value: Any) -> Any:
            for name in names:
                value = value.get(name) if isinstance(value, dict) else None
            return value

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


def incomplete(answer: Any) -> str:
    """The reason why an answer lacks a part although its status is a success, as engines say it; "" if they do not."""
    if not isinstance(answer, dict):
        return ""
    header = answer.get("responseHeader")
    root = answer.get("root")
    coverage = root.get("coverage") if isinstance(root, dict) else None
    if answer.get("timed_out") is True:
        return "timed_out is true"
    for parts in ("shards", "clusters"):
        counts = answer.get(f"_{parts}")
        if isinstance(counts, dict) and (lost := _lost(counts, parts)):
            return lost
    if isinstance(header, dict) and header.get("partialResults") in (True, "true", "omitted"):
        return "responseHeader.partialResults is true"
    if isinstance(coverage, dict) and (coverage.get("full") is False or coverage.get("degraded")):
        return f"it covers {coverage.get('coverage', '?')}% of the documents"
    return ""


def _lost(counts: Mapping[str, Any], parts: str) -> str:
    if counts.get("failed"):
        failures = counts.get("failures") or [{}]
        reason = failures[0].get("reason") if isinstance(failures[0], dict) else None
        said = f" ({reason.get('type')}: {reason.get('reason')})" if isinstance(reason, dict) else ""
        return f"{counts['failed']} of {counts.get('total', '?')} {parts} failed{said}"
    answered, total = counts.get("successful", 0), counts.get("total", 0)  # a shard whose node is gone does not fail
    return f"{answered} of {total} {parts} answered" if answered < total else ""
