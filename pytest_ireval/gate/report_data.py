"""What was gathered and judged as plain data: the result that every page and face shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from pytest_ireval.baselines.record import Acceptance, StoredMetric
from pytest_ireval.baselines.writing import accepted_since
from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.asking import error_lines
from pytest_ireval.gate.chance_of_red import chance_of_red
from pytest_ireval.gate.material import Material, reference_of
from pytest_ireval.gate.query_data import documents_of
from pytest_ireval.gate.scoring import relevant_from
from pytest_ireval.gate.sensitivity import Known
from pytest_ireval.gate.to_judge import with_what_to_judge
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import aggregated
from pytest_ireval.plugins.kinds import Part
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.results.outcome import Outcome, SliceFigures, Verdict, worst_of
from pytest_ireval.results.suite_result import (
    Accepted,
    BaselineInfo,
    ChanceOfRed,
    Distribution,
    MetricFigures,
    QueryTable,
    RecallPrecision,
    SinceBase,
    SliceCurves,
    SliceRow,
    SuiteResult,
)
from pytest_ireval.retrieval.document_texts import titles_of, with_texts
from pytest_ireval.rules.context import Seen
from pytest_ireval.rules.diagnosis import Diagnosed, RankingChange, diagnosed
from pytest_ireval.rules.figures import figures_compared
from pytest_ireval.rules.planning import MOST_VALUES, Check
from pytest_ireval.rules.side import WHOLE, Floats, Scored, Side, Slice, in_order, one_value
from pytest_ireval.sources.run import orders_by_rank
from pytest_ireval.statistics.multiplicity import benjamini_hochberg
from pytest_ireval.suites.suite import Suite, Waiver


def result_of(material: Material, checks: Sequence[Check], outcomes: tuple[Outcome, ...]) -> SuiteResult:
    """Everything that a report of this suite shows."""
    suite, side = material.suite, material.now_beside(material.baseline)
    diagnoses = _diagnoses_of(material, checks, outcomes)
    outcomes, to_judge = with_what_to_judge(material, checks, outcomes, diagnoses.causes)
    there = set(material.now.position) | set(material.baseline.position if material.baseline else ())
    result = SuiteResult(
        name=suite.name,
        path=suite.shown,
        verdict=worst_of(tuple(outcome.verdict for outcome in outcomes)),
        outcomes=outcomes,
        owner=suite.owner,
        matrix=suite.values,
        tags=suite.tags,
        planned=tuple(check.id for check in checks),
        metrics=tuple(_metrics(material, outcomes)),
        slices=_slices_of(material),
        counts=material.counts,
        queries=_table(material, side),
        documents=documents_of(material, side, outcomes),
        documents_of=sum(query in there for query in material.population.queries.ids),
        labels={f"{grade:g}": label for grade, label in (suite.judgments.scale if suite.judgments else {}).items()},
        cause=material.cause,
        baseline=_baseline_info(material),
        policies=suite.policies,
        depth=suite.depth,
        chance_of_red=_chance(material, checks),
        source=material.source,
        judgments=_shown_path(suite),
        plugins=material.registry.distributions,
        fingerprints={name: value for name, value in material.fingerprints._asdict().items() if value},
        notes=(*material.notes, *diagnoses.complaints),
        waived=tuple(_waiver(waiver, material) for waiver in suite.waivers),
        to_judge=to_judge,
        curves=_curves_of(material, checks),
        distributions=_distributions_of(material),
        acceptances=_acceptances_of(material),
        relevant_from=relevant_from(suite),
        diagnoses=diagnoses.causes,
        since_base=_since_base(material),
    )
    return with_texts(result, *_described(material), pictures=suite.documents.pictures)


def _described(material: Material) -> tuple[Mapping[str, Mapping[str, Any]], Path | None]:
    """The fields of documents that the source returned, and the file that has more of them."""
    texts = material.suite.documents.texts
    called = {material.population.called(document): fields for document, fields in material.described.items()}
    return called, None if texts is None else texts.path


MOST_CHANGED = 20
"""The most changed queries that are listed beside the merge base."""


def _since_base(material: Material) -> SinceBase | None:
    """The current rankings beside those that the merge base had accepted; None if there were none."""
    at = None if material.held is None else material.held.beginning.at
    if material.held is None or at is None or at.baseline is None:
        return None
    theirs = material.comparable if at.same else material.held.theirs
    if theirs is None:
        return None
    there = [metric for metric in material.suite.metrics if _on_both_sides(metric, material.now, theirs)]
    shared = [query for query in material.population.queries.ids if query in theirs.position]
    changed = {query for query in shared if material.now.documents(query) != theirs.documents(query)}
    found = SinceBase(at.base.short, at.same, len(changed), len(shared))
    if at.same or not there:
        return found
    slices = [WHOLE, *_asked_slices(material)]
    rows = [SliceRow(str(metric), each) for metric in there for each in _figures(material, metric, theirs, slices)]
    seen = Seen(material.population, material.now, theirs, Part(metric=there[0]))
    values = seen.paired()
    order = np.argsort(seen.sign * values.gain, kind="stable").tolist()
    worst = [row for row in order if values.all_names[values.place[row]] in changed][:MOST_CHANGED]
    return replace(found, rows=tuple(rows), queries=seen.changes(values, worst))


def _diagnoses_of(material: Material, checks: Sequence[Check], outcomes: Sequence[Outcome]) -> Diagnosed:
    """Plain causes of what is red or doubtful; of a pass, only what is a defect in any case."""
    doubtful = [each for each in outcomes if each.verdict != "pass" or each.warning]
    by_id, source = {check.id: check for check in checks}, material.suite.source
    ordered = sorted(doubtful, key=lambda each: each.verdict != "fail")
    compared = (by_id[each.id] for each in ordered if by_id[each.id].asked and each.compares)
    sides = (*(reference_of(check, material) for check in compared), material.comparable)
    baseline = next((side for side in sides if isinstance(side, Side)), None)
    if baseline is None or source is None:
        return Diagnosed((), ())
    now = material.now_beside(baseline)
    metrics = {str(each.metric): each.metric for each in now.scored.values() if each.metric.unit == "query"}
    names = [each.metric for each in ordered] + list(metrics)
    change = RankingChange(
        material.population,
        now,
        baseline,
        next((metrics[name] for name in names if name in metrics and name in baseline.scored), None),
        source_changed=material.cause is not None and material.cause.source,
        ranked_lines=lambda: orders_by_rank(source.options, material.suite.path.parent),
        titles=lambda wanted: titles_of(wanted, *_described(material)),
    )
    return diagnosed(change, material.registry.diagnoses, certain=not doubtful)


def broken_result(
    suite: Suite, registry: Registry, checks: Sequence[Check], outcomes: tuple[Outcome, ...], error: IrevalError
) -> SuiteResult:
    """A suite whose inputs are broken: there is an error, and no figure."""
    return SuiteResult(
        name=suite.name,
        path=suite.shown,
        verdict="error",
        outcomes=outcomes,
        owner=suite.owner,
        matrix=suite.values,
        tags=suite.tags,
        planned=tuple(check.id for check in checks),
        error="\n".join(error_lines(error)),
        policies=suite.policies,
        depth=suite.depth,
        plugins=registry.distributions,
    )


def _waiver(waiver: Waiver, material: Material) -> str:
    """A waiver in a line."""
    ended = "" if waiver.query in material.population.waived else " (ended)"
    return f"{waiver.query} until {waiver.until}{ended}: {waiver.reason}"


def _shown_path(suite: Suite) -> str:
    """The judgments' file as it lies from the suite."""
    if suite.judgments is None:
        return ""
    path, folder = suite.judgments.file.path, suite.path.parent
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name


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
        about = (name, metric.direction, metric.unit, metric.aggregate)
        if name not in side.scored:
            error = "; ".join(map(str.strip, error_lines(side.errors[name]))) if name in side.errors else ""
            yield MetricFigures(*about, None, None, lists=lists, verdict=verdict, error=error)
            continue
        now, baseline = side.scored[name], material.baseline
        if material.baseline_error or baseline is None or name not in baseline.scored or name in baseline.errors:
            yield MetricFigures(*about, _figure(material, now), None, lists=lists, verdict=verdict)
            continue
        figures = figures_compared(Seen(material.population, side, baseline, Part(metric=metric)))
        yield MetricFigures(
            *about,
            _figure(material, now),
            figures.baseline,
            paired=figures.now,
            low=figures.low,
            high=figures.high,
            sd=figures.sd,
            resolution=figures.resolution,
            worse=figures.worse,
            better=figures.better,
            same=figures.same,
            verdict=verdict,
        )


def _figure(material: Material, scored: Scored) -> float | None:
    """The metric's figure over all units that count."""
    counts = ~np.isnan(scored.values)
    if scored.metric.unit == "query":
        counts &= material.population.counting
    return aggregated(scored.values[counts], scored.metric.aggregate)


def _chance(material: Material, checks: Sequence[Check]) -> ChanceOfRed | None:
    """Return how often a harmless change would turn the suite red; None without a baseline."""
    if material.stored is None or material.setting is None:
        return None
    population = material.population
    queries, weights = population.queries, population.weights
    waived = frozenset(query for query, counts in zip(queries.ids, population.counting, strict=True) if not counts)
    drawing = population.drawing
    since = None if material.anchor is None else len(tuple(accepted_since(material.anchor, material.stored)))
    stored = replace(material.stored, metrics={**material.stored.metrics, **_scored_again(material)})
    known = Known(material.suite, tuple(checks), queries, weights, waived, stored, drawing=drawing, since_anchor=since)
    return chance_of_red(known)


def _scored_again(material: Material) -> Mapping[str, StoredMetric]:
    """The baseline's values under the judgments and metrics of this run, if they could be compared."""
    scored = {} if material.comparable is None else material.comparable.scored
    return {
        name: StoredMetric(
            each.metric.version,
            "",
            None,
            {
                query: value
                for query, value in zip(each.names, each.values.tolist(), strict=True)
                if not math.isnan(value)
            },
        )
        for name, each in scored.items()
        if each.metric.unit == "query"
    }


def _table(material: Material, side: Side) -> QueryTable:
    """All queries as columns."""
    queries, baseline = material.population.queries, material.baseline
    weights = material.population.weights
    named = dict.fromkeys(column for column in material.suite.columns() if column in queries.columns)
    return QueryTable(
        ids=queries.ids,
        texts=queries.text,
        weights=None if weights is None else tuple(weights.tolist()),
        columns={column: queries.columns[column] for column in named},
        now=_columns(side.scored),
        baseline={} if baseline is None else _columns(baseline.scored),
    )


def _columns(scored: Mapping[str, Scored]) -> dict[str, tuple[float | None, ...]]:
    return {name: _numbers(each.values) for name, each in scored.items() if each.metric.unit == "query"}


def _numbers(values: Floats) -> tuple[float | None, ...]:
    undefined = np.isnan(values).tolist()
    return tuple(None if no else value for value, no in zip(values.tolist(), undefined, strict=True))


FEWEST = 20
"""Slices of fewer queries are shown, and nothing is tested on them."""


def _slices_of(material: Material) -> tuple[SliceRow, ...]:
    """A row for each; so many of them that some look bad by chance, so their p are corrected (false discovery rate)."""
    baseline = material.baseline
    if baseline is None or material.baseline_error is not None:
        return ()
    there = [metric for metric in material.suite.metrics if _on_both_sides(metric, material.now, baseline)]
    slices = list(_asked_slices(material))
    rows = [SliceRow(str(metric), each) for metric in there for each in _figures(material, metric, baseline, slices)]
    p = [each.figures.p if each.figures.queries >= FEWEST else None for each in rows]
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
    seen = Seen(material.population, material.now, baseline, Part(metric=metric))
    yield from (each for each in (figures_compared(seen.of(within)) for within in slices) if each.queries)


def _asked_slices(material: Material) -> Iterator[Slice]:
    """One for each value of each column that a rule names."""
    queries = material.population.queries
    named = dict.fromkeys(
        column for asked in material.suite.rules for column in (*asked.options.where, asked.options.per)
    )
    for column in named:
        given = [
            each
            for asked in material.suite.rules
            if asked.options.per == column
            for each in asked.options.facts.tolerances
        ]
        values = in_order(queries.columns.get(column, ()), given)
        if 1 < len(values) <= MOST_VALUES:
            yield from (one_value(WHOLE, column, value) for value in values)


MOST_SLICES = 12
"""With all queries; more curves than that nobody tells apart."""


def _curves_of(material: Material, checks: Sequence[Check]) -> tuple[SliceCurves, ...]:
    """Of all queries, then of the slices that rules name; over the queries that have a curve on both sides."""
    return tuple(islice(_curves(material, checks), MOST_SLICES))


def _curves(material: Material, checks: Sequence[Check]) -> Iterator[SliceCurves]:
    now = material.now.recall_precision
    before = None if material.comparable is None else material.comparable.recall_precision
    if now is None:
        return
    there = ~np.isnan(now[:, 0])
    if before is not None:
        there &= ~np.isnan(before[:, 0])
    for within in dict.fromkeys((WHOLE, *_slices(checks))):
        rows = np.flatnonzero(material.population.mask(within) & there)
        if rows.size:
            baseline = None if before is None else _mean(before[rows])
            yield SliceCurves(str(within), int(rows.size), _mean(now[rows]), baseline)


def _slices(checks: Sequence[Check]) -> Iterator[Slice]:
    yield from (check.slice for check in checks if check.asked is not None)


def _mean(rows: Floats) -> RecallPrecision:
    *levels, r = rows.mean(axis=0).tolist()
    return RecallPrecision(tuple(levels), r)


BINS = 20
STEPS = (1.0, 2.0, 2.5, 4.0, 5.0, 10.0)
"""A bin is as wide as one of these, times a power of ten."""
DIGITS = 12
SAME = 1e-9
"""What is this close to an edge, as a part of the width of a bin, stands on it."""
HUGE = 1e300
"""Beyond, there are no bins."""


def _distributions_of(material: Material) -> tuple[Distribution, ...]:
    """Of every metric that scores queries, in the order of the suite."""
    side = material.now_beside(material.comparable)
    return tuple(_distributions(material, side))


def _distributions(material: Material, side: Side) -> Iterator[Distribution]:
    before = {} if material.comparable is None else material.comparable.scored
    for metric in material.suite.metrics:
        name = str(metric)
        if metric.unit != "query" or name not in side.scored or name in side.errors:
            continue
        now = side.scored[name].values
        there = material.population.counting & ~np.isnan(now)
        if np.abs(now[there]).max(initial=0.0) > HUGE:
            continue
        if name not in before:
            yield _distribution(metric, now[there])
            continue
        there &= ~np.isnan(before[name].values)
        yield _distribution(metric, now[there], before[name].values[there])


def _distribution(metric: Metric, now: Floats, before: Floats | None = None) -> Distribution:
    edges = edges_of(metric, now if before is None else np.concatenate((now, before)))
    return Distribution(
        str(metric), tuple(edges), counts_between(edges, now), () if before is None else counts_between(edges, before)
    )


def edges_of(metric: Metric, values: Floats) -> list[float]:
    """Twentieths for a metric between 0 and 1; else the narrowest round bins that hold all of its values."""
    if not values.size or metric.bounds == (0.0, 1.0):
        return [number / BINS for number in range(BINS + 1)]
    low, high = float(values.min()), float(values.max())
    width = _width(_span(low, high) / BINS)
    first = math.floor(low / width)
    if (first + BINS) * width < high:  # rounding down to an edge left no room at the other end
        width = _width(width * 1.01)
        first = math.floor(low / width)
    return [float(f"{(first + number) * width:.{DIGITS}g}") for number in range(BINS + 1)]


def _span(low: float, high: float) -> float:
    """What the bins have to hold; of values that are all the same, something of their size."""
    size = max(abs(low), abs(high))
    return high - low if high - low > SAME * max(size, SAME) else max(size, 1.0)


def _width(least: float) -> float:
    """The round width that is not less."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in STEPS if step * power >= least * (1 - SAME))


def counts_between(edges: list[float], values: Floats) -> tuple[int, ...]:
    """How many values there are between each two edges; on an edge to its right, on the last one to its left."""
    rounding = SAME * (edges[1] - edges[0])
    place = np.searchsorted(np.array(edges), values + rounding, side="right") - 1
    return tuple(np.bincount(np.clip(place, 0, BINS - 1), minlength=BINS).tolist())


def _baseline_info(material: Material) -> BaselineInfo | None:
    """The stored baseline; None where there is none."""
    stored, suite = material.stored, material.suite
    if stored is None:
        return None
    accepted = stored.accepted
    folder = suite.shown.rpartition("/")[0]
    return BaselineInfo(
        path=f"{folder}/baselines/{suite.name}.json".lstrip("/") if folder else f"baselines/{suite.name}.json",
        date=accepted.date,
        commit=accepted.commit,
        branch=accepted.branch,
        dirty=accepted.dirty,
        reason=accepted.reason,
        forced=accepted.forced,
        plugins=stored.plugins,
    )


def _acceptances_of(material: Material) -> tuple[Accepted, ...]:
    """Those of the stored baseline, and the last pinning of the anchor that a rule asks for; the newest last."""
    stored, anchor = material.stored, material.anchor
    found = [_accepted(each) for each in stored.acceptances] if stored is not None else []
    if anchor is not None:
        found.append(_accepted(anchor.accepted, anchor=True))
    return tuple(sorted(found, key=lambda each: each.date))


def _accepted(acceptance: Acceptance, *, anchor: bool = False) -> Accepted:
    return Accepted(
        acceptance.date,
        acceptance.commit,
        acceptance.branch,
        acceptance.dirty,
        acceptance.reason,
        acceptance.forced,
        anchor,
    )
