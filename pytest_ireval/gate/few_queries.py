"""Slices with no queries, or with too few for their rule: whether it is asked, and the outcome if it is not."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from pytest_ireval.errors import BaselineMisfitError
from pytest_ireval.gate.outcomes import report_error
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.metric_change import measure_change
from pytest_ireval.rules.wording import format_size
from pytest_ireval.suite.suite import RuleSpec
from pytest_ireval.words import format_count


def report_too_few(outcome: Outcome, rule: RuleSpec, context: RuleContext) -> Outcome | None:
    """Report a slice with no queries, or with too few for its rule to check it; None if the rule is to be asked."""
    if has_min_queries(rule, context):
        return None
    if not count_units(rule, context):
        return _report_no_values(outcome, rule, context)
    if rule.options.below_min_queries != "not checked":
        return None
    if rule.traits.by_evidence and not context.slice.conditions:
        return None  # all queries of the suite are too few: the rule says so, and how many it needs
    size = _measure_size(rule, context).text
    few = f"{context.slice} has {size}, fewer than min_queries: {rule.options.query_minimum}; not checked"
    return replace(outcome, verdict="inconclusive", headline=few)


def has_min_queries(rule: RuleSpec, context: RuleContext) -> bool:
    """Tell whether a slice has a query, and as many as its rule wants.

    A rule without a metric and without a baseline looks at lists, and there is always one.
    """
    if context.part.metric is None and not rule.compares:
        return True
    minimum: int = rule.options.query_minimum
    return _measure_size(rule, context).independent >= max(1, minimum)


class SliceSize(NamedTuple):
    """The number of queries of a slice."""

    independent: int
    """Drawn independently: of queries in clusters, the number of clusters of equal size that they are worth."""
    text: str
    """``60 queries in 12 clusters``."""


def _measure_size(rule: RuleSpec, context: RuleContext) -> SliceSize:
    count = count_units(rule, context)
    if count and rule.traits.by_evidence and context.population.clusters is not None:
        change = measure_change(context)
        return SliceSize(change.effective_size, format_size(change))
    return SliceSize(count, format_count(count, "query"))


def count_units(rule: RuleSpec, context: RuleContext) -> int:
    """The number of units of the slice that the rule looks at; queries, where it is about no metric."""
    if context.part.metric is None:
        return context.paired_rows().size
    paired = rule.compares and not context.part.metric.compares_lists
    return (context.paired_values() if paired else context.values()).current.size


def _report_no_values(outcome: Outcome, rule: RuleSpec, context: RuleContext) -> Outcome:
    """Decide on a slice without any value; it is an error only if the reason is unknown."""
    inside = context.slice.mask(context.population.queries)
    if inside.any() and not (inside & context.population.counted_queries).any():
        return replace(
            outcome, verdict="inconclusive", headline=f"all queries of {context.slice} are waived; not checked"
        )
    if not rule.compares:
        metric = context.part.metric
        reason = f": {metric} has no value, because {metric.undefined}" if metric and metric.undefined else ""
        return report_error(outcome, f"no query of {context.slice} counts{reason}")
    if is_new_slice(context):
        unknown = f"no query of {context.slice} is in the baseline yet; not checked"
        return replace(outcome, verdict="inconclusive", headline=unknown)
    raise BaselineMisfitError(f"no query of {context.slice} has a value on both sides")


def is_new_slice(context: RuleContext) -> bool:
    """Tell whether the baseline has no query of the slice yet."""
    position = context.baseline.position if context.baseline is not None else {}
    inside = context.slice.mask(context.population.queries).tolist()
    return not any(q in position for q, there in zip(context.population.queries.ids, inside, strict=True) if there)
