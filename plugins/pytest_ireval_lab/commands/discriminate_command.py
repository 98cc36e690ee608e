"""``ireval discriminate``: which metrics tell systems apart, by the share of pairs with a significant difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pytest_ireval.cli.options import ProgressBar, tests_option
from pytest_ireval.cli.sheets import Row, Sheet, print_sheets
from pytest_ireval.plugin_api import Curve, CurvePanel, MetricComparison, draw_curves, format_count
from pytest_ireval.tables import write_files
from pytest_ireval_lab.systems import Systems, systems_command

MOST_P = 0.15
"""P-values above this are at the upper edge of the picture."""


@dataclass
class Discrimination:
    """The power of one metric to tell systems apart: the share of pairs with a significant difference."""

    metric: str
    pairs: int
    """Those that can be tested."""
    significant: int
    """Pairs with p below alpha; each pair by itself, as in the literature."""
    share: float
    after_holm: int
    """Pairs that are significant after Holm's correction over all of them."""
    difference_required: float | None
    """The smallest difference that would be significant for every pair: the greatest one over the pairs."""
    curve: tuple[float, ...]
    """The p-values of all pairs, descending."""


@systems_command("discriminate", tests_option)
def command(systems: Systems, test: str, alpha: float, svg: str | None, form: str) -> None:
    """Compare metrics by how well they tell systems apart, under JUDGMENTS of the same queries.

    Each pair of RANKINGS is tested, at level alpha and two-sided. A metric that finds more pairs different has more
    discriminative power. Name ten or more systems that differ.
    """
    with ProgressBar() as progress:
        comparison = systems.compare(progress, test=test, alpha=alpha)
    tested = [each for each in comparison.metrics if not each.untested]
    powers = sorted((_measure_power(each, alpha) for each in tested), key=lambda each: -each.share)
    notes = [f"{len(systems.rankings)} systems, {comparison.queries} queries, {comparison.test} test, alpha {alpha:g}"]
    notes += [f"{each.name} is left out: {each.untested}" for each in comparison.metrics if each.untested]
    if svg is not None and powers:
        write_files({Path(svg): [_draw_significance(powers, alpha)]})
        notes.append(f"wrote {svg}")
    elif svg is not None:
        notes.append(f"nothing to draw: {svg} not written")
    figures = [{name: value for name, value in asdict(each).items() if name != "curve"} for each in powers]
    pairs: list[Row] = [
        {"metric": each.name, "ranking": pair.ranking, "other": pair.other, "difference": pair.difference, "p": pair.p}
        for each in tested
        for pair in each.pairs
    ]
    print_sheets([Sheet("metrics", figures), Sheet("pairs", pairs, shown=())], notes, form)


def _measure_power(metric: MetricComparison, alpha: float) -> Discrimination:
    tested = [pair for pair in metric.pairs if pair.p is not None]
    curve = sorted((pair.p for pair in tested if pair.p is not None), reverse=True)
    significant = sum(p < alpha for p in curve)
    widths = [(pair.high - pair.low) / 2 for pair in tested if pair.high is not None and pair.low is not None]
    return Discrimination(
        metric.name,
        pairs=len(tested),
        significant=significant,
        share=significant / len(tested) if tested else 0.0,
        after_holm=sum(bool(pair.better) for pair in tested),
        difference_required=max(widths, default=None),
        curve=tuple(curve),
    )


def _draw_significance(powers: Sequence[Discrimination], alpha: float) -> str:
    """The p-values of all pairs, a panel for each metric: the lower, the better."""
    panels = []
    for each in powers:
        most = max(1, each.pairs)
        facts = f"{each.significant} of {format_count(each.pairs, 'pair')} significant ({each.share:.1%})"
        level = Curve([(0, alpha), (most, alpha)], dashed=True)
        curve = Curve([*enumerate(each.curve, 1)], marks=True)
        panels.append(CurvePanel(each.metric, facts, "pair", [level, curve], (0, most), (0, MOST_P)))
    facts = f"from the least to the most significant pair; dashes: alpha {alpha:g}"
    return draw_curves("P-values of all pairs of systems", facts, panels)
