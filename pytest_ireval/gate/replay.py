"""A suite with other rankings in place of those of its source, judged as the gate would."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.baseline.fingerprints import fingerprint_rankings
from pytest_ireval.data.ids import concatenate_ids
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.gate.inputs import Gathered, Names
from pytest_ireval.gate.material import Material
from pytest_ireval.gate.reference import beside, over_the_same
from pytest_ireval.gate.scoring import side_of
from pytest_ireval.gate.unjudged import unjudged_of
from pytest_ireval.gate.verdicts import Circumstances, judged_all
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.rules.planning import Check
from pytest_ireval.rules.side import Scored, Side
from pytest_ireval.rules.unjudged_effect import UnjudgedEffect
from pytest_ireval.statistics.differences import Floats, Mask

Rows = NDArray[np.int64]


def with_documents_at(rankings: Rankings, rows: Rows) -> Rankings:
    """Move the document of row ``rows[i]`` to row i; scores stay with the ranks."""
    return replace(rankings, documents=rankings.documents.view(rows))


def moved_up(rankings: Rankings, kept: Mask) -> Rankings:
    """Keep some documents: those below move up, and scores stay with the ranks."""
    length = np.bincount(rankings.query[kept], minlength=len(rankings)).astype(np.int64)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(length)))
    places = np.repeat(rankings.first[:-1] - first[:-1], length) + np.arange(int(first[-1]))
    moved = with_documents_at(rankings, np.flatnonzero(kept))
    return replace(
        moved,
        first=first,
        retrieved=(rankings.retrieved - (np.diff(rankings.first) - length)).astype(np.int64),
        score=rankings.score[places],
        tied_from=rankings.tied_from[places],
        tied_to=np.minimum(rankings.tied_to[places], np.repeat(length, length)),
    )


def mixed_sides(one: Rankings, other: Rankings, marked: Mask) -> Rankings:
    """The rankings of ``one``; of its ``marked`` queries those of ``other``, where that has them."""
    place = {query: i for i, query in enumerate(other.queries)}
    theirs = np.array([place.get(query, -1) for query in one.queries], np.int64)
    taken = marked & (theirs >= 0)
    start = np.where(taken, other.first[:-1][theirs] + len(one.documents), one.first[:-1])
    length = np.where(taken, np.diff(other.first)[theirs], np.diff(one.first))
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(length)))
    rows = np.repeat(start - first[:-1], length) + np.arange(int(first[-1]))
    both = concatenate_ids([one.documents, other.documents])
    turned = {query for query, there in zip(one.queries, taken.tolist(), strict=True) if there}
    times, others = one.timings or {}, other.timings or {}
    timings = {**times, **{query: time for query, time in others.items() if query in turned}}
    return replace(
        one,
        timings=timings or one.timings,
        fields=one.fields and {**(other.fields or {}), **one.fields},
        retrieved=np.where(taken, other.retrieved[theirs], one.retrieved),
        first=first,
        documents=both.view(rows),
        score=np.concatenate((one.score, other.score))[rows],
        tied_from=np.concatenate((one.tied_from, other.tied_from))[rows],
        tied_to=np.concatenate((one.tied_to, other.tied_to))[rows],
    )


@dataclass(frozen=True, eq=False)
class _Urn:
    """Names to draw from, and the seed of the draws."""

    names: tuple[str, ...]
    order: NDArray[np.int64]
    """The place of each name, from the first in alphabetical order to the last."""
    seed: str


def urn_of(names: Sequence[str], seed: str) -> _Urn:
    """Draws for these names; another ``seed`` gives others."""
    order = sorted(range(len(names)), key=names.__getitem__)
    return _Urn(tuple(names), np.array(order, np.int64), seed)


def drawn_queries(urn: _Urn, *what: object) -> Floats:
    """A number from 0 to 1 for each name, in their order; ``what`` makes one draw differ from another."""
    text = "\n".join(map(str, (urn.seed, *what))).encode("utf-8", "surrogatepass")
    generator = np.random.Generator(np.random.PCG64(int.from_bytes(sha256(text).digest(), "big")))
    numbers = np.empty(len(urn.names))
    numbers[urn.order] = generator.random(len(urn.names))
    return numbers


def chosen(numbers: Floats, among: Mask, share: float) -> Mask:
    """The names with the lowest numbers: a share of those that may be chosen, at least one of them."""
    count = int(np.count_nonzero(among))
    wanted = min(count, max(1, round(share * count)))
    found = np.zeros(numbers.size, bool)
    found[np.argsort(np.where(among, numbers, np.inf), kind="stable")[:wanted]] = True
    return found


LeftOpen = Callable[[Side, Metric], UnjudgedEffect | None]
"""Returns the effect of unjudged documents on a metric, for the current side beside a reference."""

RED = ("fail", "error")
"""Verdicts that stop a change."""


@dataclass(frozen=True, eq=False)
class Stage:
    """A suite, its rules, and its inputs."""

    material: Material
    """With a baseline: if none has been accepted yet, the current rankings are taken for it."""
    checks: tuple[Check, ...]
    """Those of rules, in an order that does not depend on that of the queries."""
    circumstances: Circumstances
    urn: _Urn
    """For draws among the queries."""
    no_baseline: bool

    @property
    def accepted(self) -> Side:
        """The accepted rankings, which represent a system that works."""
        if self.material.baseline is None:
            raise TypeError("a stage has a baseline")
        return self.material.baseline

    @property
    def gathered(self) -> Gathered:
        """Queries and judgments, as scoring takes them."""
        return Gathered(self.material.population, self.material.setting, Names({}, {}), plain=self.material.plain)


def stage_of(material: Material, checks: Iterable[Check], circumstances: Circumstances) -> Stage:
    """A stage for the rules of a suite; raises the error if its baseline cannot be compared with."""
    if material.baseline_error is not None:
        raise material.baseline_error
    baseline = material.baseline or replace(material.now, origin="the current rankings")
    prints = material.fingerprints
    sides = [fingerprint_rankings(each) for side in (baseline, material.now) for each in side.rankings]
    seed = " ".join((prints.queries, prints.judgments, *sides))
    place = {id(asked): i for i, asked in enumerate(material.suite.rules)}
    of_rules = (check for check in checks if check.asked is not None)
    return Stage(
        material=replace(material, baseline=baseline),
        checks=tuple(sorted(of_rules, key=lambda check: (place[id(check.asked)], check.id))),
        circumstances=circumstances,
        urn=urn_of(material.population.queries.ids, seed),
        no_baseline=material.baseline is None,
    )


def outcomes(stage: Stage, material: Material, checks: Sequence[Check] | None = None) -> tuple[Outcome, ...]:
    """Judge other material by the rules, or some of them: a rehearsal asks the gate only here."""
    selected = None if checks is None else {check.id for check in checks}
    return judged_all(stage.checks, material, stage.circumstances, selected)


def red_rules(found: Iterable[Outcome]) -> list[str]:
    """The ids of outcomes that would stop a change."""
    return [outcome.id for outcome in found if outcome.verdict in RED]


def scored(stage: Stage, rankings: Sequence[Rankings]) -> Side:
    """Other current rankings, scored by all metrics."""
    known = stage.accepted.position
    unknown = frozenset(query for query in stage.material.population.queries.ids if query not in known)
    return side_of(stage.material.suite, stage.gathered, rankings, "a rehearsal", unknown=unknown).side


def as_now(stage: Stage, now: Side) -> Material:
    """The material in which these were the current rankings."""
    suite, gathered = stage.material.suite, stage.gathered
    return _with(stage, now, beside(suite, gathered, now), unjudged_of(suite, gathered, now))


def as_now_in_part(stage: Stage, other: Side, marked: Mask) -> Material:
    """The material with the accepted rankings as the current ones, but for marked queries those of another side."""
    suite, gathered = stage.material.suite, stage.gathered
    ours, theirs = (_lists_of(stage, side) for side in (stage.accepted, other))
    now = _both(stage, stage.accepted, other, marked)

    @cache
    def with_reference(reference: Side) -> Side:
        if not any("reference" in metric.needs for metric in suite.metrics):
            return now
        return _both(stage, ours(reference), theirs(reference), marked)

    whole = [metric for metric in suite.metrics if metric.unit != "query"]
    if whole:
        rescored = side_of(suite, gathered, now.rankings, now.origin, metrics=whole).side
        now = replace(now, scored={**now.scored, **rescored.scored})

    return _with(stage, now, with_reference, partial(_open_in_part, stage, other, marked))


def _lists_of(stage: Stage, side: Side) -> Callable[[Side], Side]:
    """Returns the side beside a reference, its lists compared with those; worked out once for a side."""
    return side.remember("beside", lambda: beside(stage.material.suite, stage.gathered, side))


def _open_of(stage: Stage, side: Side) -> LeftOpen:
    """Returns the effect of the unjudged documents of a side; worked out once for a side."""
    return side.remember("unjudged", lambda: unjudged_of(stage.material.suite, stage.gathered, side))


def _open_in_part(stage: Stage, other: Side, marked: Mask, reference: Side, metric: Metric) -> UnjudgedEffect | None:
    theirs, queries = _open_of(stage, other)(reference, metric), stage.material.population.queries.ids
    if reference is stage.accepted:
        return None if theirs is None else _with_queries_of(_of_identical(theirs), theirs, queries, marked)
    ours = _open_of(stage, stage.accepted)(reference, metric)
    if ours is None and theirs is None:
        return None
    before, name = reference.scored[str(metric)].values, str(metric)
    return _with_queries_of(
        ours or _of_known(stage.accepted.scored[name].values, before),
        theirs or _of_known(other.scored[name].values, before),
        queries,
        marked,
    )


def _with(stage: Stage, now: Side, beside_reference: Callable[[Side], Side], left_open: LeftOpen) -> Material:
    material = stage.material
    baseline = over_the_same(material.suite, stage.gathered, now, stage.accepted, frozenset())
    return replace(material, now=now, baseline=baseline, beside=beside_reference, unjudged=left_open)


def _both(stage: Stage, one: Side, other: Side, marked: Mask) -> Side:
    """One side, but for the marked queries another."""
    taken = set(np.array(stage.material.population.queries.ids, object)[marked].tolist())
    pairs = zip(one.rankings, other.rankings, strict=True)
    rankings = [mixed_sides(a, b, np.array([query in taken for query in a.queries], bool)) for a, b in pairs]
    values = {name: _values(found, other.scored.get(name), marked) for name, found in one.scored.items()}
    return replace(one, rankings=tuple(rankings), scored=values, counterpart={})


def _values(ours: Scored, theirs: Scored | None, marked: Mask) -> Scored:
    if theirs is None or ours.metric.unit != "query":
        return ours
    return replace(ours, values=np.where(marked, theirs.values, ours.values))


def changed_places(found: UnjudgedEffect, heads: Mask) -> UnjudgedEffect:
    """Exchange both sides of some queries: a loss for one side is a gain for the other."""
    return replace(
        found,
        condensed_now=np.where(heads, found.condensed_before, found.condensed_now),
        condensed_before=np.where(heads, found.condensed_now, found.condensed_before),
        worst=np.where(heads, -found.best, found.worst),
        best=np.where(heads, -found.worst, found.best),
    )


def _of_identical(found: UnjudgedEffect) -> UnjudgedEffect:
    """The effect for the reference of ``found`` beside itself: no label makes a difference."""
    none = np.where(np.isnan(found.worst), np.nan, 0.0)
    return replace(found, condensed_now=found.condensed_before, worst=none, best=none, documents=())


def _of_known(now: Floats, before: Floats) -> UnjudgedEffect:
    """The effect for two sides whose values depend on no label."""
    return UnjudgedEffect(now, before, now - before, now - before, exact=True)


def _with_queries_of(
    one: UnjudgedEffect, other: UnjudgedEffect, queries: Sequence[str], marked: Mask
) -> UnjudgedEffect:
    """The effect of ``one``, for the ``marked`` of all ``queries`` that of ``other``."""
    taken = {query for query, there in zip(queries, marked.tolist(), strict=True) if there}
    return replace(
        other,
        condensed_now=np.where(marked, other.condensed_now, one.condensed_now),
        condensed_before=np.where(marked, other.condensed_before, one.condensed_before),
        worst=np.where(marked, other.worst, one.worst),
        best=np.where(marked, other.best, one.best),
        exact=one.exact and other.exact,
        documents=(
            *(each for each in other.documents if each.query in taken),
            *(each for each in one.documents if each.query not in taken),
        ),
    )
