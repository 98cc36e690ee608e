"""The queries of a run as JSON, which the scripts of a page read."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pytest_ireval.report.commands import format_why_command, quote_word, replace_unreadable
from pytest_ireval.report.formatting import name_verdict
from pytest_ireval.report.query_view import (
    _FIRST,
    _choose_documents,
    _find_address,
    _find_own_weights,
    _is_telling,
    _list_explained_metrics,
    _list_query_metrics,
)
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.suite_result import MetricFigures, QueryDocuments, RunResult, SuiteResult

MAX_CHARACTERS = 6_000_000
"""The documents of a page take no more, before they are packed: whatever a run has, the page stays below 10 MB."""
_ESCAPES = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}
_encode_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
"""Made once: ``json.dumps`` would make an encoder for each value."""


def format_query_data(run: RunResult) -> str:
    """JSON that never ends its script element; all queries as columns, their documents packed.

    ``documents`` of a suite is JSON again: deflated, since documents are most of a page, and in base64. A page unpacks
    them when a reader looks at the first query.
    """
    left = MAX_CHARACTERS
    suites = []
    for suite in run.suites:
        kept = list(_take_within(_format_documents(suite), left))
        left -= sum(map(len, kept))
        suites.append({**_make_table(suite), "documents": pack_text(f"[{','.join(kept)}]")})
    return _encode_json({"first": _FIRST, "suites": suites}).translate(_ESCAPES)


def _make_table(suite: SuiteResult) -> dict[str, Any]:
    table = suite.queries
    weights = _find_own_weights(table)
    explained = set(_list_explained_metrics(suite))
    positions = {query: position for position, query in enumerate(table.ids)}
    return {
        "name": replace_unreadable(suite.name),
        "depth": suite.depth,
        "compared": suite.baseline is not None,
        "relevantFrom": suite.relevant_from,
        "labels": [[grade, replace_unreadable(label)] for grade, label in suite.labels.items()],
        "ids": list(map(replace_unreadable, table.ids)),
        "texts": list(map(replace_unreadable, table.texts)),
        "weights": None if weights is None else _shorten_numbers(weights),
        # ids that a shell needs in another form, so that no page has to know how that is done
        "words": [(i, word) for i, query in enumerate(table.ids) if (word := quote_word(query)) != query],
        "columns": [_make_column(name, values) for name, values in table.columns.items()],
        "metrics": [_make_metric(suite, metric, metric.name in explained) for metric in _list_query_metrics(suite)],
        "rules": [
            _make_rule(outcome, positions) for outcome in suite.outcomes if outcome.queries and _is_telling(outcome)
        ],
    }


def _make_metric(suite: SuiteResult, metric: MetricFigures, explained: bool) -> dict[str, Any]:
    """``why`` lacks the query at its end."""
    table = suite.queries
    return {
        "name": replace_unreadable(metric.name),
        "direction": metric.direction,
        "now": _shorten_numbers(table.now[metric.name]),
        "baseline": _shorten_numbers(table.baseline.get(metric.name, ())),
        "change": _shorten_numbers(table.changes(metric.name)),
        "why": format_why_command(suite, metric.name, "").removesuffix("''") if explained else "",
    }


def _make_column(name: str, values: Sequence[str]) -> dict[str, Any]:
    """Each value once, and which of them a query has."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return {
        "name": replace_unreadable(name),
        "values": list(map(replace_unreadable, places)),
        "of": [places[value] for value in values],
    }


def _make_rule(outcome: Outcome, positions: dict[str, int]) -> dict[str, Any]:
    named = dict.fromkeys(each.query for each in outcome.queries)
    return {
        "id": replace_unreadable(outcome.id),
        "verdict": name_verdict(outcome),
        "headline": replace_unreadable(outcome.headline),
        "queries": [positions[query] for query in named if query in positions],
    }


def _format_documents(suite: SuiteResult) -> Iterator[str]:
    positions = {query: position for position, query in enumerate(suite.queries.ids)}
    for each in suite.documents:
        if each.query in positions:
            yield _encode_json({"query": positions[each.query], **_make_query_documents(suite, each)})


def _make_query_documents(suite: SuiteResult, documents: QueryDocuments) -> dict[str, Any]:
    kept = _choose_documents(suite, documents)
    placed = [documents.documents[place] for place in kept]
    return {
        "ids": [replace_unreadable(each.document) for each in placed],
        "grades": _shorten_numbers(each.grade for each in placed),
        "now": [each.now for each in placed],
        "baseline": [each.baseline for each in placed],
        **(
            {"titles": [replace_unreadable(each.title) for each in placed]}
            if any(each.title for each in placed)
            else {}
        ),
        **({"urls": urls} if any(urls := [_find_address(suite, each) for each in placed]) else {}),
        "shares": [
            [replace_unreadable(name), _shorten_numbers(shares[place] for place in kept)]
            for name, shares in documents.shares.items()
        ],
        "relevant": documents.relevant,
        "more": len(documents.documents) - len(kept),
        "curves": [_make_curve(documents, now=False), _make_curve(documents, now=True)],
    }


def _make_curve(documents: QueryDocuments, *, now: bool) -> dict[str, Any] | None:
    """The points; the interpolated steps lie over them."""
    curve = documents.now if now else documents.baseline
    if curve is None:
        return None
    return {"recall": _shorten_numbers(curve.recall), "precision": _shorten_numbers(curve.precision)}


def _take_within(texts: Iterable[str], most: int) -> Iterator[str]:
    """As many of the first as have room."""
    for text in texts:
        most -= len(text)
        if most < 0:
            return
        yield text


def _shorten_numbers(values: Iterable[float | None]) -> list[float | None]:
    """Four decimals, as all figures are shown, and none where they are zeros."""
    return [
        None
        if value is None
        else int(short)
        if (short := round(value, 4)) == short // 1 and abs(short) < 1e15
        else short
        for value in values
    ]


def pack_text(text: str) -> str:
    """The text, deflated and in base64."""
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode()
