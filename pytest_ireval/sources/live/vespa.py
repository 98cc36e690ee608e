"""Rankings of Vespa."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from pydantic import Field, model_validator

from pytest_ireval.plugins.plugin_types import source
from pytest_ireval.sources.live.engine_options import EngineOptions, make_path
from pytest_ireval.sources.live.exchange import Exchange, compile_path
from pytest_ireval.sources.live.fetching import fetch_over_http
from pytest_ireval.sources.live.index import INDEX, check_index_option, read_index_option
from pytest_ireval.sources.live.placeholders import JsonTree
from pytest_ireval.sources.request import Answer, Request
from pytest_ireval.sources.request_mistakes import find_sizes
from pytest_ireval.suite.option_types import Text

HITS = "root.fields.totalCount && (root.children || `[]`)"
"""The path to the hits; without any hit, the answer has no children."""

TEXT = re.compile(r"userQuery|@query\b")

LIMIT = re.compile(r"\blimit\s+(\d+)", re.IGNORECASE)


class VespaOptions(EngineOptions):
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
        return [*parts, "{text}"] if TEXT.search(json.dumps(parts)) else parts

    def list_sizes(self) -> Iterator[tuple[str, Any]]:
        """``hits``, and the limit of YQL."""
        for tree in (self.params, self.body):
            yield from find_sizes(tree, "hits")
        if limit := LIMIT.search(self.yql):
            yield "limit", limit[1]

    @model_validator(mode="after")
    def _check(self) -> VespaOptions:
        check_index_option(self.index, self.vespa)
        for path in (HITS, self.key):
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
        hits=HITS,
        id=options.key,
        score="relevance",
        fields={name: make_path("fields", name) for name in (*options.fields, *request.fields)},
        total="root.fields.totalCount" if request.count_to else "",
        complete="root.errors == `null`",
    )
    index = read_index_option(options.index, options.vespa)
    return fetch_over_http(exchange, options, request, index=index)
