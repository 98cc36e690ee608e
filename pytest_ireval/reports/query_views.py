"""What a page shows of queries: the data of its explorer, and the views of the worst, which need no script."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from pytest_ireval.reports.commands import shell_word, why_command
from pytest_ireval.reports.packing import packed
from pytest_ireval.reports.query_view import (
    FIRST,
    QueryView,
    explained_metrics,
    is_telling,
    own_weights,
    query_metrics,
    query_view,
    shown_documents,
)
from pytest_ireval.reports.sound_text import sound
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.suite_result import MetricFigures, QueryDocuments, RunResult, SuiteResult

VIEWS_OF_A_RULE = 3
"""Of so many queries behind a failing rule a page about one suite has views that need no script."""
VIEWS_AMONG_SUITES = 1
"""The same of a page about several."""
MOST_VIEWS = 20
"""A suite has no more of them, however many rules fail; the table of queries shows the others."""
MOST_CHARACTERS = 6_000_000
"""The documents of a page take no more, before they are packed: whatever a run has, the page stays below 10 MB."""
_ESCAPES = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}
_plain = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
"""Made once: ``json.dumps`` would make an encoder for each value."""


def queries_data(run: RunResult) -> str:
    """JSON that never ends the script element it stands in; all queries as columns, their documents packed.

    ``documents`` of a suite is JSON again: deflated, since documents are most of a page, and in base64. A page unpacks
    them when somebody looks at the first query.
    """
    left = MOST_CHARACTERS
    suites = []
    for suite in run.suites:
        kept = list(_within(_documents(suite), left))
        left -= sum(map(len, kept))
        suites.append({**_table(suite), "documents": packed(f"[{','.join(kept)}]")})
    return _plain({"first": FIRST, "suites": suites}).translate(_ESCAPES)


def worst_views(suite: SuiteResult, *, alone: bool = True) -> tuple[QueryView, ...]:
    """The first queries of each failing rule, each query once."""
    most = VIEWS_OF_A_RULE if alone else VIEWS_AMONG_SUITES
    known = set(suite.queries.ids)
    metrics: dict[str, str] = {}
    for outcome in suite.outcomes:
        if outcome.verdict == "fail":
            for each in outcome.queries[:most]:
                if each.query in known:
                    metrics.setdefault(each.query, outcome.metric if outcome.explained else "")
    return tuple(query_view(suite, query, metric) for query, metric in islice(metrics.items(), MOST_VIEWS))


def _table(suite: SuiteResult) -> dict[str, Any]:
    """All queries of a suite, one entry a query in every list."""
    table = suite.queries
    weights = own_weights(table)
    explained = set(explained_metrics(suite))
    positions = {query: position for position, query in enumerate(table.ids)}
    return {
        "name": sound(suite.name),
        "depth": suite.depth,
        "compared": suite.baseline is not None,
        "relevantFrom": suite.relevant_from,
        "labels": [[grade, sound(label)] for grade, label in suite.labels.items()],
        "ids": list(map(sound, table.ids)),
        "texts": list(map(sound, table.texts)),
        "weights": None if weights is None else _short(weights),
        "words": _odd_words(table.ids),
        "columns": [_column(name, values) for name, values in table.columns.items()],
        "metrics": [_metric(suite, metric, metric.name in explained) for metric in query_metrics(suite)],
        "rules": [_rule(outcome, positions) for outcome in suite.outcomes if outcome.queries and is_telling(outcome)],
    }


def _metric(suite: SuiteResult, metric: MetricFigures, explained: bool) -> dict[str, Any]:
    """``why`` lacks the query at its end."""
    table = suite.queries
    return {
        "name": sound(metric.name),
        "direction": metric.direction,
        "now": _short(table.now[metric.name]),
        "baseline": _short(table.baseline.get(metric.name, ())),
        "change": _short(table.changes(metric.name)),
        "why": why_command(suite, metric.name, "").removesuffix("''") if explained else "",
    }


def _column(name: str, values: Sequence[str]) -> dict[str, Any]:
    """Each value once, and which of them a query has."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return {"name": sound(name), "values": list(map(sound, places)), "of": [places[value] for value in values]}


def _rule(outcome: Outcome, positions: dict[str, int]) -> dict[str, Any]:
    named = dict.fromkeys(each.query for each in outcome.queries)
    return {
        "id": sound(outcome.id),
        "verdict": outcome.verdict,
        "headline": sound(outcome.headline),
        "queries": [positions[query] for query in named if query in positions],
    }


def _odd_words(ids: Sequence[str]) -> list[tuple[int, str]]:
    """Ids that a shell needs in another form, so that no page has to know how that is done."""
    return [(position, word) for position, query in enumerate(ids) if (word := shell_word(query)) != query]


def _documents(suite: SuiteResult) -> Iterator[str]:
    """What a page shows of the documents of each query, the most telling query first."""
    positions = {query: position for position, query in enumerate(suite.queries.ids)}
    for each in suite.documents:
        if each.query in positions:
            yield _plain({"query": positions[each.query], **_of_a_query(suite, each)})


def _of_a_query(suite: SuiteResult, documents: QueryDocuments) -> dict[str, Any]:
    kept = shown_documents(suite, documents)
    placed = [documents.documents[place] for place in kept]
    return {
        "ids": [sound(each.document) for each in placed],
        "grades": _short(each.grade for each in placed),
        "now": [each.now for each in placed],
        "baseline": [each.baseline for each in placed],
        "shares": [[sound(name), _short(shares[place] for place in kept)] for name, shares in documents.shares.items()],
        "relevant": documents.relevant,
        "more": len(documents.documents) - len(kept),
        "curves": [_curve(documents, now=False), _curve(documents, now=True)],
    }


def _curve(documents: QueryDocuments, *, now: bool) -> dict[str, Any] | None:
    """The points; the interpolated steps lie over them."""
    curve = documents.now if now else documents.baseline
    if curve is None:
        return None
    return {"recall": _short(curve.recall), "precision": _short(curve.precision)}


def _within(texts: Iterable[str], most: int) -> Iterator[str]:
    """As many of the first as have room."""
    for text in texts:
        most -= len(text)
        if most < 0:
            return
        yield text


def _short(values: Iterable[float | None]) -> list[float | None]:
    """Four decimals, as all figures are shown, and none where they are zeros."""
    rounded = (None if value is None else round(value, 4) for value in values)
    return [
        int(value) if value is not None and value == value // 1 and abs(value) < 1e15 else value for value in rounded
    ]
