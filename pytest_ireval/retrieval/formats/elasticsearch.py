"""Requests of Elasticsearch's ranking evaluation (``_rank_eval``): an id, a query, and ratings of documents.

A rating's document may be in any index: where there are several, its id is written ``index/id``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pytest_ireval.retrieval.formats.input_file import InputFile
from pytest_ireval.retrieval.formats.json_text import Node, document
from pytest_ireval.retrieval.tables import Table, table_of_rows

TEXTS = ("query_string", "query", "q", "text")
"""Parameters of a template that hold the text, best first."""

OF_ONE_FIELD = ("match", "match_phrase", "term", "match_bool_prefix", "match_phrase_prefix")

Rows = Iterator[tuple[dict[str, Any], str]]


def elasticsearch_queries(file: InputFile) -> Table:
    """A row for each request."""
    return table_of_rows(_queries(document(file)), file.name)


def elasticsearch_judgments(file: InputFile) -> Table:
    """A row for each rating."""
    return table_of_rows(_judgments(document(file)), file.name)


def _queries(whole: Node) -> Rows:
    for request in whole.each("requests"):
        row = {"id": request.required("id"), "text": _text(request), "template": request.text("template_id")}
        yield row, request.place


def _judgments(whole: Node) -> Rows:
    ratings = [(request, rating) for request in whole.each("requests") for rating in request.each("ratings")]
    several = len({rating.text("_index") for _, rating in ratings}) > 1
    for request, rating in ratings:
        identifier = f"{rating.text('_index')}/{rating.text('_id')}" if several else rating.text("_id")
        row = {"query": request.required("id"), "document": identifier, "grade": rating.get("rating").value}
        yield row, rating.place


def _text(request: Node) -> str:
    """The words that are searched for: a parameter of the template, or the only text in the query; else nothing."""
    if request.has("params"):
        parameters = dict(request.get("params").entries())
        name = next((name for name in TEXTS if name in parameters), next(iter(parameters), ""))
        value = parameters[name].value if name else ""
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if not request.has("request"):
        return ""
    body = request.get("request")
    texts = set(_texts(body.get("query").value)) if body.has("query") or body.text("query") else set()
    return texts.pop() if len(texts) == 1 else ""


def _texts(query: Any) -> Iterator[str]:
    """Texts of clauses such as match or query_string."""
    for key, value in query.items() if isinstance(query, dict) else ():
        if key in OF_ONE_FIELD and isinstance(value, dict):
            for sought in value.values():
                yield str(sought.get("query", sought.get("value", "")) if isinstance(sought, dict) else sought)
        elif key in ("multi_match", "query_string", "simple_query_string") and isinstance(value, dict):
            yield str(value.get("query", ""))
        else:
            for part in value if isinstance(value, list) else [value]:
                yield from _texts(part)
