"""What accepted changes lost together since the anchor, and how often a mean was compared with it."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.accepted_chain import AcceptedChange
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.metric_change import MetricChange
from pytest_ireval.statistics.looks import LOOKS
from pytest_ireval.statistics.resolution import LEVEL
from pytest_ireval.words import format_count, format_percent


def describe_drift(change: MetricChange, figures: SliceFigures) -> str:
    """The joint loss of accepted changes; empty without accepted changes since the anchor, or without a loss."""
    chain, relative, moved = change.context.chain, figures.relative, figures.change
    if chain is None or not chain.accepted or relative is None or moved is None or change.context.sign * moved >= 0:
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
    chain, baseline = change.context.chain, figures.baseline
    if chain is None or not describe_drift(change, figures):
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


def _format_acceptance(change: AcceptedChange, relative: float) -> str:
    """``2026-03-14 synonyms v2 -0.6%``."""
    sign = "-" if relative < 0 else "+"
    return " ".join(filter(None, (change.date[:10], change.reason, f"{sign}{format_percent(abs(relative))}")))


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
