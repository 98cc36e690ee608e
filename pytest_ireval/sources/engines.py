"""Search engines asked over HTTP: the request of each engine, and where its answer has ids, scores and times."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from pytest_ireval.baseline.json_trees import compute_hash
from pytest_ireval.data.document_texts import TITLES, URLS
from pytest_ireval.errors import Problem, SourceError, shown
from pytest_ireval.plugins.plugin_types import source
from pytest_ireval.sources.index import (
    COPIES,
    INDEX,
    IndexRequests,
    Look,
    check_index_option,
    fetch_with_index,
    read_index_option,
    remove_keys,
)
from pytest_ireval.sources.live_fetching import Batch, fetch_once, fetch_over_http
from pytest_ireval.sources.live_options import LiveOptions
from pytest_ireval.sources.live_request import (
    AttemptError,
    Exchange,
    JsonTree,
    compile_path,
    find_placeholders,
    find_sizes,
)
from pytest_ireval.sources.lucene_index import make_lucene_requests
from pytest_ireval.sources.recording import OFFLINE
from pytest_ireval.sources.request import Answer, Request
from pytest_ireval.sources.source_answers import LOGIN
from pytest_ireval.suite.option_types import Flag, Text, Texts, Whole
from pytest_ireval.suite.scalars import UnfitError


class _EngineOptions(LiveOptions):
    """The options of every search engine."""

    engine: ClassVar[str]
    """The option that has its address."""
    params: dict[Text, Text] = Field(default_factory=dict, description="Parameters behind the ? of the address.")
    fields: Texts = Field((), description="Stored fields such as title and url, which reports show.")

    @model_validator(mode="after")
    def _at_an_address(self) -> _EngineOptions:
        address = getattr(self, type(self).engine)
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.netloc or "{" in address:
            raise UnfitError(f"{shown(address)} is not an address", "write https://host:port/name")
        return self


_OF_ONE_SEARCH = ("preference", "routing", "search_type", "request_cache", "allow_partial_search_results")
"""Parameters that each search of a batch may have."""


class _CheckingOptions(_EngineOptions):
    check_documents: Flag = Field(
        True, repr=False, description="Report relevant documents of the judgments that the index does not have."
    )


class _LuceneOptions(_CheckingOptions):
    query: JsonTree = Field(None, description="The query, as in the body of a search.")
    body: JsonTree = Field(None, description="The whole body of the search, in place of query.")
    template: JsonTree = Field(None, description="A stored template: {id: NAME, params: {…}}, in place of query.")
    batch: Whole = Field(1, repr=False, description="The number of queries in one request, by _msearch.")
    explain: Flag = Field(
        False, repr=False, description="Show in the report why documents that moved have their scores."
    )

    def request_parts(self) -> Any:
        """Parameters, and the query, body or template."""
        return [self.params, self.query, self.body, self.template]

    def sizes_asked(self) -> Iterator[tuple[str, Any]]:
        """``size``, and ``k`` of a search by vectors alone."""
        for tree in (self.params, self.body, self.template and self.template.get("params")):
            yield from find_sizes(tree, "size")
        knn = self.body.get("knn") if isinstance(self.body, Mapping) and "query" not in self.body else None
        if isinstance(knn, Mapping):  # of several searches by vectors the numbers add up
            yield from find_sizes(knn, "k")

    @model_validator(mode="after")
    def _one_request(self) -> _LuceneOptions:
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
            allowed = (*_OF_ONE_SEARCH, *(["search_pipeline"] if self.template is None else []))
            if other := [name for name in self.params if name not in allowed]:
                raise UnfitError(f"params: {other[0]} cannot be part of a batch", f"allowed: {', '.join(allowed)}")
            if any(find_placeholders(self.headers)):
                raise UnfitError("headers: a batch cannot have a header for each query", "remove batch:")
        return self

    @property
    def searched(self) -> Any:
        """The query; None where there is only a template, or a body without one."""
        return self.body.get("query") if isinstance(self.body, Mapping) else self.query


def _explain_in_lucene(options: _LuceneOptions, request: Request, query: str, document: str) -> list[str]:
    """The tree of ``_explain``; nothing unless the suite wants it."""
    if not options.explain or os.environ.get(OFFLINE):
        return []
    url = f"{getattr(options, type(options).engine).rstrip('/')}/_explain/{{ireval.document}}"
    params = {name: text for name, text in options.params.items() if name in ("preference", "routing")}
    exchange = Exchange(url, "POST", params, {"query": options.searched}, hits="explanation", id="_id")
    try:
        answer = fetch_once(exchange, options, request, query, **{_DOCUMENT: document})
    except AttemptError as failure:
        if failure.complaint != "status 404":
            raise
        return ["the index does not have this document"]
    return list(_format_tree(answer["explanation"]))


_DOCUMENT = "ireval.document"
"""The placeholder for the document of an explanation."""


def _format_tree(node: Mapping[str, Any], level: int = 0) -> Iterator[str]:
    """The lines of an explanation, which engines nest deeply; the first levels say most."""
    yield f"{'  ' * level}{float(node['value']):.4g}  {' '.join(node['description'].split())}"
    if level < 5:
        for each in node.get("details", ()):
            yield from _format_tree(each, level + 1)


class ElasticsearchOptions(_LuceneOptions):
    """The options of Elasticsearch."""

    engine: ClassVar[str] = "elasticsearch"
    elasticsearch: Text = Field(description="The address of the index, as https://host:9200/products.")


class OpenSearchOptions(_LuceneOptions):
    """The options of OpenSearch."""

    engine: ClassVar[str] = "opensearch"
    opensearch: Text = Field(description="The address of the index, as https://host:9200/products.")


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
    if options.template is not None:
        path, body = "_search/template", options.template
    else:
        wanted = {"size": "{depth}", "_source": list(options.fields) or False, "track_total_hits": False}
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
        fields={name: _path("_source", name) for name in options.fields},
        took="took",
    )
    batch = None
    if options.batch > 1:
        inside = {name: text for name, text in params.items() if name == "search_pipeline"}
        head = {name: text for name, text in params.items() if name not in inside}
        url = f"{address.rstrip('/')}/{path.replace('search', 'msearch')}"
        batch = Batch(options.batch, url, head, {**body, **inside})
    asked, pipeline = [options.query, options.body, options.template], options.params.get("search_pipeline", "")
    index = make_lucene_requests(address.rstrip("/"), asked, pipeline, check_documents=options.check_documents)
    return fetch_with_index(lambda: fetch_over_http(exchange, options, request, batch), index, options, request)


class SolrOptions(_CheckingOptions):
    """The options of Solr."""

    engine: ClassVar[str] = "solr"
    solr: Text = Field(description="The address of the collection, as http://host:8983/solr/products.")
    query: JsonTree = Field(
        "{!edismax v=$ireval_text}", description="The query of the JSON request API; $ireval_text is the query's text."
    )
    body: JsonTree = Field(None, description="More of the body: filter, queries, params and so on.")
    key: Text = Field("id", description="The field with the document's id.")
    explain: Flag = Field(
        False, repr=False, description="Show in the report why documents that moved have their scores."
    )

    def request_parts(self) -> Any:
        """Parameters, query and body; the query's text is a parameter of its own."""
        parts = [self.params, self.query, self.body]
        return [*parts, "{text}"] if "$ireval_text" in json.dumps(parts) else parts

    def sizes_asked(self) -> Iterator[tuple[str, Any]]:
        """``limit``, and ``rows`` among the parameters."""
        yield from find_sizes(self.body, "limit")
        for tree in (self.params, self.body.get("params") if isinstance(self.body, Mapping) else None):
            yield from find_sizes(tree, "rows")


def _explain_in_solr(options: SolrOptions, request: Request, query: str, document: str) -> list[str]:
    """The tree of ``explainOther``; nothing unless the suite wants it."""
    if not options.explain or os.environ.get(OFFLINE):
        return []
    exchange = _make_solr_exchange(options)
    debug = {"debug": "results", "debug.explain.structured": "true", "ireval_document": f"{{{_DOCUMENT}}}"}
    other = {"explainOther": f"{{!term f={options.key} v=$ireval_document}}"}
    body = {**exchange.body, "limit": 1, "params": {**exchange.body["params"], **debug, **other}}
    answer = fetch_once(exchange._replace(body=body), options, request, query, **{_DOCUMENT: document})
    found = answer["debug"]["explainOther"].get(document)
    return list(_format_tree(found)) if found else ["the collection does not have this document"]


@source(name="solr", options=SolrOptions, explain=_explain_in_solr)
def solr(options: SolrOptions, request: Request) -> Answer:
    """Rankings of Solr, by its JSON request API."""
    index = _make_solr_index(options.solr.rstrip("/"), options)
    return fetch_with_index(
        lambda: fetch_over_http(_make_solr_exchange(options), options, request), index, options, request
    )


def _make_solr_exchange(options: SolrOptions) -> Exchange:
    more = options.body if isinstance(options.body, Mapping) else {}
    body = {
        "query": options.query,
        "limit": "{depth}",
        "fields": [options.key, "score", *options.fields],
        **more,
        "params": {"ireval_text": "{text}", **more.get("params", {})},
    }
    return Exchange(
        f"{options.solr.rstrip('/')}/select",
        "POST",
        options.params,
        body,
        hits="response.docs",
        id=_path(options.key),
        score="" if "sort" in body else "score",
        fields={name: _path(name) for name in options.fields},
        took="responseHeader.QTime",
    )


def _make_solr_index(address: str, options: SolrOptions) -> IndexRequests:
    def documents(ids: Sequence[str]) -> tuple[Look, Any]:
        query = {"terms": {"f": options.key, "separator": "\n", "query": "\n".join(ids)}}
        body, key = (
            {"query": query, "limit": COPIES * len(ids), "fields": [options.key]},
            compile_path(_path(options.key)),
        )
        return Look(f"{address}/select", body), lambda answer: [str(key(each)) for each in answer["response"]["docs"]]

    def facts(answers: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {"stored": {}}
        if "count" in answers:
            found["documents"] = answers["count"]["response"]["numFound"]
        if "handler" in answers:
            handler = answers["handler"]["config"]["requestHandler"]["/select"]
            found["stored"] = {"handler /select": {name: handler[name] for name in _OF_HANDLER if name in handler}}
        if "schema" in answers:
            schema = answers["schema"]["schema"]
            found |= {"mapping": compute_hash(schema), "details": _collect_schema_details(schema)}
        return found

    handler = f"{address}/config/requestHandler?componentName=/select&expandParams=true"
    looks = {"schema": Look(f"{address}/schema"), "count": Look(f"{address}/select?q=*:*&rows=0")}
    found = documents if options.check_documents else None
    return IndexRequests(address, looks, facts, found, lambda _answers: {"handler": Look(handler)})


_OF_HANDLER = ("defaults", "appends", "invariants", "useParams", "_useParamsExpanded_")
"""The parameters of a request handler that each search gets, and the sets of parameters that it names."""


def _collect_schema_details(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Fields by their names, and beside them everything else."""
    found: dict[str, Any] = {}
    for kind, entries in schema.items():
        if isinstance(entries, list) and all(isinstance(each, Mapping) and "name" in each for each in entries):
            named = {each["name"]: remove_keys(each, "name") for each in entries}
            found |= named if kind == "fields" else {kind: named}
        else:
            found[kind] = entries
    return found


_VESPA_HITS = "root.fields.totalCount && (root.children || `[]`)"
"""The path to the hits; without any hit, the answer has no children."""


_VESPA_TEXT = re.compile(r"userQuery|@query\b")
_VESPA_LIMIT = re.compile(r"\blimit\s+(\d+)", re.IGNORECASE)


class VespaOptions(_EngineOptions):
    """The options of Vespa."""

    engine: ClassVar[str] = "vespa"
    vespa: Text = Field(description="The address of the container, as http://host:8080.")
    yql: Text = Field("select * from sources * where userQuery()", description="The query; {text} is in userQuery().")
    ranking: Text = Field("", description="The rank profile.")
    body: JsonTree = Field(None, description="More parameters of the request, as input.query(q).")
    key: Text = Field("id", description="A JMESPath to the document's id in a hit, as fields.product_id.")
    index: dict[Text, Text] = Field(default_factory=dict, repr=False, description=INDEX)

    def request_parts(self) -> Any:
        """Parameters, YQL and body; YQL refers to the query's text, which is a parameter of its own."""
        parts = [self.params, self.yql, self.body]
        return [*parts, "{text}"] if _VESPA_TEXT.search(json.dumps(parts)) else parts

    def sizes_asked(self) -> Iterator[tuple[str, Any]]:
        """``hits``, and the limit of YQL."""
        for tree in (self.params, self.body):
            yield from find_sizes(tree, "hits")
        if limit := _VESPA_LIMIT.search(self.yql):
            yield "limit", limit[1]

    @model_validator(mode="after")
    def _index_is_sound(self) -> VespaOptions:
        check_index_option(self.index, self.vespa)
        return self

    @model_validator(mode="after")
    def _readable(self) -> VespaOptions:
        for path in (_VESPA_HITS, self.key):
            compile_path(path)
        return self


@source(name="vespa", options=VespaOptions)
def vespa(options: VespaOptions, request: Request) -> Answer:
    """Rankings of Vespa, by its query API."""
    ranking = {"ranking.profile": options.ranking} if options.ranking else {}
    more: Mapping[str, Any] = options.body if isinstance(options.body, Mapping) else {}
    exchange = Exchange(
        f"{options.vespa.rstrip('/')}/search/",
        "POST",
        options.params,
        {"yql": options.yql, "query": "{text}", "hits": "{depth}", **ranking, **more},
        hits=_VESPA_HITS,
        id=options.key,
        score="relevance",
        fields={name: _path("fields", name) for name in options.fields},
        complete="root.errors == `null`",
    )
    index = read_index_option(options.index, options.vespa)
    return fetch_with_index(lambda: fetch_over_http(exchange, options, request), index, options, request)


def _path(*names: str) -> str:
    """The JMESPath of a field, whatever letters its name has; dots lead into objects."""
    return ".".join(part if part.isidentifier() else f'"{part}"' for name in names for part in name.split("."))


def propose_source(address: str) -> dict[str, Any]:
    """The source of a first suite for an index or a collection: its engine, and a search in all of its text fields."""
    from pytest_ireval.sources.http_client import HttpClient  # brings urllib3, which only live systems need

    parts, index = urlsplit(address), address.rstrip("/")
    if parts.username is not None:
        complaint = f"{LOGIN.sub('', address)}: the login in this address would be written into the suite"
        raise SourceError(
            Problem(complaint, suggestion="leave it out, and add headers: {Authorization: 'Basic ${LOGIN}'}")
        )

    def answer(url: str) -> Any:
        try:
            with closing(HttpClient(url)) as client:
                return client.fetch_json("GET", url, None, {}, 30).answer
        except AttemptError as error:
            raise SourceError(Problem(f"{url}: {error}", suggestion="write https://host:port/index")) from None

    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise SourceError(Problem(f"{shown(address)} is not an address", suggestion="write https://host:port/index"))
    if "/solr/" in parts.path:
        fields = answer(f"{index}/schema/fields")["fields"]
        texts = [
            each["name"] for each in fields if each.get("type", "").startswith("text") and each.get("indexed", True)
        ]
        body = {"params": {"qf": " ".join(each for each in texts if not each.startswith("_"))}}
        return {"solr": index, "body": body, **_choose_shown_fields(each["name"] for each in fields)}
    version = answer(f"{parts.scheme}://{parts.netloc}/").get("version", {})
    if "lucene_version" not in version:
        other = "it is neither Elasticsearch, OpenSearch nor Solr"
        raise SourceError(
            Problem(f"{LOGIN.sub('', address)}: {other}", suggestion="write the source yourself, with http:")
        )
    mapping = answer(f"{index}/_mapping")
    properties = next(iter(mapping.values()))["mappings"].get("properties", {})
    texts = [name for name, each in properties.items() if each.get("type") == "text"]
    query = {"multi_match": {"query": "{text}", "fields": texts or ["*"]}}
    engine = "opensearch" if version.get("distribution") == "opensearch" else "elasticsearch"
    return {engine: index, "query": query, **_choose_shown_fields(properties)}


def _choose_shown_fields(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the title and the address, of the fields that there are."""
    known = {name.lower(): name for name in names}
    found = (next((known[name] for name in kind if name in known), "") for kind in (TITLES, URLS))
    shown_fields = [name for name in found if name]
    return {"fields": shown_fields} if shown_fields else {}
