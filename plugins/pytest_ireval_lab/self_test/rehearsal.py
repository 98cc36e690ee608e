"""A suite whose rules are tried on other rankings than those of its source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import Inputs, Outcome, Rankings, Scores, apply_rules
from pytest_ireval.gate_api import (
    Check,
    ComparedSides,
    Floats,
    Mask,
    RuleCheck,
    Side,
    fingerprint_rankings,
    mix,
    mix_sides,
    score_rankings,
    select_rule_checks,
    share_queries,
)
from pytest_ireval.plugin_api import SILENT, Progress

RED = ("fail", "error")
"""Verdicts that stop a change."""


MOST_VALUES = 20
"""A column with more values is not taken for slices."""

Bars = Callable[[], AbstractContextManager[Progress]]
"""Makes the progress of one piece of work."""


def no_bars() -> AbstractContextManager[Progress]:
    """Progress that nobody sees."""
    return nullcontext(SILENT)


@dataclass(eq=False)
class Rehearsal:
    """A suite with its rules and scores."""

    scores: Scores
    """With a baseline: if none has been accepted yet, the current rankings are taken for it."""
    checks: tuple[RuleCheck, ...]
    """Those of rules, in an order that does not depend on that of the queries."""
    urn: Urn
    """For draws among the queries."""
    has_baseline: bool

    @property
    def accepted(self) -> Side:
        """The accepted rankings, which represent a system that works."""
        accepted = self.scores.baseline_side
        assert accepted is not None  # noqa: S101 - a rehearsal begins with a baseline
        return accepted

    def score(self, rankings: Sequence[Rankings]) -> Side:
        """Other current rankings, scored by all metrics."""
        known = self.accepted.position
        unknown = frozenset(query for query in self.scores.population.queries.ids if query not in known)
        return score_rankings(self.scores.collection, rankings, "a rehearsal", unknown=unknown).side

    def check(self, scores: Scores, checks: Iterable[RuleCheck] | None = None) -> tuple[Outcome, ...]:
        """The outcomes of the rules, or of some of them, on other scores; without lists of queries."""
        selected = None if checks is None else {check.id for check in checks}
        return apply_rules(scores, self.checks, selected, lists_queries=False)


def begin_rehearsal(inputs: Inputs, scores: Scores, checks: Iterable[Check]) -> Rehearsal:
    """Begin with the scores of a suite; raises the error of a baseline that cannot be compared with."""
    if scores.baseline.problem is not None:
        raise scores.baseline.problem
    whole = scores.fill_baseline()
    sides = [side for side in (whole.baseline_side, whole.current) if side is not None]
    prints = [fingerprint_rankings(each) for side in sides for each in side.rankings]
    seed = " ".join((inputs.fingerprints.queries, inputs.fingerprints.judgments, *prints))
    return Rehearsal(
        scores=whole,
        checks=tuple(sorted(select_rule_checks(checks), key=lambda check: (check.rule.index, check.id))),
        urn=make_urn(scores.population.queries.ids, seed),
        has_baseline=scores.baseline_side is not None,
    )


def list_columns_of_slices(scores: Scores) -> list[str]:
    """The columns of the queries with few values."""
    columns = scores.population.queries.composed.items()
    few = [name for name, values in columns if 1 < len(set(values)) <= MOST_VALUES]
    return [name for name in few if name != scores.collection.suite.weight]


def mix_scores(one: Scores, other: Scores, marked: Mask) -> Scores:
    """Take the current rankings of the marked queries from ``other``; both compare with the same references."""
    queries, collection = one.population.queries, one.collection
    whole = [metric for metric in collection.suite.metrics if metric.unit != "query"]
    theirs = {id(ours): each for ours, each in zip(one.references, other.references, strict=True)}
    by_comparison = {id(ours.comparison): theirs[id(ours)].comparison for ours in one.references}

    def mix_comparison(ours: ComparedSides) -> ComparedSides:
        their_comparison = by_comparison[id(ours)]
        assert their_comparison is not None  # noqa: S101 - both compare with the same references
        mixed = mix(ours, their_comparison, marked, queries)
        if not whole:
            return mixed
        current, baseline = share_queries(collection, mixed.current, mixed.baseline, frozenset())
        return replace(mixed, current=current, baseline=baseline)

    current = mix_sides(one.current, other.current, marked, queries)
    if whole:  # a session may have queries of both
        rescored = score_rankings(collection, current.rankings, current.origin, metrics=whole).side
        current = replace(current, scored={**current.scored, **rescored.scored})
    return replace(one.map_comparisons(mix_comparison), current=current)


def list_red(outcomes: Iterable[Outcome]) -> list[str]:
    """The ids of outcomes that would stop a change."""
    return [outcome.id for outcome in outcomes if outcome.verdict in RED]


@dataclass(eq=False)
class Urn:
    """Names to draw from, and the seed of the draws."""

    names: tuple[str, ...]
    order: NDArray[np.int64]
    """The place of each name, from the first in alphabetical order to the last."""
    seed: str


def make_urn(names: Sequence[str], seed: str) -> Urn:
    """Draws for these names; another ``seed`` gives others."""
    order = sorted(range(len(names)), key=names.__getitem__)
    return Urn(tuple(names), np.array(order, np.int64), seed)


def draw_numbers(urn: Urn, *what: object) -> Floats:
    """A number from 0 to 1 for each name, in their order; ``what`` makes one draw differ from another."""
    text = "\n".join(map(str, (urn.seed, *what))).encode("utf-8", "surrogatepass")
    generator = np.random.Generator(np.random.PCG64(int.from_bytes(sha256(text).digest(), "big")))
    numbers = np.empty(len(urn.names))
    numbers[urn.order] = generator.random(len(urn.names))
    return numbers


def choose_lowest(numbers: Floats, among: Mask, share: float) -> Mask:
    """The names with the lowest numbers: a share of those that may be chosen, at least one of them."""
    count = int(np.count_nonzero(among))
    wanted = min(count, max(1, round(share * count)))
    chosen = np.zeros(numbers.size, bool)
    chosen[np.argsort(np.where(among, numbers, np.inf), kind="stable")[:wanted]] = True
    return chosen
