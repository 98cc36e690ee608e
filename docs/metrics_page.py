"""Writes docs/metrics.md from what the metrics say of themselves: ``python docs/metrics_page.py``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_ireval import Metric, load_registry
from pytest_ireval.cli.metrics_command import (
    describe_parameter,
    describe_without_relevant,
    format_range,
    format_signature,
    list_other_names,
)

PAGE = Path(__file__).with_name("metrics.md")
INTRODUCTION = Path(__file__).with_name("metrics.md.in").read_text(encoding="utf-8")


def page() -> str:
    """The text of the page."""
    metrics = sorted(load_registry().metrics.values(), key=lambda metric: metric.name.lower())
    return "\n".join([INTRODUCTION, *(line for metric in metrics for line in section(metric))])


def section(metric: Metric) -> Iterator[str]:
    """One metric."""
    low_high = format_range(metric).replace("inf", "∞")
    facts = [f"range {low_high}", f"better: {metric.direction}", f"sums up as {metric.aggregate}"]
    yield f"## {metric.name}\n"
    yield f"`{format_signature(metric)}`: {metric.info.summary}\n"
    yield f"* Formula: {metric.info.formula}"
    yield f"* Example: {metric.info.example}"
    yield f"* Reference: {metric.info.reference}"
    if without := describe_without_relevant(metric):
        facts.append(f"without relevant documents: {without}")
    if not metric.judged:
        facts.append("needs no judgments")
    if metric.undefined:
        facts.append(f"a query has no value if {metric.undefined}")
    yield f"* {'; '.join(facts)}"
    if metric.info.spellings:
        yield "* also called " + ", ".join(f"`{name}`".replace(" = ", "` = `") for name in list_other_names(metric))
    yield from (f"* does not promise `{promise}`: {reason}" for promise, reason in metric.info.not_promised.items())
    yield from (f"* `{parameter.name}`: {describe_parameter(parameter)}" for parameter in metric.parameters)
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
