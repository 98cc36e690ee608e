"""The facts of an index of Elasticsearch or OpenSearch, and what the engine keeps of a request."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from pytest_ireval.baseline.json_trees import compute_hash
from pytest_ireval.sources.live.index import COPIES, IndexRequest, SearchedIndex, remove_keys
from pytest_ireval.sources.live.placeholders import find_placeholders
from pytest_ireval.sources.live.searched_fields import find_unknown_fields


class LuceneIndex(SearchedIndex):
    """The index, or the indexes behind an alias, that a request searches.

    ``asked`` is the request, and ``pipeline`` the search pipeline that it names.
    """

    def __init__(self, address: str, *, asked: Any, pipeline: str, has_documents_checked: bool) -> None:
        requests = {name: IndexRequest(f"{address}/_{name}") for name in ("settings", "mapping", "count")}
        super().__init__(address, requests, has_documents_checked=has_documents_checked)
        self.asked, self.pipeline = asked, pipeline

    def list_further_requests(self, answers: Mapping[str, Any]) -> Mapping[str, IndexRequest]:
        """Stored templates and scripts, and the pipeline of the request, or else those of the indexes."""
        root = self.address.rpartition("/")[0] if urlsplit(self.address).path else self.address
        requests = {
            f"script {name}": IndexRequest(f"{root}/_scripts/{quote(name, safe='')}")
            for name in _find_stored(self.asked)
        }
        pipelines = {self.pipeline}
        if not self.pipeline:
            settings = [_nest_settings(each["settings"]["index"]) for each in answers.get("settings", {}).values()]
            pipelines = {each.get("search", {}).get("default_pipeline", "") for each in settings}
        for name in sorted(pipelines - {"", "_none"}):
            if not any(find_placeholders(name)):
                requests[f"pipeline {name}"] = IndexRequest(f"{root}/_search/pipeline/{quote(name, safe='')}")
        return requests

    def read_facts(self, answers: Mapping[str, Any]) -> Mapping[str, Any]:
        """Name and uuid of the index behind the name, its mapping and analysis, the count, and what is stored."""
        facts: dict[str, Any] = {"stored": dict(_read_stored_facts(answers))}
        if "count" in answers:
            facts["documents"] = answers["count"]["count"]
        if "settings" not in answers:
            return facts
        settings = {name: each["settings"]["index"] for name, each in sorted(answers["settings"].items())}
        facts |= {"name": ", ".join(settings), "build": ", ".join(each["uuid"] for each in settings.values())}
        if "mapping" in answers:
            # In _meta is what people write there, such as the time of the build: no search looks at it.
            fields = [remove_keys(answers["mapping"][name]["mappings"], "_meta") for name in settings]
            analysis = [[each.get("analysis"), each.get("similarity")] for each in settings.values()]
            facts["mapping"] = compute_hash([fields, analysis])
            facts["details"] = _collect_details(fields, list(settings.values()))
        return facts

    def find_unknown_fields(self, answers: Mapping[str, Any]) -> list[str]:
        """Those that no mapping has."""
        return find_unknown_fields(self.asked, answers)

    def make_lookup(self, ids: Sequence[str]) -> IndexRequest:
        """A search by ids, which finds what a search finds: behind an alias of several indexes, too."""
        query = {"ids": {"values": [*ids]}}
        body = {"query": query, "size": COPIES * len(ids), "_source": False, "track_total_hits": False}
        return IndexRequest(f"{self.address}/_search", body)

    def read_ids(self, answer: Any) -> list[str]:
        """The ids in the answer to :meth:`make_lookup`."""
        return [hit["_id"] for hit in answer["hits"]["hits"]]


def _find_stored(asked: Any, below: str = "template") -> Iterator[str]:
    """The ids of stored templates and scripts in a request; one that depends on the query is left out."""
    if isinstance(asked, list):
        for each in asked:
            yield from _find_stored(each, below)
    elif isinstance(asked, Mapping):
        name = asked.get("id")
        if below in ("template", "script") and isinstance(name, str) and not any(find_placeholders(name)):
            yield name
        for key, each in asked.items():
            yield from _find_stored(each, key)


_SETTINGS = ("number_of_shards", "sort", "search", "query", "default_pipeline", "final_pipeline")
"""Settings that can move rankings, apart from analysis and similarity."""


def _collect_details(mappings: Sequence[Mapping[str, Any]], settings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Fields by their names, and the settings under ``index``, as the engine calls them; of several indexes merged."""
    found: dict[str, Any] = {}
    for mapping, each in zip(mappings, settings, strict=True):
        nested = _nest_settings(each)
        kept = {name: nested[name] for name in ("analysis", "similarity", *_SETTINGS) if name in nested}
        found |= {**_flatten_fields(mapping), "mappings": remove_keys(mapping, "properties"), "index": kept}
    return found


def _flatten_fields(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """The tree of fields without the words ``properties`` and ``fields`` between them."""
    below = {**mapping.get("fields", {}), **mapping.get("properties", {})}
    return {
        name: {**remove_keys(each, "fields", "properties"), **_flatten_fields(each)} for name, each in below.items()
    }


def _nest_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as a tree: some engines answer with ``search.default_pipeline`` as one key."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        *parents, last = name.split(".")
        place = found
        for each in parents:
            place = place.setdefault(each, {})
        place[last] = {**place.get(last, {}), **_nest_settings(value)} if isinstance(value, Mapping) else value
    return found


def _read_stored_facts(answers: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The source of each template and script, as a tree if it is one; pipelines as they are."""
    for name, answer in answers.items():
        kind, _, own = name.partition(" ")
        if kind == "script":
            script = answer["script"]
            yield ("template" if script.get("lang") == "mustache" else "script") + f" {own}", _read_source(script)
        elif kind == "pipeline":
            yield name, answer[own]


def _read_source(script: Mapping[str, Any]) -> Any:
    source = script.get("source")
    try:
        return json.loads(source) if isinstance(source, str) else source
    except ValueError:  # with sections of Mustache, or in another language
        return source
