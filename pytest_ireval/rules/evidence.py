"""Decisions by evidence: corrected for other checks, and checked under other judgments of unjudged documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from pytest_ireval.rules.metric_change import MetricChange
from pytest_ireval.rules.result import RuleVerdict
from pytest_ireval.sides.unjudged_effect import UnjudgedEffect
from pytest_ireval.statistics.resolution import LEVEL
from pytest_ireval.suite.options import AlwaysEvidenceOptions


class RelabeledChange(NamedTuple):
    """A change under other labels of its unjudged documents."""

    condensed_change: MetricChange
    """Without those documents."""
    worst_change: MetricChange
    """With the worst labels for the change."""
    best_change: MetricChange
    """With the best labels for the change."""
    document_count: int
    """The number of them that matter."""
    effect: UnjudgedEffect


class ChangeTest(NamedTuple):
    """What a rule finds in a change, under the present judgments or others; the verdict is made of it alone."""

    is_allowed: bool
    """True if the rule allows the change."""
    p: float | None
    """The chance of such a change if there were none of the kind that the rule is about, a fall or a move; None where
    queries are too few to test."""


class Decision(NamedTuple):
    """A verdict, and what it leaves open."""

    verdict: RuleVerdict
    doubt: Literal["", "chance", "judgments"] = ""
    """What could explain a failure otherwise; empty where nothing could."""
    significant: bool = False
    """True if chance is ruled out."""
    relabeled: RelabeledChange | None = None
    """The change under the judgments that could undo a failure."""

    @property
    def is_forced(self) -> bool:
        """True if it is a failure only because the rule says ``on_inconclusive: fail``."""
        return bool(self.doubt) and self.verdict == "fail"


def decide(
    options: AlwaysEvidenceOptions,
    change: MetricChange,
    test: Callable[[MetricChange], ChangeTest],
    *,
    two_sided: bool = False,
) -> Decision:
    """Decide by the test of a rule, the one that also gives the gate its p.

    A failure that judgments of unjudged documents could undo is inconclusive. It stands if it is one without those
    documents, or under the labels that are mildest for it.
    """

    def reach_verdict(changed: MetricChange) -> RuleVerdict:
        is_allowed, p = test(changed)
        if is_allowed:
            return "pass"
        return "fail" if p is not None and change.context.adjust_p(p) < LEVEL else "inconclusive"

    verdict = reach_verdict(change)
    undecided: RuleVerdict = "fail" if options.on_inconclusive == "fail" else "inconclusive"
    if verdict == "inconclusive":
        return Decision(undecided, doubt="chance")
    if verdict == "pass":
        return Decision("pass")
    relabeled = relabel_unjudged(change)
    if relabeled is None or reach_verdict(relabeled.condensed_change) == "fail":
        return Decision("fail", significant=True)
    fell = change.evidence.mean < 0
    # The mildest labels are those that make the move small: the best ones for a fall, the worst ones for a rise.
    mildest = relabeled.worst_change if two_sided and not fell else relabeled.best_change
    # Labels that turn a large fall into a large rise confirm nothing, as labels between the two show no move at all.
    turns_around = two_sided and (mildest.evidence.mean < 0) != fell
    if reach_verdict(mildest) == "fail" and not turns_around:
        return Decision("fail", significant=True)
    return Decision(undecided, doubt="judgments", significant=True, relabeled=relabeled)


def is_testable(options: AlwaysEvidenceOptions, change: MetricChange) -> bool:
    """Tell whether there is a mean of enough queries for a test."""
    return change.has_testable_mean and not has_too_few_queries(options, change)


def has_too_few_queries(options: AlwaysEvidenceOptions, change: MetricChange) -> bool:
    """Tell whether the queries, or clusters, are worth fewer than evidence needs."""
    return change.effective_size < options.query_minimum


def relabel_unjudged(change: MetricChange) -> RelabeledChange | None:
    """The change under other labels; None where no unjudged document matters."""
    context, rows = change.context, change.values.rows
    unjudged = None if change.compares_ratios or context.metric.unit != "query" else context.unjudged_effect()
    names = set(change.values.names)
    documents = 0 if unjudged is None else sum(document.query in names for document in unjudged.documents)
    if unjudged is None or not documents:
        return None
    worst, best = (
        # Of queries whose labels do not matter, the observed gain.
        replace(change, assumed_gains=context.sign * np.where(np.isnan(end), change.values.gain, end))
        for end in (unjudged.worst[rows], unjudged.best[rows])
    )
    return RelabeledChange(_condense(change, unjudged), worst, best, documents, unjudged)


def _condense(change: MetricChange, unjudged: UnjudgedEffect) -> MetricChange:
    """The change of rankings without unjudged documents, over the queries that keep any document."""
    values, weights = change.values, change.weights
    current, baseline = unjudged.condensed_current[values.rows], unjudged.condensed_baseline[values.rows]
    known = ~np.isnan(current) & ~np.isnan(baseline)
    return replace(
        change,
        values=replace(values, rows=values.rows[known], current=current[known], baseline=baseline[known]),
        weights=None if weights is None else weights[known],
    )
