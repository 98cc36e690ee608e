"""One query as a page shows it: figures before and after, both rankings side by side, and what moved."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_ireval.plurals import counted
from pytest_ireval.reports.anchors import link_to, query_anchor
from pytest_ireval.reports.charts.chart import Chart
from pytest_ireval.reports.charts.recall_precision import query_curve_chart
from pytest_ireval.reports.commands import why_command
from pytest_ireval.reports.figures import change, figure
from pytest_ireval.reports.sound_text import sound
from pytest_ireval.results.outcome import Outcome, Placed
from pytest_ireval.results.suite_result import MetricFigures, QueryDocuments, QueryTable, SuiteResult

FIRST = 20
"""So many ranks of either side are shown, and every document of account below them."""
FIRST_WITHOUT_SCRIPT = 10
"""The same of views that stand in the page as they are, and take ten times the room."""

Moved = Literal["worse", "better", "same", ""]
"""Whether that is good or bad; nothing where it is neither, or nobody knows."""


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
    grade: str
    """As it is judged, ``3 perfect``; empty where nobody judged it."""
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
    """What one document adds to the changes of metrics."""

    document: str
    grade: str
    moved: str
    """``#2 → #9``."""
    shares: tuple[tuple[str, Moved], ...]
    """One for each of the metrics that can be told apart so."""


@dataclass(frozen=True)
class Rankings:
    """Both rankings of a query."""

    compared: bool
    """Whether there is a baseline at all."""
    baseline: tuple[Standing, ...]
    now: tuple[Standing, ...]
    lines: tuple[Line, ...]
    rows: int
    """Of the longer one."""
    first: int
    more: int
    """How many documents below the first ranks are left out."""
    known: str
    """How many relevant documents there are, in a sentence."""
    share_metrics: tuple[str, ...]
    shares: tuple[ShareRow, ...]


@dataclass(frozen=True)
class QueryView:
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
    rankings: Rankings | None
    """None where the result does not hold its documents."""
    curve: Chart | None
    why: str
    """The command that shows the arithmetic; empty where there is nothing to show."""


def query_view(suite: SuiteResult, query: str, metric: str = "") -> QueryView:
    """``metric`` is what the command is about; the first one that can be explained, if it is left out."""
    table = suite.queries
    position = table.ids.index(query)
    weights = own_weights(table)
    weight = [] if weights is None else [("weight", f"{round(weights[position], 4):.15g}")]
    columns = [(sound(name), sound(values[position])) for name, values in table.columns.items()]
    documents = next((each for each in suite.documents if each.query == query), None)
    explained = metric or next(iter(explained_metrics(suite)), "")
    figures = tuple(_figures(suite, position))
    return QueryView(
        anchor=query_anchor(suite, query),
        link=link_to(query_anchor(suite, query)),
        query=sound(query),
        text=sound(table.texts[position]) if table.texts else "",
        columns=(*columns, *weight),
        figures=figures,
        headline=next((row for row in figures if row.metric == sound(metric)), next(iter(figures), None)),
        rules=tuple(_rules(suite, query)),
        rankings=None if documents is None else _rankings(suite, documents),
        curve=None if documents is None else query_curve_chart(suite, documents),
        why=why_command(suite, explained, query) if explained else "",
    )


def is_telling(outcome: Outcome) -> bool:
    """Whether it says something of the queries it names: those behind a plain pass are only what it looked at."""
    return outcome.verdict != "pass" or outcome.warning or outcome.accepted


def own_weights(table: QueryTable) -> tuple[float, ...] | None:
    """The weights, unless they are one of the columns anyway."""
    if table.weights is None:
        return None
    as_they_are = tuple(f"{weight:g}" for weight in table.weights)
    return None if as_they_are in [tuple(values) for values in table.columns.values()] else table.weights


def explained_metrics(suite: SuiteResult) -> list[str]:
    """Those whose arithmetic ``ireval why`` shows on a query."""
    silent = {outcome.metric for outcome in suite.outcomes if not outcome.explained}
    return [each.name for each in query_metrics(suite) if each.name not in silent and not each.lists]


def query_metrics(suite: SuiteResult) -> list[MetricFigures]:
    """Those that have a figure of each query."""
    return [each for each in suite.metrics if each.name in suite.queries.now]


def shown_documents(suite: SuiteResult, documents: QueryDocuments, first: int = FIRST) -> list[int]:
    """Where those stand that a page shows: the first of either side, and those that are relevant or have a share."""
    of_account = {place for shares in documents.shares.values() for place, share in enumerate(shares) if share}
    return [
        place
        for place, each in enumerate(documents.documents)
        if min(each.now or first + 1, each.baseline or first + 1) <= first or counts(suite, each) or place in of_account
    ]


def counts(suite: SuiteResult, placed: Placed) -> bool:
    """Whether it is relevant."""
    return placed.grade is not None and placed.grade >= suite.relevant_from


def moved_by(value: float | None, direction: str) -> Moved:
    """Whether a change of a metric is for the worse; one that shows as nothing is none."""
    if value is None or direction not in ("higher", "lower"):
        return ""
    if change(value) == change(0.0):
        return "same"
    return "better" if (value > 0) == (direction == "higher") else "worse"


def _figures(suite: SuiteResult, position: int) -> Iterator[FigureRow]:
    table = suite.queries
    for metric in query_metrics(suite):
        before, changes = table.baseline.get(metric.name), table.changes(metric.name)
        difference = changes[position] if changes else None
        yield FigureRow(
            metric=sound(metric.name),
            baseline=figure(before[position] if before else None),
            now=figure(table.now[metric.name][position]),
            change=change(difference),
            moved=moved_by(difference, metric.direction),
        )


def _rules(suite: SuiteResult, query: str) -> Iterator[tuple[str, str]]:
    for outcome in suite.outcomes:
        if is_telling(outcome) and any(each.query == query for each in outcome.queries):
            yield outcome.verdict, sound(outcome.headline)


def _rankings(suite: SuiteResult, documents: QueryDocuments) -> Rankings:
    kept = [documents.documents[place] for place in shown_documents(suite, documents, FIRST_WITHOUT_SCRIPT)]
    compared = suite.baseline is not None
    before = tuple(_side(suite, kept, compared=compared, now=False))
    now = tuple(_side(suite, kept, compared=compared, now=True))
    return Rankings(
        compared=compared,
        baseline=before,
        now=now,
        lines=tuple(_lines(before, now)),
        rows=max(len(before), len(now)),
        first=FIRST_WITHOUT_SCRIPT,
        more=len(documents.documents) - len(kept),
        known=_known(documents.relevant),
        share_metrics=tuple(sound(name) for name in documents.shares),
        shares=tuple(_shares(suite, documents)),
    )


def _side(suite: SuiteResult, documents: Sequence[Placed], *, compared: bool, now: bool) -> Iterator[Standing]:
    """One ranking, best first."""
    ranked = [(each.now if now else each.baseline, each) for each in documents]
    for rank, each in sorted((pair for pair in ranked if pair[0]), key=lambda pair: pair[0] or 0):
        yield Standing(
            rank=rank or 0,
            document=sound(each.document),
            grade=_grade(suite, each),
            relevant=counts(suite, each),
            other=each.baseline if now else each.now,
            arrow=_arrow(each, now=now) if compared else "",
            moved=_effect(each) if compared and counts(suite, each) else "",
        )


def _arrow(placed: Placed, *, now: bool) -> Literal["↑", "↓", "=", "new", "gone"]:
    if placed.now is None or placed.baseline is None:
        return "new" if now else "gone"
    return "=" if placed.now == placed.baseline else "↑" if placed.now < placed.baseline else "↓"


def _effect(placed: Placed) -> Moved:
    """What the move of a relevant document is: for the worse where it stands lower, or nowhere."""
    now, before = placed.now or math.inf, placed.baseline or math.inf
    return "same" if now == before else "better" if now < before else "worse"


def _known(relevant: int | None) -> str:
    if relevant is None:
        return "Nobody judged this query."
    return f"{counted(relevant, 'relevant document')} {'is' if relevant == 1 else 'are'} known."


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
        cells = tuple((change(shares[place]), moved_by(shares[place], way)) for _, way, shares in every)
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
