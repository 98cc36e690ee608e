"""The source of a first suite, proposed for the index or collection at an address."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

from pytest_ireval.data.document_texts import TITLES, URLS
from pytest_ireval.errors import Problem, SourceError, quote
from pytest_ireval.sources.describing import LOGIN
from pytest_ireval.sources.live.client import HttpClient
from pytest_ireval.sources.live.exchange import AttemptError


def propose_source(address: str) -> dict[str, Any]:
    """The source of a first suite for an index or a collection: its engine, and a search in all of its text fields."""
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
        raise SourceError(Problem(f"{quote(address)} is not an address", suggestion="write https://host:port/index"))
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
