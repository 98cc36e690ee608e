"""A run as one page that needs nothing else: the verdict, what broke, and figures, rules and data of every suite."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from pytest_ireval.report.charts.chart import Chart
from pytest_ireval.report.charts.curves import recall_precision_chart
from pytest_ireval.report.charts.differences import differences_chart, intervals_chart
from pytest_ireval.report.charts.drawing import draw_on_page
from pytest_ireval.report.commands import accept_command, rule_anchor, suite_anchor, why_command
from pytest_ireval.report.failure_text import (
    baseline_words,
    best_document,
    cause_sentence,
    document_title,
    grade_words,
    now_at,
)
from pytest_ireval.report.markdown_text import NOWHERE, SourceLinks
from pytest_ireval.report.query_view import packed, queries_data
from pytest_ireval.report.red_checks import RedCheck, others_words, ranges_words, red_checks, red_queries
from pytest_ireval.report.summary_table import COUNTS, WORTH_A_LOOK, count_name, owners_of, verdicts_in_words
from pytest_ireval.report.templates import SectionTemplate, draw_section, environment, read_asset
from pytest_ireval.report.wording import (
    Tone,
    ages_words,
    certainty_words,
    figure,
    is_explained,
    moved_word,
    tone_of,
    word_of,
    words_of,
)
from pytest_ireval.results.outcome import Outcome, QueryChange
from pytest_ireval.results.suite_result import MetricFigures, RunResult, SuiteResult
from pytest_ireval.words import format_count


def page_text(
    run: RunResult, templates: Mapping[str, SectionTemplate] = MappingProxyType({}), links: SourceLinks = NOWHERE
) -> str:
    """The HTML; ``templates`` are those of the sections, by their names."""
    sections = tuple(draw_section(section, templates) for section in run.sections)
    styles = (*(Asset(read_asset(name)) for name in _STYLES), *(Asset(each.style) for each in sections if each.style))
    scripts = tuple(Asset(read_asset(name)) for name in _SCRIPTS)
    alone = len(run.suites) == 1
    warned = sum(word_of(each) == "warning" for suite in run.suites for each in suite.outcomes)
    among = f" ({format_count(warned, 'warning')} among them)" if warned else ""
    return (
        environment()
        .get_template("index.html.jinja")
        .render(
            run=run,
            title=", ".join(suite.name for suite in run.suites[:3]) or "no suite",
            words=words_of(run),
            tally=f"{verdicts_in_words(run.suites)}{among}",
            owners=tuple(owners_of(run).items()),
            problems=run.problems,
            red=tuple(_findings_of(run, links, "fail", "error")),
            doubtful=tuple(_findings_of(run, links, "inconclusive", "warning", "accepted")),
            suites=tuple(suite_view(suite, alone=alone) for suite in run.suites),
            sections=sections,
            plugins=tuple(dict.fromkeys(plugin for suite in run.suites for plugin in suite.plugins)),
            links=links,
            packed=packed,
            svg=draw_on_page,
            data=queries_data(run),
            styles=styles,
            scripts=scripts,
            policy=_policy(styles, scripts),
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


@dataclass(frozen=True)
class Asset:
    """The text of one ``<style>`` or ``<script>``, and the fingerprint that the policy lets pass."""

    text: str

    @property
    def fingerprint(self) -> str:
        """As a policy names it: ``'sha256-…'``."""
        digest = hashlib.sha256(self.text.encode("utf-8", "replace")).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"


def _policy(styles: Sequence[Asset], scripts: Sequence[Asset]) -> str:
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
    worst: str
    metric: str
    """The metric of the queries' values; empty if they do not share one."""
    document: str
    """What the documents beside the queries are."""
    query_count: int
    circumstances: tuple[tuple[str, str], ...]
    commands: tuple[tuple[str, str], ...]


def _findings_of(run: RunResult, links: SourceLinks, *words: str) -> Iterator[_SuiteFindings]:
    """By suite every outcome that a list names by one of the words."""
    for suite in run.suites:
        chosen = [each for each in suite.outcomes if word_of(each) in words]
        checks = (
            red_checks(suite, chosen) if "fail" in words else tuple(RedCheck(each, each.headline) for each in chosen)
        )
        if checks:
            yield _suite_findings(suite, checks, run, links)


def _suite_findings(
    suite: SuiteResult, checks: Sequence[RedCheck], run: RunResult, links: SourceLinks
) -> _SuiteFindings:
    found = red_queries(checks)
    shown = found[:QUERIES]
    metrics = list(dict.fromkeys(each.metric for each in shown))
    several = len(checks) > 1
    lines = (
        _query(each.change, suite.depth)._replace(
            metric=each.metric if len(metrics) > 1 else "", checks=ranges_words(each.checks) if several else ""
        )
        for each in shown
    )
    return _SuiteFindings(
        suite,
        tuple(_finding(suite, check, links) for check in checks),
        tuple(lines),
        "worst queries" if several else checks[0].outcome.worst,
        metrics[0] if len(metrics) == 1 else "",
        document_title(each.change.best for each in shown),
        max(len(found), *(check.outcome.query_count for check in checks)),
        tuple(_circumstances(suite, checks, run.date)),
        tuple(_accepting(suite, checks)),
    )


def _finding(suite: SuiteResult, check: RedCheck, links: SourceLinks) -> _Finding:
    outcome = check.outcome
    headline, *more = check.headline.splitlines() or [""]
    direction = next((metric.direction for metric in suite.metrics if metric.name == outcome.metric), "higher")
    why = outcome.metric and outcome.queries and outcome.explained
    return _Finding(
        suite,
        outcome,
        rule_anchor(suite, outcome.id),
        tuple(rule_anchor(suite, each.id) for each in check.others),
        word_of(outcome),
        f"{headline} ({others_words(check)})" if check.others else headline,
        tuple(more),
        links.address(outcome.file, outcome.line),
        tuple(tone_of(each.change, direction) for each in outcome.figures),
        any(each.baseline is not None for each in outcome.figures),
        certainty_words(outcome.figures[0], moved_word(direction)) if outcome.figures else "",
        (("why", why_command(suite, outcome.metric, outcome.queries[0].query)),) if why else (),
    )


def _query(each: QueryChange, depth: int) -> _QueryLine:
    top = ", ".join(f"{placed.named} ({grade_words(placed)})" for placed in each.top)
    best = best_document(each) if each.best else ""
    return _QueryLine(
        each, figure(each.baseline, 3), figure(each.now, 3), best, now_at(each.best, depth) if best else "", top
    )


def _circumstances(suite: SuiteResult, checks: Sequence[RedCheck], date: str) -> Iterator[tuple[str, str]]:
    if suite.owner:
        yield "owner", suite.owner
    yield from (("compared with", each) for each in dict.fromkeys(each.outcome.against for each in checks) if each)
    stored = next((each.outcome for each in checks if each.outcome.compares and not each.outcome.against), None)
    if stored is not None and suite.cause is not None:
        yield "inputs", cause_sentence(suite.cause, stored.metric)
    if stored is not None and suite.baseline is not None:
        yield "baseline", baseline_words(suite.baseline, date)


def _accepting(suite: SuiteResult, checks: Sequence[RedCheck]) -> Iterator[tuple[str, str]]:
    """The command that accepts what was measured, if a finding can be accepted."""
    stored = [each.outcome for each in checks if each.outcome.verdict != "pass" and not each.outcome.against]
    new = any(each.missing_baseline for each in stored)
    if new or (any(each.compares and each.verdict != "error" for each in stored) and not is_explained(suite)):
        yield "accept", accept_command(suite, new=new)


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


def suite_view(suite: SuiteResult, *, alone: bool) -> _SuiteView:
    """Everything about a suite; one that passed is folded among others."""
    rules = tuple(_RuleLine(each, rule_anchor(suite, each.id), word_of(each)) for each in suite.outcomes)
    return _SuiteView(
        suite,
        suite_anchor(suite),
        suite.metrics,
        tuple(_lines(suite)),
        rules,
        tuple(_counts(suite)),
        tuple(_facts(suite)),
        alone or suite.verdict != "pass",
        tuple(_chart_groups(suite)),
        cause_sentence(suite.cause) if suite.cause is not None else "",
        "" if suite.error or not suite.outcomes else accept_command(suite, new=suite.baseline is None),
    )


def _chart_groups(suite: SuiteResult) -> Iterator[_ChartGroup]:
    """Charts by kind; those of a metric that is red come first."""
    red = {each.metric for each in suite.outcomes if each.verdict == "fail"}
    groups: tuple[tuple[str, str, Iterable[Chart | None]], ...] = (
        (
            "Query by query",
            "Each bar is a query that changed, the worst on the left; queries that stayed the same are left out.",
            (differences_chart(suite, metric) for metric in suite.metrics),
        ),
        ("Rules against their tolerances", "The change, its interval and its tolerance.", [intervals_chart(suite)]),
        (
            "Recall and precision",
            "How precision falls while recall rises; the thin line is the curve expected from R-precision alone.",
            [recall_precision_chart(suite)],
        ),
    )
    for title, said, charts in groups:
        found = sorted((each for each in charts if each is not None), key=lambda each: each.metric not in red)
        if found:
            yield _ChartGroup(title, said, found[0], tuple(found[1:]))


def _lines(suite: SuiteResult) -> Iterator[_SliceLine]:
    yield _SliceLine("all", suite.counts.queries, tuple(_whole(metric) for metric in suite.metrics))
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
        yield _SliceLine(name, queries[name], tuple(cells.get(metric.name) for metric in suite.metrics))


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
                "size of the collection": "" if suite.collection is None else f"{suite.collection:,}",
                "dialect of metrics": policies.dialect or "",
            }
        )
    yield from ((f"fingerprint of {name}", value) for name, value in suite.fingerprints.items())
    yield from _said({"plugins": ", ".join(suite.plugins), "affected by": suite.affected_by})


def _said(facts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return ((name, text) for name, text in facts.items() if text)
