"""Figures with their decimals and signs, verdicts, causes and certainty, as all reports show them."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_ireval.results.outcome import INTERVAL_LEVEL, Diagnosis, Outcome, SliceFigures
from pytest_ireval.results.suite_result import JudgmentAges, SuiteResult
from pytest_ireval.words import choose_decimals, format_count, format_magnitude, round_estimate


def format_value(value: float | None, decimals: int = 4) -> str:
    """A metric's figure; ``-`` where there is none."""
    return "-" if value is None else f"{value:.{decimals}f}"


def format_change(value: float | None, decimals: int = 4) -> str:
    """A difference; one that rounds to nothing has no minus."""
    return "-" if value is None else f"{_round_without_minus_zero(value, decimals):+.{decimals}f}"


def name_verdict(outcome: Outcome) -> str:
    """The verdict as a list names it."""
    if outcome.accepted:
        return "accepted"
    if outcome.stale and outcome.verdict == "fail":
        return "stale"
    return "warning" if outcome.warning and outcome.verdict == "pass" else outcome.verdict


def count_stale(outcomes: Iterable[Outcome]) -> str:
    """``, 2 of them stale``: they failed because their documents are gone, and not because of the ranking."""
    stale = sum(name_verdict(outcome) == "stale" for outcome in outcomes)
    return f", {stale:,} of them stale" if stale else ""


Tone = str
"""``worse``, ``better`` or empty: the colour of a change, in addition to its sign."""


def choose_tone(change: float | None, direction: str) -> Tone:
    """Tell whether a change is for the worse; one that is shown as 0 is neither, nor is one without a direction."""
    if not round(change or 0.0, 4) or direction not in ("higher", "lower"):
        return ""
    return "better" if ((change or 0.0) > 0) == (direction == "higher") else "worse"


def describe_cause(cause: Diagnosis) -> str:
    """A plain cause with the share of the loss that it explains."""
    if cause.explained is None:
        return cause.headline
    share = f"{cause.explained:.0%}" if cause.explained >= 0.01 else "less than 1%"
    share = "all" if cause.explained >= 0.995 else share
    return f"{cause.headline}; {share} of the loss of {cause.metric} comes from {cause.stage or 'these queries'}"


def choose_cause_label(verdict: str, cause: Diagnosis) -> str:
    """``Likely cause``, or ``Mostly in``; in a run or suite that passed it is a defect that no rule looks at."""
    return "Look at this" if verdict == "pass" else "Mostly in" if cause.locates else "Likely cause"


def is_explained(suite: SuiteResult, *, why: bool = True) -> bool:
    """Tell whether a plain cause explains most of the loss; with ``why`` one that only says where does not count."""
    return any(cause.is_most and not (why and cause.locates) for cause in suite.diagnoses)


def format_percent(share: float | None, decimals: int = 1) -> str:
    """A difference as a share, in per cent."""
    return "-" if share is None else f"{_round_without_minus_zero(100 * share, decimals):+.{decimals}f}%"


def choose_change_decimals(each: SliceFigures) -> int:
    """The decimals of a change and of the tolerance beside it: as many as tell the two apart."""
    return choose_decimals(abs(each.change or 0.0), each.tolerance, 4)


def choose_share_decimals(each: SliceFigures) -> int:
    """The same for the change as a share of the baseline, in per cent."""
    if each.relative is None or not each.baseline or each.tolerance is None:
        return 1
    return choose_decimals(100 * abs(each.relative), 100 * each.tolerance / abs(each.baseline), 1)


def format_interval(low: float, high: float) -> str:
    """From low to high, three decimals."""
    return f"{format_change(low, 3)} .. {format_change(high, 3)}"


def format_comparison(each: SliceFigures) -> list[str]:
    """The figure before, the figure now, the change, and its share."""
    moved = (
        format_change(each.change, choose_change_decimals(each)),
        format_percent(each.relative, choose_share_decimals(each)),
    )
    return [format_value(each.baseline), format_value(each.now), *moved]


def name_worsening(direction: str) -> str:
    """The name of a change for the worse, by the direction of its metric."""
    return {"higher": "drop", "lower": "rise"}.get(direction, "change")


def describe_certainty(each: SliceFigures, moved: str, what: str = "interval of the change") -> str:
    """The interval of the change, and the smallest change that this number of queries can show."""
    known = each.low is not None and each.high is not None
    within = f"{INTERVAL_LEVEL:.0%} {what} {format_interval(each.low or 0.0, each.high or 0.0)}" if known else ""
    return "; ".join(filter(None, (within, describe_resolution(each, moved))))


def _round_without_minus_zero(value: float, decimals: int) -> float:
    return round(value, decimals) + 0.0


def describe_ages(ages: JudgmentAges) -> str:
    """``from 2024-03-01 to 2026-10-02, median age 210 days, 12% older than a year``."""
    dates = f"from {ages.oldest} to {ages.newest}" if ages.oldest != ages.newest else f"of {ages.oldest}"
    undated = f"; {ages.undated:,} without a date" if ages.undated else ""
    return f"{dates}, median age {format_count(ages.median_days, 'day')}, {ages.older:.0%} older than a year{undated}"


MAX_QUERIES = 10**9
"""No suite has more queries than that."""


def describe_resolution(each: SliceFigures, moved: str) -> str:
    """``12 queries show a drop of 0.34 or more in 4 of 5 cases; a drop of 0.027 needs 1,900``; nothing if unknown.

    ``moved`` is what the change is called: a drop, a rise, a change.
    """
    if each.resolution is None:
        return ""
    within = "" if each.clusters is None else f" in {format_count(each.clusters, 'cluster')}"
    queries = f"{format_count(each.queries, 'query')}{within}"
    article = "an" if moved[0] in "aeiou" else "a"
    if each.can_show_no_drop:
        said = f"{queries} cannot show any {moved}, however large"
    else:
        show = "shows" if each.queries == 1 else "show"
        size = format_magnitude(each.resolution)
        said = f"{queries} {show} {article} {moved} of {size} or more in 4 of 5 cases"
    if each.needed is None or not each.tolerance or not each.queries < each.needed < MAX_QUERIES:
        return said
    return f"{said}; {article} {moved} of {format_magnitude(each.tolerance)} needs {round_estimate(each.needed):,}"
