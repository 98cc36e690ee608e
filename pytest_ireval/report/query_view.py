"""One query as a page shows it: figures before and after, both rankings side by side, and what moved."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from pytest_ireval.report.charts.chart import Chart
from pytest_ireval.report.charts.curves import make_query_curve_chart
from pytest_ireval.report.commands import format_why_command, make_fragment, make_query_anchor, replace_unreadable
from pytest_ireval.report.formatting import format_change, format_value, name_verdict
from pytest_ireval.results.outcome import Outcome, Placed
from pytest_ireval.results.suite_result import MetricFigures, QueryDocuments, QueryTable, SuiteResult
from pytest_ireval.words import format_count

_FIRST, FIRST_WITHOUT_SCRIPT = 20, 10
"""The shown ranks of either side, before other documents of account; views without a script take ten times the room."""
Moved = Literal["worse", "better", "same", ""]
"""The judgment of a move; empty where it is neither good nor bad, or unknown."""
WEB = re.compile(r"https?://\S{1,2000}")
"""Addresses of documents that a page links; it never loads them."""


class FigureRow(NamedTuple):
    """One metric of the query."""

    metric: str
    baseline: str
    now: str
    change: str
    moved: Moved


class Standing(NamedTuple):
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


class Line(NamedTuple):
    """Joins a document's places in the two lists; each row of a list is 1 high."""

    left: float
    right: float
    moved: Moved


class ShareRow(NamedTuple):
    """The part of one document in the changes of metrics."""

    document: str
    grade: str
    moved: str
    """``#2 → #9``."""
    shares: tuple[tuple[str, Moved], ...]
    """One for each metric that can be split by document."""


class RankingsView(NamedTuple):
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


class _QueryView(NamedTuple):
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
    rankings: RankingsView | None
    """None where the result does not hold its documents."""
    curve: Chart | None
    why: str
    """The command that shows the arithmetic; empty where there is nothing to show."""


def make_query_view(suite: SuiteResult, query: str, metric: str = "") -> _QueryView:
    """``metric`` is what the command is about; the first one that can be explained, if it is left out."""
    table = suite.queries
    position = table.ids.index(query)
    weights = _find_own_weights(table)
    weight = [] if weights is None else [("weight", f"{round(weights[position], 4):.15g}")]
    columns = [
        (replace_unreadable(name), replace_unreadable(values[position])) for name, values in table.columns.items()
    ]
    documents = next((document for document in suite.documents if document.query == query), None)
    explained = metric or next(iter(_list_explained_metrics(suite)), "")
    figures = tuple(_make_figure_rows(suite, position))
    telling = (outcome for outcome in suite.outcomes if _is_telling(outcome))
    rules = (each for each in telling if any(named.query == query for named in each.queries))
    return _QueryView(
        anchor=make_query_anchor(suite, query),
        link=make_fragment(make_query_anchor(suite, query)),
        query=replace_unreadable(query),
        text=replace_unreadable(table.texts[position]) if table.texts else "",
        columns=(*columns, *weight),
        figures=figures,
        headline=next((row for row in figures if row.metric == replace_unreadable(metric)), next(iter(figures), None)),
        rules=tuple((name_verdict(each), replace_unreadable(each.headline)) for each in rules),
        rankings=None if documents is None else _make_rankings(suite, documents),
        curve=None if documents is None else make_query_curve_chart(suite, documents),
        why=format_why_command(suite, explained, query) if explained else "",
    )


def _is_telling(outcome: Outcome) -> bool:
    """Tell whether it says something of the queries it names: those behind a plain pass are only what it looked at."""
    return outcome.verdict != "pass" or outcome.warning or outcome.accepted


def _find_own_weights(table: QueryTable) -> tuple[float, ...] | None:
    """The weights, unless they are one of the columns anyway."""
    if table.weights is None:
        return None
    as_they_are = tuple(f"{weight:g}" for weight in table.weights)
    return None if as_they_are in [tuple(values) for values in table.columns.values()] else table.weights


def _list_explained_metrics(suite: SuiteResult) -> list[str]:
    silent = {outcome.metric for outcome in suite.outcomes if not outcome.explained}
    return [each.name for each in _list_query_metrics(suite) if each.name not in silent and not each.lists]


def _list_query_metrics(suite: SuiteResult) -> list[MetricFigures]:
    return [metric for metric in suite.metrics if metric.name in suite.queries.now]


def _choose_documents(suite: SuiteResult, documents: QueryDocuments, first: int = _FIRST) -> list[int]:
    """The places of the shown documents: the first of either side, relevant ones, and those with a share."""
    of_account = {place for shares in documents.shares.values() for place, share in enumerate(shares) if share}
    return [
        place
        for place, each in enumerate(documents.documents)
        if min(each.now or first + 1, each.baseline or first + 1) <= first
        or is_relevant(suite, each)
        or place in of_account
    ]


def is_relevant(suite: SuiteResult, placed: Placed) -> bool:
    """Tell whether it is relevant."""
    return placed.grade is not None and placed.grade >= suite.relevant_from


def _classify_change(value: float | None, direction: str) -> Moved:
    """Tell whether a change of a metric is for the worse; one that shows as nothing is none."""
    if value is None or direction not in ("higher", "lower"):
        return ""
    if format_change(value) == format_change(0.0):
        return "same"
    return "better" if (value > 0) == (direction == "higher") else "worse"


def _make_figure_rows(suite: SuiteResult, position: int) -> Iterator[FigureRow]:
    table = suite.queries
    for metric in _list_query_metrics(suite):
        before, changes = table.baseline.get(metric.name), table.changes(metric.name)
        difference = changes[position] if changes else None
        yield FigureRow(
            metric=replace_unreadable(metric.name),
            baseline=format_value(before[position] if before else None),
            now=format_value(table.now[metric.name][position]),
            change=format_change(difference),
            moved=_classify_change(difference, metric.direction),
        )


def _make_rankings(suite: SuiteResult, documents: QueryDocuments) -> RankingsView:
    kept = [documents.documents[place] for place in _choose_documents(suite, documents, FIRST_WITHOUT_SCRIPT)]
    compared = suite.baseline is not None
    before = tuple(_make_side(suite, kept, compared=compared, now=False))
    now = tuple(_make_side(suite, kept, compared=compared, now=True))
    known, relevant = "This query has no judgments.", documents.relevant
    if relevant is not None:
        known = f"{format_count(relevant, 'relevant document')} {'is' if relevant == 1 else 'are'} known."
    return RankingsView(
        compared=compared,
        baseline=before,
        now=now,
        lines=tuple(_make_lines(before, now)),
        rows=max(len(before), len(now)),
        first=FIRST_WITHOUT_SCRIPT,
        more=len(documents.documents) - len(kept),
        known=known,
        share_metrics=tuple(replace_unreadable(name) for name in documents.shares),
        shares=tuple(_make_share_rows(suite, documents)),
    )


def _make_side(suite: SuiteResult, documents: Sequence[Placed], *, compared: bool, now: bool) -> Iterator[Standing]:
    ranked = [(each.now if now else each.baseline, each) for each in documents]
    for rank, each in sorted((pair for pair in ranked if pair[0]), key=lambda pair: pair[0] or 0):
        yield Standing(
            rank=rank or 0,
            document=replace_unreadable(each.document),
            title=replace_unreadable(each.title),
            url=_find_address(suite, each),
            grade=_format_grade(suite, each),
            relevant=is_relevant(suite, each),
            other=each.baseline if now else each.now,
            arrow=_choose_arrow(each, now=now) if compared else "",
            moved=_classify_move(each) if compared and is_relevant(suite, each) else "",
        )


def _find_address(suite: SuiteResult, placed: Placed) -> str:
    """The address of the document, if a page may link it."""
    text = suite.texts.get(placed.document)
    return text.url if text is not None and WEB.fullmatch(text.url) else ""


def _choose_arrow(placed: Placed, *, now: bool) -> Literal["↑", "↓", "=", "new", "gone"]:
    if placed.now is None or placed.baseline is None:
        return "new" if now else "gone"
    return "=" if placed.now == placed.baseline else "↑" if placed.now < placed.baseline else "↓"


def _classify_move(placed: Placed) -> Moved:
    """The effect of a relevant document's move: for the worse where its rank is lower now, or gone."""
    now, before = placed.now or math.inf, placed.baseline or math.inf
    return "same" if now == before else "better" if now < before else "worse"


def _format_grade(suite: SuiteResult, placed: Placed) -> str:
    if placed.grade is None:
        return ""
    grade = f"{placed.grade:g}"
    return replace_unreadable(f"{grade} {suite.labels.get(grade, '')}".strip())


def _make_lines(before: Sequence[Standing], now: Sequence[Standing]) -> Iterator[Line]:
    """Lines that say more are drawn later, so that they lie above the others."""
    places = {each.rank: row for row, each in enumerate(now)}
    found = [
        Line(row + 0.5, places[each.other] + 0.5, each.moved) for row, each in enumerate(before) if each.other in places
    ]
    yield from sorted(found, key=lambda line: ("", "same", "better", "worse").index(line.moved))


def _make_share_rows(suite: SuiteResult, documents: QueryDocuments) -> Iterator[ShareRow]:
    """Those that add anything to a metric, what adds most to the first one before the others."""
    directions = {metric.name: metric.direction for metric in suite.metrics}
    every = [(name, directions.get(name, ""), shares) for name, shares in documents.shares.items()]
    order = [
        (tuple(-abs(shares[place] or 0.0) for _, _, shares in every), place)
        for place in range(len(documents.documents))
    ]
    for _, place in sorted(order):
        cells = tuple((format_change(shares[place]), _classify_change(shares[place], way)) for _, way, shares in every)
        if any(format_change(shares[place] or 0.0) != format_change(0.0) for _, _, shares in every):
            placed = documents.documents[place]
            yield ShareRow(
                document=replace_unreadable(placed.document),
                grade=_format_grade(suite, placed),
                moved=f"{_format_rank(placed.baseline)} → {_format_rank(placed.now)}",
                shares=cells,
            )


def _format_rank(rank: int | None) -> str:
    return "nowhere" if rank is None else f"#{rank}"


def make_worst_views(suite: SuiteResult, *, alone: bool = True) -> tuple[_QueryView, ...]:
    """Views that need no script: of the first queries of each failing rule, each query once, 20 at most."""
    most = 3 if alone else 1
    known = set(suite.queries.ids)
    metrics: dict[str, str] = {}
    for outcome in suite.outcomes:
        if outcome.verdict == "fail":
            for each in outcome.queries[:most]:
                if each.query in known:
                    metrics.setdefault(each.query, outcome.metric if outcome.explained else "")
    return tuple(make_query_view(suite, query, metric) for query, metric in islice(metrics.items(), 20))
