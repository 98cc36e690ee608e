"""One metric of several rankings, query by query: what differs, and whether it can be chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pytest_ireval.results.comparison import Change, MetricComparison, Pair
from pytest_ireval.results.evaluation import MetricResult
from pytest_ireval.statistics.differences import TIE, Floats, differences
from pytest_ireval.statistics.multiplicity import holm
from pytest_ireval.statistics.paired_t import PairedT, paired_t
from pytest_ireval.statistics.sign_flip import sign_flip

Test = Literal["t", "sign-flip"]

FEW = 20
"""Where no more queries differ, a significant t is held against the exact test."""


@dataclass(frozen=True)
class Question:
    """What a comparison is asked: against whom, by which test, at which level, and how many extremes to list."""

    baseline: str | None
    test: Test
    alpha: float
    extremes: int


@dataclass(frozen=True, eq=False)
class Paired:
    """One metric of all rankings over the units that all have: ``values`` is a row a ranking, a column a unit."""

    results: Mapping[str, MetricResult]
    names: Sequence[str]
    units: Sequence[str]
    values: Floats

    @property
    def metric(self) -> MetricResult:
        """What is the same for all of them."""
        return self.results[self.names[0]]

    @property
    def sign(self) -> int:
        """1 where higher values are better, -1 where lower ones are."""
        return -1 if self.metric.direction == "lower" else 1


def compared(results: Mapping[str, MetricResult], question: Question) -> MetricComparison:
    """One metric of all rankings, its pairs tested as ``question`` asks."""
    paired = _paired(results)
    metric = paired.metric
    untested = _why_untested(paired)
    figures = {name: result.value for name, result in results.items()}
    with np.errstate(over="ignore", invalid="ignore"):  # what is no number in the end is None
        pairs = () if untested else _pairs(paired, question)
    return MetricComparison(
        name=metric.name,
        direction=metric.direction,
        unit=metric.unit,
        aggregate=metric.aggregate,
        values=figures,
        best=_best(figures, metric.direction),
        leaders=() if untested else _leaders(paired),
        units=len(paired.units),
        untested=untested,
        pairs=pairs,
    )


def _paired(results: Mapping[str, MetricResult]) -> Paired:
    first, *others = (result.values for result in results.values())
    units = [unit for unit in first if all(unit in other for other in others)]
    values = [[result.values[unit] for unit in units] for result in results.values()]
    return Paired(results, list(results), units, np.array(values, np.float64).reshape(len(results), len(units)))


def _why_untested(paired: Paired) -> str:
    metric = paired.metric
    if metric.unit == "run":
        return "it is one value for the whole, with nothing to pair"
    if metric.aggregate != "mean":
        return f"its figure is no mean ({metric.aggregate})"
    if metric.direction == "neither":
        return "neither higher nor lower values are better"
    return "" if paired.units else f"no {metric.unit} counts"


def _best(figures: Mapping[str, float | None], direction: str) -> tuple[str, ...]:
    known = {name: figure for name, figure in figures.items() if figure is not None}
    if direction == "neither" or not known:
        return ()
    top = max(known.values()) if direction == "higher" else min(known.values())
    best = tuple(name for name, figure in known.items() if abs(figure - top) <= TIE * max(1.0, abs(top)))
    return best if len(best) < len(figures) else ()


def _pairs(paired: Paired, question: Question) -> tuple[Pair, ...]:
    """Each later ranking against each earlier one, or each against the baseline; corrected together."""
    found: list[Pair] = []
    for other, rows in _opponents(paired.names, question.baseline):
        differing = differences(paired.values[rows], paired.values[other])
        found += _against(paired, other, rows, differing, question)
    adjusted = holm(np.array([np.nan if pair.p is None else pair.p for pair in found]))
    judged = _doubted([_judged(pair, p, paired, question) for pair, p in zip(found, adjusted, strict=True)], paired)
    leaders = set(_leaders(paired))
    return tuple(
        _with_extremes(pair, paired, question.extremes)
        if question.baseline is not None or {pair.ranking, pair.other} == leaders
        else pair
        for pair in judged
    )


def _opponents(names: Sequence[str], baseline: str | None) -> list[tuple[int, list[int]]]:
    if baseline is None:
        return [(other, list(range(other + 1, len(names)))) for other in range(len(names) - 1)]
    other = names.index(baseline)
    return [(other, [row for row in range(len(names)) if row != other])]


def _leaders(paired: Paired) -> tuple[str, ...]:
    order = np.argsort(-paired.sign * paired.values.mean(axis=1), kind="stable")[:2]
    return tuple(paired.names[row] for row in order.tolist())


def _against(paired: Paired, other: int, rows: list[int], differing: Floats, question: Question) -> list[Pair]:
    """Rankings against one other; ``differing`` is a row a ranking. Not yet corrected."""
    t = paired_t(differing.T, question.alpha)
    mean = float(paired.values[other].mean())
    better = (paired.sign * differing > 0).sum(axis=1).tolist()
    worse = (paired.sign * differing < 0).sum(axis=1).tolist()
    pairs = []
    for i, row in enumerate(rows):
        test, p = _p(t, i, differing[i], question.test)
        pairs.append(
            Pair(
                ranking=paired.names[row],
                other=paired.names[other],
                difference=float(t.mean[i]),
                relative=float(t.mean[i]) / abs(mean) if mean else None,
                wins=better[i],
                ties=len(paired.units) - better[i] - worse[i],
                losses=worse[i],
                sd=_known(t.sd[i]),
                standard_error=_known(t.standard_error[i]),
                low=_known(t.low[i]),
                high=_known(t.high[i]),
                test=test,
                t=_known(t.t[i]),
                df=t.df or None,
                p=p,
                p_adjusted=None,
                better="",
            )
        )
    return pairs


def _p(t: PairedT, i: int, differing: Floats, asked: Test) -> tuple[Test, float | None]:
    """The p-value and its test: where all differences are equal there is no spread, and the signs alone can tell."""
    if asked == "sign-flip" or np.isinf(t.t[i]):
        return "sign-flip", sign_flip(differing).p
    return "t", _known(t.p[i])


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _judged(pair: Pair, adjusted: float, paired: Paired, question: Question) -> Pair:
    """The pair with its corrected p, and who is better by that."""
    better = ""
    if adjusted < question.alpha:
        better = pair.ranking if pair.difference * paired.sign > 0 else pair.other
    return replace(pair, p_adjusted=None if pair.p is None else float(adjusted), better=better)


def _doubted(pairs: list[Pair], paired: Paired) -> list[Pair]:
    """The pairs, with the exact test where a significant t rests on few changed queries; corrected over all pairs.

    In that correction the exact test stands in for t wherever few queries changed, and t for the others, where it can
    be trusted and is much faster.
    """
    few = [pair.test == "t" and pair.p is not None and pair.wins + pair.losses <= FEW for pair in pairs]
    if not any(one and pair.better for one, pair in zip(few, pairs, strict=True)):
        return pairs
    known = [sign_flip(_differing(pair, paired)).p if one else pair.p for one, pair in zip(few, pairs, strict=True)]
    adjusted = holm(np.array([np.nan if p is None else p for p in known]))
    return [
        replace(pair, sign_flip_p=p, sign_flip_p_adjusted=corrected) if one and pair.better else pair
        for pair, one, p, corrected in zip(pairs, few, known, adjusted.tolist(), strict=True)
    ]


def _differing(pair: Pair, paired: Paired) -> Floats:
    one, other = (paired.values[paired.names.index(name)] for name in (pair.ranking, pair.other))
    return differences(one, other)


def _with_extremes(pair: Pair, paired: Paired, count: int) -> Pair:
    """The pair with its greatest gains and its greatest drops; equal ones in the order of the judgments."""
    one, other = (paired.values[paired.names.index(name)] for name in (pair.ranking, pair.other))
    gain = paired.sign * _differing(pair, paired)

    def changes(size: Floats) -> tuple[Change, ...]:
        rows = np.argsort(-size, kind="stable")[:count]
        return tuple(Change(paired.units[i], float(other[i]), float(one[i])) for i in rows.tolist() if size[i] > 0)

    return replace(pair, gains=changes(gain), drops=changes(-gain))
