"""Judged rankings as the policies tell them: the order of equal scores, the depth, and unjudged documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pytest_ireval.errors import InputError, MetricError, Problem
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import score
from pytest_ireval.plurals import counted
from pytest_ireval.results.evaluation import Policies
from pytest_ireval.retrieval.doors import some
from pytest_ireval.retrieval.judged import Floats, Integers, JudgedRankings, Mask
from pytest_ireval.retrieval.ties import Orders, Worth, all_orders, by_grade, ranks_by_worth, reordered, with_ranks
from pytest_ireval.retrieval.views import condensed, cut, only

BY_JUDGMENTS = ("pessimistic", "optimistic")
"""Ties that are ordered by what is judged."""
ONE_BY_ONE = {"documents", "attributes", "subtopics", "preferences", "reference", "unjudged"}
"""Needs of metrics that tell documents of the same grade apart."""
STEPS = (6, 24, 120, 720)
"""Queries with about as many orders are tried together; none is tried in more orders than the last number."""
ALL_ROWS = 200_000
"""Queries are tried without the others only where orders of all of them would make more rows."""
TRIED_ROWS = 4_000_000
"""This many rows are made of all orders together: about a second."""


class Extreme(NamedTuple):
    """Rankings with equal scores in the best or in the worst order for a metric, all documents included.

    ``proven`` marks the queries for which no other order is better, or worse.
    """

    judged: JudgedRankings
    proven: Mask


def as_told(judged: JudgedRankings, policies: Policies, origin: str, metric: Metric | None = None) -> JudgedRankings:
    """Equal scores in the order that was chosen, cut at the depth, and without unjudged documents if so told.

    The best and the worst order are those of the ``metric``; without one, relevant documents come first, or last.
    """
    if policies.ties in BY_JUDGMENTS:
        best = policies.ties == "optimistic"
        if metric is not None:
            judged = extreme(judged, metric, policies, best=best).judged
        elif tied(judged).any():
            judged = reordered(judged, best_first=best)
    judged = shortened(judged, policies)
    found = tied(judged)
    if policies.ties == "error" and found.any():
        queries = [judged.queries[i] for i in np.unique(judged.hits.query[found]).tolist()]
        raise InputError(
            Problem(
                f"judged documents share their score with others in {len(queries)} of "
                f"{counted(judged.count, 'query')}, and ties are an error: {some(queries)}",
                place=origin,
                suggestion='ties="trec" (command line: --ties trec) puts equal scores in order of document ids',
            )
        )
    return judged


def tied(judged: JudgedRankings) -> Mask:
    """Which hits share their score with another document."""
    found: Mask = judged.hits.tied_from < judged.hits.tied_to
    return found


def any_ties(judged: JudgedRankings, metric: Metric) -> bool:
    """Whether there are equal scores that can matter to a metric: of judged documents, or of any that it looks at."""
    documents = judged.documents if metric.needs & ONE_BY_ONE else None
    return bool(tied(judged).any() or (documents is not None and (documents.tied_from < documents.tied_to).any()))


def shortened(judged: JudgedRankings, policies: Policies) -> JudgedRankings:
    """Cut at the depth, and without unjudged documents, if the policies say so."""
    if policies.depth is not None:
        judged = cut(judged, policies.depth)
    return condensed(judged) if policies.unjudged == "removed" else judged


def extreme(judged: JudgedRankings, metric: Metric, policies: Policies, *, best: bool) -> Extreme:
    """Equal scores in the best or the worst order for a metric; of one without a direction, the highest or lowest.

    The metric knows the order (``tie_order``), or all orders are tried where there are few enough.
    """
    proven = np.ones(judged.count, bool)
    if not any_ties(judged, metric):
        return Extreme(judged, proven)
    worth = worth_of(metric, judged)
    if worth is not None:
        same = ("tied", _pattern(worth, judged), best)
        return Extreme(judged.remember(same, lambda: _by_worth(judged, worth, best=best)), proven)
    if metric.unit != "query" or "sessions" in metric.needs:
        return Extreme(reordered(judged, best_first=best), np.zeros(judged.count, bool))
    key = ("tied", str(metric), policies.depth, policies.unjudged, best)
    return judged.remember(key, lambda: _Search(judged, metric, policies, best).found())


def worth_of(metric: Metric, judged: JudgedRankings) -> Worth | None:
    """What the metric says that documents of equal scores are worth; None if it cannot say."""
    grades = np.append(np.unique(judged.hits.grade), np.nan)
    try:
        known = None if metric.tie_order is None else metric.tie_order(grades, **metric.settings)
    except Exception as error:  # whatever a plugin's code raises, the message names it
        complaint = f"its tie_order raised {type(error).__name__}: {error}"
        raise MetricError(
            Problem(complaint, place=str(metric), suggestion=f"the metric comes from {metric.source}")
        ) from error
    if known is None:
        return None
    values = np.asarray(known, np.float64)
    if values.shape != grades.shape or np.isnan(values).any():
        wanted = "its tie_order has to return one number for each grade, for an unjudged document too, or None"
        raise MetricError(Problem(wanted, place=str(metric), suggestion=f"the metric comes from {metric.source}"))

    def worth(grade: Floats) -> Floats:
        found: Floats = values[np.searchsorted(grades, grade)]  # NaN is found in the last place
        return found

    return worth


def _by_worth(judged: JudgedRankings, worth: Worth, *, best: bool) -> JudgedRankings:
    return with_ranks(judged, ranks_by_worth(judged, worth, best_first=best))


def _pattern(worth: Worth, judged: JudgedRankings) -> tuple[int, ...]:
    """What makes two orders the same: which grades come before which, and before unjudged documents."""
    grade = np.append(np.unique(judged.hits.grade), np.nan)
    _, place = np.unique(worth(grade), return_inverse=True)
    found: tuple[int, ...] = tuple(place.tolist())
    return found


class _Search:
    """Looks for the best or the worst order of each query by trying them."""

    def __init__(self, judged: JudgedRankings, metric: Metric, policies: Policies, best: bool) -> None:
        self.judged, self.metric, self.policies = judged, metric, policies
        self.best_first = best
        self.sign = 1.0 if best == (metric.direction != "lower") else -1.0
        self.one_by_one = bool(metric.needs & ONE_BY_ONE)

    def found(self) -> Extreme:
        """The best of all orders of each query, or of a few where there are too many."""
        orders = self._orders(self.judged)
        query = np.repeat(np.arange(self.judged.count), self._rows(self.judged))
        ranks = ranks_by_worth(self.judged, by_grade, best_first=self.best_first)
        best = self._values(self.judged, ranks)
        for other in (ranks_by_worth(self.judged, by_grade, best_first=not self.best_first), orders.as_they_stand):
            values = self._values(self.judged, other)
            better = values > best
            ranks, best = np.where(better[query], other, ranks), np.where(better, values, best)
        proven = orders.count <= 1
        for some_queries in self._parts(orders.count):
            mask = np.zeros(self.judged.count, bool)
            mask[some_queries] = True
            count = np.where(mask, orders.count, 1).astype(np.int64)
            together = query.size * int(count.max()) <= ALL_ROWS
            if not together and "alone_or_together" in self.metric.not_promised:
                continue  # its value of a query depends on the others
            looked = np.ones(mask.size, bool) if together else mask
            chosen, now = mask[query], looked[query]
            found = self._best_ranks(only(self.judged, looked), count[looked], ranks[now], best[looked])
            ranks[chosen] = found[chosen[now]]
            proven |= mask
        return Extreme(with_ranks(self.judged, ranks), proven)

    def _orders(self, judged: JudgedRankings) -> Orders:
        return all_orders(judged, most=STEPS[-1], depth=self.policies.depth, one_by_one=self.one_by_one)

    def _rows(self, judged: JudgedRankings) -> Integers:
        return np.diff(judged.first if judged.documents is None else judged.documents.first)

    def _values(self, judged: JudgedRankings, ranks: Integers) -> Floats:
        """Higher for a better order."""
        return self.sign * score(self.metric, shortened(with_ranks(judged, ranks), self.policies)).values

    def _parts(self, count: Floats) -> Iterator[Integers]:
        """Queries whose orders can be tried within the budget, those with similar numbers of orders together."""
        rows, budget, least = self._rows(self.judged), TRIED_ROWS, 1
        for most in STEPS:
            here = np.flatnonzero((count > least) & (count <= most))
            within = np.cumsum(rows[here]) * most <= budget
            budget -= int(rows[here[within]].sum()) * most
            least = most
            if within.any():
                yield here[within]

    def _best_ranks(self, judged: JudgedRankings, count: Integers, ranks: Integers, best: Floats) -> Integers:
        """The ranks of all orders that are best; ``ranks`` where none has a better value than these."""
        orders = self._orders(judged)
        number = np.full(judged.count, -1)
        for tried in range(int(count.max())):
            values = self._values(judged, orders.ranks(np.minimum(tried, count - 1)))
            better = values > best
            number, best = np.where(better, tried, number), np.where(better, values, best)
        query = np.repeat(np.arange(judged.count), self._rows(judged))
        return np.where((number >= 0)[query], orders.ranks(np.maximum(number, 0)), ranks)
