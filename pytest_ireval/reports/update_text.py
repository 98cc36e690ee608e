"""What an update run accepted: every metric of every suite, as it was and as it is now."""

from __future__ import annotations

from pytest_ireval.reports.cause_text import cause_sentence
from pytest_ireval.reports.figures import change, figure
from pytest_ireval.results.suite_result import RunResult, SuiteResult
from pytest_ireval.text_table import aligned, printable, wrapped

DIRTY = "commit them with the baseline, or nobody can measure it again"
WIDEST = 40
"""The figures of a name that takes more columns stand below it."""


def update_lines(run: RunResult, limit: int = 80) -> list[str]:
    """A table for each suite whose baseline this run wrote, and whether its commit is what was measured."""
    parts = [_accepted(suite, limit) for suite in run.suites if suite.name in run.accepted]
    if parts and run.dirty:
        parts.append(
            wrapped(f"accepted with uncommitted changes, beside commit {run.commit[:7]}: {DIRTY}", limit, then="  ")
        )
    return [line for part in parts for line in (*part, "")][:-1]


def _accepted(suite: SuiteResult, limit: int) -> list[str]:
    """The suite, its metrics as they were and are, and what changed besides."""
    new = suite.baseline is None and all(metric.baseline is None for metric in suite.metrics)
    rows = [
        [metric.name, figure(metric.baseline), figure(metric.now), change(metric.change)]
        + ([] if new else [f"{metric.worse} / {metric.better} / {metric.same}"])
        for metric in suite.metrics
        if not metric.lists  # it compares lists, and has no figure that could be accepted
    ]
    header = ["metric", "was", "now", "change", *([] if new else ["worse / better / same"])]
    lines = [f"{printable(suite.name)}: {'first baseline' if new else 'new baseline'}"]
    if rows:
        lines += [f"  {line}" for line in aligned([header, *rows], range(1, 4), most=WIDEST)]
    if suite.cause is not None:
        lines += wrapped(cause_sentence(suite.cause), limit, "  ", "    ")
    return lines
