"""A run as one page that needs nothing else: the verdict, what broke, and figures, rules and data of every suite."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from pytest_ireval.report.charts.chart import Chart
from pytest_ireval.report.charts.curves import make_recall_precision_chart
from pytest_ireval.report.charts.differences import make_differences_chart
from pytest_ireval.report.charts.drawing import draw_on_page
from pytest_ireval.report.charts.intervals import make_intervals_chart
from pytest_ireval.report.commands import (
    describe_obstacle,
    format_accept_command,
    format_why_command,
    make_rule_anchor,
    make_suite_anchor,
)
from pytest_ireval.report.failure_text import (
    choose_document_title,
    describe_baseline,
    describe_grade,
    format_best_document,
    format_current_rank,
)
from pytest_ireval.report.figure_rows import FigureRow, list_figure_rows
from pytest_ireval.report.formatting import (
    Tone,
    choose_tone,
    describe_ages,
    describe_certainty,
    format_value,
    is_explained,
    name_verdict,
    name_worsening,
)
from pytest_ireval.report.input_changes import describe_inputs
from pytest_ireval.report.markdown_text import NOWHERE, SourceLinks
from pytest_ireval.report.query_data import format_query_data, pack_text
from pytest_ireval.report.red_checks import RedCheck, count_others, format_ranges, group_red_checks, rank_red_queries
from pytest_ireval.report.run_summary import summarize_run
from pytest_ireval.report.templates import SectionTemplate, get_environment, read_asset, render_section
from pytest_ireval.report.terminal_summary import (
    COUNTS,
    WORTH_A_LOOK,
    count_verdicts,
    group_red_suites_by_owner,
    name_count,
)
from pytest_ireval.results.outcome import Outcome, QueryChange
from pytest_ireval.results.suite_result import MetricFigures, RunResult, SuiteResult
from pytest_ireval.words import format_count


def render_page(
    run: RunResult, templates: Mapping[str, SectionTemplate] = MappingProxyType({}), links: SourceLinks = NOWHERE
) -> str:
    """The HTML; ``templates`` are those of the sections, by their names."""
    sections = tuple(render_section(section, templates) for section in run.sections)
    styles = (*(Asset(read_asset(name)) for name in _STYLES), *(Asset(each.style) for each in sections if each.style))
    scripts = tuple(Asset(read_asset(name)) for name in _SCRIPTS)
    alone = len(run.suites) == 1
    warned = sum(name_verdict(outcome) == "warning" for suite in run.suites for outcome in suite.outcomes)
    among = f" ({format_count(warned, 'warning')} among them)" if warned else ""
    return (
        get_environment()
        .get_template("index.html.jinja")
        .render(
            run=run,
            title=", ".join(suite.name for suite in run.suites[:3]) or "no suite",
            words=summarize_run(run),
            tally=f"{count_verdicts(run.suites)}{among}",
            owners=tuple(group_red_suites_by_owner(run).items()),
            problems=run.problems,
            red=tuple(_group_findings(run, links, "fail", "stale", "error")),
            doubtful=tuple(_group_findings(run, links, "inconclusive", "warning", "accepted")),
            suites=tuple(make_suite_view(suite, alone=alone) for suite in run.suites),
            sections=sections,
            plugins=tuple(dict.fromkeys(plugin for suite in run.suites for plugin in suite.plugins)),
            links=links,
            packed=pack_text,
            svg=draw_on_page,
            data=format_query_data(run),
            styles=styles,
            scripts=scripts,
            policy=_make_content_policy(styles, scripts),
        )
    )


_STYLES = ("report.css", "charts.css", "queries.css")
_SCRIPTS = (
    "packed.js",
    "report.js",
    "query_view.js",
    "query_curve.js",
    "query_data.js",
    "query_choice.js",
    "queries.js",
    "query_keys.js",
)
"""In this order: each uses what those before it made."""


class Asset(NamedTuple):
    """The text of one ``<style>`` or ``<script>``, and the fingerprint that the policy lets pass."""

    text: str

    @property
    def fingerprint(self) -> str:
        """As a policy names it: ``'sha256-…'``."""
        digest = hashlib.sha256(self.text.encode("utf-8", "replace")).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"


def _make_content_policy(styles: Sequence[Asset], scripts: Sequence[Asset]) -> str:
    """Nothing is loaded, nothing is sent anywhere, and only what is inside the page is run."""

    def these(assets: Sequence[Asset]) -> str:
        return " ".join(each.fingerprint for each in assets) or "'none'"

    return (
        f"default-src 'none'; style-src {these(styles)}; script-src {these(scripts)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


QUERIES = 5
"""The most queries below the findings of a suite; the table of all queries has the others."""


class _QueryLine(NamedTuple):
    """A query that findings rest on, in a line."""

    change: QueryChange
    before: str
    now: str
    best: str
    now_at: str
    top: str
    metric: str = ""
    """The metric of the values, if the lines do not share one."""
    checks: str = ""
    """The numbers of the findings that list it."""


class _Finding(NamedTuple):
    """An outcome with its evidence."""

    suite: SuiteResult
    outcome: Outcome
    anchor: str
    others: tuple[str, ...]
    """Anchors of further outcomes with the same reason."""
    word: str
    headline: str
    more: tuple[str, ...]
    """Further lines of the headline of an error."""
    address: str
    """Where a code host shows the rule; empty: nowhere."""
    tones: tuple[str, ...]
    """Of each line of figures."""
    compared: bool
    certainty: str
    commands: tuple[tuple[str, str], ...]


class _SuiteFindings(NamedTuple):
    """The findings of a suite, and what they have in common."""

    suite: SuiteResult
    findings: tuple[_Finding, ...]
    queries: tuple[_QueryLine, ...]
    queries_title: str
    metric: str
    """The metric of the queries' values; empty if they do not share one."""
    document: str
    """What the documents beside the queries are."""
    query_count: int
    circumstances: tuple[tuple[str, str], ...]
    commands: tuple[tuple[str, str], ...]


def _group_findings(run: RunResult, links: SourceLinks, *words: str) -> Iterator[_SuiteFindings]:
    """By suite every outcome that a list names by one of the words."""
    for suite in run.suites:
        chosen = [outcome for outcome in suite.outcomes if name_verdict(outcome) in words]
        checks = (
            group_red_checks(suite, chosen)
            if "fail" in words
            else tuple(RedCheck(each, each.headline) for each in chosen)
        )
        if checks:
            yield _make_suite_findings(suite, checks, run, links)


def _make_suite_findings(
    suite: SuiteResult, checks: Sequence[RedCheck], run: RunResult, links: SourceLinks
) -> _SuiteFindings:
    found = rank_red_queries(checks)
    shown = found[:QUERIES]
    metrics = list(dict.fromkeys(each.metric for each in shown))
    several = len(checks) > 1
    lines = (
        _make_query_line(each.change, suite.depth)._replace(
            metric=each.metric if len(metrics) > 1 else "", checks=format_ranges(each.checks) if several else ""
        )
        for each in shown
    )
    return _SuiteFindings(
        suite,
        tuple(_make_finding(suite, check, links) for check in checks),
        tuple(lines),
        "worst queries" if several else checks[0].outcome.queries_title,
        metrics[0] if len(metrics) == 1 else "",
        choose_document_title(each.change.best for each in shown),
        max(len(found), *(check.outcome.query_count for check in checks)),
        tuple(_list_circumstances(suite, checks, run.date)),
        tuple(_list_ways_to_accept(suite, checks, run.date)),
    )


def _make_finding(suite: SuiteResult, check: RedCheck, links: SourceLinks) -> _Finding:
    outcome = check.outcome
    headline, *more = check.headline.splitlines() or [""]
    direction = next((metric.direction for metric in suite.metrics if metric.name == outcome.metric), "higher")
    why = outcome.metric and outcome.queries and outcome.explained
    return _Finding(
        suite,
        outcome,
        make_rule_anchor(suite, outcome.id),
        tuple(make_rule_anchor(suite, each.id) for each in check.others),
        name_verdict(outcome),
        f"{headline} ({count_others(check)})" if check.others else headline,
        tuple(more),
        links.address(outcome.file, outcome.line),
        tuple(choose_tone(line.change, direction) for line in outcome.figures),
        any(line.baseline is not None for line in outcome.figures),
        describe_certainty(outcome.figures[0], name_worsening(direction)) if outcome.figures else "",
        (("why", format_why_command(suite, outcome.metric, outcome.queries[0].query)),) if why else (),
    )


def _make_query_line(each: QueryChange, depth: int) -> _QueryLine:
    top = ", ".join(f"{placed.named} ({describe_grade(placed)})" for placed in each.top)
    best = format_best_document(each) if each.best else ""
    return _QueryLine(
        each,
        format_value(each.baseline, 3),
        format_value(each.now, 3),
        best,
        format_current_rank(each.best, depth) if best else "",
        top,
    )


def _list_circumstances(suite: SuiteResult, checks: Sequence[RedCheck], date: str) -> Iterator[tuple[str, str]]:
    if suite.owner:
        yield "owner", suite.owner
    yield from (("compared with", each) for each in dict.fromkeys(each.outcome.against for each in checks) if each)
    stored = next((each.outcome for each in checks if each.outcome.compares and not each.outcome.against), None)
    if stored is not None and suite.cause is not None:
        yield "inputs", describe_inputs(suite.cause, stored.metric)
    if stored is not None and suite.versus:
        yield "compared with", suite.versus
    elif stored is not None and suite.baseline is not None:
        yield "baseline", describe_baseline(suite.baseline, date)


def _list_ways_to_accept(suite: SuiteResult, checks: Sequence[RedCheck], date: str) -> Iterator[tuple[str, str]]:
    """The command that accepts what was measured, and the line of the suite that waives the worst query for a month."""
    red = (each.outcome for each in checks if each.outcome.verdict != "pass")
    stored = [outcome for outcome in red if not outcome.against and not suite.versus]
    new = any(each.missing_baseline for each in stored)
    if new or (any(each.compares and each.verdict != "error" for each in stored) and not is_explained(suite)):
        yield f"accept{describe_obstacle(suite)}", format_accept_command(suite, new=new)
    fallen = [each for each in rank_red_queries(checks) if each.change.baseline is not None]
    if fallen and not new:
        until = datetime.fromisoformat(date[:10]).date() + timedelta(days=30)
        query = json.dumps(fallen[0].change.query, ensure_ascii=False)
        waiver = f'{{query: {query}, until: {until}, reason: "..."}}'
        if suite.waived:
            yield "or waive a query, in the list waive", f"- {waiver}"
        else:
            yield "or waive a query", f"waive: [{waiver}]"


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


class _SliceLine(NamedTuple):
    """All metrics on one slice."""

    slice: str
    queries: int | None
    cells: tuple[Cell | None, ...]


class _RuleLine(NamedTuple):
    """An outcome in a list."""

    outcome: Outcome
    anchor: str
    word: str
    """Its verdict; or that it is a warning, or accepted."""


class _ChartGroup(NamedTuple):
    """Charts of one kind."""

    title: str
    said: str
    shown: Chart
    folded: tuple[Chart, ...]


class _SuiteView(NamedTuple):
    """A suite, ready to be laid out."""

    result: SuiteResult
    anchor: str
    metrics: tuple[MetricFigures, ...]
    """Those that have figures."""
    rows: tuple[FigureRow, ...]
    """In the table of several suites."""
    slices: tuple[_SliceLine, ...]
    rules: tuple[_RuleLine, ...]
    counts: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    """Where everything comes from."""
    open: bool
    """True if a reader wants to see it at once."""
    charts: tuple[_ChartGroup, ...]
    cause: str
    accept: str
    """The command that accepts what was measured; empty where there is nothing to accept."""


def make_suite_view(suite: SuiteResult, *, alone: bool) -> _SuiteView:
    """Everything about a suite; one that passed is folded among others."""
    rules = tuple(
        _RuleLine(outcome, make_rule_anchor(suite, outcome.id), name_verdict(outcome)) for outcome in suite.outcomes
    )
    return _SuiteView(
        suite,
        make_suite_anchor(suite),
        suite.metrics,
        tuple(list_figure_rows(suite)) if suite.metrics else (),
        tuple(_make_slice_lines(suite)),
        rules,
        tuple(_list_counts(suite)),
        tuple(_list_facts(suite)),
        alone or suite.verdict != "pass",
        tuple(_make_chart_groups(suite)),
        describe_inputs(suite.cause) if suite.cause is not None else "",
        format_accept_command(suite, new=suite.baseline is None) if _may_accept(suite) else "",
    )


def _may_accept(suite: SuiteResult) -> bool:
    return bool(suite.outcomes) and not suite.error and not suite.versus


def _make_chart_groups(suite: SuiteResult) -> Iterator[_ChartGroup]:
    """Charts by kind; those of a metric that is red come first."""
    red = {outcome.metric for outcome in suite.outcomes if outcome.verdict == "fail"}
    groups: tuple[tuple[str, str, Iterable[Chart | None]], ...] = (
        (
            "Query by query",
            "Each bar is a query that changed, the worst on the left; queries that stayed the same are left out.",
            (make_differences_chart(suite, metric) for metric in suite.metrics),
        ),
        (
            "Rules against their tolerances",
            "The change, its interval and its tolerance.",
            [make_intervals_chart(suite)],
        ),
        (
            "Recall and precision",
            "How precision falls while recall rises; the thin line is the curve expected from R-precision alone.",
            [make_recall_precision_chart(suite)],
        ),
    )
    for title, said, charts in groups:
        found = sorted((each for each in charts if each is not None), key=lambda each: each.metric not in red)
        if found:
            yield _ChartGroup(title, said, found[0], tuple(found[1:]))


def _make_slice_lines(suite: SuiteResult) -> Iterator[_SliceLine]:
    yield _SliceLine("all", suite.counts.queries, tuple(_make_cell_of_all(metric) for metric in suite.metrics))
    by_slice: dict[str, dict[str, Cell]] = {}
    queries: dict[str, int] = {}
    directions = {metric.name: metric.direction for metric in suite.metrics}
    for row in suite.slices:
        each = row.figures
        look = row.corrected is not None and row.corrected < WORTH_A_LOOK
        tone = choose_tone(each.change, directions.get(row.metric, ""))
        figures = (each.now, each.baseline, each.change, each.low, each.high, each.resolution)
        cell = Cell(*figures, tone, look and tone == "worse", (each.worse, each.better, each.same))
        by_slice.setdefault(each.slice, {})[row.metric] = cell
        queries.setdefault(each.slice, each.queries)
    for name, cells in by_slice.items():
        yield _SliceLine(name, queries[name], tuple(cells.get(metric.name) for metric in suite.metrics))


def _make_cell_of_all(metric: MetricFigures) -> Cell:
    figures = (metric.now, metric.baseline, metric.change, metric.low, metric.high, metric.resolution)
    counts = None if metric.baseline is None else (metric.worse, metric.better, metric.same)
    return Cell(*figures, choose_tone(metric.change, metric.direction), counts=counts, error=metric.error)


def _list_counts(suite: SuiteResult) -> Iterator[tuple[str, str]]:
    counts = suite.counts
    yield "queries", f"{counts.queries:,}"
    yield "judged", f"{counts.judged:,}"
    yield from ((name_count(name, [suite]), f"{number(counts):,}") for name, number in COUNTS)
    if counts.judged_share is not None:
        before = "" if counts.judged_share_before is None else f" (baseline {100 * counts.judged_share_before:.1f}%)"
        yield f"judged in the top {counts.judged_depth}", f"{100 * counts.judged_share:.1f}%{before}"


def _list_facts(suite: SuiteResult) -> Iterator[tuple[str, str]]:
    yield from _drop_empty(
        {
            "suite": suite.path,
            "owner": suite.owner,
            "matrix": ", ".join(f"{key}={value}" for key, value in suite.matrix.items()),
            "tags": ", ".join(suite.tags),
            "source": suite.source,
            **{f"source: {name}": text for name, text in suite.about.items()},
            "judgments": suite.judgments,
            "age of judgments": describe_ages(suite.judgment_ages) if suite.judgment_ages else "",
            "depth": f"{suite.depth} documents of each ranking" if suite.depth else "",
        }
    )
    if (policies := suite.policies) is not None:
        yield from _drop_empty(
            {
                "ties": policies.ties,
                "missing queries": policies.missing_queries,
                "queries without relevant documents": policies.no_relevant,
                "unjudged documents": policies.unjudged,
                "top grade": "" if policies.scale is None else f"{policies.scale:g}",
                "size of the collection": "" if suite.collection is None else f"{suite.collection:,}",
                "dialect of metrics": policies.dialect or "",
            }
        )
    yield from ((f"fingerprint of {name}", value) for name, value in suite.fingerprints.items())
    yield from _drop_empty({"plugins": ", ".join(suite.plugins), "affected by": suite.affected_by})


def _drop_empty(facts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return ((name, text) for name, text in facts.items() if text)
