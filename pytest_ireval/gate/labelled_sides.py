"""Both sides of a comparison as a metric would see them, were their unjudged documents judged in this way or that."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from pytest_ireval.evaluating.setting import Companions
from pytest_ireval.evaluating.told import BY_JUDGMENTS, as_told, worth_of
from pytest_ireval.gate.gathering import Gathered
from pytest_ireval.gate.misfit import SCORES
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import score
from pytest_ireval.results.evaluation import Policies
from pytest_ireval.retrieval.from_objects import judgments_from, rankings_from
from pytest_ireval.retrieval.join import judge
from pytest_ireval.retrieval.judged import Floats, Integers, JudgedRankings, Mask
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.labelled import (
    Labellings,
    OpenDocuments,
    Template,
    labelled,
    open_documents,
    rows_of,
    template,
)
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
WHOLE_GRADES = 20
"""Up to this top of a scale of whole numbers, each of them is a grade, whether or not a document has it."""
COMPARED_GRADES = 12
"""Of this many grades all are tried as the one that a third document has."""


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
    scale: Floats
    """The grades that a judge could give, ascending; of grades that are the same to the metric, one."""
    policies: Policies
    thinned: Mask
    """Queries that have more open documents than labels can be tried for."""

    @property
    def open(self) -> OpenDocuments:
        """The unjudged documents."""
        return self.now.open

    def values(self, labels: Labellings, depth: int | None = None) -> tuple[Floats, Floats]:
        """What the metric says of both sides under these labels; of the first ``depth`` documents, if it is given."""
        documents = bool(self.metric.needs & WITH_DOCUMENTS)
        now, before = (labelled(side, labels, self.scale, documents=documents) for side in (self.now, self.before))
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
        fewer = condensed(self._ordered(judged))
        nothing_left = (fewer.retrieved == 0) & (judged.retrieved > 0)
        return np.where(nothing_left, np.nan, score(self.metric, fewer).values)

    def _said(self, judged: JudgedRankings) -> Floats:
        ordered = self._ordered(judged)
        return score(self.metric, condensed(ordered) if self.removed else ordered).values

    def _ordered(self, judged: JudgedRankings) -> JudgedRankings:
        """Equal scores in the order that these labels give them, if labels say it."""
        if not self.ordered:
            return judged
        return as_told(judged, replace(self.policies, unjudged="irrelevant"), "", self.metric)

    @property
    def removed(self) -> bool:
        """Whether the suite takes unjudged documents out of all rankings."""
        return self.policies.unjudged == "removed"

    @property
    def ordered(self) -> bool:
        """Whether labels say in which order equal scores stand."""
        return self.policies.ties in BY_JUDGMENTS

    @property
    def unknown(self) -> Mask:
        """Queries that labels cannot be tried for."""
        if self.ordered and worth_of(self.metric, self.now.judged) is None:
            return self.open.counts > 0
        return self.thinned

    def steps(self) -> tuple[int, ...]:
        """Labels of different worth, ascending; for metrics that add up what documents are worth.

        Which of two grades is worth more shows where one of two judged documents is listed: a third one keeps the
        divisor away from 0.
        """
        grades = [float(grade) for grade in self.scale]
        third = grades if len(grades) <= COMPARED_GRADES else grades[-1:]
        pairs = [(a, b, c) for a in grades for b in grades for c in third]
        judged = judge(
            judgments_from({f"q{i}": {"a": a, "b": b, "c": c} for i, (a, b, c) in enumerate(pairs)}, grades="float"),
            rankings_from({f"q{i}": ["a"] for i in range(len(pairs))}),
            self.now.judged.highest_grade,
        )
        judged = replace(judged, collection=self.now.judged.collection)
        values = score(self.metric, judged).values.reshape(len(grades), len(grades), len(third))
        more = np.sign(values - values.transpose(1, 0, 2)).sum(axis=2)
        wins = (more > 0).sum(axis=1) - (more < 0).sum(axis=1)
        return tuple(int(np.flatnonzero(wins == each)[-1]) + 1 for each in np.unique(wins))


def pair_of(looking: Looking, metric: Metric, rankings: tuple[Rankings, Rankings], valued: frozenset[str]) -> Pair:
    """Both sides with their open documents, of queries that are ``valued``; as many as labels can be tried for."""
    ours, theirs = (_told(looking, each, valued) for each in rankings)
    policies = looking.suite.policies
    by_judgments = policies.ties in BY_JUDGMENTS
    scores = bool(metric.needs & SCORES) or by_judgments
    judgments = looking.base.population.judgments
    grades = _told_apart(metric, scale_of(judgments, ours.highest_grade))

    def sides(cutoff: int | None) -> tuple[Template, Template, Mask]:
        found = open_documents(ours, theirs, cutoff, scores=scores)
        rows = rows_of(template(ours, found, found.now)) + rows_of(template(theirs, found, found.before))
        few = found.first_of_each(affordable(found.counts, rows))
        return template(ours, few, few.now), template(theirs, few, few.before), few.counts < found.counts

    def pair(cutoff: int | None) -> Pair:
        left, right, thinned = looking.once(("sides", id(ours), id(theirs), cutoff, scores), lambda: sides(cutoff))
        return Pair(metric, left, right, grades, policies, thinned)

    cutoff = metric.settings.get("cutoff")
    moves_up = policies.unjudged == "removed" or metric.settings.get("judged_only") or by_judgments
    if not isinstance(cutoff, int) or moves_up:  # a document from below the cutoff may come to stand above it
        return pair(None)
    return pair(cutoff if metric.adds_up or _stops_at(cutoff, pair(None)) else None)


def scale_of(judgments: Judgments | None, top: float) -> Floats:
    """The grades that a judge could give, ascending: those in use, 0, the top, and the whole numbers between them."""
    used = np.zeros(0) if judgments is None else np.unique(judgments.grade)
    between = np.arange(top) if top <= WHOLE_GRADES and (used == np.rint(used)).all() else np.zeros(0)
    found: Floats = np.unique(np.concatenate((used, [0.0, top], between)))
    return found[found <= top]


def _told_apart(metric: Metric, scale: Floats) -> Floats:
    """The highest of all grades that are the same to a metric, which may ask only what is relevant."""
    rel = metric.settings.get("rel")
    if not metric.binary or rel is None:
        return scale
    kind: Integers = np.where(scale >= rel, 2, np.where(scale >= 0, 1, 0))
    return np.array([scale[kind == each].max() for each in np.unique(kind)])


def _stops_at(cutoff: int, pair: Pair) -> bool:
    """Whether what stands below the cutoff is worth nothing: lists that are cut there have the same values.

    They have not for a metric that makes an ideal of all that was retrieved. Tried under labels drawn by lot.
    """
    query = np.repeat(np.flatnonzero(pair.open.counts)[:TRIED_QUERIES], TRIED_LABELLINGS)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(pair.open.counts[query])))
    label = np.random.default_rng(0).integers(1, pair.scale.size + 1, int(first[-1]))
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
        policies = replace(setting.policies, unjudged="irrelevant")
        by_judgments = policies.ties in BY_JUDGMENTS  # then the order, and what stands within the depth, is not known
        judged = found.judged if by_judgments else as_told(found.judged, policies, found.origin)
        wanted = np.array([query in valued for query in judged.queries], bool)
        return judged if wanted.all() else only(judged, wanted)

    return looking.once(("told", id(rankings), valued), told)
