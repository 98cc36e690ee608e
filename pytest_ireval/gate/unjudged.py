"""Bounds the effect of unjudged documents on a metric: differences without them, and with the worst and best labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pytest_ireval.data.arrays import Floats, Integers, Mask
from pytest_ireval.data.judged import JudgedRankings
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.views import (
    LEFT,
    Labellings,
    OpenDocuments,
    Template,
    condensed,
    count_labelled_rows,
    find_open_documents,
    label_sides,
    make_template,
    require_documents,
    select_queries,
)
from pytest_ireval.errors import MetricError, format_error_lines
from pytest_ireval.evaluating.evaluation import apply_policies
from pytest_ireval.gate.queries_and_judgments import Collection
from pytest_ireval.gate.stored_metrics import SCORES
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import score
from pytest_ireval.results.suite_result import ToJudge
from pytest_ireval.sides.population import Population
from pytest_ireval.sides.side import Side
from pytest_ireval.sides.unjudged_effect import JudgedPeers, UnjudgedEffect
from pytest_ireval.statistics.differences import TIE
from pytest_ireval.statistics.joint_bounds import ROWS, Bounds, OpenQueries, count_rows, depends_on_labels, joint_bounds

WITH_DOCUMENTS = {"documents", "fields"}
"""Needs of metrics that look at ids."""
DEPTHS = (1000, 500, 200, 100, 50, 20, 10, 5, 1)
"""Where labels of all documents would take too long to try, those to the first of these ranks that do not are tried."""
WHOLE_GRADES = 20
"""Up to this top of a scale of whole numbers, each of them is a grade, whether or not a document has it."""


class _Pair(NamedTuple):
    """One asking of each side, as a metric sees them; and their unjudged documents, with labels to come."""

    metric: Metric
    now: Template
    before: Template
    below: int | None
    """Unjudged documents below this rank on both sides stay as they are; None where there are none."""
    scale: Floats
    """The grades that a judge could give, ascending; of grades that are the same to the metric, one."""
    removed: bool
    """True if the suite takes unjudged documents out of all rankings."""

    @property
    def open(self) -> OpenDocuments:
        return self.now.open

    def values(self, labels: Labellings) -> tuple[Floats, Floats]:
        """The metric's values of both sides under these labels."""
        documents = bool(self.metric.needs & WITH_DOCUMENTS)
        now, before = label_sides(self.now, self.before, labels, self.scale, documents=documents)
        return self._score(now), self._score(before)

    def as_it_is(self) -> tuple[Floats, Floats]:
        """The metric's values of both sides with the present judgments."""
        return self._score(self.now.judged), self._score(self.before.judged)

    def without_unjudged(self) -> tuple[Floats, Floats]:
        """The same without the unjudged documents; NaN where that leaves an empty list."""
        return self._without(self.now.judged), self._without(self.before.judged)

    def _without(self, judged: JudgedRankings) -> Floats:
        if not self.metric.needs & WITH_DOCUMENTS:  # ids, scores and ties of all judged documents would be copied
            judged = replace(judged, documents=None, _memory={})
        fewer = condensed(judged)
        nothing_left = (fewer.retrieved == 0) & (judged.retrieved > 0)
        return np.where(nothing_left, np.nan, score(self.metric, fewer).values)

    def _score(self, judged: JudgedRankings) -> Floats:
        return score(self.metric, condensed(judged) if self.removed else judged).values


def _list_grades(judgments: Judgments | None, top: float) -> Floats:
    """The grades that a judge could give, ascending: those in use, 0, the top, and the whole numbers between them."""
    used = np.zeros(0) if judgments is None else np.unique(judgments.grade)
    between = np.arange(top) if top <= WHOLE_GRADES and (used == np.rint(used)).all() else np.zeros(0)
    found: Floats = np.unique(np.concatenate((used, [0.0, top], between)))
    return found[found <= top]


def _merge_equal_grades(metric: Metric, scale: Floats) -> Floats:
    """The highest of all grades that are the same to a metric, which may ask only what is relevant."""
    rel = metric.settings.get("rel")
    if not metric.binary or rel is None:
        return scale
    kind: Integers = np.where(scale >= rel, 2, np.where(scale >= 0, 1, 0))
    return np.array([scale[kind == each].max() for each in np.unique(kind)])


NOT_OF_LABELS = {
    *("reference", "unjudged", "judgments", "subtopics", "sessions", "preferences", "timings", "unretrieved")
}
"""Needs of metrics that look at other data than grades: no label of a document would reach them."""


class _Part(NamedTuple):
    """The results of one pair of askings, in the order of the judged queries."""

    pair: _Pair
    condensed_current: Floats
    condensed_baseline: Floats
    bounds: Bounds
    all_new: Floats
    """The difference where all documents that are new and unjudged have the top label."""


class UnjudgedEffects:
    """What judgments of unjudged documents could change in a comparison; each metric is measured once, when asked."""

    def __init__(self, collection: Collection, current: Side, baseline: Side) -> None:
        self._collection, self._current, self._baseline = collection, current, baseline
        self._measured: dict[str, UnjudgedEffect | None] = {}
        # The lists of both sides are joined and matched once for all metrics that look at the same queries and depth.
        self._joined: dict[tuple[int, frozenset[str]], JudgedRankings] = {}
        self._templates: dict[Hashable, tuple[Template, Template, int | None]] = {}

    def measure(self, metric: Metric) -> UnjudgedEffect | None:
        """The effect on one metric; None where no label would matter, to the metric or to the difference."""
        name = str(metric)
        if name not in self._measured:
            try:
                self._measured[name] = self._measure(metric)
            except MetricError as error:  # it breaks on other labels: its verdict stays, and the error is reported
                unknown = np.full(len(self._collection.population.queries), np.nan)
                complaint = format_error_lines(error)[0]
                self._measured[name] = UnjudgedEffect(unknown, unknown, unknown, unknown, exact=False, error=complaint)
        return self._measured[name]

    def _measure(self, metric: Metric) -> UnjudgedEffect | None:
        name = str(metric)
        now, before = self._current.scored.get(name), self._baseline.scored.get(name)
        if now is None or before is None or name in self._baseline.errors or self._collection.setting is None:
            return None
        metric = now.metric
        if metric.unit != "query" or metric.direction == "neither" or metric.needs & NOT_OF_LABELS or not metric.judged:
            return None
        if metric.stage:  # which unjudged documents it returned is not kept
            return None
        if metric.undefined:  # a label may take a query out of the mean, and what does not count has no bounds
            return None
        undefined = np.isnan(now.values - before.values)
        valued = frozenset(query for query, no in zip(now.names, undefined.tolist(), strict=True) if not no)
        pairs = [self._pair_lists(metric, both, valued) for both in _pair_askings(self._current, self._baseline)]
        if not any(pair.open.query.size and pair.scale[-1] > 0 and _heeds_labels(pair) for pair in pairs):
            return None
        return _average_pairs(self._collection.population, name, [_bound_pair(pair) for pair in pairs])

    def _pair_lists(self, metric: Metric, rankings: tuple[Rankings, Rankings], valued: frozenset[str]) -> _Pair:
        """Both sides with their open documents, of queries that are ``valued``, down to the metric's cutoff.

        An unjudged document below it on both sides can change the number of relevant documents alone: it counts as
        judged, so bounds of a figure at 5 are about the documents that can come among the first 5.
        """
        ours, theirs = (self._join(each, valued) for each in rankings)
        removed = self._collection.suite.policies.unjudged == "removed"
        scores = bool(metric.needs & SCORES)
        scale = _merge_equal_grades(metric, _list_grades(self._collection.population.judgments, ours.highest_grade))
        cutoff = metric.settings.get("cutoff")
        moves_up = removed or metric.settings.get("judged_only")
        if not isinstance(cutoff, int) or moves_up:  # a document from below the cutoff may move above it
            cutoff = None
        key = id(ours), id(theirs), cutoff, scores
        if key not in self._templates:
            self._templates[key] = _match_lists(ours, theirs, cutoff, scores=scores)
        return _Pair(metric, *self._templates[key], scale, removed)

    def _join(self, rankings: Rankings, valued: frozenset[str]) -> JudgedRankings:
        """Rankings of some queries as metrics see them, with their unjudged documents."""
        key, setting = (id(rankings), valued), self._collection.setting
        assert setting is not None  # noqa: S101 - asked for above
        if key not in self._joined:
            joined = setting.join_rankings(rankings, documents=True)
            judged = apply_policies(joined.judged, replace(setting.policies, unjudged="irrelevant"))
            wanted = np.array([query in valued for query in judged.queries], bool)
            self._joined[key] = judged if wanted.all() else select_queries(judged, wanted)
        return self._joined[key]


def _match_lists(
    ours: JudgedRankings, theirs: JudgedRankings, cutoff: int | None, *, scores: bool
) -> tuple[Template, Template, int | None]:
    """Both lists with their open documents, down to the depth to which their labels can be tried in time."""
    found = find_open_documents(ours, theirs, scores=scores)
    deepest = int(found.best.max(initial=1))
    limit = min(cutoff or deepest, deepest)
    for depth in (limit, *(each for each in DEPTHS if each < limit)):
        few = found.down_to(depth)
        now, before = make_template(ours, few, few.now), make_template(theirs, few, few.before)
        if count_rows(few.counts, count_labelled_rows(now) + count_labelled_rows(before)) <= ROWS:
            break
    return now, before, depth if depth < deepest else None


def _pair_askings(current: Side, baseline: Side) -> Iterator[tuple[Rankings, Rankings]]:
    """Every asking of both sides equally often."""
    ours, theirs = current.rankings, baseline.rankings
    for number in range(math.lcm(len(ours), len(theirs))):
        yield ours[number % len(ours)], theirs[number % len(theirs)]


def _heeds_labels(pair: _Pair) -> bool:
    """Tell whether the metric tells good labels from bad ones; a share of judged documents does not."""
    sides = (lambda now, _before: now), (lambda _now, before: before)
    return any(depends_on_labels(_ask_labels(pair, side)) for side in sides)


def _bound_pair(pair: _Pair) -> _Part:
    now, before = pair.as_it_is()
    asked = _ask_labels(pair, lambda ours, theirs: ours - theirs)
    adds_up = pair.metric.is_additive and not pair.removed
    bounds = joint_bounds(asked, now - before, adds_up=adds_up)
    return _Part(pair, *pair.without_unjudged(), bounds, _label_new_documents(pair, now - before))


def _label_new_documents(pair: _Pair, as_it_is: Floats) -> Floats:
    found = pair.open
    query = np.flatnonzero(found.counts)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(found.counts[query])))
    now, before = pair.values(Labellings(query, first, np.where(_mark_new(pair), pair.scale.size, LEFT)))
    change = as_it_is.copy()
    change[query] = now - before
    return change


def _mark_new(pair: _Pair) -> Mask:
    """The open documents that the baseline does not list."""
    new: Mask = (pair.open.now > 0) & (pair.open.before == 0)
    return new


def _ask_labels(pair: _Pair, value: Callable[[Floats, Floats], Floats]) -> OpenQueries:
    """The question about both sides under labels."""
    rows = count_labelled_rows(pair.now) + count_labelled_rows(pair.before)
    return OpenQueries(pair.open.first, rows, lambda labels: value(*pair.values(labels)), pair.scale.size)


def _average_pairs(population: Population, name: str, parts: Sequence[_Part]) -> UnjudgedEffect:
    """The means of all askings in the order of the suite's queries."""
    queries = population.queries
    place = np.array([queries.position[query] for query in parts[0].pair.now.judged.queries], np.int64)

    def placed(values: Sequence[Floats]) -> Floats:
        found = np.full(len(queries), np.nan)
        found[place] = np.mean(values, axis=0)
        return found

    low, high = placed([part.bounds.low for part in parts]), placed([part.bounds.high for part in parts])
    lower_is_better = parts[0].pair.metric.direction == "lower"
    return UnjudgedEffect(
        condensed_current=placed([part.condensed_current for part in parts]),
        condensed_baseline=placed([part.condensed_baseline for part in parts]),
        worst=high if lower_is_better else low,
        best=low if lower_is_better else high,
        exact=len(parts) == 1 and parts[0].bounds.exact,  # labels are not followed through several askings
        documents=_list_documents(queries, name, parts),
        all_new=placed([part.all_new for part in parts]),
        peers=_find_judged_documents(parts[0].pair, place),
        top_grade=_find_top_grade(population, parts[0].pair),
        below=min((part.pair.below for part in parts if part.pair.below is not None), default=None),
    )


def _find_judged_documents(pair: _Pair, place: Integers) -> JudgedPeers:
    """Judged documents of both sides; of the first asking, as most are the same in all of them."""
    ranks = np.unique(pair.open.now[_mark_new(pair)])
    lowest = pair.metric.settings.get("rel")
    relevant_from = float(pair.scale[-1]) if lowest is None else lowest
    found = []
    for side in (pair.now.judged, pair.before.judged):
        hits = side.hits.at(np.isin(side.hits.rank, ranks))
        found.append((place[hits.query], hits.rank, hits.grade >= relevant_from))
    return JudgedPeers(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _find_top_grade(population: Population, pair: _Pair) -> float | None:
    """The top grade; None where relevant documents are all alike to the metric, or to the judges."""
    assert population.judgments is not None  # noqa: S101 - a metric was scored by them
    grades = population.judgments.grade
    alike = pair.metric.settings.get("rel") is not None or (grades[grades > 0] == float(pair.scale[-1])).all()
    return None if alike else float(pair.scale[-1])


def _list_documents(queries: Queries, name: str, parts: Sequence[_Part]) -> tuple[ToJudge, ...]:
    """Documents whose label moves a query, with the effect of the top label; the mean of all askings."""
    found: dict[tuple[str, str], ToJudge] = {}
    for part in parts:
        for each in _list_moving_documents(queries, name, part):
            earlier = found.get((each.query, each.document))
            effect = each.effect / len(parts) + (earlier.effect if earlier else 0.0)
            found[each.query, each.document] = replace(earlier or each, effect=effect)
    return tuple(sorted(found.values(), key=lambda each: -abs(each.effect)))


def _list_moving_documents(queries: Queries, name: str, part: _Part) -> Iterator[ToJudge]:
    """Documents of one pair of askings; all those of a query that no document moves alone, but some do together."""
    pair, effect = part.pair, part.bounds.effect
    names = pair.now.judged.queries
    unmoved = np.bincount(pair.open.query[effect != 0], minlength=pair.now.judged.count) == 0
    moved_together = unmoved & (part.bounds.high - part.bounds.low > TIE)
    rows = np.flatnonzero((effect != 0) | moved_together[pair.open.query])
    query, now, before = pair.open.query[rows], pair.open.now[rows], pair.open.before[rows]
    ours, theirs = require_documents(pair.now.judged), require_documents(pair.before.judged)
    there = now > 0
    ids = np.empty(rows.size, object)
    ids[there] = ours.ids.texts((ours.first[query] + now - 1)[there])
    ids[~there] = theirs.ids.texts((theirs.first[query] + before - 1)[~there])
    columns = (query.tolist(), ids.tolist(), effect[rows].tolist(), now.tolist(), before.tolist())
    for of, document, moves, rank, rank_before in zip(*columns, strict=True):
        text = queries.text_of(names[of])
        yield ToJudge(names[of], document, name, moves, text, rank or None, rank_before or None)
