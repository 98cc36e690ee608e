"""Decisions by evidence: corrected for other verdicts and earlier looks, and checked under other judgments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from pytest_ireval.results.outcome import Verdict
from pytest_ireval.rules.accepted_chain import AcceptedChain
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.metric_change import MetricChange
from pytest_ireval.rules.unjudged_effect import UnjudgedEffect
from pytest_ireval.statistics.resolution import LEVEL
from pytest_ireval.suite.options import AlwaysEvidenceOptions


@dataclass(frozen=True, eq=False)
class RelabeledChange:
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


class Decision(NamedTuple):
    """A verdict, and what it leaves open."""

    verdict: Verdict
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
    check: Callable[[MetricChange], Verdict],
    *,
    two_sided: bool = False,
) -> Decision:
    """Decide by ``check``, which sees a change under the present judgments or others.

    A failure that judgments of unjudged documents could undo is inconclusive. It stands if it is one without those
    documents, or under the labels that are mildest for it.
    """
    verdict = check(change)
    undecided: Verdict = "fail" if options.on_inconclusive == "fail" else "inconclusive"
    if verdict == "inconclusive":
        return Decision(undecided, doubt="chance")
    if verdict == "pass":
        return Decision("pass")
    relabeled = relabel_unjudged(change)
    if relabeled is None or check(relabeled.condensed_change) == "fail":
        return Decision("fail", significant=True)
    fell = change.evidence.mean < 0
    # The mildest labels are those that make the move small: the best ones for a fall, the worst ones for a rise.
    mildest = relabeled.worst_change if two_sided and not fell else relabeled.best_change
    # Labels that turn a large fall into a large rise confirm nothing, as labels between the two show no move at all.
    turns_around = two_sided and (mildest.evidence.mean < 0) != fell
    if check(mildest) == "fail" and not turns_around:
        return Decision("fail", significant=True)
    return Decision(undecided, doubt="judgments", significant=True, relabeled=relabeled)


def p_for_suite(options: AlwaysEvidenceOptions, change: MetricChange, p: Callable[[], float]) -> float | None:
    """The p that the suite corrects for its many verdicts; None where there are too few queries for a test."""
    if not change.has_testable_mean or change.effective_size < options.query_minimum:
        return None
    return min(1.0, p() * look_factor(options, change.context))


def correction_factor(options: AlwaysEvidenceOptions, context: RuleContext, p: float) -> float:
    """The factor that corrects a p for the suite's other verdicts and for earlier looks.

    The gate corrects the p of all verdicts together (S. Holm 1979, A simple sequentially rejective multiple test
    procedure, Scandinavian Journal of Statistics 6(2): 65-70). The factor that this verdict got,

        factor = adjusted p / p,

    is kept for its p under other judgments, which the gate never sees. So ``p`` must be of the change that the rule's
    ``p_value`` measures, without the factor for looks.
    """
    if context.adjusted_p is None:
        return look_factor(options, context)
    # Of m verdicts, Holm multiplies the smallest p by m and each other one by less, so this factor is safe for all.
    largest_factor = context.tested_verdicts * look_factor(options, context)
    if p == 0:  # no ratio tells which factor it got
        return largest_factor
    observed_factor = context.adjusted_p / p
    if context.adjusted_p >= 1:  # a corrected p ends at 1, so the ratio may be less than the factor that it got
        return max(1.0, observed_factor, largest_factor)
    return max(1.0, observed_factor)


def look_factor(options: AlwaysEvidenceOptions, context: RuleContext) -> float:
    """The factor for looks: comparing many changes with one reference gives chance many tries.

    ``statistics/looks.py`` shares the level out among the looks, with sources. Instead of comparing the p with the
    smaller level of this look, the p is made larger, so that every verdict is compared with the same level:

        p < level of this look   <=>   p * LEVEL / level of this look < LEVEL
    """
    if not options.against.anchored:
        return 1.0
    chain = context.chain or AcceptedChain()  # without a chain, nothing was accepted since the anchor: the first look
    level_of_this_look = chain.levels[-1]
    return LEVEL / level_of_this_look


def relabel_unjudged(change: MetricChange) -> RelabeledChange | None:
    """The change under other labels; None where no unjudged document matters."""
    context, place = change.context, change.values.place
    unjudged = None if change.compares_ratios or context.metric.unit != "query" else context.unjudged(context.metric)
    names = set(change.values.names)
    documents = 0 if unjudged is None else sum(document.query in names for document in unjudged.documents)
    if unjudged is None or not documents:
        return None
    worst, best = (
        # Of queries whose labels do not matter, the observed gain.
        replace(change, assumed_gains=context.sign * np.where(np.isnan(end), change.values.gain, end))
        for end in (unjudged.worst[place], unjudged.best[place])
    )
    return RelabeledChange(_condense(change, unjudged), worst, best, documents, unjudged)


def _condense(change: MetricChange, unjudged: UnjudgedEffect) -> MetricChange:
    """The change of rankings without unjudged documents, over the queries that keep any document."""
    place, values, weights = change.values.place, change.values, change.weights
    now, before = unjudged.condensed_now[place], unjudged.condensed_before[place]
    known = ~np.isnan(now) & ~np.isnan(before)
    return replace(
        change,
        values=replace(values, place=place[known], now=now[known], before=before[known]),
        weights=None if weights is None else weights[known],
    )
