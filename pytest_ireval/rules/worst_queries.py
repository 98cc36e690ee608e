"""The queries that explain a verdict: the lists of them, and sentences about them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.results.outcome import QueryChange, SliceFigures
from pytest_ireval.rules.context import PairedValues, RuleContext, Values
from pytest_ireval.rules.query_changes import find_best_document, list_query_changes, place_documents
from pytest_ireval.rules.wording import format_queries
from pytest_ireval.statistics.differences import TIE
from pytest_ireval.words import format_percent

MOST_LISTED_IF_PASSING = 5
"""The queries listed for a rule that passes; one that does not lists all."""
MOST_WITH_DOCUMENTS = 200
"""The most queries that are listed with their documents."""
MOST_LISTED = 10_000
"""A list ends here: an object for each of a million queries takes a minute, and no reader looks at them."""


class QueryList(NamedTuple):
    """A list of queries, and facts about all queries that it is taken from."""

    queries: tuple[QueryChange, ...]
    omitted_count: int
    """The number of queries that the list leaves out because it would be too long."""
    is_complete: bool
    """True if the list has all of them, with their documents."""
    total: int
    """The number of all of them, listed or not."""
    share: float | None
    """Their share of all searches; None where queries have no weight, or a rule that passes hides some."""


def list_worst_changes(context: RuleContext, values: PairedValues, *, failed: bool, least: float = 0.0) -> QueryList:
    """Queries whose value got worse by more than ``least``, the worst first."""
    change = context.sign * values.gain
    order = np.argsort(change, kind="stable")
    # A smaller loss than a tie is rounding, which every test leaves out as well.
    return _make_list(context, values, order[change[order] < -max(least, TIE)], failed)


def list_lowest_values(context: RuleContext, values: Values, *, failed: bool, first: int | None = None) -> QueryList:
    """Queries by value, the worst first; all of them, or the ``first`` ones."""
    rows = np.argsort(context.sign * values.current, kind="stable")
    return _make_list(context, values, rows[:first], failed)


def _make_list(context: RuleContext, values: Values, rows: NDArray[np.int64], failed: bool) -> QueryList:
    with_documents = rows[: MOST_WITH_DOCUMENTS if failed else MOST_LISTED_IF_PASSING]
    plain = rows[with_documents.size : MOST_LISTED] if failed else rows[:0]
    if not context.lists_queries:
        with_documents = plain = rows[:0]
    whole = with_documents.size == rows.size
    share = None
    if context.metric.unit == "query" and (failed or whole):
        share = context.population.share_of(values.rows[rows])
    return QueryList(
        (
            *list_query_changes(context, values, with_documents.tolist()),
            *list_query_changes(context, values, plain.tolist(), documents=False),
        ),
        max(0, rows.size - MOST_LISTED) if failed else 0,
        whole,
        int(rows.size),
        share,
    )


def describe_worse_queries(context: RuleContext, figures: SliceFigures, worst: QueryList) -> str:
    """A sentence about the queries that got worse, for a reader who does not know the metric."""
    if not figures.worse:
        return f"None of {format_queries(context, figures.queries)} got worse."
    lost = []
    if worst.is_complete and not context.metric.stage:
        lost = [change for change in worst.queries if _lost_its_best(context, change)]
    if worst.total != figures.worse or not lost:
        share = worst.share if worst.total == figures.worse else None
        return f"{figures.worse} of {format_queries(context, figures.queries)}{_format_share(share)} got worse."
    share = None
    if context.population.weights is not None and (total := float(context.population.weights.sum())):
        share = sum(change.weight or 0.0 for change in lost) / total
    who = f"{len(lost)} of {format_queries(context, figures.queries)}{_format_share(share)}"
    return f"{who} lost {'its' if len(lost) == 1 else 'their'} best document."


def describe_much_worse(context: RuleContext, worst: QueryList, count: int, of: int) -> str:
    """A sentence about the queries that got much worse, and their share of searches."""
    if not count:
        return f"None of {format_queries(context, of)} got much worse."
    share = worst.share if worst.total == count else None
    return f"{count} of {format_queries(context, of)}{_format_share(share)} got much worse."


def _format_share(share: float | None) -> str:
    return "" if share is None else f" ({format_percent(share)} of all searches)"


def _lost_its_best(context: RuleContext, change: QueryChange) -> bool:
    """Tell whether the best document of the baseline's ranking is no longer where the metric looks."""
    cutoff = context.metric.settings.get("cutoff")
    limit = cutoff if isinstance(cutoff, int) else context.current.depth
    best = find_best_document(place_documents(context, change.query), in_baseline=True)
    return best is not None and (best.baseline or 0) <= limit and (best.now is None or best.now > limit)
