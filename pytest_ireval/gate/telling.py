"""What was gathered and judged as plain data: the result that every page and face shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.asking import error_lines
from pytest_ireval.gate.material import Material
from pytest_ireval.gate.slices import slices_of
from pytest_ireval.gate.to_judge import with_what_to_judge
from pytest_ireval.metrics.score import aggregated
from pytest_ireval.plugins.kinds import Part
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.results.outcome import Outcome, Verdict, worst_of
from pytest_ireval.results.suite_result import (
    BaselineInfo,
    MetricFigures,
    QueryDocuments,
    QueryTable,
    SuiteResult,
)
from pytest_ireval.rules.figures import figures_compared
from pytest_ireval.rules.planning import Check
from pytest_ireval.rules.seen import Seen
from pytest_ireval.rules.side import Floats, Scored, Side
from pytest_ireval.suites.suite import Suite, Waiver

DOCUMENTS_OF_A_RULE = 200
"""The documents of so many queries are kept for one failing rule."""
DOCUMENTS_OF_A_METRIC = 50


def result_of(material: Material, checks: Sequence[Check], outcomes: tuple[Outcome, ...]) -> SuiteResult:
    """Everything that a report of this suite shows."""
    suite, side = material.suite, material.now_beside(material.baseline)
    outcomes, to_judge = with_what_to_judge(material, checks, outcomes)
    shown = _queries_to_show(material, side, outcomes)
    seen = Seen(material.population, material.now, material.baseline, Part())
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
        documents=tuple(QueryDocuments(query, seen.placed(query)) for query in shown),
        documents_of=sum(query in there for query in material.population.queries.ids),
        labels={f"{grade:g}": label for grade, label in (suite.judgments.scale if suite.judgments else {}).items()},
        cause=material.cause,
        baseline=_info(material),
        policies=suite.policies,
        depth=suite.depth,
        source=material.source,
        judgments=_shown_path(suite),
        plugins=material.registry.distributions,
        fingerprints={name: value for name, value in material.fingerprints._asdict().items() if value},
        notes=material.notes,
        waived=tuple(_waiver(waiver, material) for waiver in suite.waivers),
        to_judge=to_judge,
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


def _queries_to_show(material: Material, side: Side, outcomes: Iterable[Outcome]) -> list[str]:
    """Those behind failing rules, and the worst of each metric."""
    known = material.population.queries.position
    shown: dict[str, None] = {}
    for outcome in outcomes:
        if outcome.verdict != "pass" or outcome.warning or outcome.accepted:
            shown |= dict.fromkeys(change.query for change in outcome.queries[:DOCUMENTS_OF_A_RULE])
    for scored in side.scored.values():
        if scored.metric.unit == "query":
            shown |= dict.fromkeys(_worst(material, scored))
    return [query for query in shown if query in known]


def _worst(material: Material, scored: Scored) -> list[str]:
    """The queries that got worse by most; without a baseline, those with the worst values."""
    sign = -1 if scored.metric.direction == "lower" else 1
    name = str(scored.metric)
    before = material.baseline.scored.get(name) if material.baseline is not None else None
    values = sign * (scored.values if before is None else scored.values - before.values)
    order = np.argsort(np.where(np.isnan(values), np.inf, values), kind="stable")[:DOCUMENTS_OF_A_METRIC]
    kept = [i for i in order.tolist() if not np.isnan(values[i]) and (before is None or values[i] < 0)]
    return [scored.names[i] for i in kept]


def _info(material: Material) -> BaselineInfo | None:
    """The stored baseline."""
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
