"""A run as ``metrics.txt``, in the OpenMetrics text format: for the metrics report of GitLab, and for Prometheus."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pytest_ireval.results.outcome import VERDICTS
from pytest_ireval.results.suite_result import RunResult, SuiteResult
from pytest_ireval.text_table import printable

Labels = tuple[tuple[str, str], ...]

FAMILIES = {
    "ireval_pass": "1 if the whole run may land, 0 if it failed or could not be judged.",
    "ireval_suite_pass": "The same for each suite.",
    "ireval_verdicts": "How many verdicts of a suite there are of each kind.",
    "ireval_metric": "A metric as measured by this run, for all queries and for each slice that was compared.",
    "ireval_metric_baseline": "The same metric of the accepted baseline.",
    "ireval_metric_change": "Now minus baseline, over the queries that both sides have.",
    "ireval_metric_resolution": "The smallest drop of the mean that so many queries show in 80% of cases.",
    "ireval_rule": "What the other rules looked at, by the name of the number.",
}
"""What stands in the file, in this order; all of them are gauges."""
DIGITS = 6
"""Decimals; what differs beyond them is noise, and a report that compares texts would call it a change."""


def metrics_text(run: RunResult) -> str:
    """The same text for equal runs; what has no value is left out. No timestamps: GitLab has no use for them."""
    values: dict[tuple[str, Labels], float] = {}
    for family, labels, value in _samples(run):
        if value is not None and math.isfinite(value):
            values.setdefault((family, labels), value)  # several rules look at one figure
    lines = []
    for family, says in FAMILIES.items():
        lines += [f"# TYPE {family} gauge", f"# HELP {family} {says}"]
        lines += [
            f"{family}{_labels(labels)} {_number(value)}" for (of, labels), value in values.items() if of == family
        ]
    return "\n".join([*lines, "# EOF", ""])


def _samples(run: RunResult) -> Iterator[tuple[str, Labels, float | None]]:
    yield "ireval_pass", (), _green(run.verdict)
    for suite in run.suites:
        name = (("suite", suite.name),)
        yield "ireval_suite_pass", name, _green(suite.verdict)
        verdicts = [outcome.verdict for outcome in suite.outcomes]
        for verdict in VERDICTS:
            yield "ireval_verdicts", (*name, ("verdict", verdict)), verdicts.count(verdict)
        yield from _figures(suite, name)
        yield from _rules(suite, name)


def _green(verdict: str) -> float:
    return float(verdict not in ("fail", "error"))


def _figures(suite: SuiteResult, name: Labels) -> Iterator[tuple[str, Labels, float | None]]:
    """All queries first, then the slices of the rules that compare with the baseline."""
    for metric in suite.metrics:
        labels = (*name, ("metric", metric.name), ("slice", "all"))
        yield from _four(labels, metric.now, metric.baseline, metric.change, metric.resolution)
    for outcome in suite.outcomes:
        if outcome.metric and outcome.compares and not outcome.against:
            for each in outcome.figures:
                weighted = (("weighted", "true"),) if each.weighted else ()
                labels = (*name, ("metric", outcome.metric), ("slice", each.slice), *weighted)
                yield from _four(labels, each.now, each.baseline, each.change, each.resolution)


def _four(
    labels: Labels, now: float | None, baseline: float | None, change: float | None, resolution: float | None
) -> Iterator[tuple[str, Labels, float | None]]:
    yield "ireval_metric", labels, now
    yield "ireval_metric_baseline", labels, baseline
    yield "ireval_metric_change", labels, change
    yield "ireval_metric_resolution", labels, resolution


def _rules(suite: SuiteResult, name: Labels) -> Iterator[tuple[str, Labels, float | None]]:
    """Numbers of rules, but for those that stand among the metrics."""
    for outcome in suite.outcomes:
        if "baseline" in outcome.numbers and not outcome.against:
            continue
        for number, value in outcome.numbers.items():
            yield "ireval_rule", (*name, ("rule", outcome.id), ("number", number)), value


def _labels(labels: Labels) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{pairs}}}" if pairs else ""


def _escaped(value: str) -> str:
    """A label's value: backslashes and quotes escaped, control characters spelled out.

    ``#`` is no special character here, but GitLab cuts every line there and refuses the file; so it is a wide one.
    """
    return printable(value).replace("\\", "\\\\").replace('"', '\\"').replace("#", "\uff03")


def _number(value: float) -> str:
    return repr(round(float(value), DIGITS) + 0.0)
