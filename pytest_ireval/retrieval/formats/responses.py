"""Answers of search engines: the documents that they list, and the parts that they lack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_ireval.errors import InputError, Mistakes

if TYPE_CHECKING:
    from pytest_ireval.retrieval.formats.input_file import InputFile
    from pytest_ireval.retrieval.formats.row_files import Node

_HITS = {("hits", "hits"): "_id", ("response", "docs"): "id", ("root", "children"): "id"}
"""The keys that lead to the hits in an answer of Elasticsearch or OpenSearch, of Solr, of Vespa; and that of an id."""


def responses(file: InputFile) -> dict[str, list[str]]:
    """By query, the documents of its answer, in their order."""
    from pytest_ireval.retrieval.formats.row_files import documents

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
