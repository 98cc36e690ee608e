"""Clicks on lists of documents: click rates, deviations from them, and preferences by policies."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pytest_ireval import PluginError
from pytest_ireval.plugin_api import SILENT, Problem, Progress, make_exception_problem
from pytest_ireval_judgments.arrays import Floats, Integers, Mask, number_lists, number_ranks
from pytest_ireval_judgments.click_policies import ClickedSearch, ClickPolicy, click_policy


@dataclass(eq=False)
class Searches:
    """Searches, equal ones as one row: ``query`` and ``count`` have an entry each, and ``first`` the begins of lists.

    ``document`` and ``click`` have an entry for each document of each row. ``click`` is 0 without a click, or else its
    place in the order of time, from 1.
    """

    queries: tuple[str, ...]
    documents: tuple[str, ...]
    query: Integers
    count: Integers
    first: Integers
    document: Integers
    click: Integers

    @cached_property
    def clicked(self) -> Mask:
        """True for each document with a click."""
        return self.click > 0

    @cached_property
    def rank(self) -> Integers:
        """The rank of each document, from 1."""
        return number_ranks(self.first)

    @cached_property
    def times(self) -> Integers:
        """For each document, how often its list was shown so."""
        return self.count[number_lists(self.first)]

    @cached_property
    def pairs(self) -> ShownPairs:
        """The pairs of query and document."""
        keys = self.query[number_lists(self.first)] * max(1, len(self.documents)) + self.document
        found, number = np.unique(keys, return_inverse=True)
        query, document = np.divmod(found, max(1, len(self.documents)))
        return ShownPairs(query, document, number.ravel(), *self.totals(number.ravel(), found.size))

    @cached_property
    def by_rank(self) -> tuple[Integers, Integers]:
        """The times that documents were shown and clicked, for each rank."""
        return self.totals(self.rank - 1, int(self.rank.max(initial=0)))

    def totals(self, group: Integers, size: int) -> tuple[Integers, Integers]:
        """The times that the documents of each group were shown and clicked."""
        times, clicks = (np.bincount(group, weights, size) for weights in (self.times, self.times * self.clicked))
        return times.astype(np.int64), clicks.astype(np.int64)

    @cached_property
    def asked(self) -> dict[str, int]:
        """The number of searches of each query."""
        times = np.bincount(self.query, self.count, len(self.queries)).astype(np.int64)
        return dict(zip(self.queries, times.tolist(), strict=True))

    @property
    def figures(self) -> dict[str, int]:
        """The size of the log."""
        shown, clicks = self.by_rank
        found = np.add.reduceat(self.clicked, self.first[:-1]) if self.count.size else self.count
        return {
            "searches": int(self.count.sum()),
            "queries": int(np.unique(self.query).size),
            "documents": int(np.unique(self.document).size),
            "shown": int(shown.sum()),
            "clicks": int(clicks.sum()),
            "searches_without_clicks": int(self.count[found == 0].sum()),
        }

    def some(self, count: Integers) -> Searches:
        """The same rows with other counts; rows with 0 stay."""
        return Searches(self.queries, self.documents, self.query, count, self.first, self.document, self.click)


class ShownPairs(NamedTuple):
    """Each pair of query and document that was shown, by query; ``number`` is the pair of each document of a list."""

    query: Integers
    document: Integers
    number: Integers
    shown: Integers
    """Impressions: how often it was shown."""
    clicks: Integers


def select_queries(searches: Searches, ids: Mapping[str, str]) -> tuple[Searches, int]:
    """The searches of some queries, under other names, and the number of all others; equal ones may stay apart."""
    names = {name: i for i, name in enumerate(dict.fromkeys(ids.values()))}
    number = np.array([names.get(ids.get(query, ""), -1) for query in searches.queries], np.int64)
    query = number[searches.query] if searches.query.size else searches.query
    kept = query >= 0
    inside = kept[number_lists(searches.first)]
    first = np.concatenate([[0], np.cumsum(np.diff(searches.first)[kept])]).astype(np.int64)
    chosen = Searches(
        tuple(names),
        searches.documents,
        query[kept],
        searches.count[kept],
        first,
        searches.document[inside],
        searches.click[inside],
    )
    return chosen, int(searches.count[~kept].sum())


@click_policy(name="skip-above")
def skip_above(search: ClickedSearch) -> list[tuple[int, int]]:
    """Each clicked document is better than those above it that were not clicked."""
    return [(click, rank) for click in search.clicks for rank in range(1, click) if rank not in search.clicks]


@click_policy(name="skip-above-and-skip-next")
def skip_above_and_skip_next(search: ClickedSearch) -> list[tuple[int, int]]:
    """As skip-above; each clicked document is also better than the next one, unless that was clicked."""
    size = len(search.documents)
    after = [(click, click + 1) for click in search.clicks if click < size and click + 1 not in search.clicks]
    return [*skip_above.prefer(search), *after]


@click_policy(name="last-click")
def last_click(search: ClickedSearch) -> list[tuple[int, int]]:
    """The document that was clicked last is better than those above it that were not clicked."""
    last = search.clicks[-1:]
    return [(click, rank) for click in last for rank in range(1, click) if rank not in search.clicks]


POLICIES = [skip_above, skip_above_and_skip_next, last_click]
"""T. Joachims 2002, Optimizing search engines using clickthrough data, KDD; T. Joachims et al. 2005, Accurately
interpreting clickthrough data as implicit feedback, SIGIR."""


def compute_deviations(searches: Searches) -> Floats:
    """The click deviation of each pair of query and document.

    This is its click rate less the mean click rate of the ranks at which it was shown, over all queries.
    E. Agichtein et al. 2006, Learning user interaction models for predicting web search result preferences, SIGIR.
    """
    return (searches.pairs.clicks - expect_clicks_of_ranks(searches)) / searches.pairs.shown


def expect_clicks_of_ranks(searches: Searches) -> Floats:
    """For each pair of query and document, the clicks that any document gets at the ranks at which it was shown."""
    shown, clicks = searches.by_rank
    return sum_by_pair(searches, (clicks / shown)[searches.rank - 1])


def sum_by_pair(searches: Searches, chance: Floats) -> Floats:
    """For each pair of query and document, the sum of a chance of each showing."""
    return np.bincount(searches.pairs.number, searches.times * chance, searches.pairs.shown.size).astype(np.float64)


class Preferences(NamedTuple):
    """Preferences: positions of two pairs of query and document, the better one first, by query."""

    better: Integers
    worse: Integers
    support: Integers
    """The searches that back it, less those that contradict it."""
    found: int
    """All pairs of documents about which there are preferences."""
    undecided: int
    """Those with as many searches for one document as for the other."""
    weak: int
    """Those with too little support."""
    rare: int
    """Those with a document that was not shown often enough."""

    def rows(self, searches: Searches) -> list[tuple[str, str, str, int]]:
        """Query, the better document, the worse one, and the support."""
        pairs, names = searches.pairs, searches.documents
        query, better, worse = (
            each.tolist()
            for each in (pairs.query[self.better], pairs.document[self.better], pairs.document[self.worse])
        )
        return [
            (searches.queries[q], names[one], names[other], support)
            for q, one, other, support in zip(query, better, worse, self.support.tolist(), strict=True)
        ]


def collect_preferences(
    searches: Searches,
    policy: ClickPolicy,
    *,
    min_support: int = 1,
    min_shown: int = 1,
    min_deviation: float | None = None,
    progress: Progress = SILENT,
) -> Preferences:
    """The preferences that a policy reads from clicks.

    With ``min_deviation`` a click counts only if the click deviation of its document is at least that; other clicked
    documents are neither better nor worse than another in that search.
    """
    kept = searches.clicked
    if min_deviation is not None:
        kept = kept & (compute_deviations(searches) >= min_deviation)[searches.pairs.number]
    better, worse, times = _count_votes(searches, policy, kept, progress)
    size = max(1, searches.pairs.shown.size)
    keys, number = np.unique(better * size + worse, return_inverse=True)
    votes = np.bincount(number.ravel(), times, keys.size).astype(np.int64)
    better, worse = np.divmod(keys, size)
    back = worse * size + better
    at = np.minimum(np.searchsorted(keys, back), max(0, keys.size - 1))
    against = np.where(keys[at] == back, votes[at], 0) if keys.size else votes
    support = votes - against
    equal, positive = (support == 0) & (better < worse), support > 0
    often = np.minimum(searches.pairs.shown[better], searches.pairs.shown[worse]) >= min_shown
    strong = support >= min_support
    good = positive & often & strong
    return Preferences(
        better[good],
        worse[good],
        support[good],
        found=int(equal.sum() + positive.sum()),
        undecided=int(equal.sum()),
        weak=int((positive & often & ~strong).sum()),
        rare=int((positive & ~often).sum()),
    )


def _count_votes(
    searches: Searches, policy: ClickPolicy, kept: Mask, progress: Progress
) -> tuple[Integers, Integers, Integers]:
    """For each preference of each row the better pair, the worse one, and the number of searches."""
    better, worse, times = array("q"), array("q"), array("q")
    number, names, count = searches.pairs.number, searches.documents, searches.count.tolist()
    place = np.where(searches.clicked & ~kept, -1, searches.click)
    clicked = np.unique(number_lists(searches.first)[kept]).tolist()
    progress.expect(len(clicked), "reading preferences")
    for row in clicked:
        progress.advance(1)
        rows = slice(searches.first[row], searches.first[row + 1])
        places, pairs = place[rows].tolist(), number[rows].tolist()
        ranks = (rank for rank, order in enumerate(places, 1) if order > 0)
        documents = tuple(names[i] for i in searches.document[rows].tolist())
        search = ClickedSearch(documents, tuple(sorted(ranks, key=lambda rank: places[rank - 1])))
        for one, other in _apply_policy(policy, search):
            if places[one - 1] >= 0 and places[other - 1] >= 0:
                better.append(pairs[one - 1])
                worse.append(pairs[other - 1])
                times.append(count[row])
    return np.array(better, np.int64), np.array(worse, np.int64), np.array(times, np.int64)


def _apply_policy(policy: ClickPolicy, search: ClickedSearch) -> set[tuple[int, int]]:
    """The pairs of ranks that a policy returns, each once."""
    named, source = f"policy {policy.name!r}", f"it comes from {policy.source}"
    try:
        found = {(int(better), int(worse)) for better, worse in policy.prefer(search)}
    except Exception as error:  # a plugin may raise anything
        raise PluginError(make_exception_problem(named, error, source)) from error
    size = len(search.documents)
    wrong = next((pair for pair in found if pair[0] == pair[1] or not all(1 <= rank <= size for rank in pair)), None)
    if wrong is not None:
        raise PluginError(Problem(f"{named} returned {wrong}, not two ranks from 1 to {size}", allowed=source))
    return found
