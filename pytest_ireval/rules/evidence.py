"""What follows from the evidence: not worse than allowed, worse, or that these queries cannot tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.kinds import Part
from pytest_ireval.results.outcome import Verdict
from pytest_ireval.rules.context import AcceptedChange, Seen, Unjudged, Walk
from pytest_ireval.rules.question import Question
from pytest_ireval.rules.side import Floats, Slice
from pytest_ireval.statistics.estimate import weighting
from pytest_ireval.statistics.looks import levels_of_looks
from pytest_ireval.statistics.mean_evidence import MeanEvidence
from pytest_ireval.suites.options import AlwaysEvidenceOptions
from pytest_ireval.text_table import counted


@dataclass(frozen=True)
class Decision:
    """What these queries are evidence for."""

    worse: bool
    """The figure fell; how far is another question."""
    safe: bool
    """It did not fall by as much as is not allowed."""
    identical: bool = False

    @property
    def verdict(self) -> Verdict:
        """Without a look at what nobody judged."""
        return "pass" if self.safe else "fail" if self.worse else "inconclusive"


def decided(evidence: MeanEvidence, factor: float, alpha: float) -> Decision:
    """``factor`` is what other verdicts of the suite make of a p."""
    if not evidence.changed:
        return Decision(worse=False, safe=True, identical=True)
    return Decision(min(1.0, factor * evidence.p_worse) < alpha, evidence.p_safe < alpha)


def factor_of(options: AlwaysEvidenceOptions, seen: Seen, p: float) -> float:
    """How many times the p is that counts: because of the suite's other verdicts, and of earlier looks."""
    if seen.adjusted is None:
        return for_looks(options, seen)
    most = seen.tests * for_looks(options, seen)
    if not p:
        return most
    return max(1.0, seen.adjusted / p, most if seen.adjusted >= 1 else 0.0)  # a corrected p ends at 1


def for_looks(options: AlwaysEvidenceOptions, seen: Seen) -> float:
    """Chance has many tries where many changes are compared with one reference, so each look has a part of alpha."""
    if not options.against.anchored:
        return 1.0
    if seen.walk is None:
        return options.alpha / levels_of_looks((), options.looks, options.alpha)[-1]
    return options.alpha / seen.walk.level(options.looks, options.alpha)


def for_tries(options: AlwaysEvidenceOptions, tries: Tries) -> float:
    """Correct drawn changes for the looks that the accepted changes before them were."""
    if not options.against.anchored:
        return 1.0
    earlier = (AcceptedChange("", "", None),) * tries.accepted
    return options.alpha / Walk(earlier).level(options.looks, options.alpha)


@dataclass(frozen=True, eq=False)
class LeftOpen:
    """A question under other labels of the documents that nobody judged."""

    condensed: Question
    """Without those documents."""
    worst: Question
    """With labels that are as bad for the change as can be."""
    best: Question
    exact: bool
    """Whether no labels lead farther than ``worst`` and ``best``."""
    documents: int
    """How many of them matter."""

    def confirmed(self, fewest: int, fails: Callable[[Question], bool]) -> bool:
        """Tell whether a failure remains without those documents, of enough queries, or under the best labels."""
        return (self.condensed.worth >= fewest and fails(self.condensed)) or fails(self.best)


@dataclass(frozen=True)
class Robustness:
    """The same verdict under other labels."""

    condensed: Decision
    worst: Decision
    best: Decision
    worst_change: float
    """Of the figure: below 0 is worse, whichever values of the metric are better."""
    best_change: float
    condensed_change: float | None
    """None where no list has a judged document."""
    left: str
    """Of how many queries that is, where it is not all of them."""
    sign: int
    """-1 where lower values of the metric are better."""
    exact: bool
    documents: int
    failing: bool
    """Whether what fails as it is judged now fails in any case."""
    falling: bool
    """Whether it fell by more than is allowed in any case."""


def robustness_of(question: Question, factor: float, fewest: int = 1) -> Robustness | None:
    """None where no unjudged document has anything to do with it."""
    left_open = left_open_of(question)
    if left_open is None:
        return None
    condensed, worst, best = (each.evidence for each in (left_open.condensed, left_open.worst, left_open.best))
    return Robustness(
        condensed=decided(condensed, factor, question.alpha),
        worst=decided(worst, factor, question.alpha),
        best=decided(best, factor, question.alpha),
        worst_change=worst.mean,
        best_change=best.mean,
        condensed_change=condensed.mean if condensed.queries else None,
        left=_left(question, left_open.condensed),
        sign=question.seen.sign,
        exact=left_open.exact,
        documents=left_open.documents,
        failing=left_open.confirmed(
            fewest, lambda other: decided(other.evidence, factor, question.alpha).verdict == "fail"
        ),
        falling=left_open.confirmed(fewest, lambda other: other.evidence.mean < -(question.allowed or 0.0)),
    )


def _left(question: Question, condensed: Question) -> str:
    size = condensed.gains.size
    return "" if size == question.gains.size else f" of the {counted(size, question.seen.metric.unit)} left"


def left_open_of(question: Question) -> LeftOpen | None:
    """None where no unjudged document has anything to do with it."""
    seen = question.seen
    unjudged = seen.unjudged(seen.metric) if seen.metric.unit == "query" else None
    documents = 0 if unjudged is None else _mattering(question, unjudged)
    if unjudged is None or not documents:
        return None
    ends = [seen.sign * _filled(end[question.values.place], question) for end in (unjudged.worst, unjudged.best)]
    worst, best = (replace(question, told=end) for end in ends)
    return LeftOpen(_condensed(question, unjudged), worst, best, unjudged.exact, documents)


def _mattering(question: Question, unjudged: Unjudged) -> int:
    """How many unjudged documents of these queries would move something."""
    names = set(question.values.names)
    return sum(each.query in names for each in unjudged.documents)


def _condensed(question: Question, unjudged: Unjudged) -> Question:
    """The question about rankings without unjudged documents; queries of which that leaves nothing are no evidence."""
    place, values, weights = question.values.place, question.values, question.weights
    now, before = unjudged.condensed_now[place], unjudged.condensed_before[place]
    known = ~np.isnan(now) & ~np.isnan(before)
    return replace(
        question,
        values=values._replace(place=place[known], now=now[known], before=before[known]),
        weights=None if weights is None else weights[known],
    )


def _filled(changes: Floats, question: Question) -> Floats:
    """What was observed where labels are of no account."""
    filled: Floats = np.where(np.isnan(changes), question.values.gain, changes)
    return filled


def decided_by_ties(question: Question, verdict_of: Callable[[Question], Verdict]) -> str:
    """What is to be said if the worst and the best order of equal scores get different verdicts; nothing if not."""
    seen = question.seen
    orders = seen.tie_orders(seen.metric) if seen.metric.unit == "query" else None
    if orders is None:
        return ""
    worst, best = (verdict_of(_ordered(question, values)) for values in orders)
    if worst == best:
        return ""
    orders_said = f"with equal scores in the worst order the verdict would be {worst}, in the best {best}"
    return f"decided by tie-breaking: {orders_said}"


def _ordered(question: Question, now: Floats) -> Question:
    """The question about the rankings of now in another order of equal scores."""
    values, place = question.values, question.values.place
    known = ~np.isnan(now[place])
    return replace(question, values=values._replace(now=np.where(known, now[place], values.now)))


Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Tries:
    """Drawn changes of one metric on one slice, a row each and the queries in columns."""

    part: Part
    metric: Metric
    slice: Slice
    before: Floats
    """The value of each query in the baseline."""
    changes: Floats
    """``now - before``, a row for each try."""
    units: NDArray[np.int64]
    """The places of the queries in the suite: rules with the same ones are corrected together."""
    weights: Floats | None
    """How much traffic each query stands for, if the suite says so."""
    accepted: int = 0
    """How many accepted changes lie between the reference and the current rankings."""

    @property
    def sign(self) -> int:
        """1 where higher values of the metric are better, -1 where lower ones are."""
        return -1 if self.metric.direction == "lower" else 1

    def means(self, *, weighted: bool) -> Floats:
        """The change of the mean in each try; above 0 is better."""
        weights = self.weights if weighted else None
        changes: Floats = self.sign * np.average(self.changes, axis=1, weights=weights)
        return changes

    def worth(self, *, weighted: bool) -> int:
        """How many queries of equal weight these are worth."""
        return weighting(self.weights if weighted else None, self.before.size).worth


class Shown(NamedTuple):
    """What each try is evidence for; ``p`` is corrected with those of the suite's other rules."""

    p: Floats
    """Of a fall."""
    safe: Mask
    """Whether evidence rules out what is not allowed."""
    undecided: Mask
    """Whether it fails if evidence tells neither."""
    alpha: float
    alone: bool = False
    """Whether the gate corrects it as a test of its own."""


class Chances(NamedTuple):
    """What a rule makes of each try."""

    red: Mask
    """Whether it fails, whatever else is true."""
    shown: Shown | None = None
    """None where evidence does not decide."""

    def failed(self, adjusted: Floats) -> Mask:
        """Return the tries that it fails, by their corrected p."""
        if self.shown is None:
            return self.red
        worse: Mask = adjusted < self.shown.alpha
        failed: Mask = self.red | (~self.shown.safe & (worse | self.shown.undecided))
        return failed
