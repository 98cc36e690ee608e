"""Turns the material and outcomes of a suite into plain data: the result that every page and face shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from pytest_ireval.data.document_texts import with_texts
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.errors import IrevalError, error_lines
from pytest_ireval.gate.causes import diagnoses_of, documents_of, explained, with_evidence
from pytest_ireval.gate.inputs import relevant_from
from pytest_ireval.gate.known_changes import unknown_fields_words
from pytest_ireval.gate.material import Material
from pytest_ireval.gate.to_judge import with_what_to_judge
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import aggregated
from pytest_ireval.plugins.plugin_types import Part
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.results.outcome import Diagnosis, Outcome, SliceFigures, Verdict, worst_of
from pytest_ireval.results.suite_result import (
    Accepted,
    BaselineInfo,
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
from pytest_ireval.rules.planning import MOST_VALUES, Check
from pytest_ireval.rules.side import Scored, Side
from pytest_ireval.rules.slices import WHOLE, Slice, order_values, slice_with_value
from pytest_ireval.statistics.differences import Floats
from pytest_ireval.statistics.multiplicity import benjamini_hochberg
from pytest_ireval.suite.suite import Suite, Waiver


def result_of(
    material: Material, checks: Sequence[Check], outcomes: tuple[Outcome, ...], last_run: Path | None
) -> SuiteResult:
    """Make the result of this suite, which every report shows; ``last_run`` holds the rankings of the run before."""
    suite, side = material.suite, material.now_beside(material.baseline)
    diagnoses = diagnoses_of(material, checks, outcomes, last_run)
    outcomes, to_judge = with_what_to_judge(material, checks, outcomes, diagnoses.causes)
    there = set(material.now.position) | set(material.baseline.position if material.baseline else ())
    documents = documents_of(material, side, outcomes)
    outcomes = with_evidence(material, outcomes, documents)
    explanations, unexplained = explained(material, outcomes, documents)
    result = replace(
        _plain_result(suite, material.registry, checks, outcomes),
        verdict=worst_of(tuple(outcome.verdict for outcome in outcomes)),
        metrics=tuple(_metrics(material, outcomes)),
        slices=_slices_of(material),
        counts=material.counts,
        queries=_table(material, side),
        documents=documents,
        explanations=explanations,
        documents_of=sum(query in there for query in material.population.queries.ids),
        labels={f"{grade:g}": label for grade, label in (suite.judgments.scale if suite.judgments else {}).items()},
        grades=_grades(suite, material.population.judgments),
        cause=material.cause,
        baseline=_baseline_info(material),
        source=material.source,
        about=material.about,
        recorded=material.recorded,
        judgments=_shown_path(suite),
        judgment_ages=material.judgment_ages,
        fingerprints={name: value for name, value in material.fingerprints._asdict().items() if value},
        notes=(
            *_without(material.registry),
            *material.notes,
            *_without_lists(material),
            *_unknown_fields(material, diagnoses.causes),
            *diagnoses.complaints,
            *unexplained,
        ),
        waived=tuple(_waiver(waiver, material) for waiver in suite.waivers),
        to_judge=to_judge,
        curves=tuple(islice(_curves(material, checks), 12)),  # readers cannot tell more curves apart
        acceptances=_acceptances_of(material),
        relevant_from=relevant_from(suite),
        diagnoses=diagnoses.causes,
        since_base=_since_base(material),
    )
    return with_texts(result, *material.document_texts)


def _grades(suite: Suite, judgments: Judgments | None) -> str:
    """The scale as ``ireval judge --grades`` takes it: the labels of the suite, or whole grades up to the highest."""
    scale = suite.judgments.scale if suite.judgments else {}
    used = [*scale, *(() if judgments is None else set(judgments.grade.tolist()))]
    top = max(used, default=0)
    if not 1 <= top <= 9 or any(grade % 1 for grade in used):
        return ""
    if scale and all(label.strip() and "," not in label and grade >= 0 for grade, label in scale.items()):
        return ",".join(f"{grade:g}={' '.join(label.split())}" for grade, label in sorted(scale.items()))
    return f"0-{top:g}"


def _unknown_fields(material: Material, causes: Sequence[Diagnosis]) -> Iterator[str]:
    """Note fields of the request that the index does not have, unless a cause names them."""
    named = unknown_fields_words(material.unknown_fields)
    if named and not any(named in cause.headline for cause in causes):
        yield named


def _since_base(material: Material) -> SinceBase | None:
    """The current rankings beside those that the merge base had accepted; None if there were none."""
    at = None if material.held is None else material.held.beginning.at
    if material.held is None or at is None or at.baseline is None:
        return None
    theirs = material.comparable if at.unchanged else material.held.theirs
    if theirs is None:
        return None
    if at.unchanged and material.cause is not None:
        return SinceBase(at.base.short, True, material.cause.rankings, material.cause.compared)
    there = [metric for metric in material.suite.metrics if _on_both_sides(metric, material.now, theirs)]
    shared = [query for query in material.population.queries.ids if query in theirs.position]
    changed = {query for query in shared if material.now.documents(query) != theirs.documents(query)}
    found = SinceBase(at.base.short, at.unchanged, len(changed), len(shared))
    if not there:
        return found
    slices = [WHOLE, *_asked_slices(material)]
    rows = [SliceRow(str(metric), each) for metric in there for each in _figures(material, metric, theirs, slices)]
    context = RuleContext(material.population, material.now, theirs, Part(metric=there[0]))
    values = context.paired_values()
    order = np.argsort(context.sign * values.gain, kind="stable").tolist()
    worst = [row for row in order if values.all_names[values.place[row]] in changed][:20]
    return replace(found, rows=tuple(rows), queries=context.query_changes(values, worst))


def broken_result(
    suite: Suite, registry: Registry, checks: Sequence[Check], outcomes: tuple[Outcome, ...], error: IrevalError
) -> SuiteResult:
    """The result of a suite whose inputs are broken: there is an error, and no figure."""
    return replace(_plain_result(suite, registry, checks, outcomes), error="\n".join(error_lines(error)))


def _plain_result(
    suite: Suite, registry: Registry, checks: Sequence[Check], outcomes: tuple[Outcome, ...]
) -> SuiteResult:
    """The parts of a result that need no material."""
    return SuiteResult(
        name=suite.name,
        path=suite.shown,
        verdict="error",
        outcomes=outcomes,
        owner=suite.owner,
        matrix=suite.values,
        tags=suite.tags,
        planned=tuple(check.id for check in checks),
        policies=suite.policies,
        collection=suite.documents.size,
        depth=suite.depth,
        plugins=registry.distributions,
        notes=tuple(_without(registry)),
    )


def _without(registry: Registry) -> Iterator[str]:
    for plugin in registry.without:
        yield f"this run is without the plugin {plugin}, which was left out by name"


def _without_lists(material: Material) -> Iterator[str]:
    """Report why metrics that compare two lists have no value."""
    references = (material.baseline, *material.others.values())
    sides = [material.now_beside(each) for each in references if not isinstance(each, IrevalError)]
    known = {name for side in sides for name in (*side.scored, *side.errors)}
    names = [name for name in map(str, material.suite.metrics) if name not in known]
    if names:
        why = "there is no baseline yet" if material.stored is None else "the baseline cannot be read"
        yield f"{', '.join(names)}: no value, because it compares with the baseline, and {why}"


def _waiver(waiver: Waiver, material: Material) -> str:
    ended = "" if waiver.query in material.population.waived else " (ended)"
    return f"{waiver.query} until {waiver.until}{ended}: {waiver.reason}"


def _shown_path(suite: Suite) -> str:
    """The path of the judgments' file, relative to the suite where possible."""
    if suite.judgments is None:
        return ""
    path, folder = suite.judgments.file.path, suite.path.parent
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name


COMPARED = ("baseline", "low", "high", "sd", "resolution", "worse", "better", "same")
"""Figures of a slice that a metric over all queries has too."""


def _metrics(material: Material, outcomes: Iterable[Outcome]) -> Iterator[MetricFigures]:
    """Every metric over all queries, with the worst verdict of the rules about it."""
    verdicts: dict[str, tuple[Verdict, ...]] = {}
    for outcome in outcomes:
        verdicts[outcome.metric] = (*verdicts.get(outcome.metric, ()), outcome.verdict)
    for metric in material.suite.metrics:
        name = str(metric)
        lists = "reference" in metric.needs
        side = material.now_beside(material.baseline) if lists else material.now
        verdict = worst_of(verdicts[name]) if name in verdicts else None
        now = _figure(material, side.scored[name]) if name in side.scored else None
        about = MetricFigures(name, metric.direction, metric.unit, metric.aggregate, now, None, verdict=verdict)
        if name not in side.scored:
            error = "; ".join(map(str.strip, error_lines(side.errors[name]))) if name in side.errors else ""
            yield replace(about, lists=lists, error=error)
            continue
        baseline = material.baseline
        if material.baseline_error or baseline is None or name not in baseline.scored or name in baseline.errors:
            yield replace(about, lists=lists)
            continue
        figures = compare_figures(RuleContext(material.population, side, baseline, Part(metric=metric)))
        shared = {key: getattr(figures, key) for key in COMPARED}
        yield replace(about, paired=figures.now, **shared)


def _figure(material: Material, scored: Scored) -> float | None:
    counts = ~np.isnan(scored.values)
    if scored.metric.unit == "query":
        counts &= material.population.counting
    return aggregated(scored.values[counts], scored.metric.aggregate)


def _table(material: Material, side: Side) -> QueryTable:
    queries, baseline, weights = material.population.queries, material.baseline, material.population.weights
    named = dict.fromkeys(column for column in material.suite.columns() if column in queries.columns)
    return QueryTable(
        ids=queries.ids,
        texts=queries.text,
        weights=None if weights is None else tuple(weights.tolist()),
        columns={column: queries.composed[column] for column in named},
        now=_columns(side.scored),
        baseline={} if baseline is None else _columns(baseline.scored),
    )


def _columns(scored: Mapping[str, Scored]) -> dict[str, tuple[float | None, ...]]:
    of_queries = {name: each.values.tolist() for name, each in scored.items() if each.metric.unit == "query"}
    return {name: tuple(None if math.isnan(v) else v for v in values) for name, values in of_queries.items()}


def _slices_of(material: Material) -> tuple[SliceRow, ...]:
    """A row for each; some of many look bad by chance, so their p are corrected (false discovery rate)."""
    baseline = material.baseline
    if baseline is None or material.baseline_error is not None:
        return ()
    there = [metric for metric in material.suite.metrics if _on_both_sides(metric, material.now, baseline)]
    slices = list(_asked_slices(material))
    rows = [SliceRow(str(metric), each) for metric in there for each in _figures(material, metric, baseline, slices)]
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


def _figures(material: Material, metric: Metric, baseline: Side, slices: Iterable[Slice]) -> Iterator[SliceFigures]:
    context = RuleContext(material.population, material.now, baseline, Part(metric=metric))
    yield from (each for each in (compare_figures(context.with_slice(within)) for within in slices) if each.queries)


def _asked_slices(material: Material) -> Iterator[Slice]:
    """One for each value of each column that a rule names."""
    queries, rules = material.population.queries, [asked.options for asked in material.suite.rules]
    for column in dict.fromkeys(column for options in rules for column in (*options.where, options.per)):
        given = [each for options in rules if options.per == column for each in options.facts.tolerances]
        values = order_values(queries.composed.get(column, ()), given)
        if 1 < len(values) <= MOST_VALUES:
            yield from (slice_with_value(WHOLE, column, value) for value in values)


def _curves(material: Material, checks: Sequence[Check]) -> Iterator[SliceCurves]:
    """The curves of all queries, then of the slices that rules name; over queries that have one on both sides."""
    now = material.now.recall_precision
    before = None if material.comparable is None else material.comparable.recall_precision
    if now is None:
        return
    there = ~np.isnan(now[:, 0])
    if before is not None:
        there &= ~np.isnan(before[:, 0])
    for within in dict.fromkeys((WHOLE, *(check.slice for check in checks if check.asked is not None))):
        rows = np.flatnonzero(material.population.mask(within) & there)
        if rows.size:
            baseline = None if before is None else _mean(before[rows])
            yield SliceCurves(str(within), int(rows.size), _mean(now[rows]), baseline)


def _mean(rows: Floats) -> RecallPrecision:
    *levels, r = rows.mean(axis=0).tolist()
    return RecallPrecision(tuple(levels), r)


def _baseline_info(material: Material) -> BaselineInfo | None:
    stored, suite = material.stored, material.suite
    if stored is None:
        return None
    path = f"{suite.shown.rpartition('/')[0]}/baselines/{suite.name}.baseline".lstrip("/")
    return BaselineInfo(path, *stored.accepted[:6], stored.plugins)


def _acceptances_of(material: Material) -> tuple[Accepted, ...]:
    """Those of the stored baseline, and the last pinning of the anchor that a rule asks for; the newest last."""
    stored, anchor = material.stored, material.anchor
    found = [Accepted(*each[:6]) for each in stored.acceptances] if stored is not None else []
    if anchor is not None:
        found.append(Accepted(*anchor.accepted[:6], anchor=True))
    return tuple(sorted(found, key=lambda each: each.date))
