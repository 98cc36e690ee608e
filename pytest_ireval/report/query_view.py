"""One query as a page shows it: figures before and after, both rankings side by side, and what moved."""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from pytest_ireval.report.charts.chart import Chart
from pytest_ireval.report.charts.curves import query_curve_chart
from pytest_ireval.report.commands import link_to, query_anchor, shell_word, sound, why_command
from pytest_ireval.report.wording import change, figure, word_of
from pytest_ireval.results.outcome import Outcome, Placed
from pytest_ireval.results.suite_result import MetricFigures, QueryDocuments, QueryTable, RunResult, SuiteResult
from pytest_ireval.words import format_count

_FIRST, FIRST_WITHOUT_SCRIPT = 20, 10
"""The shown ranks of either side, before other documents of account; views without a script take ten times the room."""
Moved = Literal["worse", "better", "same", ""]
"""The judgment of a move; empty where it is neither good nor bad, or unknown."""
WEB = re.compile(r"https?://\S{1,2000}")
"""Addresses of documents that a page links; it never loads them."""


@dataclass(frozen=True)
class FigureRow:
    """One metric of the query."""

    metric: str
    baseline: str
    now: str
    change: str
    moved: Moved


@dataclass(frozen=True)
class Standing:
    """A document in one of the two rankings."""

    rank: int
    document: str
    title: str
    url: str
    grade: str
    """The judgment, as in ``3 perfect``; empty where there is none."""
    relevant: bool
    other: int | None
    """Its rank on the other side; None where it is not there."""
    arrow: Literal["↑", "↓", "=", "new", "gone", ""]
    """Nothing where there is no other side."""
    moved: Moved


@dataclass(frozen=True)
class Line:
    """Joins a document's places in the two lists; each row of a list is 1 high."""

    left: float
    right: float
    moved: Moved


@dataclass(frozen=True)
class ShareRow:
    """The part of one document in the changes of metrics."""

    document: str
    grade: str
    moved: str
    """``#2 → #9``."""
    shares: tuple[tuple[str, Moved], ...]
    """One for each metric that can be split by document."""


@dataclass(frozen=True)
class RankingsShown:
    """Both rankings of a query."""

    compared: bool
    baseline: tuple[Standing, ...]
    now: tuple[Standing, ...]
    lines: tuple[Line, ...]
    rows: int
    """Of the longer one."""
    first: int
    more: int
    """The number of documents below the first ranks that are left out."""
    known: str
    """The number of relevant documents, in a sentence."""
    share_metrics: tuple[str, ...]
    shares: tuple[ShareRow, ...]


@dataclass(frozen=True)
class _QueryView:
    """Everything a page says of one query, its texts fit for a file in UTF-8."""

    anchor: str
    link: str
    query: str
    text: str
    columns: tuple[tuple[str, str], ...]
    figures: tuple[FigureRow, ...]
    headline: FigureRow | None
    """Of the metric that the view is about; None where queries have no figures."""
    rules: tuple[tuple[str, str], ...]
    """Verdict and headline of those that name it, but for plain passes."""
    rankings: RankingsShown | None
    """None where the result does not hold its documents."""
    curve: Chart | None
    why: str
    """The command that shows the arithmetic; empty where there is nothing to show."""


def query_view(suite: SuiteResult, query: str, metric: str = "") -> _QueryView:
    """``metric`` is what the command is about; the first one that can be explained, if it is left out."""
    table = suite.queries
    position = table.ids.index(query)
    weights = _own_weights(table)
    weight = [] if weights is None else [("weight", f"{round(weights[position], 4):.15g}")]
    columns = [(sound(name), sound(values[position])) for name, values in table.columns.items()]
    documents = next((each for each in suite.documents if each.query == query), None)
    explained = metric or next(iter(_explained_metrics(suite)), "")
    figures = tuple(_figures(suite, position))
    telling = (each for each in suite.outcomes if _is_telling(each))
    rules = (each for each in telling if any(named.query == query for named in each.queries))
    return _QueryView(
        anchor=query_anchor(suite, query),
        link=link_to(query_anchor(suite, query)),
        query=sound(query),
        text=sound(table.texts[position]) if table.texts else "",
        columns=(*columns, *weight),
        figures=figures,
        headline=next((row for row in figures if row.metric == sound(metric)), next(iter(figures), None)),
        rules=tuple((word_of(each), sound(each.headline)) for each in rules),
        rankings=None if documents is None else _rankings(suite, documents),
        curve=None if documents is None else query_curve_chart(suite, documents),
        why=why_command(suite, explained, query) if explained else "",
    )


def _is_telling(outcome: Outcome) -> bool:
    """Tell whether it says something of the queries it names: those behind a plain pass are only what it looked at."""
    return outcome.verdict != "pass" or outcome.warning or outcome.accepted


def _own_weights(table: QueryTable) -> tuple[float, ...] | None:
    """The weights, unless they are one of the columns anyway."""
    if table.weights is None:
        return None
    as_they_are = tuple(f"{weight:g}" for weight in table.weights)
    return None if as_they_are in [tuple(values) for values in table.columns.values()] else table.weights


def _explained_metrics(suite: SuiteResult) -> list[str]:
    silent = {outcome.metric for outcome in suite.outcomes if not outcome.explained}
    return [each.name for each in _query_metrics(suite) if each.name not in silent and not each.lists]


def _query_metrics(suite: SuiteResult) -> list[MetricFigures]:
    return [each for each in suite.metrics if each.name in suite.queries.now]


def _shown_documents(suite: SuiteResult, documents: QueryDocuments, first: int = _FIRST) -> list[int]:
    """The places of the shown documents: the first of either side, relevant ones, and those with a share."""
    of_account = {place for shares in documents.shares.values() for place, share in enumerate(shares) if share}
    return [
        place
        for place, each in enumerate(documents.documents)
        if min(each.now or first + 1, each.baseline or first + 1) <= first or counts(suite, each) or place in of_account
    ]


def counts(suite: SuiteResult, placed: Placed) -> bool:
    """Tell whether it is relevant."""
    return placed.grade is not None and placed.grade >= suite.relevant_from


def _moved_by(value: float | None, direction: str) -> Moved:
    """Tell whether a change of a metric is for the worse; one that shows as nothing is none."""
    if value is None or direction not in ("higher", "lower"):
        return ""
    if change(value) == change(0.0):
        return "same"
    return "better" if (value > 0) == (direction == "higher") else "worse"


def _figures(suite: SuiteResult, position: int) -> Iterator[FigureRow]:
    table = suite.queries
    for metric in _query_metrics(suite):
        before, changes = table.baseline.get(metric.name), table.changes(metric.name)
        difference = changes[position] if changes else None
        yield FigureRow(
            metric=sound(metric.name),
            baseline=figure(before[position] if before else None),
            now=figure(table.now[metric.name][position]),
            change=change(difference),
            moved=_moved_by(difference, metric.direction),
        )


def _rankings(suite: SuiteResult, documents: QueryDocuments) -> RankingsShown:
    kept = [documents.documents[place] for place in _shown_documents(suite, documents, FIRST_WITHOUT_SCRIPT)]
    compared = suite.baseline is not None
    before = tuple(_side(suite, kept, compared=compared, now=False))
    now = tuple(_side(suite, kept, compared=compared, now=True))
    known, relevant = "This query has no judgments.", documents.relevant
    if relevant is not None:
        known = f"{format_count(relevant, 'relevant document')} {'is' if relevant == 1 else 'are'} known."
    return RankingsShown(
        compared=compared,
        baseline=before,
        now=now,
        lines=tuple(_lines(before, now)),
        rows=max(len(before), len(now)),
        first=FIRST_WITHOUT_SCRIPT,
        more=len(documents.documents) - len(kept),
        known=known,
        share_metrics=tuple(sound(name) for name in documents.shares),
        shares=tuple(_shares(suite, documents)),
    )


def _side(suite: SuiteResult, documents: Sequence[Placed], *, compared: bool, now: bool) -> Iterator[Standing]:
    ranked = [(each.now if now else each.baseline, each) for each in documents]
    for rank, each in sorted((pair for pair in ranked if pair[0]), key=lambda pair: pair[0] or 0):
        yield Standing(
            rank=rank or 0,
            document=sound(each.document),
            title=sound(each.title),
            url=_address(suite, each),
            grade=_grade(suite, each),
            relevant=counts(suite, each),
            other=each.baseline if now else each.now,
            arrow=_arrow(each, now=now) if compared else "",
            moved=_effect(each) if compared and counts(suite, each) else "",
        )


def _address(suite: SuiteResult, placed: Placed) -> str:
    """The address of the document, if a page may link it."""
    text = suite.texts.get(placed.document)
    return text.url if text is not None and WEB.fullmatch(text.url) else ""


def _arrow(placed: Placed, *, now: bool) -> Literal["↑", "↓", "=", "new", "gone"]:
    if placed.now is None or placed.baseline is None:
        return "new" if now else "gone"
    return "=" if placed.now == placed.baseline else "↑" if placed.now < placed.baseline else "↓"


def _effect(placed: Placed) -> Moved:
    """The effect of a relevant document's move: for the worse where its rank is lower now, or gone."""
    now, before = placed.now or math.inf, placed.baseline or math.inf
    return "same" if now == before else "better" if now < before else "worse"


def _grade(suite: SuiteResult, placed: Placed) -> str:
    if placed.grade is None:
        return ""
    grade = f"{placed.grade:g}"
    return sound(f"{grade} {suite.labels.get(grade, '')}".strip())


def _lines(before: Sequence[Standing], now: Sequence[Standing]) -> Iterator[Line]:
    """Lines that say more are drawn later, so that they lie above the others."""
    places = {each.rank: row for row, each in enumerate(now)}
    found = [
        Line(row + 0.5, places[each.other] + 0.5, each.moved) for row, each in enumerate(before) if each.other in places
    ]
    yield from sorted(found, key=lambda line: ("", "same", "better", "worse").index(line.moved))


def _shares(suite: SuiteResult, documents: QueryDocuments) -> Iterator[ShareRow]:
    """Those that add anything to a metric, what adds most to the first one before the others."""
    directions = {metric.name: metric.direction for metric in suite.metrics}
    every = [(name, directions.get(name, ""), shares) for name, shares in documents.shares.items()]
    order = [
        (tuple(-abs(shares[place] or 0.0) for _, _, shares in every), place)
        for place in range(len(documents.documents))
    ]
    for _, place in sorted(order):
        cells = tuple((change(shares[place]), _moved_by(shares[place], way)) for _, way, shares in every)
        if any(change(shares[place] or 0.0) != change(0.0) for _, _, shares in every):
            placed = documents.documents[place]
            yield ShareRow(
                document=sound(placed.document),
                grade=_grade(suite, placed),
                moved=f"{_rank(placed.baseline)} → {_rank(placed.now)}",
                shares=cells,
            )


def _rank(rank: int | None) -> str:
    return "nowhere" if rank is None else f"#{rank}"


MOST_CHARACTERS = 6_000_000
"""The documents of a page take no more, before they are packed: whatever a run has, the page stays below 10 MB."""
_ESCAPES = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}
_plain = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
"""Made once: ``json.dumps`` would make an encoder for each value."""


def queries_data(run: RunResult) -> str:
    """JSON that never ends its script element; all queries as columns, their documents packed.

    ``documents`` of a suite is JSON again: deflated, since documents are most of a page, and in base64. A page unpacks
    them when a reader looks at the first query.
    """
    left = MOST_CHARACTERS
    suites = []
    for suite in run.suites:
        kept = list(_within(_documents(suite), left))
        left -= sum(map(len, kept))
        suites.append({**_table(suite), "documents": packed(f"[{','.join(kept)}]")})
    return _plain({"first": _FIRST, "suites": suites}).translate(_ESCAPES)


def worst_views(suite: SuiteResult, *, alone: bool = True) -> tuple[_QueryView, ...]:
    """Views that need no script: of the first queries of each failing rule, each query once, 20 at most."""
    most = 3 if alone else 1
    known = set(suite.queries.ids)
    metrics: dict[str, str] = {}
    for outcome in suite.outcomes:
        if outcome.verdict == "fail":
            for each in outcome.queries[:most]:
                if each.query in known:
                    metrics.setdefault(each.query, outcome.metric if outcome.explained else "")
    return tuple(query_view(suite, query, metric) for query, metric in islice(metrics.items(), 20))


def _table(suite: SuiteResult) -> dict[str, Any]:
    table = suite.queries
    weights = _own_weights(table)
    explained = set(_explained_metrics(suite))
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
        # ids that a shell needs in another form, so that no page has to know how that is done
        "words": [(i, word) for i, query in enumerate(table.ids) if (word := shell_word(query)) != query],
        "columns": [_column(name, values) for name, values in table.columns.items()],
        "metrics": [_metric(suite, metric, metric.name in explained) for metric in _query_metrics(suite)],
        "rules": [_rule(outcome, positions) for outcome in suite.outcomes if outcome.queries and _is_telling(outcome)],
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
        "verdict": word_of(outcome),
        "headline": sound(outcome.headline),
        "queries": [positions[query] for query in named if query in positions],
    }


def _documents(suite: SuiteResult) -> Iterator[str]:
    positions = {query: position for position, query in enumerate(suite.queries.ids)}
    for each in suite.documents:
        if each.query in positions:
            yield _plain({"query": positions[each.query], **_of_a_query(suite, each)})


def _of_a_query(suite: SuiteResult, documents: QueryDocuments) -> dict[str, Any]:
    kept = _shown_documents(suite, documents)
    placed = [documents.documents[place] for place in kept]
    return {
        "ids": [sound(each.document) for each in placed],
        "grades": _short(each.grade for each in placed),
        "now": [each.now for each in placed],
        "baseline": [each.baseline for each in placed],
        **({"titles": [sound(each.title) for each in placed]} if any(each.title for each in placed) else {}),
        **({"urls": urls} if any(urls := [_address(suite, each) for each in placed]) else {}),
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


def packed(text: str) -> str:
    """The text, deflated and in base64."""
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode()
