"""Whether a verdict holds whatever judges would say of the documents that nobody judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pytest_ireval.plurals import counted
from pytest_ireval.rules.deciding import Decision, decided
from pytest_ireval.rules.question import Question
from pytest_ireval.rules.side import Floats
from pytest_ireval.rules.unjudged import Unjudged


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
        """Whether a failure remains without those documents, of enough queries, or under the best labels."""
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
