"""Phrases of rules about metrics, queries and evidence."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_ireval.errors import MetricError
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.evidence import Decision, RelabeledChange
from pytest_ireval.rules.metric_change import MetricChange
from pytest_ireval.statistics.looks import LOOKS
from pytest_ireval.statistics.resolution import LEVEL
from pytest_ireval.suite.options import AlwaysEvidenceOptions
from pytest_ireval.suite.quantities import Tolerance
from pytest_ireval.words import choose_decimals, format_count, format_percent, pluralize, round_estimate


def format_slice(context: RuleContext) -> str:
    """The slice: empty for all queries, or `` on segment=tail``."""
    return "" if not context.slice.conditions else f" on {context.slice}"


def format_queries(context: RuleContext, count: int) -> str:
    """``12 tail queries``; sessions where the metric scores sessions."""
    word = context.metric.unit if context.part.metric is not None else "query"
    kind = f"{context.slice.value} " if context.slice.value else ""
    return f"{count} {kind}{word if count == 1 else pluralize(word)}"


def format_metric(context: RuleContext, figures: SliceFigures) -> str:
    """``nDCG@10``, ``weighted nDCG@10``."""
    return f"weighted {context.metric}" if figures.weighted else str(context.metric)


def format_move(figures: SliceFigures, *, absolute: bool, limit: Tolerance | None = None) -> str:
    """``fell 31.1%``, ``rose by 0.0123``, ``did not change``; with more digits where they tell it from the limit."""
    change = figures.change or 0.0
    if change == 0:
        return "did not change"
    verb = "fell" if change < 0 else "rose"
    if absolute or figures.relative is None:
        allowed = None if limit is None else limit.allowed(figures.baseline or 0.0)
        decimals = choose_decimals(abs(change), allowed, 4)
        return f"{verb} by {abs(change):.{decimals}f}" if abs(change) >= 5e-5 else f"{verb} by {abs(change):.2g}"
    return f"{verb} {format_percent(abs(figures.relative), None if limit is None else limit.relative)}"


def format_forced(decision: Decision) -> str:
    """``; on_inconclusive: fail`` where an open verdict is a failure for that reason; else empty."""
    return "; on_inconclusive: fail" if decision.is_forced else ""


def describe_open_judgments(relabeled: RelabeledChange) -> str:
    """``grades for 3 unjudged documents could change this verdict``."""
    return f"grades for {format_count(relabeled.document_count, 'unjudged document')} could change this verdict"


def refuse_missing_figure(change: MetricChange, figures: SliceFigures) -> None:
    """Refuse a slice without values, or without traffic."""
    if figures.change is not None and figures.tolerance is not None:
        return
    why = ": all of its queries have weight 0" if change.has_no_weight else ""
    raise MetricError(f"{change.context.metric} has no figure to compare{format_slice(change.context)}{why}")


def explain_chance(change: MetricChange, figures: SliceFigures, question: str, enough: str = "") -> str:
    """``200 queries are too few to rule out chance; about 520 would be enough``.

    The ``question`` is what they are too few to do; ``enough`` is said where there are as many as should be.
    """
    changed, size = change.evidence.moved, format_size(change)
    needed = format_needed(figures)
    if 0.5**changed >= LEVEL:  # chance alone moves all of them one way as often
        units = size if change.cluster_count is None else f"{change.cluster_count} clusters"
        return f"only {changed} of {units} changed, too few to {question}{needed}"
    if figures.p is not None and figures.adjusted is not None and figures.p < LEVEL <= figures.adjusted:
        checks = change.context.tested_checks
        many = f"{checks} checks of this suite" if checks > 1 else "many changes since one anchor"
        return f"among {many}, chance alone can move one this much{needed}"
    if not needed and enough and figures.needed and figures.tolerance:
        return enough
    return f"{size} are too few to {question}{needed}"


def format_needed(figures: SliceFigures) -> str:
    """``; about 520 would be enough`` to show a fall of the tolerance; empty if that is unknown or no more."""
    if figures.needed is None or not figures.tolerance or figures.needed <= figures.queries:
        return ""
    return f"; about {round_estimate(figures.needed):,} would be enough"


def format_size(change: MetricChange) -> str:
    """``60 queries``, ``60 queries in 12 clusters``."""
    size = format_count(change.gains.size, change.context.metric.unit)
    return size if change.cluster_count is None else f"{size} in {format_count(change.cluster_count, 'cluster')}"


def describe_units(change: MetricChange) -> Iterator[str]:
    """What else the evidence is about than the mean of single queries."""
    if change.compares_ratios:
        yield "figures are geometric means, and p is about the mean of log(now / baseline) of single queries"
    if change.cluster_count is not None and change.evidence.changed:
        yield f"{format_size(change)}: variants of one intent count together"


def explain_few_queries(options: AlwaysEvidenceOptions, change: MetricChange) -> str:
    """Why nothing is tested."""
    size, effective, minimum = format_size(change), change.effective_size, options.query_minimum
    if change.cluster_count is not None:
        unequal = f" count like {effective} of equal size, which" if effective != change.cluster_count else ""
        return f"{size}{unequal} are too few: evidence needs {minimum} clusters"
    if effective < change.gains.size:
        return f"{size} count like {effective} of equal weight, which are too few: evidence needs {minimum}"
    return f"{size} {'is' if change.gains.size == 1 else 'are'} too few: evidence needs {minimum}"


def warn_of_many_looks(context: RuleContext) -> Iterator[str]:
    """A line if more changes were accepted since the anchor than the level lasts for."""
    chain = context.chain
    if chain is not None and chain.looks > LOOKS:
        yield (
            f"this is change {chain.looks} since the anchor: after {LOOKS}, chance turns more than "
            f"{format_percent(LEVEL)} of neutral series red; pin a new anchor"
        )


def describe_look(context: RuleContext) -> Iterator[str]:
    """The number of accepted changes since the anchor, and the p below which the next one counts."""
    chain = context.chain
    if chain is not None:
        level = f"{chain.levels[-1]:.2g}".lstrip("0")
        yield f"change {chain.looks} of {max(LOOKS, chain.looks)} since the anchor: a p below {level} counts"
