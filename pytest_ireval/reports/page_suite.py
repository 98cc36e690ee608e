"""One suite on the page: figures by slice and metric, its rules, and the data behind the figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pytest_ireval.reports.charts.chart import Chart, Kind
from pytest_ireval.reports.charts.gallery import charts_of
from pytest_ireval.reports.commands import accept_command, rule_anchor, suite_anchor
from pytest_ireval.reports.failure_text import cause_sentence
from pytest_ireval.reports.summary_table import COUNTS, WORTH_A_LOOK, count_name
from pytest_ireval.reports.wording import ages_words, word_of
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.suite_result import MetricFigures, SuiteResult

Tone = str
"""``worse``, ``better`` or empty: the colour of a change, in addition to its sign."""


class Cell(NamedTuple):
    """One metric on one slice."""

    now: float | None
    baseline: float | None
    change: float | None
    low: float | None
    high: float | None
    resolution: float | None
    tone: Tone
    look: bool = False
    """True if a change for the worse here is statistically significant."""
    counts: tuple[int, int, int] | None = None
    """Queries that got worse, better, and stayed the same."""
    error: str = ""


class SliceLine(NamedTuple):
    """All metrics on one slice."""

    slice: str
    queries: int | None
    cells: tuple[Cell | None, ...]


class RuleLine(NamedTuple):
    """An outcome in a list."""

    outcome: Outcome
    anchor: str
    word: str
    """Its verdict; or that it is a warning, or accepted."""


class ChartGroup(NamedTuple):
    """Charts of one kind."""

    title: str
    said: str
    shown: tuple[Chart, ...]
    folded: tuple[Chart, ...]


class SuiteView(NamedTuple):
    """A suite, ready to be laid out."""

    result: SuiteResult
    anchor: str
    metrics: tuple[MetricFigures, ...]
    """Those that have figures."""
    slices: tuple[SliceLine, ...]
    rules: tuple[RuleLine, ...]
    counts: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    """Where everything comes from."""
    open: bool
    """True if a reader wants to see it at once."""
    charts: tuple[ChartGroup, ...]
    cause: str
    accept: str
    """The command that accepts what was measured; empty where there is nothing to accept."""


def suite_view(suite: SuiteResult, *, alone: bool) -> SuiteView:
    """Everything about a suite; one that passed is folded among others."""
    rules = tuple(RuleLine(each, rule_anchor(suite, each.id), word_of(each)) for each in suite.outcomes)
    return SuiteView(
        suite,
        suite_anchor(suite),
        suite.metrics,
        tuple(_lines(suite)),
        rules,
        tuple(_counts(suite)),
        tuple(_facts(suite)),
        alone or suite.verdict != "pass",
        tuple(_groups(suite)),
        cause_sentence(suite.cause) if suite.cause is not None else "",
        "" if suite.error or not suite.outcomes else accept_command(suite, new=suite.baseline is None),
    )


READING: Mapping[Kind, tuple[str, str]] = {
    "differences": (
        "Query by query",
        "Each bar is a query that changed, the worst on the left; queries that stayed the same are left out.",
    ),
    "intervals": ("Rules against their tolerances", "The change, its interval and its tolerance."),
    "trend": ("From run to run", "Marks show acceptances, anchors and red runs."),
    "recall_precision": (
        "Recall and precision",
        "How precision falls while recall rises; the thin line is the curve expected from R-precision alone.",
    ),
    "distribution": ("How the values are spread", "How many queries have which value, before and now."),
}
"""The name of a group and the way to read it, in the order of the page."""


def _groups(suite: SuiteResult) -> Iterator[ChartGroup]:
    """Charts by kind; those of the metric that is red come first, and of these that of the slice."""
    red = [each for each in suite.outcomes if each.verdict == "fail"]
    metrics = {each.metric for each in red}
    slices = {(each.metric, line.slice) for each in red for line in each.figures if line.over}
    every = charts_of(suite)
    for kind, (title, said) in READING.items():
        charts = sorted(
            (each for each in every if each.kind == kind),
            key=lambda each: (each.metric not in metrics, (each.metric, each.slice) not in slices),
        )
        most = len(charts) if kind == "intervals" else 1  # the others are folded
        if charts:
            yield ChartGroup(title, said, tuple(charts[:most]), tuple(charts[most:]))


def tone_of(change: float | None, direction: str) -> Tone:
    """Tell whether a change is for the worse; one that is shown as 0 is neither, nor is one without a direction."""
    if not round(change or 0.0, 4) or direction not in ("higher", "lower"):
        return ""
    return "better" if ((change or 0.0) > 0) == (direction == "higher") else "worse"


def _lines(suite: SuiteResult) -> Iterator[SliceLine]:
    yield SliceLine("all", suite.counts.queries, tuple(_whole(metric) for metric in suite.metrics))
    by_slice: dict[str, dict[str, Cell]] = {}
    queries: dict[str, int] = {}
    directions = {metric.name: metric.direction for metric in suite.metrics}
    for row in suite.slices:
        each = row.figures
        look = row.corrected is not None and row.corrected < WORTH_A_LOOK
        tone = tone_of(each.change, directions.get(row.metric, ""))
        figures = (each.now, each.baseline, each.change, each.low, each.high, each.resolution)
        cell = Cell(*figures, tone, look and tone == "worse", (each.worse, each.better, each.same))
        by_slice.setdefault(each.slice, {})[row.metric] = cell
        queries.setdefault(each.slice, each.queries)
    for name, cells in by_slice.items():
        yield SliceLine(name, queries[name], tuple(cells.get(metric.name) for metric in suite.metrics))


def _whole(metric: MetricFigures) -> Cell:
    figures = (metric.now, metric.baseline, metric.change, metric.low, metric.high, metric.resolution)
    counts = None if metric.baseline is None else (metric.worse, metric.better, metric.same)
    return Cell(*figures, tone_of(metric.change, metric.direction), counts=counts, error=metric.error)


def _counts(suite: SuiteResult) -> Iterator[tuple[str, str]]:
    counts = suite.counts
    yield "queries", f"{counts.queries:,}"
    yield "judged", f"{counts.judged:,}"
    yield from ((count_name(name, [suite]), f"{number(counts):,}") for name, number in COUNTS)
    if counts.judged_share is not None:
        before = "" if counts.judged_share_before is None else f" (baseline {100 * counts.judged_share_before:.1f}%)"
        yield f"judged in the top {counts.judged_depth}", f"{100 * counts.judged_share:.1f}%{before}"


def _facts(suite: SuiteResult) -> Iterator[tuple[str, str]]:
    yield from _said(
        {
            "suite": suite.path,
            "owner": suite.owner,
            "matrix": ", ".join(f"{key}={value}" for key, value in suite.matrix.items()),
            "tags": ", ".join(suite.tags),
            "source": suite.source,
            **{f"source: {name}": text for name, text in suite.about.items()},
            "judgments": suite.judgments,
            "age of judgments": ages_words(suite.judgment_ages) if suite.judgment_ages else "",
            "depth": f"{suite.depth} documents of each ranking" if suite.depth else "",
        }
    )
    if (policies := suite.policies) is not None:
        yield from _said(
            {
                "ties": policies.ties,
                "missing queries": policies.missing_queries,
                "queries without relevant documents": policies.no_relevant,
                "unjudged documents": policies.unjudged,
                "top grade": "" if policies.scale is None else f"{policies.scale:g}",
                "size of the collection": "" if policies.collection is None else f"{policies.collection:,}",
                "dialect of metrics": policies.dialect or "",
            }
        )
    yield from ((f"fingerprint of {name}", value) for name, value in suite.fingerprints.items())
    yield from _said({"plugins": ", ".join(suite.plugins), "affected by": suite.affected_by})


def _said(facts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return ((name, text) for name, text in facts.items() if text)
