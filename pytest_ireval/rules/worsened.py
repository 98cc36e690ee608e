"""``worsened``: limit how many queries get worse by how much."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from pytest_ireval.plugins.plugin_types import rule
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.evidence import ChangeTest, Decision, decide, has_too_few_queries
from pytest_ireval.rules.metric_change import MetricChange, compute_figures, measure_change
from pytest_ireval.rules.result import RuleResult, format_p_of_checks
from pytest_ireval.rules.wording import (
    describe_look,
    describe_open_judgments,
    explain_few_queries,
    format_forced,
    format_queries,
    format_size,
    format_slice,
    warn_of_many_looks,
)
from pytest_ireval.rules.worst_queries import describe_much_worse, list_worst_changes
from pytest_ireval.statistics.binomial import heads_at_most, upper_limit
from pytest_ireval.statistics.differences import TIE
from pytest_ireval.statistics.resolution import LEVEL
from pytest_ireval.statistics.sign_flip import net_severe
from pytest_ireval.suite.option_types import AmountText, MetricText, Number
from pytest_ireval.suite.options import MORE, BelowMinQueries, EvidenceOptions, Looser, StagedOptions
from pytest_ireval.suite.quantities import Amount, refuse_everything
from pytest_ireval.words import format_percent, round_estimate

ROUNDING = 2 * TIE
"""A query counts when its loss exceeds ``by_more_than`` by at least one tie; less is rounding. It is two ties here, as
``net_severe`` counts losses from one tie below its cut."""
MOST_TIMES = 1000
"""A number of queries beyond so many times the present one is not worth being named."""


class WorsenedOptions(EvidenceOptions, StagedOptions):
    """A metric, the loss that counts as worse, and the number of queries for which that is allowed."""

    metric: MetricText = Field(description="The metric.")
    by_more_than: Annotated[Number, MORE] = Field(
        ge=0, description="A query counts when its value gets worse by more than this."
    )
    # Without at_most, no more queries may get worse than better, which counts as stricter than any at_most.
    at_most: Annotated[AmountText | None, Looser("more", without="strictest")] = Field(
        None, description="How many queries may get worse: 2, or 5%. Default: as many as get better by more than this."
    )

    @property
    def below_min_queries(self) -> BelowMinQueries:
        """By evidence, a slice of any size passes within the limit, and is inconclusive beyond it."""
        if not self.by_evidence:
            return "not checked"
        return "can fail" if self.on_inconclusive == "fail" else "cannot fail"

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
        if self.at_most is not None:
            refuse_everything(self.at_most)
        return self


class Tail(NamedTuple):
    """The queries with a loss, or a gain, beyond the threshold."""

    losses: int
    gains: int
    p: float
    """Of losses that outnumber gains by chance."""
    queries: int
    """All queries, changed or not."""
    units: float
    """The number of independently drawn ones: queries, or the equivalent number of clusters of equal size."""

    @property
    def loss_share_limit(self) -> float:
        """The upper bound of the share of queries with such a loss, with 95% confidence."""
        return upper_limit(self.losses * self.units / self.queries, self.units)


def _p_value(options: WorsenedOptions, context: RuleContext) -> float | None:
    return _test_tail(options, measure_change(context)).p if options.by_evidence else None


@rule(name="worsened", options=WorsenedOptions, p_value=_p_value)
def worsened(options: WorsenedOptions, context: RuleContext) -> RuleResult:
    """Limit how many queries drop by more than a threshold."""
    change = measure_change(context)
    tail = _count_tail(options, change)
    if options.by_evidence:
        decision = decide(options, change, partial(_test_tail, options))
    else:
        decision = Decision("pass" if _is_allowed(options, tail) else "fail")
    worst = list_worst_changes(context, change.values, failed=decision.verdict != "pass", least=options.by_more_than)
    allowed = {} if options.at_most is None else {"allowed": options.at_most.of(tail.queries)}
    return RuleResult(
        decision.verdict,
        _describe(options, change, tail, decision),
        figures=(replace(compute_figures(change), over=decision.verdict == "fail"),),
        queries=worst.queries,
        more_queries=worst.omitted_count,
        numbers={"worsened": float(tail.losses), "gained": float(tail.gains), **allowed},
        sentence=describe_much_worse(context, worst, tail.losses, tail.queries),
        facts=tuple(warn_of_many_looks(context)) if options.by_evidence else (),
        statistics=tuple(_list_statistics(options, context, tail)),
    )


def _count_tail(options: WorsenedOptions, change: MetricChange) -> Tail:
    test = net_severe(change.gains, options.by_more_than + ROUNDING, change.clusters)
    return Tail(test.losses, test.gains, test.p, change.gains.size, change.weighting.effective)


def _is_allowed(options: WorsenedOptions, tail: Tail) -> bool:
    at_most = Amount(tail.gains) if options.at_most is None else options.at_most
    return at_most.allows(tail.losses, tail.queries)


def _test_tail(options: WorsenedOptions, change: MetricChange) -> ChangeTest:
    tail = _count_tail(options, change)
    return ChangeTest(_is_allowed(options, tail), None if has_too_few_queries(options, change) else tail.p)


def _describe(options: WorsenedOptions, change: MetricChange, tail: Tail, decision: Decision) -> str:
    """``5 of 99 queries (5.05%) lose more than 0.1 of nDCG@10 (at most 5%, 0 gain as much): 99 queries …``."""
    context = change.context
    limits = ", ".join(_list_limits(options, context, tail, decision))
    verb = _choose_verb(context, worse=True)
    loses = f"{verb}s" if tail.losses == 1 else verb
    share = ""
    if options.at_most is not None and options.at_most.share is not None and tail.losses:
        share = f" ({format_percent(tail.losses / tail.queries, options.at_most.share)})"
    much_worse = (
        f"{tail.losses} of {format_queries(context, tail.queries)}{share} {loses} more than {options.by_more_than:g} "
        f"of {context.metric}{format_slice(context)} ({limits})"
    )
    if not decision.doubt:
        return much_worse
    if decision.relabeled is not None:
        left = _count_tail(options, decision.relabeled.best_change).losses
        reason = f"{describe_open_judgments(decision.relabeled)}; with the best grades, {left} would be left"
    elif has_too_few_queries(options, change):
        reason = explain_few_queries(options, change)
    else:
        reason = f"{format_size(change)} are too few to rule out chance{_format_needed_queries(change, tail)}"
    return f"{much_worse}: {reason}{format_forced(decision)}"


def _list_limits(options: WorsenedOptions, context: RuleContext, tail: Tail, decision: Decision) -> Iterator[str]:
    if options.at_most is not None:
        yield f"at most {options.at_most}"
    if options.at_most is None or (options.by_evidence and decision.verdict != "pass"):
        yield f"{tail.gains} {_choose_verb(context, worse=False)} as much"
    if decision.significant:
        yield "statistically significant"


def _choose_verb(context: RuleContext, *, worse: bool) -> str:
    """``lose`` or ``gain``: what values do that get worse, or better; a cost gets worse as it gains."""
    return "lose" if worse == (context.sign > 0) else "gain"


def _format_needed_queries(change: MetricChange, tail: Tail) -> str:
    """``; about 70 would be enough`` to show it, if more of them lost and gained in proportion.

    Empty for queries in clusters: more queries of the same intents would show no more. Empty if as many gained.
    """
    if change.cluster_count is not None or tail.losses <= tail.gains:
        return ""
    for times in np.geomspace(1.1, MOST_TIMES, 70).tolist():
        losses, gains = round(times * tail.losses), round(times * tail.gains)
        if change.context.adjust_p(heads_at_most(gains, losses + gains)) < LEVEL:
            return f"; about {round_estimate(math.ceil(times * tail.queries)):,} would be enough"
    return ""


def _list_statistics(options: WorsenedOptions, context: RuleContext, tail: Tail) -> Iterator[str]:
    if not tail.queries:
        return
    limit, verb = format_percent(tail.loss_share_limit), _choose_verb(context, worse=True)
    yield f"with 95% confidence, at most {limit} of all such queries {verb} as much"
    if options.by_evidence:
        yield format_p_of_checks(tail.p, context.adjust_p(tail.p), context.tested_checks)
        yield from describe_look(context)
