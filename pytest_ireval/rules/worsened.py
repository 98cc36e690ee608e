"""``worsened``: limit how many queries get worse by how much."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from pytest_ireval.plugins.plugin_types import rule
from pytest_ireval.results.outcome import Verdict
from pytest_ireval.rules.by_evidence import few_words, undecided
from pytest_ireval.rules.context import RuleContext, RuleResult, percent
from pytest_ireval.rules.evidence import factor_of, for_looks, left_open_of
from pytest_ireval.rules.question import Question, figures_of
from pytest_ireval.rules.wording import (
    look_words,
    much_worse,
    on,
    p_words,
    queries_of,
    size_words,
    too_many_looks,
    worst_changes,
    worst_words,
)
from pytest_ireval.statistics.binomial import heads_at_most, upper_limit
from pytest_ireval.statistics.estimate import weighting
from pytest_ireval.statistics.resolution import LEVEL
from pytest_ireval.statistics.sign_flip import NetSevere, net_severe
from pytest_ireval.suite.option_types import AmountText, MetricText, Number
from pytest_ireval.suite.options import MORE, EvidenceOptions, Looser
from pytest_ireval.words import format_count, round_estimate

ROUNDING = 2e-12
"""A loss beyond the allowed one by less than this is rounding: twice a tie."""


class WorsenedOptions(EvidenceOptions):
    """A metric, the loss that counts as worse, and the number of queries for which that is allowed."""

    metric: MetricText = Field(description="The metric.")
    by_more_than: Annotated[Number, MORE] = Field(
        ge=0, description="A query counts when its value gets worse by more than this."
    )
    at_most: Annotated[AmountText | None, Looser("more", without="strictest")] = Field(
        None, description="How many queries may get worse: 2, or 5%. Default: as many as get better by more than this."
    )

    @property
    def judges_few(self) -> bool:
        """A slice of any size passes within the limit, and is inconclusive beyond it."""
        return self.by_evidence

    @property
    def can_fail_few(self) -> bool:
        """Fewer queries fail only where what is inconclusive does."""
        return self.by_evidence and self.on_inconclusive == "fail"

    @model_validator(mode="after")
    def _can_fail(self) -> WorsenedOptions:
        low, high = self.metric.bounds
        if self.by_more_than >= high - low:
            raise ValueError(
                f"no query can get worse by more than {self.by_more_than:g}: {self.metric} is between {low:g} and "
                f"{high:g}"
            )
        if self.at_most is None and not self.by_evidence:
            raise ValueError(f"does not limit the number of queries: add at_most: 2, or {self._way_to_evidence}")
        if self.at_most is not None and self.at_most.share is not None and self.at_most.share >= 1:
            raise ValueError(f"at_most: {self.at_most} lets everything pass")
        return self


class Tail(NamedTuple):
    """The number of queries with a loss, and with a gain, beyond the threshold; and of all queries."""

    losses: int
    gains: int
    p: float
    queries: int
    worth: float
    """The number of independently drawn units: queries, or the equivalent number of clusters of equal size."""

    @property
    def most(self) -> float:
        """The upper bound of the share of queries with such a loss, with 95% confidence."""
        if self.worth == self.queries:
            return upper_limit(self.losses, self.queries)
        return upper_limit(self.losses * self.worth / self.queries, self.worth)


def _p_of_worsened(options: WorsenedOptions, context: RuleContext) -> float | None:
    """The p of the surplus of losses over gains, if evidence decides."""
    if not options.by_evidence:
        return None
    question = Question(context, context.paired())
    tail = _tail(options, question)
    return None if tail.worth < options.fewest else min(1.0, tail.p * for_looks(options, context))


@rule(name="worsened", options=WorsenedOptions, compares=True, tested=_p_of_worsened)
def worsened(options: WorsenedOptions, context: RuleContext) -> RuleResult:
    """Limit how many queries drop by more than a threshold."""
    question = Question(context, context.paired())
    tail = _tail(options, question)
    factor = factor_of(options, context, tail.p)
    decision = _decide(options, question, factor)
    failed = decision.verdict == "fail"
    worst = worst_changes(context, question.values, failed=decision.verdict != "pass", least=options.by_more_than)
    verb = ("loses" if tail.losses == 1 else "lose") if context.sign > 0 else ("gains" if tail.losses == 1 else "gain")
    allowed = {} if options.at_most is None else {"allowed": float(options.at_most.of(tail.queries))}
    too_many = too_many_looks(context) if options.by_evidence else ()
    settling = worst_words(context, worst.queries) if decision.settled_by_queries else ""
    return RuleResult(
        decision.verdict,
        f"{queries_of(context, tail.losses)} of {tail.queries} {verb} more than {options.by_more_than:g} of "
        f"{context.metric}"
        f"{on(context)} ({_limit_words(options, context, tail, decision)}){decision.because}{settling}",
        much_worse(context, worst, tail.losses, tail.queries),
        figures=(replace(figures_of(question), over=failed),),
        queries=worst.queries,
        more_queries=worst.more,
        facts=tuple(too_many),
        warning=decision.warning,
        numbers={"worsened": float(tail.losses), "gained": float(tail.gains), **allowed},
        statistics=tuple(_statistics(options, context, tail)),
    )


class _Decision(NamedTuple):
    verdict: Verdict
    because: str = ""
    """The reason in words, where the verdict is not that of the numbers."""
    warning: bool = False
    settled_by_queries: bool = False
    """True if it is inconclusive, and more queries would settle it."""
    significant: bool = False
    """True if chance is ruled out."""


def _tail(options: WorsenedOptions, question: Question) -> Tail:
    clusters = question.cluster_of
    found: NetSevere = net_severe(question.gains, options.by_more_than + ROUNDING, clusters)
    size = int(question.gains.size)
    return Tail(found.losses, found.gains, found.p, size, weighting(None, size, clusters).effective)


def _verdict_on_tail(options: WorsenedOptions, question: Question, factor: float) -> Verdict:
    """The verdict by the present judgments alone; ``factor`` corrects the p for the suite's other verdicts."""
    tail = _tail(options, question)
    allowed = float(tail.gains) if options.at_most is None else options.at_most.of(tail.queries)
    if tail.losses <= allowed + 1e-9:  # a share of a number may be off by rounding
        return "pass"
    if not options.by_evidence:
        return "fail"
    significant = tail.worth >= options.fewest and min(1.0, factor * tail.p) < LEVEL
    return "fail" if significant else "inconclusive"


def _limit_words(options: WorsenedOptions, context: RuleContext, tail: Tail, decision: _Decision) -> str:
    """``at most 2``, ``5.04%, at most 5%, 0 gain as much, statistically significant``."""
    at_most, gained = options.at_most, f"{tail.gains} {'gain' if context.sign > 0 else 'lose'} as much"
    said = []
    if at_most is not None:
        if at_most.share is not None and tail.losses:
            said.append(percent(tail.losses / tail.queries, at_most.share))
        said.append(f"at most {at_most}")
    if at_most is None or (options.by_evidence and decision.verdict != "pass"):
        said.append(gained)
    return ", ".join([*said, *(["statistically significant"] if decision.significant else [])])


def _decide(options: WorsenedOptions, question: Question, factor: float) -> _Decision:
    """The verdict; a failure by evidence that judgments of unjudged documents could undo is inconclusive."""
    verdict = _verdict_on_tail(options, question, factor)
    if verdict == "pass" or not options.by_evidence:
        return _Decision(verdict)
    tail = _tail(options, question)
    if verdict == "inconclusive":
        settled = undecided(options)
        enough = tail.worth >= options.fewest
        words = _needed_words(question, tail, factor) if enough else few_words(options, question)
        return _Decision(settled.verdict, f": {words}{settled.because}", settled.warning, settled.warning)
    left_open = None if options.on_inconclusive == "fail" else left_open_of(question)
    if left_open is None or left_open.confirmed(
        options.fewest, lambda other: _verdict_on_tail(options, other, factor) == "fail"
    ):
        return _Decision("fail", significant=True)
    them = format_count(left_open.documents, "unjudged document")
    left = queries_of(question.context, _tail(options, left_open.best).losses)
    because = f"inconclusive, as judgments of {them} could change the verdict: at best {left} would be left"
    return _Decision("inconclusive", f": {because}", warning=True, significant=True)


MOST_TIMES = 1000
"""A number of queries beyond so many times the present one is not worth being named."""


def _needed_words(question: Question, tail: Tail, factor: float) -> str:
    """``50 queries cannot tell this from chance; 70 would``, if more of them lost and gained in proportion."""
    text = f"{size_words(question)} cannot tell this from chance"
    for times in np.geomspace(1.1, MOST_TIMES, 70).tolist():
        losses, gains = round(times * tail.losses), round(times * tail.gains)
        if factor * heads_at_most(gains, losses + gains) < LEVEL:
            return f"{text}; {round_estimate(math.ceil(times * tail.queries)):,} would"
    return text


def _statistics(options: WorsenedOptions, context: RuleContext, tail: Tail) -> Iterator[str]:
    if not tail.queries:
        return
    verb = "lose" if context.sign > 0 else "gain"
    yield f"with 95% confidence, at most {percent(tail.most)} of all such queries {verb} as much"
    if options.by_evidence:
        corrected = ""
        if context.adjusted and context.tests > 1:
            corrected = f", corrected for {context.tests} verdicts {p_words(context.adjusted)}"
        yield f"p {p_words(tail.p)}{corrected}"
        yield from look_words(context)
