"""``metrics.txt``: the figures of a run in the format OpenMetrics."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pytest_ireval.results.outcome import VERDICTS, SliceFigures
from pytest_ireval.results.suite_result import MetricFigures, RunResult, SuiteResult
from pytest_ireval.text_table import escape_unprintable

Labels = tuple[tuple[str, str], ...]
METRIC_FAMILIES = {
    "ireval_pass": "1 if the whole run may land, 0 if it failed or could not be judged.",
    "ireval_suite_pass": "The same for each suite.",
    "ireval_verdicts": "The number of verdicts of each kind in a suite.",
    "ireval_metric": "A metric as measured by this run, for all queries and for each slice that was compared.",
    "ireval_metric_baseline": "The same metric of the accepted baseline.",
    "ireval_metric_change": "Now minus baseline, over the queries that both sides have.",
    "ireval_metric_resolution": "The smallest drop of the mean that this number of queries shows in 80% of cases.",
    "ireval_rule": "The figures of the other rules, by their names.",
}
"""The content of the file, in this order; all of them are gauges."""
DECIMALS = 6
"""Decimals; what differs beyond them is noise, and a report that compares texts would call it a change."""


def format_metrics(run: RunResult) -> str:
    """The same text for equal runs; what has no value is left out. No timestamps: GitLab has no use for them."""
    values: dict[tuple[str, Labels], float] = {}
    for family, labels, value in _list_samples(run):
        if value is not None and math.isfinite(value):
            values.setdefault((family, labels), value)  # several rules look at one figure
    lines = []
    for family, says in METRIC_FAMILIES.items():
        lines += [f"# TYPE {family} gauge", f"# HELP {family} {says}"]
        for (of, labels), value in values.items():
            if of == family:
                lines.append(f"{family}{_format_labels(labels)} {round(float(value), DECIMALS) + 0.0!r}")
    return "\n".join([*lines, "# EOF", ""])


def _list_samples(run: RunResult) -> Iterator[tuple[str, Labels, float | None]]:
    yield "ireval_pass", (), _pass_value(run.verdict)
    for suite in run.suites:
        name = (("suite", suite.name),)
        yield "ireval_suite_pass", name, _pass_value(suite.verdict)
        verdicts = [outcome.verdict for outcome in suite.outcomes]
        for verdict in VERDICTS:
            yield "ireval_verdicts", (*name, ("verdict", verdict)), verdicts.count(verdict)
        yield from _list_figure_samples(suite, name)
        yield from _list_rule_samples(suite, name)


def _pass_value(verdict: str) -> float:
    return float(verdict not in ("fail", "error"))


def _list_figure_samples(suite: SuiteResult, name: Labels) -> Iterator[tuple[str, Labels, float | None]]:
    """All queries first, then the slices of the rules that compare with the baseline."""
    for metric in suite.metrics:
        labels = (*name, ("metric", metric.name), ("slice", "all"))
        yield from _list_values(labels, metric)
    for outcome in suite.outcomes:
        if outcome.metric and outcome.compares and not outcome.against:
            for each in outcome.figures:
                weighted = (("weighted", "true"),) if each.weighted else ()
                labels = (*name, ("metric", outcome.metric), ("slice", each.slice), *weighted)
                yield from _list_values(labels, each)


def _list_values(labels: Labels, of: MetricFigures | SliceFigures) -> Iterator[tuple[str, Labels, float | None]]:
    yield "ireval_metric", labels, of.now
    yield "ireval_metric_baseline", labels, of.baseline
    yield "ireval_metric_change", labels, of.change
    yield "ireval_metric_resolution", labels, of.resolution


def _list_rule_samples(suite: SuiteResult, name: Labels) -> Iterator[tuple[str, Labels, float | None]]:
    """The numbers of rules that are not among the metrics."""
    for outcome in suite.outcomes:
        if "baseline" in outcome.numbers and not outcome.against:
            continue
        for number, value in outcome.numbers.items():
            yield "ireval_rule", (*name, ("rule", outcome.id), ("number", number)), value


def _format_labels(labels: Labels) -> str:
    pairs = ",".join(f'{name}="{_escape_label(value)}"' for name, value in labels)
    return f"{{{pairs}}}" if pairs else ""


def _escape_label(value: str) -> str:
    """The value of a label: backslashes and quotes escaped, control characters spelled out."""
    # GitLab cuts every line at a ``#`` and refuses the file; so it is a wide one
    return escape_unprintable(value).replace("\\", "\\\\").replace('"', '\\"').replace("#", "\uff03")
