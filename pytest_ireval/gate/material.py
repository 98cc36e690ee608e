"""The input of the rules of a suite: queries, judgments, current rankings, and the baselines to compare with."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval.baseline.index_facts import NO_INDEX, NOTHING, IndexFacts
from pytest_ireval.baseline.record import (
    Baseline,
    Fingerprints,
    JudgmentPrints,
    Spreads,
    Step,
    StepsOfMetrics,
    list_acceptances_since,
    round_spreads,
    round_steps,
    spread_key,
)
from pytest_ireval.errors import IrevalError
from pytest_ireval.evaluating.evaluation import Setting
from pytest_ireval.gate.inputs import Gathered
from pytest_ireval.gate.reference import HeldAgainst
from pytest_ireval.gate.waived_queries import WaivedLoss
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.plugin_types import Part
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.results.outcome import Cause
from pytest_ireval.results.suite_result import Counts, JudgmentAges, RecordedAnswers
from pytest_ireval.rules.accepted_chain import AcceptedChain, AcceptedChange
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.metric_change import MetricChange
from pytest_ireval.rules.planning import (
    Check,
    MetricOnSlice,
    compares_with_anchor,
    list_anchored_means,
    list_compared_figures,
    needs_queries,
    plan_checks,
)
from pytest_ireval.rules.population import Population
from pytest_ireval.rules.side import Side
from pytest_ireval.rules.unjudged_effect import UnjudgedEffect
from pytest_ireval.statistics.differences import Floats, differences
from pytest_ireval.suite.suite import Suite


@dataclass(frozen=True, eq=False)
class Material:
    """The data gathered for one suite, before any rule is asked."""

    suite: Suite
    registry: Registry
    inputs: Gathered
    population: Population
    setting: Setting | None
    """Judgments and the metrics that need them; None for a suite without judgments."""
    plain: Setting | None
    """The metrics that look at no judgments, over all queries; None without such metrics."""
    now: Side
    counts: Counts
    losses_of_waived: Mapping[str, WaivedLoss]
    """By waived query, if it got worse."""
    fingerprints: Fingerprints
    judged_by: JudgmentPrints | None
    judgment_ages: JudgmentAges | None
    """None where no judgment has a date."""
    source: str
    beside: Callable[[Side], Side]
    """Adds to the current side the metrics that compare its lists with those of a reference."""
    stored: Baseline | None = None
    baseline: Side | None = None
    """The stored baseline, scored like the current rankings; None if it does not exist or cannot be scored."""
    baseline_error: IrevalError | None = None
    """The reason why the stored baseline cannot be compared with."""
    redefined: Mapping[str, IrevalError] = field(default_factory=dict)
    """Metrics whose definition is not that of the stored baseline, although their version is."""
    anchor: Baseline | None = None
    """The pinned release; None where no rule asks for it."""
    deleted: Path | None = None
    """The file of a baseline that the last commit has, where there is none here."""
    cause: Cause | None = None
    others: Mapping[int, Side | IrevalError] = field(default_factory=dict)
    """The other references of single rules, by the rule's place in the suite."""
    described: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Fields of documents that the source returned."""
    about: Mapping[str, str] = field(default_factory=dict)
    """Facts on the system that the source returned."""
    recorded: RecordedAnswers | None = None
    """Answers of the source that are recordings."""
    index: IndexFacts = NO_INDEX
    """The facts of the searched index, if the source reports some."""
    request: Mapping[str, Any] = field(default_factory=dict)
    """The options of the source, as the baseline keeps them."""
    source_files: Mapping[str, str] = field(default_factory=dict)
    """Fingerprints of the source's own files."""
    unknown_fields: tuple[str, ...] = ()
    """Fields that the request searches and the index does not have."""
    gone: tuple[str, ...] = ()
    """Relevant documents that the index does not have, if the source looks them up."""
    failed: tuple[str, ...] = ()
    """Notes about queries that the source did not answer, whose rankings are empty."""
    differing: tuple[str, str] = ("", "")
    """The finding that the source does not answer the same twice, and how much it differs."""
    notes: tuple[str, ...] = ()
    strange: IrevalError | None = None
    """The error of rankings without any judged document."""
    held: HeldAgainst | None = None
    """The stored baseline beside that of the merge base; None where no base was given."""
    unjudged: Callable[[Side, Metric], UnjudgedEffect | None] = lambda _reference, _metric: None
    """The possible effect of unjudged documents on a metric, now beside a reference; made once for each."""

    @property
    def comparable(self) -> Side | None:
        """The stored baseline, unless there is a reason not to compare with it."""
        return self.baseline if self.baseline_error is None else None

    @property
    def document_texts(self) -> tuple[Mapping[str, Mapping[str, Any]], Path | None]:
        """The fields of documents that the source returned, and the file that has more of them."""
        file = self.suite.documents.fields
        called = {self.population.called(document): fields for document, fields in self.described.items()}
        return called, None if file is None else file.path

    def now_beside(self, reference: Side | None) -> Side:
        """The current side, complete for a rule that compares with ``reference``."""
        return self.now if reference is None else self.beside(reference)


def moment_of() -> datetime:
    """The current time in UTC, to the second; or the one in SOURCE_DATE_EPOCH."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return datetime.now(timezone.utc).replace(microsecond=0)
    try:
        return datetime.fromtimestamp(int(epoch), timezone.utc)
    except (ValueError, OverflowError, OSError) as error:
        raise IrevalError(f"SOURCE_DATE_EPOCH={epoch!r} is not a number of seconds since 1970") from error


def today_of() -> date:
    """The day of that moment."""
    return moment_of().date()


def written(moment: datetime) -> str:
    """ISO 8601: ``2026-11-20T19:20:00Z``."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def by_stored_baseline(check: Check, material: Material) -> bool:
    """Tell whether it compares with the stored baseline, and not with what a rule names instead."""
    return check.asked is not None and check.asked.kind.compares and rule_number(check, material) not in material.others


def rule_number(check: Check, material: Material) -> int:
    """The place of the check's rule in the suite."""
    return next(i for i, asked in enumerate(material.suite.rules) if asked is check.asked)


def reference_of(check: Check, material: Material) -> Side | IrevalError | None:
    """The reference of the check's rule; None if it does not exist yet."""
    number = rule_number(check, material)
    if number in material.others:
        return material.others[number]
    return material.baseline_error or material.baseline


def seen_of(check: Check, material: Material) -> RuleContext:
    """Both sides as the rule of a check sees them; raises the error of a broken reference."""
    compares = check.asked is not None and check.asked.kind.compares
    reference = reference_of(check, material) if compares else None
    if isinstance(reference, IrevalError):
        raise reference
    context = RuleContext(material.population, material.now_beside(reference), reference, check.part, check.slice)
    if check.asked is not None and check.part.metric is not None and compares_with_anchor(check.asked):
        context = replace(context, chain=_walk_of(material, MetricOnSlice(check.part.metric, check.slice)))
    return context if reference is None else replace(context, unjudged=partial(material.unjudged, reference))


class Moved(NamedTuple):
    """The spreads and steps of the means that an acceptance keeps."""

    spreads: Spreads = NOTHING
    steps: StepsOfMetrics = NOTHING


NOTHING_MOVED = Moved()


def moved_by(material: Material) -> Moved:
    """Measure every mean that a rule compares with the stored baseline or the anchor; empty without a baseline.

    A baseline that does not fit the suite is not used: its differences are not those of a change of ranking.
    """
    if material.comparable is None:
        return NOTHING_MOVED
    queries = material.population.queries if needs_queries(material.suite) else None
    checks = plan_checks(material.suite, queries)
    return Moved(round_spreads(_spreads(material, checks)), round_steps(_steps(material, checks)))


def _spreads(material: Material, checks: Sequence[Check]) -> Iterator[tuple[str, float]]:
    for held in list_compared_figures(checks):
        gain = _gain(material, held, material.comparable)
        if gain.size > 1:
            yield _key(held), _clustered(material, held) or _sd(gain)


def _steps(material: Material, checks: Sequence[Check]) -> Iterator[tuple[str, Step]]:
    anchor = _anchor_of(material)
    for held in list_anchored_means(checks) if anchor is not None else ():
        step = _step(material, held, anchor)
        if step is not None:
            yield _key(held), step


def _step(material: Material, held: MetricOnSlice, anchor: Side | None) -> Step | None:
    """From the stored baseline to the current rankings; None where one of them cannot be compared."""
    step, gone = _gain(material, held, material.comparable), _gain(material, held, anchor)
    return Step(float(step.mean()), _sd(step), _sd(gone)) if min(step.size, gone.size) > 1 else None


def _walk_of(material: Material, held: MetricOnSlice) -> AcceptedChain:
    """The way of a mean from the anchor to the current rankings: committed acceptances, and this change."""
    stored, anchor = material.stored, material.anchor
    since = () if stored is None or anchor is None else list_acceptances_since(anchor, stored)
    changes = [AcceptedChange(each.date, each.reason, each.steps.get(_key(held))) for each in since]
    step = _step(material, held, _anchor_of(material))
    return AcceptedChain(tuple(each for each in changes if each.moved), AcceptedChange("", "", step).moved, step)


def _anchor_of(material: Material) -> Side | None:
    """The anchor, scored; None where no rule compares with one, or where that cannot be done."""
    asking = (number for number, asked in enumerate(material.suite.rules) if compares_with_anchor(asked))
    return next((side for side in map(material.others.get, asking) if isinstance(side, Side)), None)


def _gain(material: Material, held: MetricOnSlice, reference: Side | None) -> Floats:
    """The gain of each query on a reference; empty where the metric has no values on one of the sides."""
    name = str(held.metric)
    known = (name in side.scored and name not in side.errors for side in (material.now, reference) if side is not None)
    if reference is None or held.metric.aggregate != "mean" or not all(known):
        return np.zeros(0)
    values = RuleContext(
        material.population, material.now, reference, Part(metric=held.metric), held.slice
    ).paired_values()
    return differences(values.now, values.before)


def _clustered(material: Material, held: MetricOnSlice) -> float | None:
    """The spread of single queries with the same error of the mean; None where queries have no clusters."""
    if material.population.clusters is None:
        return None
    context = RuleContext(material.population, material.now, material.comparable, Part(metric=held.metric), held.slice)
    return MetricChange(context, context.paired_values()).evidence.sd


def _key(held: MetricOnSlice) -> str:
    return spread_key(str(held.metric), str(held.slice))


def _sd(gain: Floats) -> float:
    return float(gain.std(ddof=1))
