"""Rankings from a live system over HTTP: a request for each query, filled in from its columns, and read by JMESPath."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import Field, model_validator

from pytest_ireval.errors import quote
from pytest_ireval.plugins.plugin_types import source
from pytest_ireval.sources.live.exchange import Exchange, compile_path
from pytest_ireval.sources.live.fetching import fetch_over_http
from pytest_ireval.sources.live.index import INDEX, check_index_option, read_index_option
from pytest_ireval.sources.live.options import LiveOptions
from pytest_ireval.sources.live.placeholders import JsonTree, find_placeholders
from pytest_ireval.sources.request import Answer, Request
from pytest_ireval.sources.request_mistakes import find_sizes
from pytest_ireval.suite.option_types import Text, Whole
from pytest_ireval.suite.scalars import UnfitError

SIZES = (
    "size",
    "limit",
    "rows",
    "hits",
    "per_page",
    "perPage",
    "hitsPerPage",
    "page_size",
    "pageSize",
    "top_k",
    "topK",
)
"""Names that most systems give to the number of documents."""


class HttpOptions(LiveOptions):
    """The options of a request of your own."""

    engine: ClassVar[str] = "http"
    http: Text = Field(description="The address; {text}, {id}, {depth} and columns of the queries are filled in.")
    method: Literal["GET", "POST"] | None = Field(None, description="By default POST if there is a body, else GET.")
    params: dict[Text, Text] = Field(default_factory=dict, description="Parameters behind the ? of the address.")
    body: JsonTree = Field(None, description="The JSON body.")
    hits: Text = Field(description="A JMESPath to the list of hits in the answer.")
    id: Text = Field("id", description="A JMESPath to the document's id in a hit.")
    score: Text = Field("", description="A JMESPath to its score; without one, the order of the hits counts.")
    fields: dict[Text, Text] = Field(default_factory=dict, description="Fields such as title and url, by JMESPath.")
    total: Text = Field("", description="A JMESPath to the number of documents that match.")
    took: Text = Field("", description="A JMESPath to the milliseconds that the system says it took.")
    complete: Text = Field("", description="A JMESPath that must be true, or the answer counts as incomplete.")
    page_size: Whole | None = Field(None, description="Ask in pages of that size, by {from} or {page} (from 0).")
    index: dict[Text, Text] = Field(default_factory=dict, repr=False, description=INDEX)

    def request_parts(self) -> Any:
        """Address, parameters and body."""
        return [self.http, self.params, self.body]

    def list_sizes(self) -> Iterator[tuple[str, Any]]:
        """By the names that most systems give this number."""
        for tree in (dict(parse_qsl(urlsplit(self.http).query)), self.params, self.body):
            yield from find_sizes(tree, *SIZES)

    def count_wanted(self, depth: int) -> int:
        """Those of a page, or all."""
        return min(depth, self.page_size or depth)

    @model_validator(mode="after")
    def _check(self) -> HttpOptions:
        address = urlsplit(self.http)
        if address.scheme not in ("http", "https") or not address.netloc:
            raise UnfitError(f"{quote(self.http)} is not an address", "write https://host/path")
        if "{" in address.netloc:
            raise UnfitError("the host must not depend on the query", "use placeholders behind the host only")
        used = set(find_placeholders(self.request_parts()))
        if self.page_size and not used & {"from", "page"}:
            raise UnfitError("page_size needs {from} or {page} in the request", "write for example from: '{from}'")
        if not self.hits:
            raise UnfitError("hits is empty", "write @ if the answer itself is the list of hits")
        for expression in filter(
            None, (self.hits, self.id, self.score, self.total, self.took, self.complete, *self.fields.values())
        ):
            compile_path(expression)
        check_index_option(self.index, self.http)
        return self


@source(name="http", options=HttpOptions)
def http(options: HttpOptions, request: Request) -> Answer:
    """Rankings of a live system that answers with JSON."""
    exchange = Exchange(
        options.http, options.method or ("GET" if options.body is None else "POST"), options.params, options.body,
        options.hits, options.id, options.score, options.fields, options.took, options.complete, options.page_size,
        options.total if request.count_to else "",
    )  # fmt: skip
    index = read_index_option(options.index, options.http)
    return fetch_over_http(exchange, options, request, index=index)
