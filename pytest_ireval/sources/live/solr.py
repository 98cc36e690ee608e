"""Rankings of Solr."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field

from pytest_ireval.baseline.json_trees import compute_hash
from pytest_ireval.plugins.plugin_types import source
from pytest_ireval.sources.live.engine_options import DOCUMENT, ExplainingOptions, format_explanation, make_path
from pytest_ireval.sources.live.exchange import Exchange, compile_path
from pytest_ireval.sources.live.fetching import fetch_once, fetch_over_http
from pytest_ireval.sources.live.index import COPIES, IndexRequest, SearchedIndex, remove_keys
from pytest_ireval.sources.live.placeholders import JsonTree
from pytest_ireval.sources.request import Answer, Request
from pytest_ireval.sources.request_mistakes import find_sizes
from pytest_ireval.suite.option_types import Text

HANDLER_PARAMETERS = ("defaults", "appends", "invariants", "useParams", "_useParamsExpanded_")
"""The parameters of a request handler that each search gets, and the sets of parameters that it names."""


class SolrOptions(ExplainingOptions):
    """The options of Solr."""

    engine: ClassVar[str] = "solr"
    login_example: ClassVar[str] = "solr: https://${SOLR_USER}:${SOLR_PASSWORD}@host:8983/solr/name"
    solr: Text = Field(description="The address of the collection, as http://host:8983/solr/products.")
    query: JsonTree = Field(
        "{!edismax v=$ireval_text}", description="The query of the JSON request API; $ireval_text is the query's text."
    )
    body: JsonTree = Field(None, description="More of the body: filter, queries, params and so on.")
    key: Text = Field("id", description="The field with the document's id.")

    def request_parts(self) -> Any:
        """Parameters, query and body; the query's text is a parameter of its own."""
        parts = [self.params, self.query, self.body]
        return [*parts, "{text}"] if "$ireval_text" in json.dumps(parts) else parts

    def list_sizes(self) -> Iterator[tuple[str, Any]]:
        """``limit``, and ``rows`` among the parameters."""
        yield from find_sizes(self.body, "limit")
        for tree in (self.params, self.body.get("params") if isinstance(self.body, Mapping) else None):
            yield from find_sizes(tree, "rows")


def _explain_in_solr(options: SolrOptions, request: Request, query: str, document: str) -> list[str]:
    """The tree of ``explainOther``; nothing unless the suite wants it."""
    if not options.may_explain:
        return []
    exchange = _make_exchange(options, request)
    debug = {"debug": "results", "debug.explain.structured": "true", "ireval_document": f"{{{DOCUMENT}}}"}
    other = {"explainOther": f"{{!term f={options.key} v=$ireval_document}}"}
    body = {**exchange.body, "limit": 1, "params": {**exchange.body["params"], **debug, **other}}
    answer = fetch_once(exchange._replace(body=body), options, request, query, **{DOCUMENT: document})
    found = answer["debug"]["explainOther"].get(document)
    return list(format_explanation(found)) if found else ["the collection does not have this document"]


@source(name="solr", options=SolrOptions, explain=_explain_in_solr)
def solr(options: SolrOptions, request: Request) -> Answer:
    """Rankings of Solr, by its JSON request API."""
    return fetch_over_http(_make_exchange(options, request), options, request, index=_SolrIndex(options))


def _make_exchange(options: SolrOptions, request: Request) -> Exchange:
    fields = dict.fromkeys((*options.fields, *request.fields))
    more = options.body if isinstance(options.body, Mapping) else {}
    body = {
        "query": options.query,
        "limit": "{depth}",
        "fields": [options.key, "score", *fields],
        **more,
        "params": {"ireval_text": "{text}", **more.get("params", {})},
    }
    return Exchange(
        f"{options.solr.rstrip('/')}/select",
        "POST",
        options.params,
        body,
        hits="response.docs",
        id=make_path(options.key),
        score="" if "sort" in body else "score",
        fields={name: make_path(name) for name in fields},
        took="responseHeader.QTime",
        total="response" if request.count_to else "",
    )


class _SolrIndex(SearchedIndex):
    """The schema of a collection, its number of documents, and the parameters of its request handler."""

    def __init__(self, options: SolrOptions) -> None:
        address = options.solr.rstrip("/")
        requests = {
            "schema": IndexRequest(f"{address}/schema"),
            "count": IndexRequest(f"{address}/select?q=*:*&rows=0"),
        }
        super().__init__(address, requests, has_documents_checked=options.check_documents)
        self.key = options.key

    def list_further_requests(self, answers: Mapping[str, Any]) -> Mapping[str, IndexRequest]:  # noqa: ARG002 - it is always the same
        """The handler of the searches."""
        return {
            "handler": IndexRequest(f"{self.address}/config/requestHandler?componentName=/select&expandParams=true")
        }

    def read_facts(self, answers: Mapping[str, Any]) -> dict[str, Any]:
        """Read what is there: a login may be allowed to search only."""
        facts: dict[str, Any] = {"stored": {}}
        if "count" in answers:
            facts["documents"] = answers["count"]["response"]["numFound"]
        if "handler" in answers:
            handler = answers["handler"]["config"]["requestHandler"]["/select"]
            parameters = {name: handler[name] for name in HANDLER_PARAMETERS if name in handler}
            facts["stored"] = {"handler /select": parameters}
        if "schema" in answers:
            schema = answers["schema"]["schema"]
            facts |= {"mapping": compute_hash(schema), "details": _collect_schema_details(schema)}
        return facts

    def make_lookup(self, ids: Sequence[str]) -> IndexRequest:
        """A query by terms of the field with the id."""
        query = {"terms": {"f": self.key, "separator": "\n", "query": "\n".join(ids)}}
        return IndexRequest(
            f"{self.address}/select", {"query": query, "limit": COPIES * len(ids), "fields": [self.key]}
        )

    def read_ids(self, answer: Any) -> list[str]:
        """The ids in the answer to :meth:`make_lookup`."""
        read_key = compile_path(make_path(self.key))
        return [str(read_key(document)) for document in answer["response"]["docs"]]


def _collect_schema_details(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Fields by their names, and beside them everything else."""
    details: dict[str, Any] = {}
    for kind, entries in schema.items():
        if isinstance(entries, list) and all(isinstance(entry, Mapping) and "name" in entry for entry in entries):
            named = {entry["name"]: remove_keys(entry, "name") for entry in entries}
            details |= named if kind == "fields" else {kind: named}
        else:
            details[kind] = entries
    return details
