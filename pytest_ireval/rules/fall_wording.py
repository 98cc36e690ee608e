"""The words of ``no_regression``: its headline, its sentence and its facts."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.evidence import Decision, RelabeledChange, has_too_few_queries, relabel_unjudged
from pytest_ireval.rules.metric_change import MetricChange
from pytest_ireval.rules.wording import (
    describe_open_judgments,
    explain_chance,
    explain_few_queries,
    format_forced,
    format_metric,
    format_move,
    format_needed,
    format_slice,
)
from pytest_ireval.sides.accepted_chain import AcceptedChain, AcceptedChange
from pytest_ireval.suite.options import EvidenceOptions
from pytest_ireval.suite.quantities import Tolerance
from pytest_ireval.words import format_count, format_percent

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
    elif has_too_few_queries(options, change):
        reason = f"{explain_few_queries(options, change)}{format_needed(figures)}"
    else:
        reason = explain_chance(change, figures, "rule out chance")
    return f"{fall}: {reason}{format_forced(decision)}"


def describe_fall(context: RuleContext, figures: SliceFigures, limit: Tolerance, limit_in_words: str) -> str:
    """``nDCG@10 fell 3.4% on segment=tail (tolerance 2%)``."""
    moved = format_move(figures, absolute=bool(limit.absolute), limit=limit)
    return f"{format_metric(context, figures)} {moved}{format_slice(context)} ({limit_in_words})"


def describe_drift(change: MetricChange, figures: SliceFigures) -> str:
    """The joint loss of accepted changes; empty without accepted changes since the anchor, or without a loss."""
    chain, relative = _find_losing_chain(change, figures), figures.relative
    if chain is None or relative is None:
        return ""
    lost = "lost" if change.context.sign > 0 else "added"
    this = " and this one" if chain.is_changed else ""
    origin = "" if change.context.baseline is None else change.context.baseline.origin
    changes, share = format_count(len(chain.accepted), "accepted change"), format_percent(abs(relative))
    text = f"Since {origin}, {changes}{this} {lost} {share}"
    together = " together" if len(chain.accepted) + chain.is_changed > 1 else ""
    return f"{text}{together}."


def list_losses(change: MetricChange, figures: SliceFigures) -> Iterator[str]:
    """The accepted changes that lost most, and those without figures."""
    chain, baseline = _find_losing_chain(change, figures), figures.baseline
    if chain is None:
        return
    sign = change.context.sign
    known = [(sign * accepted.step.change, accepted) for accepted in chain.accepted if accepted.step is not None]
    losses = sorted(
        ((loss, accepted) for loss, accepted in known if loss < 0), key=lambda pair: (pair[0], pair[1].date)
    )
    if losses and baseline:
        named = [_format_acceptance(accepted, sign * loss / abs(baseline)) for loss, accepted in losses[:3]]
        yield f"largest accepted losses: {'; '.join(named)}" if sign > 0 else f"largest rises: {'; '.join(named)}"
    if chain.missing_figure_count:
        verb = "keeps" if chain.missing_figure_count == 1 else "keep"
        changes = format_count(len(chain.accepted), "accepted change")
        yield f"{chain.missing_figure_count} of {changes} {verb} no figures of this mean"


def warn_of_low_baseline(tolerance: Tolerance, figures: SliceFigures) -> Iterator[str]:
    """A line if the tolerance is a share of nearly nothing."""
    if tolerance.relative and figures.baseline is not None and abs(figures.baseline) < LOW_BASELINE:
        noise = "a share of such a small value is noise; write tolerance: {absolute: …}"
        yield f"the baseline is {figures.baseline:.4f}: {noise}"


def describe_bounds(change: MetricChange, relabeled: RelabeledChange | None = None) -> Iterator[str]:
    """The least and the most change that judging the unjudged documents could lead to."""
    if change.context.metric.aggregate != "mean":
        return
    relabeled = relabeled or relabel_unjudged(change)
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


def _find_losing_chain(change: MetricChange, figures: SliceFigures) -> AcceptedChain | None:
    """The changes since the anchor, if any was accepted and the metric is worse than in the anchor."""
    chain, relative = change.context.chain, figures.relative
    if chain is None or not chain.accepted or relative is None:
        return None
    return chain if change.context.sign * relative < 0 else None


def _format_acceptance(change: AcceptedChange, relative: float) -> str:
    """``2026-03-14 synonyms v2 -0.6%``."""
    sign = "-" if relative < 0 else "+"
    return " ".join(filter(None, (change.date[:10], change.reason, f"{sign}{format_percent(abs(relative))}")))
