"""The sentences of ``no_regression``: its headline, its notes and its statistics."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.drift import list_losses
from pytest_ireval.rules.evidence import Decision, RelabeledChange, relabel_unjudged
from pytest_ireval.rules.metric_change import MetricChange
from pytest_ireval.rules.wording import (
    describe_doubt,
    describe_look,
    describe_open_judgments,
    describe_units,
    explain_doubt,
    explain_few,
    format_metric,
    format_move,
    format_needed,
    format_slice,
    warn_of_many_looks,
)
from pytest_ireval.suite.options import EvidenceOptions
from pytest_ireval.suite.quantities import Tolerance
from pytest_ireval.words import format_count

LOW_BASELINE = 0.05
"""Below this, a share of the baseline is less than noise."""


def describe_decision(
    options: EvidenceOptions, change: MetricChange, tolerance: Tolerance, figures: SliceFigures, decision: Decision
) -> str:
    """``nDCG@10 fell 3.4% (tolerance 2%): 60 queries are too few to rule out chance; about 200 would be enough``."""
    significance = ", statistically significant" if decision.significant else ""
    fall = describe_fall(change.context, figures, tolerance, f"tolerance {tolerance}{significance}")
    if not decision.doubt:
        return fall
    if decision.relabeled is not None:
        reason = describe_open_judgments(decision.relabeled)
    elif change.effective_size < options.query_minimum:
        reason = f"{explain_few(options, change)}{format_needed(figures)}"
    else:
        reason = explain_doubt(change, figures, "rule out chance")
    return f"{fall}: {describe_doubt(decision, reason)}"


def describe_fall(context: RuleContext, figures: SliceFigures, limit: Tolerance, limit_in_words: str) -> str:
    """``nDCG@10 fell 3.4% on segment=tail (tolerance 2%)``."""
    moved = format_move(figures, absolute=bool(limit.absolute), limit=limit)
    return f"{format_metric(context, figures)} {moved}{format_slice(context)} ({limit_in_words})"


def list_notes(
    options: EvidenceOptions, change: MetricChange, figures: SliceFigures, decision: Decision
) -> Iterator[str]:
    """The losses of accepted changes, the low baseline, what unjudged documents could change, the number of looks."""
    yield from list_losses(change, figures)
    if decision.verdict != "pass" or not options.by_evidence:
        yield from _warn_of_low_baseline(change, figures)
    if decision.verdict != "pass" and change.context.metric.aggregate == "mean":
        yield from _describe_bounds(change, decision.relabeled or relabel_unjudged(change))
    if options.by_evidence and figures.p is not None:
        yield from warn_of_many_looks(change.context)


def list_statistics(change: MetricChange, figures: SliceFigures) -> Iterator[str]:
    """The level of this look, and what the evidence is about."""
    if figures.p is not None:
        yield from describe_look(change.context)
    yield from describe_units(change)


def _warn_of_low_baseline(change: MetricChange, figures: SliceFigures) -> Iterator[str]:
    """A line if the tolerance is a share of nearly nothing."""
    tolerance = change.tolerance
    if tolerance and tolerance.relative and figures.baseline is not None and abs(figures.baseline) < LOW_BASELINE:
        noise = "a share of such a small value is noise; write tolerance: {absolute: …}"
        yield f"the baseline is {figures.baseline:.4f}: {noise}"


def _describe_bounds(change: MetricChange, relabeled: RelabeledChange | None) -> Iterator[str]:
    """The least and the most change that judging the unjudged documents could lead to."""
    if relabeled is None:
        return
    sign, count, exactly = change.context.sign, relabeled.document_count, "" if relabeled.effect.exact else "about "
    low, high = sorted(-sign * end.fall + 0.0 for end in (relabeled.worst_change, relabeled.best_change))
    worst, best = (low, high) if sign > 0 else (high, low)
    rank = relabeled.effect.below
    within = "" if rank is None else f" in the first {rank} ranks"
    ends = f"with the worst grades the change is {exactly}{worst:+.3f}, with the best {exactly}{best:+.3f}"
    yield f"{format_count(count, 'unjudged document')}{within}: {ends}; {_describe_condensed(change, relabeled)}"


def _describe_condensed(change: MetricChange, relabeled: RelabeledChange) -> str:
    """``with judged documents alone it is -0.012``."""
    condensed, unit = relabeled.condensed_change, change.context.metric.unit
    size = condensed.gains.size
    if not size:
        return "no list has a judged document"
    left = "" if size == change.gains.size else f", on the {format_count(size, unit)} that have some,"
    return f"with judged documents alone{left} it is {-change.context.sign * condensed.fall + 0.0:+.3f}"
