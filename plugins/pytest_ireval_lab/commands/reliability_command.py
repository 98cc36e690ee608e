"""``ireval reliability``: how many queries give a stable order of systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from pytest_ireval import Comparison, IrevalError
from pytest_ireval.cli.options import ProgressBar, numbers_option
from pytest_ireval.cli.sheets import Row, Sheet, print_sheets
from pytest_ireval.plugin_api import Curve, CurvePanel, MetricComparison, draw_curves, format_count
from pytest_ireval.tables import write_files
from pytest_ireval_lab.reliability import (
    Agreement,
    Coefficient,
    Components,
    TauCurve,
    compare_halves,
    compute_components,
    compute_dependability,
    compute_generalizability,
    find_queries_for_tau,
    fit_tau_curve,
)
from pytest_ireval_lab.systems import Floats, Systems, collect_values, note_doubts, systems_command

SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@systems_command(
    "reliability",
    numbers_option(
        "--sizes",
        least=1,
        most=1_000_000,
        default="5,10,25,50,100,250,500,1000",
        help="Numbers of queries in each of two sets, up to half of the queries; that half is added.",
    ),
    click.option(
        "--draws", default=100, type=click.IntRange(1, 100_000), help="The number of pairs of sets of each size."
    ),
    click.option("--seed", default=7, type=click.IntRange(0), help="The seed of the draws."),
    click.option("--target", default=0.95, type=SHARE, help="The reliability that is enough, for both coefficients."),
    click.option("--tau", default=0.9, type=SHARE, help="The agreement of two sets of queries that is enough."),
)
def command(
    systems: Systems,
    sizes: tuple[int, ...],
    draws: int,
    seed: int,
    target: float,
    tau: float,
    svg: str | None,
    form: str,
) -> None:
    """Show how many queries of JUDGMENTS give a stable order of the systems in RANKINGS.

    Two sets of queries that have no query in common order the systems, and their orders are compared. Components of
    variance say how many queries make the order reliable. Name ten or more systems that differ.
    """
    with ProgressBar() as progress:
        comparison = systems.compare(progress)
        reasons = {metric.name: _why_left_out(metric) for metric in comparison.metrics}
        metrics = [metric for metric in comparison.metrics if not reasons[metric.name]]
        left_out = [f"{name} is left out: {reason}" for name, reason in reasons.items() if reason]
        if not metrics:
            raise IrevalError("\n".join(["no metric is left", *left_out]))
        progress.expect(len(metrics) * len(sizes) * draws, "drawing sets of queries")
        results = [
            _measure(metric, collect_values(comparison, metric), sizes, draws, seed, progress) for metric in metrics
        ]
    notes = [
        *_describe_draws(comparison, results, sizes, draws, seed),
        *left_out,
        *note_doubts(comparison, metrics),
        *_note_unknown(results),
    ]
    if svg is not None:
        notes.append(_draw(results, tau, svg))
    print_sheets([*_make_sheets(results, target, tau)], notes, form)


@dataclass(eq=False)
class _Reliability:
    metric: str
    parts: Components
    coefficients: dict[str, Coefficient | None]
    orders: list[Agreement]
    trend: TauCurve | None


def _why_left_out(metric: MetricComparison) -> str:
    one = f"one {metric.unit} shows nothing about others" if metric.units == 1 else ""
    return metric.untested or one


def _list_fitting(sizes: Sequence[int], queries: int) -> list[int]:
    """The sizes up to half of the queries, and that half; none if even the smallest size is above it."""
    half = queries // 2
    return sorted({half, *(size for size in sizes if size <= half)}) if sizes[0] <= half else []


def _measure(
    metric: MetricComparison, values: Floats, sizes: Sequence[int], draws: int, seed: int, progress: ProgressBar
) -> _Reliability:
    parts = compute_components(values)
    sign = -1 if metric.direction == "lower" else 1
    orders = compare_halves(values, sign, _list_fitting(sizes, metric.units), draws, seed, progress)
    coefficients = {"Erho2": compute_generalizability(parts), "Phi": compute_dependability(parts)}
    return _Reliability(metric.name, parts, coefficients, orders, fit_tau_curve(orders))


def _describe_draws(
    comparison: Comparison, results: Sequence[_Reliability], sizes: Sequence[int], draws: int, seed: int
) -> Iterator[str]:
    yield (
        f"{len(comparison.rankings)} systems, {format_count(comparison.queries, 'query')}; "
        f"{format_count(draws, 'draw')} of two sets of queries, seed {seed}; intervals: 95%"
    )
    fewest = min(each.parts.queries for each in results)
    fitting = _list_fitting(sizes, fewest)
    if not fitting:
        yield f"{fewest} queries are too few for two sets of {sizes[0]}: tau is not known"
    else:
        yield f"tau: observed for sets of up to {fitting[-1]} queries; numbers above that are extrapolated"
    if fewest < FEW_QUERIES:
        yield f"fewer than {FEW_QUERIES} queries: all numbers of needed queries are rough"


FEW_QUERIES = 25


def _note_unknown(results: Sequence[_Reliability]) -> Iterator[str]:
    if same := [each.metric for each in results if not each.parts.mean_square_systems]:
        yield f"all systems have the same mean, so there is nothing to order: {', '.join(same)}"
    if chance := [each.metric for each in results if each.parts.mean_square_systems and not each.parts.system]:
        yield f"systems differ no more than by chance, so no number of queries can be given: {', '.join(chance)}"


def _make_sheets(results: Sequence[_Reliability], target: float, tau: float) -> Iterator[Sheet]:
    yield Sheet(
        "variance",
        [{"metric": each.metric, **each.parts._asdict()} for each in results],
        "Shares of the variance of one value:",
        shown=[_share_row(each) for each in results],
    )
    orders: list[Row] = [
        {"metric": each.metric, **{name: value for name, value in vars(one).items() if name != "bins"}}
        for each in results
        for one in each.orders
    ]
    headers = {"tau_ap": "tau AP", "swaps": "swapped", "difference": "5% swaps from"}
    yield Sheet("orders", orders, "Orders of the systems by two sets of queries:", headers, hidden=["draws"])
    bins: list[Row] = [
        {"metric": each.metric, "queries": one.queries, "difference": low, "pairs": pairs, "swapped": swapped}
        for each in results
        for one in each.orders
        for low, pairs, swapped in one.bins
        if pairs
    ]
    yield Sheet("bins", bins, shown=())
    yield Sheet(
        "needed",
        [row for each in results for row in _needed_rows(each, target, tau)],
        "Reliability of the order (Erho2) and of the values (Phi), and tau of two such sets of queries:",
        {"needed": "queries needed", "needed_low": "at least", "needed_high": "at most"},
    )


def _share_row(result: _Reliability) -> Row:
    parts = {"systems": result.parts.system, "queries": result.parts.query, "interaction": result.parts.rest}
    total = sum(parts.values())
    return {"metric": result.metric, **{name: part / total if total else None for name, part in parts.items()}}


def _needed_rows(result: _Reliability, target: float, tau: float) -> Iterator[Row]:
    for name, each in result.coefficients.items():
        value, low, high = each[:3] if each else (None, None, None)
        needed, fewest, most = each.needed(target) if each else (None, None, None)
        now = {"value": value, "low": low, "high": high}
        numbers = {"needed": needed, "needed_low": fewest, "needed_high": most}
        yield {"metric": result.metric, "criterion": f"{name} {target:g}", **now, **numbers}
    expected = result.trend.tau(result.parts.queries) if result.trend else None
    now = {"value": expected, "low": None, "high": None}
    needed = find_queries_for_tau(tau, result.orders, result.trend) if result.trend else None
    numbers = {"needed": needed, "needed_low": None, "needed_high": None}
    yield {"metric": result.metric, "criterion": f"tau {tau:g}", **now, **numbers}


STEPS = 60
"""Points of an extrapolated curve."""


def _draw(results: Sequence[_Reliability], tau: float, svg: str) -> str:
    """Write the picture: the observed tau, and the extrapolation dashed."""
    drawable = [each for each in results if each.trend]
    if not drawable:
        return f"nothing to draw: {svg} not written"
    panels = []
    for each in drawable:
        needed = find_queries_for_tau(tau, each.orders, each.trend) if each.trend else None
        end = min(max(needed or 0, each.parts.queries), 4 * each.parts.queries)
        curve = [(x, each.trend.tau(x)) for x in (end * (i + 1) / STEPS for i in range(STEPS)) if each.trend]
        points = [(float(one.queries), one.tau) for one in each.orders if one.tau is not None]
        facts = f"tau {tau:g} with {format_count(needed, 'query') if needed else 'no number of queries'}"
        lowest = min(0.0, *(y for _, y in points))
        curves = [Curve(curve, dashed=True), Curve(points, marks=True)]
        panels.append(CurvePanel(each.metric, facts, "queries", curves, (0, end), (lowest, 1)))
    picture = draw_curves("tau of two sets of queries", "solid: observed; dashes: extrapolated", panels)
    write_files({Path(svg): [picture]})
    return f"wrote {svg}"
