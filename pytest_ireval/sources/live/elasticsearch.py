"""Rankings of Elasticsearch and OpenSearch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from pydantic import Field, model_validator

from pytest_ireval.plugins.plugin_types import source
from pytest_ireval.sources.live.engine_options import DOCUMENT, ExplainingOptions, format_explanation, make_path
from pytest_ireval.sources.live.exchange import AttemptError, Exchange
from pytest_ireval.sources.live.fetching import Batch, fetch_once, fetch_over_http
from pytest_ireval.sources.live.lucene_index import LuceneIndex
from pytest_ireval.sources.live.placeholders import JsonTree, find_placeholders
from pytest_ireval.sources.request import Answer, Request
from pytest_ireval.sources.request_mistakes import find_sizes
from pytest_ireval.suite.option_types import Text, Whole
from pytest_ireval.suite.scalars import UnfitError

PARAMETERS_OF_A_SEARCH = ("preference", "routing", "search_type", "request_cache", "allow_partial_search_results")
"""Parameters that each search of a batch may have."""


class _LuceneOptions(ExplainingOptions):
    query: JsonTree = Field(None, description="The query, as in the body of a search.")
    body: JsonTree = Field(None, description="The whole body of the search, in place of query.")
    template: JsonTree = Field(None, description="A stored template: {id: NAME, params: {…}}, in place of query.")
    batch: Whole = Field(1, le=10_000, repr=False, description="The number of queries in one request, by _msearch.")

    def request_parts(self) -> Any:
        """Parameters, and the query, body or template."""
        return [self.params, self.query, self.body, self.template]

    def list_sizes(self) -> Iterator[tuple[str, Any]]:
        """``size``, and ``k`` of a search by vectors alone."""
        for tree in (self.params, self.body, self.template and self.template.get("params")):
            yield from find_sizes(tree, "size")
        knn = self.body.get("knn") if isinstance(self.body, Mapping) and "query" not in self.body else None
        if isinstance(knn, Mapping):  # of several searches by vectors the numbers add up
            yield from find_sizes(knn, "k")

    @model_validator(mode="after")
    def _check_request(self) -> _LuceneOptions:
        given = [name for name in ("query", "body", "template") if getattr(self, name) is not None]
        if len(given) != 1:
            raise UnfitError(
                f"{' and '.join(given) or 'nothing'} given to search with", "give one of query, body, template"
            )
        if self.template is not None and not (isinstance(self.template, Mapping) and "id" in self.template):
            raise UnfitError(
                "template names no stored template", "write template: {id: NAME, params: {text: '{text}'}}"
            )
        if self.body is not None and not isinstance(self.body, Mapping):
            raise UnfitError("body is not a mapping", "write body: {query: {…}}")
        if self.explain and self.searched is None:
            raise UnfitError("explain: true needs a query", "write query: {…}, or remove explain:")
        if self.batch > 1:
            allowed = (*PARAMETERS_OF_A_SEARCH, *(["search_pipeline"] if self.template is None else []))
            if other := [name for name in self.params if name not in allowed]:
                raise UnfitError(f"params: {other[0]} cannot be part of a batch", f"allowed: {', '.join(allowed)}")
            if any(find_placeholders(self.headers)):
                raise UnfitError("headers: a batch cannot have a header for each query", "remove batch:")
        return self

    @property
    def searched(self) -> Any:
        """The query; None where there is only a template, or a body without one."""
        return self.body.get("query") if isinstance(self.body, Mapping) else self.query


class ElasticsearchOptions(_LuceneOptions):
    """The options of Elasticsearch."""

    engine: ClassVar[str] = "elasticsearch"
    login_example: ClassVar[str] = "headers: {Authorization: 'ApiKey ${ELASTIC_API_KEY}'}"
    elasticsearch: Text = Field(description="The address of the index, as https://host:9200/products.")


class OpenSearchOptions(_LuceneOptions):
    """The options of OpenSearch."""

    engine: ClassVar[str] = "opensearch"
    login_example: ClassVar[str] = "opensearch: https://${OPENSEARCH_USER}:${OPENSEARCH_PASSWORD}@host:9200/index"
    opensearch: Text = Field(description="The address of the index, as https://host:9200/products.")


def _explain_in_lucene(options: _LuceneOptions, request: Request, query: str, document: str) -> list[str]:
    """The tree of ``_explain``; nothing unless the suite wants it."""
    if not options.may_explain:
        return []
    url = f"{getattr(options, type(options).engine).rstrip('/')}/_explain/{{ireval.document}}"
    params = {name: text for name, text in options.params.items() if name in ("preference", "routing")}
    exchange = Exchange(url, "POST", params, {"query": options.searched}, hits="explanation", id="_id")
    try:
        answer = fetch_once(exchange, options, request, query, **{DOCUMENT: document})
    except AttemptError as failure:
        if failure.status != 404:
            raise
        return ["the index does not have this document"]
    return list(format_explanation(answer["explanation"]))


@source(name="elasticsearch", options=ElasticsearchOptions, explain=_explain_in_lucene)
def elasticsearch(options: ElasticsearchOptions, request: Request) -> Answer:
    """Rankings of Elasticsearch."""
    return _fetch_from_lucene(options.elasticsearch, options, request)


@source(name="opensearch", options=OpenSearchOptions, explain=_explain_in_lucene)
def opensearch(options: OpenSearchOptions, request: Request) -> Answer:
    """Rankings of OpenSearch."""
    return _fetch_from_lucene(options.opensearch, options, request)


def _fetch_from_lucene(address: str, options: _LuceneOptions, request: Request) -> Answer:
    """A search without what no ranking needs; a body is sent as it is, but for the number of hits and stored fields."""
    fields = dict.fromkeys((*options.fields, *request.fields))
    if options.template is not None:
        path, body = "_search/template", options.template
    else:
        # Counting all hits makes a search slow, so that its times would be others than those of users.
        count: int | bool = request.count_to or False
        wanted = {"size": "{depth}", "_source": list(fields) or False, "track_total_hits": count}
        path, body = "_search", {**wanted, **(options.body or {"query": options.query})}
    params = {"preference": "ireval", **options.params}  # the same copies of shards answer every time
    exchange = Exchange(
        f"{address.rstrip('/')}/{path}",
        "POST",
        params,
        body,
        hits="hits.hits",
        id="_id",
        score="" if "sort" in body or options.template is not None else "_score",
        fields={name: make_path("_source", name) for name in fields},
        took="took",
        total="hits.total" if request.count_to and body.get("track_total_hits") is not False else "",
    )
    batch = None
    if options.batch > 1:
        inside = {name: text for name, text in params.items() if name == "search_pipeline"}
        head = {name: text for name, text in params.items() if name not in inside}
        url = f"{address.rstrip('/')}/{path.replace('search', 'msearch')}"
        batch = Batch(options.batch, url, head, {**body, **inside})
    index = LuceneIndex(
        address.rstrip("/"),
        asked=[options.query, options.body, options.template],
        pipeline=options.params.get("search_pipeline", ""),
        has_documents_checked=options.check_documents,
    )
    return fetch_over_http(exchange, options, request, batch=batch, index=index)
