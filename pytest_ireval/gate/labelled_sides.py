"""Both sides of a comparison as a metric would see them, were their unjudged documents judged in this way or that."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from pytest_ireval.evaluating.setting import Companions
from pytest_ireval.evaluating.told import as_told
from pytest_ireval.gate.gathering import Gathered
from pytest_ireval.gate.misfit import SCORES
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import score
from pytest_ireval.retrieval.judged import Floats, JudgedRankings
from pytest_ireval.retrieval.labelled import IRRELEVANT, TOP, Labellings, Template, labelled, rows_of, template
from pytest_ireval.retrieval.open_documents import OpenDocuments, open_documents
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.views import condensed, cut, only
from pytest_ireval.rules.side import Side
from pytest_ireval.statistics.joint_bounds import affordable
from pytest_ireval.suites.suite import Suite

T = TypeVar("T")
WITH_DOCUMENTS = {"documents", "attributes"}
"""Needs of metrics that look at ids."""
TRIED_QUERIES, TRIED_LABELLINGS = 200, 32
"""So many are enough to learn what a metric is about."""


@dataclass(frozen=True, eq=False)
class Looking:
    """What is looked at for every metric; lists of both sides are joined and matched once."""

    suite: Suite
    base: Gathered
    now: Side
    made: dict[Hashable, Any] = field(default_factory=dict)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` returns, made once."""
        if key not in self.made:
            self.made[key] = make()
        found: T = self.made[key]
        return found


class Pair(NamedTuple):
    """One asking of each side, as a metric sees them; and their unjudged documents, with labels to come."""

    metric: Metric
    now: Template
    before: Template
    top: float
    removed: bool
    """Whether the suite takes unjudged documents out of all rankings."""
    thinned: bool
    """Whether there were more open documents than labels can be tried for."""

    @property
    def open(self) -> OpenDocuments:
        """The unjudged documents."""
        return self.now.open

    def values(self, labels: Labellings, depth: int | None = None) -> tuple[Floats, Floats]:
        """What the metric says of both sides under these labels; of the first ``depth`` documents, if it is given."""
        documents = bool(self.metric.needs & WITH_DOCUMENTS)
        now, before = (labelled(side, labels, self.top, documents=documents) for side in (self.now, self.before))
        before = replace(before, ideal=now.ideal, _memory_of_ideal=now._memory_of_ideal)
        if depth is not None:
            now, before = cut(now, depth), cut(before, depth)
        return self._said(now), self._said(before)

    def as_it_is(self) -> tuple[Floats, Floats]:
        """What it says of both sides where nothing more is judged."""
        return self._said(self.now.judged), self._said(self.before.judged)

    def without_unjudged(self) -> tuple[Floats, Floats]:
        """The same without the unjudged documents; NaN where that leaves nothing of a list, which says nothing."""
        return self._without(self.now.judged), self._without(self.before.judged)

    def _without(self, judged: JudgedRankings) -> Floats:
        fewer = condensed(judged)
        nothing_left = (fewer.retrieved == 0) & (judged.retrieved > 0)
        return np.where(nothing_left, np.nan, self._said(fewer))

    def _said(self, judged: JudgedRankings) -> Floats:
        return score(self.metric, condensed(judged) if self.removed else judged).values


def pair_of(looking: Looking, metric: Metric, rankings: tuple[Rankings, Rankings], valued: frozenset[str]) -> Pair:
    """Both sides with their open documents, of queries that are ``valued``; as many as labels can be tried for."""
    ours, theirs = (_told(looking, each, valued) for each in rankings)
    scores = bool(metric.needs & SCORES)

    def sides(cutoff: int | None) -> tuple[Template, Template, bool]:
        found = open_documents(ours, theirs, cutoff, scores=scores)
        rows = rows_of(template(ours, found, found.now)) + rows_of(template(theirs, found, found.before))
        few = found.first_of_each(affordable(found.counts, rows))
        return template(ours, few, few.now), template(theirs, few, few.before), few.query.size < found.query.size

    def pair(cutoff: int | None) -> Pair:
        left, right, thinned = looking.once(("sides", id(ours), id(theirs), cutoff, scores), lambda: sides(cutoff))
        return Pair(metric, left, right, ours.highest_grade, looking.suite.policies.unjudged == "removed", thinned)

    cutoff = metric.settings.get("cutoff")
    moves_up = looking.suite.policies.unjudged == "removed" or metric.settings.get("judged_only")
    if not isinstance(cutoff, int) or moves_up:  # a document from below the cutoff may come to stand above it
        return pair(None)
    return pair(cutoff if metric.adds_up or _stops_at(cutoff, pair(None)) else None)


def _stops_at(cutoff: int, pair: Pair) -> bool:
    """Whether what stands below the cutoff is worth nothing: lists that are cut there have the same values.

    They have not for a metric that makes an ideal of all that was retrieved. Tried under labels drawn by lot.
    """
    query = np.repeat(np.flatnonzero(pair.open.counts)[:TRIED_QUERIES], TRIED_LABELLINGS)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(pair.open.counts[query])))
    label = np.random.default_rng(0).choice(np.array((IRRELEVANT, TOP), np.int8), int(first[-1]))
    labels = Labellings(query, first, label)
    whole, shortened = pair.values(labels), pair.values(labels, cutoff)
    return all(bool(np.array_equal(*both)) for both in zip(whole, shortened, strict=True))


def _told(looking: Looking, rankings: Rankings, valued: frozenset[str]) -> JudgedRankings:
    """Rankings of some queries as metrics see them, with their unjudged documents."""
    setting = looking.base.setting
    if setting is None:
        raise TypeError("there are no judgments")

    def told() -> JudgedRankings:
        found = setting.brought(rankings, Companions(), documents=True)
        judged = as_told(found.judged, replace(setting.policies, unjudged="irrelevant"), found.origin)
        wanted = np.array([query in valued for query in judged.queries], bool)
        return judged if wanted.all() else only(judged, wanted)

    return looking.once(("told", id(rankings), valued), told)
