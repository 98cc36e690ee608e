"""Step 5: turn all of it into plain data: the result that every report shows, and that workers send."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import islice

import numpy as np

from pytest_ireval.data.document_texts import add_texts
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.errors import IrevalError, format_error_lines
from pytest_ireval.gate.collect import Inputs
from pytest_ireval.gate.diagnosing import collect_document_texts
from pytest_ireval.gate.explain import ExplainedOutcomes
from pytest_ireval.gate.notes import list_notes
from pytest_ireval.gate.planning import (
    MOST_VALUES,
    Check,
    find_checks_that_cannot_fail,
    find_rules_of_few_weights,
    select_rule_checks,
)
from pytest_ireval.gate.queries_and_judgments import lowest_relevant_grade
from pytest_ireval.gate.score import Scores
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import aggregate_values
from pytest_ireval.plugins.plugin_types import Part
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.results.outcome import Outcome, Verdict, find_worst_verdict
from pytest_ireval.results.suite_result import (
    Accepted,
    BaselineInfo,
    JudgmentAges,
    MetricFigures,
    QueryTable,
    RecallPrecision,
    SinceBase,
    SliceCurves,
    SliceRow,
    SuiteResult,
)
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.metric_change import compare_figures
from pytest_ireval.rules.query_changes import list_query_changes
from pytest_ireval.sides.population import Population
from pytest_ireval.sides.side import Scored, Side
from pytest_ireval.sides.slices import WHOLE, Slice
from pytest_ireval.statistics.differences import Floats
from pytest_ireval.statistics.multiplicity import benjamini_hochberg
from pytest_ireval.suite.suite import Suite, Waiver


def make_result(inputs: Inputs, scores: Scores, checks: Sequence[Check], explained: ExplainedOutcomes) -> SuiteResult:
    """Make the result of a suite, which every report shows."""
    suite, population, outcomes = inputs.suite, scores.population, explained.outcomes
    ranked = set(scores.current.position) | set(scores.baseline_side.position if scores.baseline_side else ())
    written = inputs.collection.written_judgments
    result = replace(
        _begin_result(suite, inputs.collection.registry, checks, outcomes),
        verdict=find_worst_verdict(tuple(outcome.verdict for outcome in outcomes)),
        metrics=tuple(_summarize_metrics(scores, outcomes)),
        slices=_compare_slices(scores),
        counts=scores.counts,
        queries=_make_query_table(scores),
        documents=explained.documents,
        explanations=explained.engine,
        documents_of=sum(query in ranked for query in population.queries.ids),
        labels={f"{grade:g}": label for grade, label in (suite.judgments.scale if suite.judgments else {}).items()},
        grades=_describe_grades(suite, population.judgments),
        cause=scores.baseline.cause,
        baseline=_describe_baseline(inputs),
        versus=inputs.reference.versus,
        source=inputs.source,
        about=inputs.current.system_facts,
        recorded=inputs.current.recorded,
        judgments=_shorten_judgments_path(suite),
        judgment_ages=None if written is None else measure_judgment_ages(written, inputs.today),
        fingerprints={name: value for name, value in inputs.fingerprints._asdict().items() if value},
        notes=(
            *_note_missing_plugins(inputs.collection.registry),
            *list_notes(inputs, scores),
            *_note_missing_overlaps(inputs, scores),
            *explained.notes,
            *_note_checks(checks, population),
        ),
        waived=tuple(_describe_waiver(waiver, population.waived) for waiver in suite.waivers),
        to_judge=explained.to_judge,
        curves=tuple(islice(_average_curves(scores, checks), MOST_CURVES)),
        acceptances=_list_acceptances(inputs),
        relevant_from=lowest_relevant_grade(suite),
        diagnoses=explained.causes,
        since_base=_compare_with_base(inputs, scores),
    )
    return add_texts(result, *collect_document_texts(inputs))


def make_broken_result(
    suite: Suite, registry: Registry, checks: Sequence[Check], outcomes: Sequence[Outcome], error: IrevalError
) -> SuiteResult:
    """The result of a suite whose inputs are broken: there is an error, and no figure."""
    return replace(_begin_result(suite, registry, checks, outcomes), error="\n".join(format_error_lines(error)))


def _begin_result(
    suite: Suite, registry: Registry, checks: Sequence[Check], outcomes: Sequence[Outcome]
) -> SuiteResult:
    """The parts of a result that need no inputs."""
    return SuiteResult(
        name=suite.name,
        path=suite.shown,
        verdict="error",
        outcomes=tuple(outcomes),
        owner=suite.owner,
        matrix=suite.values,
        tags=suite.tags,
        planned=tuple(check.id for check in checks),
        policies=suite.policies,
        collection=suite.documents.size,
        depth=suite.depth,
        variables=suite.variables,
        plugins=registry.distributions,
        notes=tuple(_note_missing_plugins(registry)),
    )


def _note_checks(checks: Sequence[Check], population: Population) -> Iterator[str]:
    rule_checks = select_rule_checks(checks)
    yield from find_checks_that_cannot_fail(rule_checks, population.queries)
    yield from find_rules_of_few_weights(rule_checks, population.queries, population.weights)


def _describe_grades(suite: Suite, judgments: Judgments | None) -> str:
    """The scale as ``ireval judge --grades`` takes it: the labels of the suite, or whole grades up to the highest."""
    scale = suite.judgments.scale if suite.judgments else {}
    used = [*scale, *(() if judgments is None else set(judgments.grade.tolist()))]
    top = max(used, default=0)
    if not 1 <= top <= 9 or any(grade % 1 for grade in used):
        return ""
    if scale and all(label.strip() and "," not in label and grade >= 0 for grade, label in scale.items()):
        return ",".join(f"{grade:g}={' '.join(label.split())}" for grade, label in sorted(scale.items()))
    return f"0-{top:g}"


def _compare_with_base(inputs: Inputs, scores: Scores) -> SinceBase | None:
    """The current rankings beside those that the merge base had accepted; None if there were none."""
    at = None if inputs.merge_base is None else inputs.merge_base.at
    if at is None or at.baseline is None or scores.merge_base is None:
        return None
    theirs = scores.trusted_baseline_side if at.unchanged else scores.merge_base.base
    if theirs is None:
        return None
    cause = scores.baseline.cause
    if at.unchanged and cause is not None:
        return SinceBase(at.base.short, True, cause.rankings, cause.compared)
    there = [metric for metric in scores.collection.suite.metrics if _on_both_sides(metric, scores.current, theirs)]
    shared = [query for query in scores.population.queries.ids if query in theirs.position]
    changed = {query for query in shared if scores.current.documents(query) != theirs.documents(query)}
    found = SinceBase(at.base.short, at.unchanged, len(changed), len(shared))
    if not there:
        return found
    slices = [WHOLE, *_list_slices(scores)]
    rows = _list_rows(scores, there, theirs, slices)
    context = RuleContext(scores.population, scores.current, theirs, Part(metric=there[0]))
    values = context.paired_values()
    order = np.argsort(context.sign * values.gain, kind="stable").tolist()
    worst = [row for row in order if values.all_names[values.rows[row]] in changed][:20]
    return replace(found, rows=tuple(rows), queries=list_query_changes(context, values, worst))


def _note_missing_plugins(registry: Registry) -> Iterator[str]:
    for plugin in registry.without:
        yield f"this run is without the plugin {plugin}, which was left out by name"


def _note_missing_overlaps(inputs: Inputs, scores: Scores) -> Iterator[str]:
    """Report why metrics that compare two lists have no value."""
    sides = [each.comparison.current for each in scores.references if each.comparison is not None]
    known = {name for side in (scores.current, *sides) for name in (*side.scored, *side.errors)}
    names = [name for name in map(str, inputs.suite.metrics) if name not in known]
    if names:
        why = "there is no baseline yet" if inputs.reference.baseline is None else "the baseline cannot be read"
        yield f"{', '.join(names)}: no value, because it compares with the baseline, and {why}"


def _describe_waiver(waiver: Waiver, waived: Container[str]) -> str:
    ended = "" if waiver.query in waived else " (ended)"
    return f"{waiver.query} until {waiver.until}{ended}: {waiver.reason}"


def _shorten_judgments_path(suite: Suite) -> str:
    """The path of the judgments' file, relative to the suite where possible."""
    if suite.judgments is None:
        return ""
    path, folder = suite.judgments.file.path, suite.path.parent
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name


MOST_CURVES = 12
"""Readers cannot tell more curves apart."""
COMPARED = ("baseline", "low", "high", "sd", "resolution", "worse", "better", "same")
"""Figures of a slice that a metric over all queries has too."""


def _summarize_metrics(scores: Scores, outcomes: Iterable[Outcome]) -> Iterator[MetricFigures]:
    """Every metric over all queries, with the worst verdict of the rules about it."""
    verdicts: dict[str, tuple[Verdict, ...]] = {}
    for outcome in outcomes:
        verdicts[outcome.metric] = (*verdicts.get(outcome.metric, ()), outcome.verdict)
    for metric in scores.collection.suite.metrics:
        name = str(metric)
        lists = metric.compares_lists
        side = scores.current_with_overlaps if lists else scores.current
        verdict = find_worst_verdict(verdicts[name]) if name in verdicts else None
        now = _compute_figure(scores.population, side.scored[name]) if name in side.scored else None
        about = MetricFigures(name, metric.direction, metric.unit, metric.aggregate, now, None, verdict=verdict)
        if name not in side.scored:
            error = "; ".join(map(str.strip, format_error_lines(side.errors[name]))) if name in side.errors else ""
            yield replace(about, lists=lists, error=error)
            continue
        baseline = scores.trusted_baseline_side
        if baseline is None or name not in baseline.scored or name in baseline.errors:
            yield replace(about, lists=lists)
            continue
        current = scores.current_with_overlaps
        figures = compare_figures(RuleContext(scores.population, current, baseline, Part(metric=metric)))
        shared = {key: getattr(figures, key) for key in COMPARED}
        yield replace(about, paired=figures.now, **shared)


def _compute_figure(population: Population, scored: Scored) -> float | None:
    counts = ~np.isnan(scored.values)
    if scored.metric.unit == "query":
        counts &= population.counted_queries
    return aggregate_values(scored.values[counts], scored.metric.aggregate)


def _make_query_table(scores: Scores) -> QueryTable:
    queries, baseline, weights = scores.population.queries, scores.baseline_side, scores.population.weights
    named = dict.fromkeys(column for column in scores.collection.suite.columns() if column in queries.columns)
    return QueryTable(
        ids=queries.ids,
        texts=queries.text,
        weights=None if weights is None else tuple(weights.tolist()),
        columns={column: queries.composed[column] for column in named},
        now=_list_values(scores.current_with_overlaps.scored),
        baseline={} if baseline is None else _list_values(baseline.scored),
    )


def _list_values(scored: Mapping[str, Scored]) -> dict[str, tuple[float | None, ...]]:
    of_queries = {name: each.values.tolist() for name, each in scored.items() if each.metric.unit == "query"}
    return {name: tuple(None if math.isnan(v) else v for v in values) for name, values in of_queries.items()}


def _compare_slices(scores: Scores) -> tuple[SliceRow, ...]:
    """A row for each; some of many look bad by chance, so their p are corrected (false discovery rate)."""
    baseline = scores.trusted_baseline_side
    if baseline is None:
        return ()
    there = [metric for metric in scores.collection.suite.metrics if _on_both_sides(metric, scores.current, baseline)]
    slices = list(_list_slices(scores))
    rows = _list_rows(scores, there, baseline, slices)
    p = [row.figures.p if row.figures.queries >= 20 else None for row in rows]  # no test on fewer queries
    corrected = benjamini_hochberg(np.array([np.nan if each is None else each for each in p], np.float64))
    return tuple(
        replace(row, corrected=None if np.isnan(each) else each)
        for row, each in zip(rows, corrected.tolist(), strict=True)
    )


def _on_both_sides(metric: Metric, now: Side, baseline: Side) -> bool:
    """Tell whether a metric of queries has values that can be compared."""
    name = str(metric)
    return metric.unit == "query" and all(name in side.scored and name not in side.errors for side in (now, baseline))


def _list_rows(scores: Scores, metrics: Iterable[Metric], baseline: Side, slices: Sequence[Slice]) -> list[SliceRow]:
    rows = []
    for metric in metrics:
        context = RuleContext(scores.population, scores.current, baseline, Part(metric=metric))
        figures = (compare_figures(replace(context, slice=within)) for within in slices)
        rows += [SliceRow(str(metric), each) for each in figures if each.queries]
    return rows


def _list_slices(scores: Scores) -> Iterator[Slice]:
    """One for each value of each column that a rule names."""
    queries, rules = scores.population.queries, scores.collection.suite.rules
    for column in dict.fromkeys(column for rule in rules for column in (*rule.options.where, rule.options.per)):
        given = [each for rule in rules if rule.options.per == column for each in rule.traits.tolerances]
        slices = WHOLE.split(queries, column, given) if column in queries.composed else []
        if 1 < len(slices) <= MOST_VALUES:
            yield from slices


def _average_curves(scores: Scores, checks: Sequence[Check]) -> Iterator[SliceCurves]:
    """The curves of all queries, then of the slices that rules name; over queries that have one on both sides."""
    now = scores.current.recall_precision
    before = None if scores.trusted_baseline_side is None else scores.trusted_baseline_side.recall_precision
    if now is None:
        return
    there = ~np.isnan(now[:, 0])
    if before is not None:
        there &= ~np.isnan(before[:, 0])
    for within in dict.fromkeys((WHOLE, *(check.slice for check in select_rule_checks(checks)))):
        rows = np.flatnonzero(scores.population.mask(within) & there)
        if rows.size:
            baseline = None if before is None else _average_rows(before[rows])
            yield SliceCurves(str(within), int(rows.size), _average_rows(now[rows]), baseline)


def _average_rows(rows: Floats) -> RecallPrecision:
    *levels, r = rows.mean(axis=0).tolist()
    return RecallPrecision(tuple(levels), r)


def _describe_baseline(inputs: Inputs) -> BaselineInfo | None:
    stored, suite = inputs.reference.baseline, inputs.suite
    if stored is None:
        return None
    if inputs.reference.versus:
        builds = stored.search.index.build, inputs.search.index.build
        same_index = builds[0] == builds[1] != ""
        return BaselineInfo("", *stored.accepted[:6], stored.plugins, same_index)
    path = f"{suite.shown.rpartition('/')[0]}/baselines/{suite.name}.baseline".lstrip("/")
    return BaselineInfo(path, *stored.accepted[:6], stored.plugins)


def _list_acceptances(inputs: Inputs) -> tuple[Accepted, ...]:
    """Those of the stored baseline, and the last pinning of the anchor that a rule asks for; the newest last."""
    stored = inputs.stored.baseline
    anchor = None if inputs.anchor is None else inputs.anchor.baseline
    found = [Accepted(*each[:6]) for each in stored.acceptances] if stored is not None else []
    if anchor is not None:
        found.append(Accepted(*anchor.accepted[:6], anchor=True))
    return tuple(sorted(found, key=lambda each: each.date))


DAYS_OF_A_YEAR = 365


def measure_judgment_ages(judgments: Judgments, today: date) -> JudgmentAges | None:
    """The ages of the judgments that have a date; one that was made from several is as old as the newest of them."""
    counts = Counter(judgments.columns.get("date", ()))
    days = {text: max(filter(None, map(_parse_day, text.split(";"))), default=None) for text in counts}
    dated = sorted((day, counts[text]) for text, day in days.items() if day is not None)
    if not dated:
        return None
    ages = np.repeat([max(0, (today - day).days) for day, _ in dated], [count for _, count in dated])
    ends = dated[0][0].isoformat(), dated[-1][0].isoformat()
    older = float((ages > DAYS_OF_A_YEAR).mean())
    return JudgmentAges(*ends, int(np.median(ages)), older, int(ages.size), counts.total() - int(ages.size))


def _parse_day(text: str) -> date | None:
    """The day of a date or a time in ISO 8601; None for other text."""
    try:
        return date.fromisoformat(text.strip()[:10])
    except ValueError:
        return None
