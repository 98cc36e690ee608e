"""How far the values of queries moved from the stored baseline: what later runs are planned with."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_ireval.baselines.spreads import NO_SPREADS, Spreads, spread_key, spreads_of
from pytest_ireval.gate.material import Material
from pytest_ireval.plugins.kinds import Part
from pytest_ireval.rules.planning import held_figures, needs_queries, planned
from pytest_ireval.rules.question import Question
from pytest_ireval.rules.seen import Seen
from pytest_ireval.statistics.differences import differences


def moved_by(material: Material) -> Spreads:
    """Of every mean that a rule compares with the stored baseline; none where there is no such baseline.

    One that does not fit what is evaluated now says nothing: its differences are not those of a change of ranking.
    """
    if material.baseline is None or material.baseline_error is not None:
        return NO_SPREADS
    return spreads_of(_moved(material))


def _moved(material: Material) -> Iterator[tuple[str, float]]:
    suite, population = material.suite, material.population
    checks = planned(suite, population.queries if needs_queries(suite) else None)
    for metric, within in held_figures(checks):
        seen = Seen(population, material.now, material.baseline, Part(metric=metric), within)
        if metric.aggregate != "mean" or _unknown(seen):
            continue
        values = seen.paired()
        gain = differences(values.now, values.before)
        if gain.size > 1:
            clustered = population.drawing is not None and population.drawing.clusters is not None
            spread = Question(seen, values).evidence.sd if clustered else float(gain.std(ddof=1))
            yield spread_key(str(metric), str(within)), spread


def _unknown(seen: Seen) -> bool:
    """Whether the metric has no values on one of the sides."""
    name = str(seen.metric)
    sides = (side for side in (seen.now, seen.baseline) if side is not None)
    return any(name not in side.scored or name in side.errors for side in sides)
