"""The rows of a table of figures: each metric over all queries, and below it whatever else its rules decided by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from pytest_ireval.report.formatting import format_change, format_interval, format_value, name_verdict
from pytest_ireval.results.outcome import Outcome, SliceFigures, find_worst_verdict
from pytest_ireval.results.suite_result import MetricFigures, SuiteResult
from pytest_ireval.text_table import truncate
from pytest_ireval.words import format_count, format_magnitude

MAX_SLICES = 3
"""The most slices of a metric that have a row; the others share one."""
LONGEST_REFERENCE = 40
"""The most characters of another reference; its rule has it whole."""


class FigureRow(NamedTuple):
    """A metric, or a kind of rule without one, with what decided about it."""

    name: str
    figures: MetricFigures | SliceFigures | None
    direction: str
    verdict: str
    rules: str = ""
    """The kinds of rules that did not pass, where these figures do not show why."""


def list_figure_rows(suite: SuiteResult) -> list[FigureRow]:
    """The rows of each metric, then one for each kind of rule without a metric that did not pass."""
    rows = [row for metric in suite.metrics for row in _list_rows_of_metric(suite, metric)]
    others = sorted((outcome for outcome in suite.outcomes if not outcome.metric), key=lambda each: each.kind)
    for kind, outcomes in groupby(others, key=lambda each: each.kind):
        if verdict := _summarize_verdicts(list(outcomes)):
            rows.append(FigureRow(kind, None, "", verdict))
    if not rows or (suite.error and not any(row.name == "inputs" for row in rows)):
        rows.append(FigureRow("inputs" if suite.error else "", None, "", suite.verdict))
    return rows


def format_figure_row(row: FigureRow) -> list[str]:
    """Its cells: name, figures, verdict."""
    verdict = f"{row.verdict} ({row.rules})" if row.rules else row.verdict
    of = row.figures
    if of is None:
        return [row.name, *[""] * 5, verdict]
    can_show = "-" if of.resolution is None else format_magnitude(of.resolution)
    certain = "-" if of.low is None or of.high is None else format_interval(of.low, of.high)
    figures = [format_value(of.now), format_value(of.baseline), format_change(of.change), certain, can_show]
    return [row.name, *figures, verdict]


def _list_rows_of_metric(suite: SuiteResult, metric: MetricFigures) -> Iterator[FigureRow]:
    by_figures: dict[str, list[Outcome]] = {"": []}
    for outcome in suite.outcomes:
        if outcome.metric == metric.name:
            by_figures.setdefault(_name_figures(outcome), []).append(outcome)
    whole = by_figures.pop("")
    shown = {label: about for label, about in by_figures.items() if about[0].slice == "all"}
    slices = {label: about for label, about in by_figures.items() if label not in shown}
    red_slices = {label: about for label, about in slices.items() if _summarize_verdicts(about)}
    name = metric.name if metric.aggregate == "mean" else f"{metric.name} ({metric.aggregate})"
    passed = "pass" if whole or (slices and not red_slices) else "-"
    verdict = "error" if metric.error else _summarize_verdicts(whole) or passed
    repeated = metric.baseline is None and any(outcome.figures for about in shown.values() for outcome in about)
    if whole or metric.error or not repeated:
        yield FigureRow(name, metric, metric.direction, verdict, _name_rules(whole))
    left_out = list(red_slices)[MAX_SLICES:] if len(red_slices) > MAX_SLICES + 1 else []
    for label, about in (*shown.items(), *red_slices.items()):
        if label not in left_out:
            figures = next((each.figures[0] for each in about if each.figures), None)
            verdict = _summarize_verdicts(about) or "pass"
            yield FigureRow(f"{metric.name}, {label}", figures, metric.direction, verdict, _name_rules(about))
    if left_out:
        verdict = _summarize_verdicts([outcome for label in left_out for outcome in red_slices[label]])
        yield FigureRow(f"{metric.name}, {format_count(len(left_out), 'more slice')}", None, "", verdict)


def _name_figures(outcome: Outcome) -> str:
    """What the rule decided by, other than the mean of all queries and the stored baseline, as ``segment=tail``."""
    parts = [] if outcome.slice == "all" else [outcome.slice]
    parts += ["weighted"] if any(line.weighted for line in outcome.figures) else []
    parts += [f"against {truncate(outcome.against, LONGEST_REFERENCE)}"] if outcome.against else []
    return ", ".join(parts)


def _name_rules(about: Sequence[Outcome]) -> str:
    """The kinds of those that did not pass for another reason than the change of the figure."""
    worst = _summarize_verdicts(about)
    silent = [each for each in about if each.figures and each.figures[0].tolerance is None]
    return ", ".join(dict.fromkeys(each.kind for each in silent if worst and name_verdict(each) == worst))


def _summarize_verdicts(outcomes: Sequence[Outcome]) -> str:
    """The worst verdict, or what was let through; nothing if all is well."""
    verdict = find_worst_verdict(tuple(outcome.verdict for outcome in outcomes))
    if verdict != "pass":
        return verdict
    if any(outcome.accepted for outcome in outcomes):
        return "accepted"
    return "warning" if any(outcome.warning for outcome in outcomes) else ""
