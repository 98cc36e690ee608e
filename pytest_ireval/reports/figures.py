"""The form of figures: four decimals for a metric, three for one query, changes with their sign."""

from __future__ import annotations

from pytest_ireval.results.outcome import Diagnosis, Outcome, SliceFigures
from pytest_ireval.results.suite_result import JudgmentAges, SuiteResult
from pytest_ireval.text_table import counted, magnitude, roughly


def figure(value: float | None, decimals: int = 4) -> str:
    """A metric's figure; ``-`` where there is none."""
    return "-" if value is None else f"{value:.{decimals}f}"


def change(value: float | None, decimals: int = 4) -> str:
    """A difference; one that rounds to nothing has no minus."""
    return "-" if value is None else f"{_without_minus_zero(value, decimals):+.{decimals}f}"


def word_of(outcome: Outcome) -> str:
    """The verdict as a list names it."""
    if outcome.accepted:
        return "accepted"
    return "warning" if outcome.warning and outcome.verdict == "pass" else outcome.verdict


def cause_words(cause: Diagnosis) -> str:
    """A plain cause with the share of the loss that it explains."""
    if cause.explained is None:
        return cause.headline
    share = f"{cause.explained:.0%}" if cause.explained >= 0.01 else "less than 1%"
    share = "all" if cause.explained >= 0.995 else share
    return f"{cause.headline}; {share} of the loss of {cause.metric} comes from these queries"


def cause_label(verdict: str, cause: Diagnosis) -> str:
    """``Likely cause``, or ``Where``; in a run or suite that passed it is a defect that no rule looks at."""
    return "Look at this" if verdict == "pass" else "Where" if cause.locates else "Likely cause"


def is_explained(suite: SuiteResult, *, why: bool = True) -> bool:
    """Tell whether a plain cause explains most of the loss; with ``why`` one that only says where does not count."""
    return any(each.is_most and not (why and each.locates) for each in suite.diagnoses)


def percent(share: float | None) -> str:
    """A difference as a share, in per cent."""
    return "-" if share is None else f"{_without_minus_zero(100 * share, 1):+.1f}%"


def interval(low: float, high: float) -> str:
    """From low to high, three decimals."""
    return f"{change(low, 3)} .. {change(high, 3)}"


def moved_figures(each: SliceFigures) -> list[str]:
    """The figure before, the figure now, the change, and its share."""
    return [figure(each.baseline), figure(each.now), change(each.change), percent(each.relative)]


def moved_word(direction: str) -> str:
    """The name of a change for the worse, by the direction of its metric."""
    return {"higher": "drop", "lower": "rise"}.get(direction, "change")


def certainty_words(each: SliceFigures, moved: str, what: str = "interval of the change") -> str:
    """The interval of the change, and the smallest change that this number of queries can show."""
    known = each.low is not None and each.high is not None
    within = f"{each.level * 100:.4g}% {what} {interval(each.low or 0.0, each.high or 0.0)}" if known else ""
    return "; ".join(filter(None, (within, sight_words(each, moved))))


def _without_minus_zero(value: float, decimals: int) -> float:
    return round(value, decimals) + 0.0


def ages_words(ages: JudgmentAges) -> str:
    """``from 2024-03-01 to 2026-10-02, median age 210 days, 12% older than a year``."""
    dates = f"from {ages.oldest} to {ages.newest}" if ages.oldest != ages.newest else f"of {ages.oldest}"
    undated = f"; {ages.undated:,} without a date" if ages.undated else ""
    return f"{dates}, median age {counted(ages.median_days, 'day')}, {ages.older:.0%} older than a year{undated}"


MOST = 10**9
"""No suite has more queries than that."""


def sight_words(each: SliceFigures, moved: str) -> str:
    """``12 queries can show a drop of 0.34 or more (80% power); 1,900 would show one of 0.027``; nothing if unknown.

    ``moved`` is what the change is called: a drop, a rise, a change.
    """
    if each.resolution is None:
        return ""
    within = "" if each.clusters is None else f" in {counted(each.clusters, 'cluster')}"
    queries = f"{counted(each.queries, 'query')}{within}"
    if each.hopeless:
        said = f"{queries} cannot show any {moved}, however large"
    else:
        article = "an" if moved[0] in "aeiou" else "a"
        said = f"{queries} can show {article} {moved} of {magnitude(each.resolution)} or more (80% power)"
    if each.needed is None or not each.tolerance or not each.queries < each.needed < MOST:
        return said
    return f"{said}; {roughly(each.needed):,} would show one of {magnitude(each.tolerance)}"
