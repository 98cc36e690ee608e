"""``ireval reliability``: how many queries give a stable order of systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from pytest_ireval import Policies, SideData
from pytest_ireval.cli.options import (
    METRICS,
    LateBar,
    format_options,
    metric_option,
    named_files,
    numbers_option,
    policy_options,
    registry_at,
)
from pytest_ireval.cli.sheets import Row, Sheet, sheet_format, show
from pytest_ireval.comparing import why_untested
from pytest_ireval.errors import IrevalError
from pytest_ireval.plugin_api import Curve, CurvePanel, draw_curves, format_count
from pytest_ireval.tables import write_files
from pytest_ireval_lab.reliability import (
    Agreement,
    Coefficient,
    Components,
    TauCurve,
    absolute,
    agreements,
    components,
    curve_of,
    queries_for,
    relative,
)
from pytest_ireval_lab.systems import Systems, SystemValues, doubts, system_values, systems_of

share_between = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command(name="reliability", context_settings={"show_default": True})
@click.argument("judgments")
@click.argument("rankings", nargs=-1, required=True, metavar="RANKINGS RANKINGS...")
@metric_option
@numbers_option(
    "--sizes",
    least=1,
    most=1_000_000,
    default="5,10,25,50,100,250,500,1000",
    help="Numbers of queries in each of two sets, up to half of the queries; that half is added.",
)
@click.option("--draws", default=100, type=click.IntRange(1, 100_000), help="The number of pairs of sets of each size.")
@click.option("--seed", default=7, type=click.IntRange(0), help="The seed of the draws.")
@click.option(
    "--target", default=0.95, type=share_between, help="The reliability that is enough, for both coefficients."
)
@click.option("--tau", default=0.9, type=share_between, help="The agreement of two sets of queries that is enough.")
@click.option("--svg", metavar="FILE", help="Write the curves of tau as a picture.")
@sheet_format
@format_options("judgments", "rankings")
@policy_options
def command(
    judgments: str,
    rankings: tuple[str, ...],
    metrics: tuple[str, ...],
    sizes: tuple[int, ...],
    draws: int,
    seed: int,
    target: float,
    tau: float,
    svg: str | None,
    form: str,
    policies: Policies,
    side_data: SideData,
    **formats: Any,
) -> None:
    """Show how many queries of JUDGMENTS give a stable order of the systems in RANKINGS.

    Two sets of queries that have no query in common order the systems, and their orders are compared. Components of
    variance say how many queries make the order reliable. Name ten or more systems that differ.
    """
    if len(rankings) < 2:
        raise click.UsageError("give at least two RANKINGS")
    with LateBar() as progress:
        reading = {"registry": registry_at(None), "progress": progress, **formats}
        named = named_files(rankings)
        systems = systems_of(judgments, named, metrics or METRICS, policies, side_data, **reading)
        asked = systems.setting.metrics
        every = system_values(asked, systems.judged, systems.setting.policies)
        reasons = {str(each.metric): _why_left_out(each) for each in every}
        usable = [each for each in every if not reasons[str(each.metric)]]
        left_out = [f"{name} is left out: {reason}" for name, reason in reasons.items() if reason]
        if not usable:
            raise IrevalError("\n".join(["no metric is left", *left_out]))
        progress.expect(len(usable) * len(sizes) * draws, "drawing sets of queries")
        found = [_reliability(each, sizes, draws, seed, progress) for each in usable]
    notes = [*_about(systems, found, sizes, draws, seed), *left_out, *doubts(systems, usable), *_unknown(found)]
    if svg is not None:
        notes.append(_drawn(found, tau, svg))
    show([*_sheets(found, target, tau)], notes, form)


@dataclass(frozen=True, eq=False)
class _Reliability:
    metric: str
    parts: Components
    coefficients: dict[str, Coefficient | None]
    orders: list[Agreement]
    trend: TauCurve | None


def _why_left_out(values: SystemValues) -> str:
    units = values.each.shape[1]
    one = f"one {values.metric.unit} shows nothing about others" if units == 1 else ""
    return why_untested(values.metric, units) or one


def _fitting(sizes: Sequence[int], queries: int) -> list[int]:
    """The sizes up to half of the queries, and that half; none if even the smallest size is above it."""
    half = queries // 2
    return sorted({half, *(size for size in sizes if size <= half)}) if sizes[0] <= half else []


def _reliability(values: SystemValues, sizes: Sequence[int], draws: int, seed: int, progress: LateBar) -> _Reliability:
    parts = components(values.each)
    fitting = _fitting(sizes, values.each.shape[1])
    orders = agreements(values.each, values.sign, fitting, draws, seed, progress)
    coefficients = {"Erho2": relative(parts), "Phi": absolute(parts)}
    return _Reliability(str(values.metric), parts, coefficients, orders, curve_of(orders))


def _about(
    systems: Systems, found: Sequence[_Reliability], sizes: Sequence[int], draws: int, seed: int
) -> Iterator[str]:
    yield (
        f"{len(systems.names)} systems, {format_count(systems.queries, 'query')}; {format_count(draws, 'draw')} of "
        f"two sets of queries, seed {seed}; intervals: 95%"
    )
    fewest = min(each.parts.queries for each in found)
    fitting = _fitting(sizes, fewest)
    if not fitting:
        yield f"{fewest} queries are too few for two sets of {sizes[0]}: tau is not known"
    else:
        yield f"tau: observed for sets of up to {fitting[-1]} queries; numbers above that are extrapolated"
    if fewest < FEW_QUERIES:
        yield f"fewer than {FEW_QUERIES} queries: all numbers of needed queries are rough"


FEW_QUERIES = 25


def _unknown(found: Sequence[_Reliability]) -> Iterator[str]:
    if same := [each.metric for each in found if not each.parts.mean_square_systems]:
        yield f"all systems have the same mean, so there is nothing to order: {', '.join(same)}"
    if chance := [each.metric for each in found if each.parts.mean_square_systems and not each.parts.system]:
        yield f"systems differ no more than by chance, so no number of queries can be given: {', '.join(chance)}"


def _sheets(found: Sequence[_Reliability], target: float, tau: float) -> Iterator[Sheet]:
    yield Sheet(
        "variance",
        [{"metric": each.metric, **each.parts._asdict()} for each in found],
        "Shares of the variance of one value:",
        shown=[_shares(each) for each in found],
    )
    orders: list[Row] = [
        {"metric": each.metric, **{name: value for name, value in asdict(one).items() if name != "bins"}}
        for each in found
        for one in each.orders
    ]
    headers = {"tau_ap": "tau AP", "swaps": "swapped", "difference": "5% swaps from"}
    yield Sheet("orders", orders, "Orders of the systems by two sets of queries:", headers, hidden=["draws"])
    bins: list[Row] = [
        {"metric": each.metric, "queries": one.queries, "difference": low, "pairs": pairs, "swapped": swapped}
        for each in found
        for one in each.orders
        for low, pairs, swapped in one.bins
        if pairs
    ]
    yield Sheet("bins", bins, shown=())
    yield Sheet(
        "needed",
        [row for each in found for row in _needed(each, target, tau)],
        "Reliability of the order (Erho2) and of the values (Phi), and tau of two such sets of queries:",
        {"needed": "queries needed", "needed_low": "at least", "needed_high": "at most"},
    )


def _shares(of: _Reliability) -> Row:
    parts = {"systems": of.parts.system, "queries": of.parts.query, "interaction": of.parts.rest}
    total = sum(parts.values())
    return {"metric": of.metric, **{name: part / total if total else None for name, part in parts.items()}}


def _needed(of: _Reliability, target: float, tau: float) -> Iterator[Row]:
    for name, each in of.coefficients.items():
        value, low, high = each[:3] if each else (None, None, None)
        needed, fewest, most = each.needed(target) if each else (None, None, None)
        now = {"value": value, "low": low, "high": high}
        numbers = {"needed": needed, "needed_low": fewest, "needed_high": most}
        yield {"metric": of.metric, "criterion": f"{name} {target:g}", **now, **numbers}
    expected = of.trend.tau(of.parts.queries) if of.trend else None
    now = {"value": expected, "low": None, "high": None}
    needed = queries_for(tau, of.orders, of.trend) if of.trend else None
    numbers = {"needed": needed, "needed_low": None, "needed_high": None}
    yield {"metric": of.metric, "criterion": f"tau {tau:g}", **now, **numbers}


STEPS = 60
"""Points of an extrapolated curve."""


def _drawn(found: Sequence[_Reliability], tau: float, svg: str) -> str:
    """Write the picture: the observed tau, and the extrapolation dashed."""
    drawn = [each for each in found if each.trend]
    if not drawn:
        return f"nothing to draw: {svg} not written"
    panels = []
    for each in drawn:
        needed = queries_for(tau, each.orders, each.trend) if each.trend else None
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
