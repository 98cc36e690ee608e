"""What accepted changes lost together since the anchor."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.metric_change import MetricChange
from pytest_ireval.sides.accepted_chain import AcceptedChain, AcceptedChange
from pytest_ireval.words import format_count, format_percent


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
