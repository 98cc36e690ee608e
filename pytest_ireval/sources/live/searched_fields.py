"""The fields that a request to Elasticsearch or OpenSearch searches, and those of them that the index does not have."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_ireval.errors import find_closest

_BY_FIELD = (
    *("match", "match_phrase", "match_phrase_prefix", "match_bool_prefix", "term", "terms", "prefix", "wildcard"),
    *("regexp", "fuzzy", "range", "intervals", "span_term"),
)
"""Queries whose key is the field. The engine answers to a field that it does not know with no hits, and no error."""
_OF_FIELDS = ("multi_match", "query_string", "simple_query_string", "combined_fields", "more_like_this", "exists")
"""Queries that list their fields, under one of the next names."""
_LISTS = ("fields", "field", "default_field")
_OPTIONS = ("boost", "_name")
_NO_QUERIES = ("script", "params", "aggs", "aggregations", "highlight", "suggest", "_source", "fields", "ext")
_OPEN = ("flattened", "flat_object")
"""Types of fields that may have more below them than the mapping says."""


def find_unknown_fields(asked: Any, answers: Mapping[str, Any]) -> list[str]:
    """The fields of a request that no mapping has, with a similar name if there is one.

    ``answers`` has the mapping, and stored templates that are part of the request.
    """
    if "mapping" not in answers:
        return []
    stored = [answer.get("script", {}).get("source") for name, answer in answers.items() if name.startswith("script ")]
    trees = [asked, *map(_read_template, stored)]
    mappings = [each["mappings"] for each in answers["mapping"].values()]
    known: dict[str, str] = {}
    for mapping in mappings:
        known |= _collect_known_fields(mapping)
    known |= dict.fromkeys((name for tree in trees for name in _find_made_by_request(tree)), "")
    searched = dict.fromkeys(name for tree in trees for name in _find_searched_fields(tree))
    return [_add_hint(name, known) for name in searched if not _is_known(name, known)]


def _add_hint(name: str, known: Mapping[str, str]) -> str:
    meant = find_closest(name, known)
    return f"{name} (did you mean {meant}?)" if meant else name


def _read_template(source: Any) -> Any:
    """The tree of a stored template; nothing of one that is JSON only after it was filled in."""
    try:
        return json.loads(source) if isinstance(source, str) else source
    except ValueError:
        return None


def _is_known(name: str, known: Mapping[str, str]) -> bool:
    if name.startswith("_") or any(sign in name for sign in "*{}#:"):
        return True
    parents = (name[:at] for at, sign in enumerate(name) if sign == ".")
    return name in known or any(known.get(each) in _OPEN for each in parents)


def _collect_known_fields(mapping: Mapping[str, Any], path: str = "") -> dict[str, str]:
    """By the full name of a field, its type."""
    found: dict[str, str] = {}
    for kind in ("properties", "fields", "runtime", "derived"):
        for name, each in mapping.get(kind, {}).items():
            full = f"{path}{name}"
            found[full] = each.get("type", "object")
            found |= _collect_known_fields(each, f"{full}.")
    return found


def _find_made_by_request(tree: Any) -> Iterator[str]:
    """Fields that exist for this request only."""
    if isinstance(tree, Mapping):
        for key, each in tree.items():
            if key in ("runtime_mappings", "derived") and isinstance(each, Mapping):
                yield from each
            yield from _find_made_by_request(each)
    elif isinstance(tree, list):
        for each in tree:
            yield from _find_made_by_request(each)


def _find_searched_fields(tree: Any) -> Iterator[str]:
    if isinstance(tree, list):
        for each in tree:
            yield from _find_searched_fields(each)
        return
    for key, each in tree.items() if isinstance(tree, Mapping) else ():
        if key in _BY_FIELD and isinstance(each, Mapping):
            yield from (name for name in each if name not in _OPTIONS)
        elif key in _OF_FIELDS and isinstance(each, Mapping):
            named = (each.get(name) for name in _LISTS)
            yield from (text.partition("^")[0] for value in named for text in _list_texts(value))
        elif key not in _NO_QUERIES:
            yield from _find_searched_fields(each)


def _list_texts(value: Any) -> Sequence[str]:
    return [value] if isinstance(value, str) else [each for each in value or () if isinstance(each, str)]
