"""Evidence beside the other rules of a suite, and under other labels of unjudged documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pytest_ireval.rules.context import RuleContext, Unjudged, Walk
from pytest_ireval.rules.question import Question
from pytest_ireval.statistics.resolution import LEVEL
from pytest_ireval.suite.options import AlwaysEvidenceOptions
from pytest_ireval.words import format_count


def factor_of(options: AlwaysEvidenceOptions, context: RuleContext, p: float) -> float:
    """The factor that corrects a p for the suite's other verdicts and for earlier looks."""
    if context.adjusted is None:
        return for_looks(options, context)
    most = context.tests * for_looks(options, context)
    if not p:
        return most
    return max(1.0, context.adjusted / p, most if context.adjusted >= 1 else 0.0)  # a corrected p ends at 1


def for_looks(options: AlwaysEvidenceOptions, context: RuleContext) -> float:
    """The factor for looks: comparing many changes with one reference gives chance many tries."""
    if not options.against.anchored:
        return 1.0
    return LEVEL / (context.walk or Walk()).levels[-1]


@dataclass(frozen=True, eq=False)
class LeftOpen:
    """A question under other labels of the unjudged documents."""

    condensed: Question
    """Without those documents."""
    worst: Question
    """With the worst labels for the change."""
    best: Question
    exact: bool
    """True if no labels lead farther than ``worst`` and ``best``."""
    documents: int
    """The number of them that matter."""
    below: int | None = None
    """Unjudged documents below this rank in both lists count as judged; None where there are none."""

    def confirmed(self, fewest: int, fails: Callable[[Question], bool]) -> bool:
        """Tell whether a failure remains without those documents, of enough queries, or under the best labels."""
        return (self.condensed.worth >= fewest and fails(self.condensed)) or fails(self.best)


@dataclass(frozen=True)
class Robustness:
    """The same fall under other labels."""

    worst_change: float
    """Of the figure: below 0 is worse, whichever values of the metric are better."""
    best_change: float
    condensed_change: float | None
    """None where no list has a judged document."""
    left: str
    """The number of its queries in words, where it is not all of them."""
    sign: int
    """-1 where lower values of the metric are better."""
    exact: bool
    documents: int
    below: int | None = None
    """Unjudged documents below this rank in both lists count as judged; None where there are none."""


def robustness_of(question: Question, left_open: LeftOpen) -> Robustness:
    """The same fall under other labels."""
    condensed = left_open.condensed
    size = condensed.gains.size
    return Robustness(
        worst_change=-left_open.worst.fall,
        best_change=-left_open.best.fall,
        condensed_change=-condensed.fall if size else None,
        left="" if size == question.gains.size else f" of the {format_count(size, question.context.metric.unit)} left",
        sign=question.context.sign,
        exact=left_open.exact,
        documents=left_open.documents,
        below=left_open.below,
    )


def left_open_of(question: Question) -> LeftOpen | None:
    """The question under other labels; None where no unjudged document matters."""
    context, place = question.context, question.values.place
    unjudged = None if question.ratio or context.metric.unit != "query" else context.unjudged(context.metric)
    names = set(question.values.names)
    documents = 0 if unjudged is None else sum(each.query in names for each in unjudged.documents)
    if unjudged is None or not documents:
        return None
    ends = (np.where(np.isnan(end), question.values.gain, end) for end in (unjudged.worst[place], unjudged.best[place]))
    worst, best = (replace(question, told=context.sign * end) for end in ends)  # observed, where labels do not matter
    return LeftOpen(_condensed(question, unjudged), worst, best, unjudged.exact, documents, unjudged.below)


def _condensed(question: Question, unjudged: Unjudged) -> Question:
    """The question about rankings without unjudged documents, over the queries that keep any document."""
    place, values, weights = question.values.place, question.values, question.weights
    now, before = unjudged.condensed_now[place], unjudged.condensed_before[place]
    known = ~np.isnan(now) & ~np.isnan(before)
    return replace(
        question,
        values=values._replace(place=place[known], now=now[known], before=before[known]),
        weights=None if weights is None else weights[known],
    )
