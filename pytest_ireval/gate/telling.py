"""What was gathered and judged as plain data: the result that every page and face shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pytest_ireval.baselines.anchors import accepted_since
from pytest_ireval.baselines.baseline import StoredMetric
from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.acceptances import acceptances_of, baseline_info
from pytest_ireval.gate.asking import error_lines
from pytest_ireval.gate.chance_of_red import chance_of_red
from pytest_ireval.gate.curves import curves_of
from pytest_ireval.gate.distributions import distributions_of
from pytest_ireval.gate.documents import documents_of
from pytest_ireval.gate.material import Material
from pytest_ireval.gate.outlook import Known
from pytest_ireval.gate.recall_precision import relevant_from
from pytest_ireval.gate.slices import slices_of
from pytest_ireval.gate.to_judge import with_what_to_judge
from pytest_ireval.metrics.score import aggregated
from pytest_ireval.plugins.kinds import Part
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.results.outcome import Outcome, Verdict, worst_of
from pytest_ireval.results.suite_result import (
    ChanceOfRed,
    MetricFigures,
    QueryTable,
    SuiteResult,
)
from pytest_ireval.rules.figures import figures_compared
from pytest_ireval.rules.planning import Check
from pytest_ireval.rules.seen import Seen
from pytest_ireval.rules.side import Floats, Scored, Side
from pytest_ireval.suites.suite import Suite, Waiver


def result_of(material: Material, checks: Sequence[Check], outcomes: tuple[Outcome, ...]) -> SuiteResult:
    """Everything that a report of this suite shows."""
    suite, side = material.suite, material.now_beside(material.baseline)
    outcomes, to_judge = with_what_to_judge(material, checks, outcomes)
    there = set(material.now.position) | set(material.baseline.position if material.baseline else ())
    return SuiteResult(
        name=suite.name,
        path=suite.shown,
        verdict=worst_of(tuple(outcome.verdict for outcome in outcomes)),
        outcomes=outcomes,
        owner=suite.owner,
        matrix=suite.values,
        tags=suite.tags,
        planned=tuple(check.id for check in checks),
        metrics=tuple(_metrics(material, outcomes)),
        slices=slices_of(material),
        counts=material.counts,
        queries=_table(material, side),
        documents=documents_of(material, side, outcomes),
        documents_of=sum(query in there for query in material.population.queries.ids),
        labels={f"{grade:g}": label for grade, label in (suite.judgments.scale if suite.judgments else {}).items()},
        cause=material.cause,
        baseline=baseline_info(material),
        policies=suite.policies,
        depth=suite.depth,
        chance_of_red=_chance(material, checks),
        source=material.source,
        judgments=_shown_path(suite),
        plugins=material.registry.distributions,
        fingerprints={name: value for name, value in material.fingerprints._asdict().items() if value},
        notes=material.notes,
        waived=tuple(_waiver(waiver, material) for waiver in suite.waivers),
        to_judge=to_judge,
        curves=curves_of(material, checks),
        distributions=distributions_of(material),
        acceptances=acceptances_of(material),
        relevant_from=relevant_from(suite),
    )


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
