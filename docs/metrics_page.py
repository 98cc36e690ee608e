"""Writes docs/metrics.md from what the metrics say of themselves: ``python docs/metrics_page.py``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_ireval import Metric, load_registry
from pytest_ireval.cli.metrics_command import (
    describe_parameter,
    describe_without_relevant,
    format_range,
    format_signature,
    list_other_names,
)
from pytest_ireval.metrics.elsewhere import PACKAGES, list_counterparts

PAGE = Path(__file__).with_name("metrics.md")
INTRODUCTION = Path(__file__).with_name("metrics.md.in").read_text(encoding="utf-8")
MANY = 3
"""So many metrics share a parameter that the page describes once."""


def page() -> str:
    """The text of the page."""
    metrics = sorted(load_registry().metrics.values(), key=lambda metric: metric.name.lower())
    uses = Counter(parameter for metric in metrics for parameter in _describe_parameters(metric).items())
    # of two meanings of a name, the page describes the most common one
    shared = {name: meaning for (name, meaning), count in reversed(uses.most_common()) if count >= MANY}
    names = _names_elsewhere()
    lines = [INTRODUCTION, *_shared_parameters(shared), "## The metrics\n"]
    lines += [line for metric in metrics for line in section(metric, shared, names.get(metric.name, []))]
    return "\n".join(lines)


def _describe_parameters(metric: Metric) -> dict[str, str]:
    return {parameter.name: describe_parameter(parameter) for parameter in metric.parameters}


def _names_elsewhere() -> dict[str, list[str]]:
    """What trec_eval and ir_measures call a metric, by its name here; equal names are left out."""
    names: dict[str, list[str]] = {}
    for package in ("trec_eval", "ir_measures"):
        for row in list_counterparts(load_registry().vocabulary.elsewhere, package):
            theirs, ours = row.names
            family = re.split(r"[@(]", ours)[0]
            if re.split(r"[@(]", theirs)[0].lower() != family.lower() and "=" not in theirs:
                names.setdefault(family, []).append(f"`{theirs}` ({PACKAGES[package]})")
    return names


def _shared_parameters(shared: dict[str, str]) -> Iterator[str]:
    yield "## Parameters that many metrics share\n"
    yield "| parameter | meaning |"
    yield "| --- | --- |"
    for name, meaning in sorted(shared.items()):
        yield f"| `{name}` | {meaning} |"
    yield ""


def section(metric: Metric, shared: dict[str, str], elsewhere: Sequence[str]) -> Iterator[str]:
    """One metric, with what is unusual about it."""
    yield f"### {metric.name}\n"
    yield f"`{format_signature(metric)}`: {metric.info.summary}\n"
    yield f"* {metric.info.formula}"
    yield f"* {metric.info.reference}"
    parameters = _describe_parameters(metric)
    own = {name: meaning for name, meaning in parameters.items() if shared.get(name) != meaning and name != metric.at}
    common = [f"`{name}`" for name in parameters if name not in own and name != metric.at]
    if common:
        yield f"* Parameters: {', '.join(common)}"
    yield from (f"* `{name}`: {meaning}" for name, meaning in own.items())
    if unusual := list(_unusual_facts(metric)):
        yield f"* {'; '.join(unusual)}"
    if metric.info.spellings:
        yield "* Also called " + ", ".join(f"`{name}`".replace(" = ", "` = `") for name in list_other_names(metric))
    if others := [name for name in elsewhere if name.split("`")[1] not in metric.info.spellings]:
        yield f"* Elsewhere: {', '.join(others)}"
    yield ""


def _unusual_facts(metric: Metric) -> Iterator[str]:
    """What differs from a mean of values from 0 to 1, higher is better, 0 without relevant documents."""
    if (values := format_range(metric).replace("inf", "∞")) != "0 to 1":
        yield f"range {values}"
    if metric.direction != "higher":
        yield f"better: {metric.direction}"
    if metric.aggregate != "mean":
        yield f"sums up as {metric.aggregate}"
    without = describe_without_relevant(metric)
    if without and without not in ("0", "0, by the formula"):
        yield f"without relevant documents: {without}"
    if not metric.judged:
        yield "needs no judgments"
    if metric.undefined:
        yield f"a query has no value if {metric.undefined}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
