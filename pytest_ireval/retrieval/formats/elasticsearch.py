"""Files of search engines: requests of Elasticsearch's ranking evaluation (``_rank_eval``), and answers to searches.

A rating's document may be in any index: where there are several, its id is written ``index/id``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_ireval.errors import InputError, Mistakes
from pytest_ireval.retrieval.formats.input_file import InputFile
from pytest_ireval.retrieval.formats.json_text import Node, document, documents
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


_HITS = {("hits", "hits"): "_id", ("response", "docs"): "id", ("root", "children"): "id"}
"""The keys that lead to the hits in an answer of Elasticsearch or OpenSearch, of Solr, of Vespa; and that of an id."""


def responses(file: InputFile) -> dict[str, list[str]]:
    """By query, the documents of its answer, in their order."""
    found: dict[str, list[str]] = {}
    mistakes = Mistakes()
    for whole in documents(file):
        for query, answer in whole.entries():
            try:
                if query in found:
                    raise answer.error("this query has an answer already")
                found[query] = _documents(answer)
            except InputError as error:
                mistakes.add(error.problems[0])
    mistakes.refuse()
    return found


def _documents(answer: Node) -> list[str]:
    """The ids of the hits of a complete answer."""
    keys = next((keys for keys in _HITS if answer.has(keys[0])), None)
    if keys is None:
        raise answer.error("has no hits: it is not a complete answer of Elasticsearch, OpenSearch, Solr or Vespa")
    if why := incomplete(answer.value):
        raise answer.error(f"the answer is incomplete: {why}")
    parent = answer.get(keys[0])
    if parent.has("errors"):
        raise parent.error("the answer has errors")
    if keys[0] != "root":  # Vespa leaves children out where there are none
        parent.get(keys[1])
    return [hit.required(_HITS[keys]) for hit in parent.each(keys[1])]


def incomplete(answer: Any) -> str:
    """The reason why an answer lacks a part although its status is a success, as engines say it; "" if they do not."""
    if not isinstance(answer, dict):
        return ""
    shards = answer.get("_shards")
    header = answer.get("responseHeader")
    root = answer.get("root")
    coverage = root.get("coverage") if isinstance(root, dict) else None
    if answer.get("timed_out") is True:
        return "timed_out is true"
    if isinstance(shards, dict) and (lost := _lost_shards(shards)):
        return lost
    if isinstance(header, dict) and header.get("partialResults") in (True, "true", "omitted"):
        return "responseHeader.partialResults is true"
    if isinstance(coverage, dict) and (coverage.get("full") is False or coverage.get("degraded")):
        return f"it covers {coverage.get('coverage', '?')}% of the documents"
    return ""


def _lost_shards(shards: Mapping[str, Any]) -> str:
    if shards.get("failed"):
        failures = shards.get("failures") or [{}]
        reason = failures[0].get("reason") if isinstance(failures[0], dict) else None
        said = f" ({reason.get('type')}: {reason.get('reason')})" if isinstance(reason, dict) else ""
        return f"{shards['failed']} of {shards.get('total', '?')} shards failed{said}"
    answered, total = shards.get("successful", 0), shards.get("total", 0)  # a shard whose node is gone does not fail
    return f"{answered} of {total} shards answered" if answered < total else ""
