"""Foresees the power of a suite's queries before any run: for each rule that compares, on each of its slices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from statistics import median
from typing import NamedTuple

import numpy as np

from pytest_ireval.baseline.reading import read_baseline
from pytest_ireval.baseline.record import Acceptance, Baseline, StoredMetric, spread_key
from pytest_ireval.data.queries import Queries
from pytest_ireval.errors import Problem
from pytest_ireval.gate.planning import (
    RuleCheck,
    compares_with_baseline,
    number_clusters,
    plan_checks,
    select_rule_checks,
)
from pytest_ireval.gate.queries_and_judgments import read_suite_queries, read_weights
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.rules.fall_wording import LOW_BASELINE
from pytest_ireval.rules.metric_change import distance_to_worst
from pytest_ireval.sides.slices import WHOLE, Slice
from pytest_ireval.statistics.differences import Floats
from pytest_ireval.statistics.estimate import Counts, Weighting, weighting
from pytest_ireval.statistics.resolution import LEVEL, false_alarm, likely_spread, queries_needed, resolution
from pytest_ireval.suite.quantities import Tolerance
from pytest_ireval.suite.suite import Suite
from pytest_ireval.words import format_count, format_magnitude, round_estimate


def collect_suite_data(suite: Suite, registry: Registry, today: date) -> SuiteData:
    """Collect it; raises SuiteError for rules that make no sense, and BaselineError for an unreadable baseline."""
    queries = read_suite_queries(suite, registry)
    checks = tuple(select_rule_checks(plan_checks(suite, queries)))
    waived = frozenset(waiver.query for waiver in suite.waivers if waiver.until >= today)
    weights = None if queries is None else read_weights(suite, queries)
    clusters = None if queries is None else number_clusters(suite, queries)
    stored = read_baseline(suite.baselines, suite.name)
    return SuiteData(suite, registry, checks, queries, weights, waived, stored, clusters=clusters)


def find_tolerances_of_nothing(outlooks: Sequence[Outlook]) -> Iterator[Problem]:
    """Tolerances that are a share of nearly nothing."""
    for outlook in outlooks:
        if outlook.relative and outlook.mean is not None and abs(outlook.mean) < LOW_BASELINE:
            yield Problem(
                f"the baseline of {outlook.metric}{_name_slice(outlook)} is {outlook.mean:.4f}: a share of such a "
                "small value is noise",
                place=str(outlook.check.place),
                suggestion=f"write an amount: tolerance: {{absolute: {format_magnitude(outlook.resolution or 0.01)}}}",
            )


def find_too_small_tolerances(outlooks: Sequence[Outlook]) -> Iterator[str]:
    """Tolerances that are less than the queries can show."""
    for outlook in outlooks:
        if not outlook.has_too_small_tolerance or outlook.tolerance is None:
            continue
        place = f"{outlook.check.place.file}:{outlook.check.place.line}"
        share = f" ({outlook.tolerance_text})" if outlook.relative else ""
        needed = f": about {round_estimate(outlook.needed):,} queries would be needed" if outlook.needed else ""
        guess = (
            f" (the spread of changes is {ASSUMED})"
            if outlook.usual_spread is not None and outlook.usual_spread.assumed
            else ""
        )
        yield (
            f"{place}: {outlook.check.family} {outlook.mean_name}{_name_slice(outlook)}: {_describe_power(outlook)}; "
            f"the tolerance is {format_magnitude(outlook.tolerance)}{share}{needed}{guess}"
        )


def _describe_power(outlook: Outlook) -> str:
    """``12 queries can show a drop of 0.34``; that they can show none, where there is no such drop."""
    metric = outlook.check.part.metric
    drop = "rise" if metric is not None and metric.direction == "lower" else "drop"
    queries = format_count(outlook.queries, metric.unit if metric is not None else "query")
    queries += "" if outlook.clusters is None else f" in {format_count(outlook.clusters, 'cluster')}"
    if outlook.can_show_no_drop:
        return f"{queries} cannot show any {drop}"
    return f"{queries} can show a {drop} of {format_magnitude(outlook.resolution or 0.0)}"


def _name_slice(outlook: Outlook) -> str:
    return "" if outlook.slice == "all" else f" on {outlook.slice}"


NEWEST = 20
"""The most spreads that are used: years ago, changes of the search may have been of another size."""
ASSUMED = "assumed from the spread of values"


class UsualSpread(NamedTuple):
    """A standard deviation of differences, and where it comes from."""

    spread: float
    origin: str

    @property
    def assumed(self) -> bool:
        """True if no change is known yet."""
        return self.origin == ASSUMED


def estimate_spread(
    acceptances: Sequence[Acceptance], metric: str, within: str, values: Sequence[float]
) -> UsualSpread | None:
    """The median of those of acceptances; without any, a guess from ``values`` of queries; None if all are alike."""
    key = spread_key(metric, within)
    accepted = [each.spreads[key] for each in acceptances if key in each.spreads][-NEWEST:]
    if accepted:
        return UsualSpread(median(accepted), format_count(len(accepted), "acceptance"))
    guess = likely_spread(values)
    return None if guess is None else UsualSpread(guess, ASSUMED)


@dataclass
class SuiteData:
    """The data of a suite that is known without asking its source."""

    suite: Suite
    registry: Registry
    checks: tuple[RuleCheck, ...]
    queries: Queries | None
    """None: the suite names none."""
    weights: Floats | None = None
    waived: frozenset[str] = frozenset()
    stored: Baseline | None = None
    """The accepted baseline; its rankings are not used."""
    clusters: Counts | None = None
    """The number of the cluster of each query; None where each was drawn for itself."""

    @property
    def acceptances(self) -> tuple[Acceptance, ...]:
        """Those of the baseline."""
        return () if self.stored is None else self.stored.acceptances


@dataclass
class Outlook:
    """One rule on one slice."""

    check: RuleCheck
    metric: str
    slice: str
    queries: int
    """The queries with a value in the baseline; without a baseline, all queries."""
    mean: float | None = None
    """Of the baseline."""
    room: float | None = None
    """The largest possible loss of the mean; None where nothing bounds it."""
    usual_spread: UsualSpread | None = None
    resolution: float | None = None
    """The smallest drop that this many queries show in 80% of cases."""
    tolerance_text: str = ""
    """The tolerance as it is written."""
    tolerance: float | None = None
    """The allowed fall of the mean, in its own unit; None where the rule does not say."""
    relative: bool = False
    """True if the tolerance is a share of the mean."""
    needed: int | None = None
    """The number of queries that show a drop of the tolerance."""
    false_alarm: float | None = None
    """The chance that a harmless change breaks the tolerance."""
    weighted: bool = False
    """True if each query counts as often as it is asked."""
    by_evidence: bool = False
    """True if evidence decides, and not the observed change."""
    alpha: float = LEVEL
    """The level of its test; all verdicts of the suite that evidence decides share the chance of an error."""
    blocks: bool = True
    """True if it turns a run red."""
    clusters: int | None = None
    """The number of clusters of the queries; None where each was drawn for itself."""

    @property
    def mean_name(self) -> str:
        """``nDCG@10``, ``nDCG@10, weighted``."""
        return f"{self.metric}, weighted" if self.weighted else self.metric

    @property
    def has_too_small_tolerance(self) -> bool:
        """True if a drop of the tolerance is less than the queries can show."""
        return self.tolerance is not None and self.resolution is not None and self.tolerance < self.resolution

    @property
    def can_show_no_drop(self) -> bool:
        """True if no possible drop is large enough for the queries to show."""
        return self.resolution is not None and self.room is not None and self.resolution > self.room


def foresee_rules(data: SuiteData, drop: Tolerance | None = None, queries: int | None = None) -> tuple[Outlook, ...]:
    """Foresee each mean that a rule compares with the stored baseline, in the order of the suite.

    ``drop`` replaces the tolerances; ``queries`` is the number that the suite would have, its slices in proportion.
    """
    return tuple(_foresee(data, check, metric, drop, queries) for check, metric in _list_compared_means(data.checks))


def _list_compared_means(checks: Sequence[RuleCheck]) -> Iterator[tuple[RuleCheck, Metric]]:
    """The checks of means over the values of single lists."""
    for check in checks:
        metric = check.part.metric
        if metric is None or not compares_with_baseline(check.rule):
            continue
        of_ratios = metric.ratio and check.rule.traits.by_evidence  # spreads of ratios are not kept
        if metric.aggregate == "mean" and not metric.compares_lists and not of_ratios:
            yield check, metric


def _foresee(data: SuiteData, check: RuleCheck, metric: Metric, drop: Tolerance | None, queries: int | None) -> Outlook:
    values = _collect_values(data, metric, check.slice)
    traits = check.rule.traits
    outlook = Outlook(
        check,
        str(metric),
        str(check.slice),
        len(values) or _count_queries(data, check.slice),
        weighted=traits.weighted,
        by_evidence=traits.by_evidence,
        alpha=LEVEL / (_count_tests(data) if traits.by_evidence else 1),
        blocks=not check.only_warns,
    )
    if not values:
        return outlook
    if queries is not None:
        outlook = replace(outlook, queries=round(queries * len(values) / len(_collect_values(data, metric, WHOLE))))
    tolerance = drop or traits.tolerance_on(check.slice.value)
    mean = math.fsum(values) / len(values)
    outlook = replace(outlook, mean=mean, room=distance_to_worst(metric, mean))
    if tolerance is not None:
        allowed, relative = tolerance.allowed(mean), bool(tolerance.relative)
        outlook = replace(outlook, tolerance_text=str(tolerance), tolerance=allowed, relative=relative)
    usual_spread = estimate_spread(data.acceptances, outlook.metric, outlook.slice, values)
    weigh = _weigh_queries(data, check, metric)
    outlook = replace(outlook, clusters=None if weigh is None or weigh.clusters is None else weigh.units)
    return outlook if usual_spread is None else _add_power(replace(outlook, usual_spread=usual_spread), weigh)


def _count_tests(data: SuiteData) -> int:
    """Count the verdicts that evidence decides: the smallest p is multiplied by this number."""
    return sum(check.rule.traits.by_evidence for check in data.checks)


def _add_power(outlook: Outlook, weigh: Weighting | None) -> Outlook:
    """Add the power of this many queries of the usual spread; weighted ones are worth less.

    The spread that earlier changes had says how alike the queries of a cluster are. One that is assumed does not, so
    a cluster is then taken for one query.
    """
    worth = _measure_worth(weigh, clustered=outlook.usual_spread is not None and outlook.usual_spread.assumed)
    spread = outlook.usual_spread.spread / math.sqrt(worth) if outlook.usual_spread else math.nan
    outlook = replace(outlook, resolution=resolution(spread, outlook.queries))
    if not outlook.tolerance:
        return outlook
    return replace(
        outlook,
        needed=queries_needed(spread, outlook.tolerance, outlook.alpha),
        false_alarm=false_alarm(outlook.tolerance, spread, outlook.queries),
    )


def _measure_worth(weigh: Weighting | None, *, clustered: bool) -> float:
    """The worth of one query in queries of equal weight; ``clustered`` if a cluster is taken for one query."""
    if weigh is None or not weigh.effective or (weigh.clusters is not None and not clustered):
        return 1.0
    return weigh.effective / (weigh.units if weigh.clusters is None else weigh.clusters.size)


def _collect_values(data: SuiteData, metric: Metric, within: Slice) -> list[float]:
    """Those that the baseline has of a slice, without waived queries."""
    stored = data.stored.metrics.get(str(metric)) if data.stored is not None else None
    if stored is None:
        return []
    if metric.unit != "query" or data.queries is None:
        return [value for query, value in stored.values.items() if query not in data.waived]
    return [
        value
        for query in _list_queries(data.queries, within)
        if (value := _find_value(stored, query, data)) is not None
    ]


def _find_value(stored: StoredMetric, query: str, data: SuiteData) -> float | None:
    return None if query in data.waived else stored.values.get(query)


def _list_queries(queries: Queries, within: Slice) -> list[str]:
    return [query for query, inside in zip(queries.ids, within.mask(queries).tolist(), strict=True) if inside]


def _count_queries(data: SuiteData, within: Slice) -> int:
    """The number of queries, with or without a value; 0 without a queries file."""
    return 0 if data.queries is None else sum(query not in data.waived for query in _list_queries(data.queries, within))


def _weigh_queries(data: SuiteData, check: RuleCheck, metric: Metric) -> Weighting | None:
    """The weights and clusters of a rule's queries; None where they are unknown."""
    traits = check.rule.traits
    stored = data.stored.metrics.get(str(metric)) if data.stored is not None else None
    if data.queries is None or stored is None or metric.unit != "query":
        return None
    inside = [data.queries.position[query] for query in _list_queries(data.queries, check.slice)]
    place = np.array([row for row in inside if _find_value(stored, data.queries.ids[row], data) is not None], np.int64)
    weights = data.weights[place] if traits.weighted and data.weights is not None else None
    clusters = None if data.clusters is None else data.clusters[place]
    return None if weights is None and clusters is None else weighting(weights, place.size, clusters)
