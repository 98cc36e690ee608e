"""``ireval plan-online``: the searches and days that an A/B test needs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from pytest_ireval import IrevalError
from pytest_ireval.cli.options import svg_option
from pytest_ireval.cli.sheets import Row, Sheet, print_sheets, sheet_format
from pytest_ireval.plugin_api import Curve, CurvePanel, Problem, draw_curves
from pytest_ireval.tables import write_files
from pytest_ireval_lab.online import Design

DAYS = (7, 14, 28, 56)


class _Change(NamedTuple):
    """A change worth finding."""

    amount: float
    relative: bool
    """True if the amount is a share of the rate."""


def _read_share(_context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    """``5%`` or ``0.05``, above 0."""
    if text is None:
        return None
    number = _parse_number(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    if not 0 < number < 1:
        raise click.BadParameter(f"{text!r} is not a share: write 5% or 0.05, above 0 and below 1", param=option)
    return number


def _read_changes(_context: click.Context, option: click.Parameter, texts: Sequence[str]) -> list[_Change]:
    changes = []
    for text in texts:
        relative = text.strip().endswith("%")
        number = _parse_number(text.strip().removesuffix("%"))
        if not 0 < number < math.inf:
            raise click.BadParameter(f"{text!r} is not a change: write 1% (of the rate) or 0.003", param=option)
        changes.append(_Change(number / 100 if relative else number, relative))
    return changes


def _parse_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


@click.command(name="plan-online", context_settings={"show_default": True})
@click.option("--rate", required=True, callback=_read_share, help="The rate without the change, such as 0.3 or 30%.")
@click.option(
    "--change",
    "wanted",
    multiple=True,
    callback=_read_changes,
    help="The smallest change worth finding: 0.003 (an amount) or 1% (of the rate); repeatable.",
)
@click.option("--searches-per-day", type=click.FloatRange(0, min_open=True), help="All searches of a day.")
@click.option("--share", default="5%", callback=_read_share, help="The share of all searches that get the new version.")
@click.option(
    "--old-share", callback=_read_share, help="The share of the arm with the old version; the default is --share."
)
@click.option(
    "--days", "days", multiple=True, type=click.IntRange(1), help="Show what this many days find; repeatable."
)
@click.option(
    "--alpha", default=0.05, type=click.FloatRange(0, 0.5, min_open=True, max_open=True), help="Level of significance."
)
@click.option(
    "--power",
    default=0.80,
    type=click.FloatRange(0.5, 1, max_open=True),
    help="The share of tests that find the change.",
)
@click.option("--one-sided", is_flag=True, help="Test only whether the new version is better.")
@click.option(
    "--searches-per-user", default=1.0, type=click.FloatRange(1), help="Searches of one user during the test."
)
@click.option(
    "--correlation", default=0.0, type=click.FloatRange(0, 1), help="The correlation of searches of one user."
)
@click.option(
    "--covariate",
    default=0.0,
    type=click.FloatRange(-1, 1, min_open=True, max_open=True),
    help="The correlation of the rate with a figure from before the test, such as the same user's earlier rate.",
)
@svg_option("Write the smallest change that shows, by days, as a picture.")
@sheet_format
def command(
    rate: float,
    wanted: list[_Change],
    searches_per_day: float | None,
    share: float,
    old_share: float | None,
    days: tuple[int, ...],
    alpha: float,
    power: float,
    one_sided: bool,
    searches_per_user: float,
    correlation: float,
    covariate: float,
    svg: str | None,
    form: str,
) -> None:
    """Plan an A/B test of a rate, such as the share of searches with a click.

    It shows the searches and the days that a change needs, or the smallest change that some days show.
    """
    if not wanted and not days:
        raise click.UsageError("give --change, or --days with --searches-per-day")
    if searches_per_day is None and (days or svg is not None):
        raise click.UsageError(f"{'--days' if days else '--svg'} needs --searches-per-day")
    old_share = old_share or share
    if share + old_share > 1 + 1e-9:
        raise click.UsageError(f"both arms together have {share + old_share:.4g} of all searches, which is more than 1")
    figures = (searches_per_day, alpha, power, searches_per_user, correlation, covariate)
    if not all(math.isfinite(each) for each in figures if each is not None):
        raise click.UsageError("all numbers must be finite")
    variance = (1 + (searches_per_user - 1) * correlation) * (1 - covariate**2)
    design = Design(rate, share, old_share, alpha, power, not one_sided, variance)
    changes = [each.amount * rate if each.relative else each.amount for each in wanted]
    _refuse_impossible(rate, changes, 1 - rate if one_sided else max(rate, 1 - rate))
    rows = [_plan_row(design, change, searches_per_day) for change in changes]
    detectable: list[Row] = []
    if searches_per_day is not None:
        detectable = [_detectable_row(design, count, searches_per_day) for count in days or DAYS]
    notes = [*_describe_design(design, changes), *_note_small_arms(design, [*rows, *detectable])]
    if svg is not None:
        notes.append(_draw_picture(svg, design, changes, float(searches_per_day or 0), days))
    about_plan = "Searches that each arm needs:" if rows else ""
    sheets = [
        Sheet("plan", rows, about_plan, shown=[_shorten_row(row) for row in rows]),
        Sheet(
            "detectable", detectable, "The smallest change that shows:", shown=[_shorten_row(row) for row in detectable]
        ),
    ]
    print_sheets(sheets, notes, form)


MOST = 1e15
"""No search engine has more searches."""


def _refuse_impossible(rate: float, changes: Sequence[float], room: float) -> None:
    """Refuse changes that leave the range of rates, and those that no test can find."""
    problems = [
        Problem(
            f"a rate of {rate:g} cannot change by {change:g}",
            suggestion="write a share of the rate with a percent sign: --change 1%",
            allowed=f"a change of {room:g} or less: rates are between 0 and 1",
        )
        for change in changes
        if change > room + 1e-12
    ]
    problems += [
        Problem(
            f"a change of {change:g} is too small: it needs more than {MOST:g} searches", allowed="a larger --change"
        )
        for change in changes
        if rate > MOST * change * change
    ]
    if problems:
        raise IrevalError(*problems)


def _plan_row(design: Design, change: float, per_day: float | None) -> Row:
    new, old = design.sample(change)
    days = None if per_day is None else design.days(change, per_day)
    return {
        "change": change,
        "relative": change / design.rate,
        "new": new,
        "old": old,
        "days": days,
        "whole_weeks": None if days is None else -(-days // 7),
    }


def _detectable_row(design: Design, days: int, per_day: float) -> Row:
    smallest = design.change(days * per_day)
    change = smallest if smallest <= max(design.rate, 1 - design.rate) else None
    return {
        "days": days,
        "new": int(days * per_day * design.new),
        "old": int(days * per_day * design.old),
        "change": change,
        "relative": change and change / design.rate,
    }


def _shorten_row(row: Row) -> Row:
    """The row with the digits that matter: rates may be small."""
    short: dict[str, str | int | None] = {}
    for name, value in row.items():
        if name == "relative" and value is not None:
            short[name] = f"{100 * float(value):.3g}%"
        elif isinstance(value, float):
            short[name] = f"{value:.3g}" if name == "change" else f"{value:.2f}"
        else:
            short[name] = value
    return short


def _describe_design(design: Design, changes: Sequence[float]) -> Iterator[str]:
    sides = "two-sided" if design.two_sided else "one-sided"
    yield f"rate {design.rate:g}; {sides} test at alpha {design.alpha:g}; power {100 * design.power:g}%"
    yield f"arms: {design.new:.3g} of all searches get the new version, {design.old:.3g} the old one"
    if design.variance != 1:
        yield f"variance: {design.variance:.3g} times that of independent searches, by users and covariate"
    yield "look once, at the end: a test that stops at the first significant look has many more false alarms"
    at = design.rate * (1 - design.rate)
    higher = max((design.rate + change for change in changes if design.rate + change <= 1), default=design.rate)
    factor = (higher * (1 - higher) / design.new + at / design.old) / (at / design.new + at / design.old)
    if factor > 1.05:
        yield (
            f"the formula takes the variance of both arms from the rate {design.rate:g}; a rise to {higher:g} needs "
            f"{factor:.2f} times the searches"
        )


FEW = 10
"""With fewer searches of either outcome in an arm the normal distribution is not good enough."""


def _note_small_arms(design: Design, rows: Sequence[Row]) -> Iterator[str]:
    least = min(int(row[arm] or 0) for row in rows for arm in ("new", "old"))
    if least * min(design.rate, 1 - design.rate) < FEW:
        yield f"arms of {least:,} searches have fewer than {FEW} of one outcome: figures of such small arms are rough"


def _draw_picture(svg: str, design: Design, changes: Sequence[float], per_day: float, days: Sequence[int]) -> str:
    last = max(DAYS[-1], *days, *(min(365, design.days(change, per_day)) for change in changes), 1)
    points = [(day, design.change(day * per_day)) for day in (*range(1, last, max(1, last // 200)), last)]
    write_files({Path(svg): [draw_detectable(points, changes, design.rate)]})
    return f"wrote {svg}"


HIGHEST = 4
"""The picture ends at this many times the last change, or above the change that was asked for: day 1 shows little."""


def draw_detectable(points: Sequence[tuple[int, float]], changes: Sequence[float], rate: float) -> str:
    """The smallest change that shows, over days; dashes are the changes that were asked for."""
    heading = "The smallest change that shows, by days"
    facts = f"change of a rate of {rate:g}; dashes: the changes worth finding" if changes else f"of a rate of {rate:g}"
    (first, before), (last, after) = points[0], points[-1]
    most = min(before, max(HIGHEST * after, *(1.2 * change for change in changes), 0.0))
    wanted = [Curve([(0, change), (last, change)], dashed=True) for change in changes if change <= most]
    curve = Curve([(day, change) for day, change in points if change <= most])
    panel = CurvePanel("", "", "days", [*wanted, curve], (0, last), (0, most))
    summary = f"{heading}: {before:.3g} after day {first}, {after:.3g} after day {last}."
    return draw_curves(heading, facts, [panel], summary)
