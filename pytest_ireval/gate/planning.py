"""Plans the checks of a suite before anything is evaluated: one for each rule, part and slice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pytest_ireval.data.queries import Queries
from pytest_ireval.errors import Problem, SuiteError, did_you_mean, quote
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.plugin_types import Part
from pytest_ireval.rules.expect import OF_EVERY_QUERY, Expectation
from pytest_ireval.rules.threshold import Limit
from pytest_ireval.sides.slices import WHOLE, Slice, slice_where, slug
from pytest_ireval.statistics.differences import Floats
from pytest_ireval.statistics.estimate import Counts, weighting
from pytest_ireval.suite.quantities import Tolerances
from pytest_ireval.suite.suite import Place, RuleSpec, Suite, Waiver
from pytest_ireval.words import format_count, format_some

INPUTS = "inputs"
LOWERING = "lowering"
MOST_VALUES = 200
"""A column with more values cannot make slices."""
MOST_NAMED = 5


class MetricOnSlice(NamedTuple):
    """A metric on a slice."""

    metric: Metric
    slice: Slice


@dataclass
class Check:
    """Something that gets a verdict of its own; one that is of no other class is about the inputs."""

    id: str
    """``no_regression::nDCG_10.segment-tail``"""
    place: Place

    @property
    def family(self) -> str:
        """The first part of the id: its kind."""
        return self.id.partition("::")[0]

    @property
    def tags(self) -> tuple[str, ...]:
        """Those of its rule."""
        return ()


@dataclass
class RuleCheck(Check):
    """One part of a rule on one slice."""

    rule: RuleSpec
    part: Part
    slice: Slice

    @property
    def only_warns(self) -> bool:
        """True if a failure is a warning and never red."""
        return self.rule.only_warns(self.part.metric)

    @property
    def tags(self) -> tuple[str, ...]:
        """Those of its rule."""
        return tuple(self.rule.options.tags)


@dataclass
class WaiverCheck(Check):
    """Whether a waiver has ended."""

    waiver: Waiver


@dataclass
class LoweringCheck(Check):
    """Whether a branch lowers its baseline."""

    figures: tuple[MetricOnSlice, ...]
    """Those of the branch's baseline that are compared with the base's."""


def select_rule_checks(checks: Iterable[Check]) -> list[RuleCheck]:
    """The checks of rules."""
    return [check for check in checks if isinstance(check, RuleCheck)]


def needs_queries(suite: Suite) -> bool:
    """Tell whether the checks depend on what the queries file says."""
    if suite.cluster or any(rule.options.where or rule.options.per for rule in suite.rules):
        return True
    return any(part.where for rule in suite.rules for part in rule.parts) or any(
        placed.expectation.columns for placed in list_expectations(suite)
    )


def plan_checks(suite: Suite, queries: Queries | None, *, lowering: bool = False) -> tuple[Check, ...]:
    """All checks in the order of the suite; raises SuiteError with all mistakes of the rules.

    ``queries`` may be None unless :func:`needs_queries`; where they are given, all names of queries, columns and
    values are looked up in them. ``lowering`` adds the comparison of the baseline with that of another branch.
    """
    problems: list[Problem] = list(_check_rules_exist(suite))
    problems += (*_check_names(suite, queries), *check_clusters(suite, queries)) if queries is not None else ()
    rule_checks: list[RuleCheck] = []
    for rule in suite.rules:
        slices = list(_select_slices(rule, rule.options.where, rule.place, queries, problems))
        problems += _check_weights(rule, suite)
        problems += _check_metrics(rule)
        if not rule.parts:
            problems.append(Problem(f"{rule.kind.name} has no part to check, so it can never fail", str(rule.place)))
        for part, place in zip(rule.parts, rule.places, strict=True):
            own = list(_select_slices(rule, part.where, place, queries, problems)) if part.where else slices
            rule_checks += [RuleCheck(_make_id(rule, part, slice_), place, rule, part, slice_) for slice_ in own]
    checks: list[Check] = [Check(INPUTS, suite.place), *rule_checks]
    if lowering:
        checks.append(LoweringCheck(LOWERING, suite.place, tuple(list_compared_figures(rule_checks))))
    checks += [WaiverCheck(f"waive::{slug(waiver.query)}", waiver.place, waiver) for waiver in suite.waivers]
    problems += _check_ids(checks)
    if problems:
        raise SuiteError(*problems)
    return tuple(checks)


def find_checks_that_cannot_fail(checks: Sequence[RuleCheck], queries: Queries | None) -> Iterator[str]:
    """Report checks that pass with any rankings: a reader may take them for a guard."""
    for check in checks:
        place = f"{check.place.file}:{check.place.line}: {check.id} can never fail"
        limit, metric = check.part.item, check.part.metric
        if metric is not None and isinstance(limit, Limit) and limit.always_holds(metric.bounds):
            yield f"{place}: every value of {metric} is {limit}"
        at_most = check.rule.traits.at_most
        if at_most is not None and queries is not None:
            inside = int(check.slice.mask(queries).sum())
            if at_most.of(inside) >= inside:
                yield f"{place}: at_most allows {at_most} of {format_count(inside, 'query')}"
    if any(check.part.time_metric for check in checks) and all(check.only_warns for check in checks):
        only = "times only warn, unless a rule says on_fail: fail"
        yield f"{checks[0].place.file}: no rule of this suite can fail: {only}"


def find_rules_of_few_weights(
    checks: Sequence[RuleCheck], queries: Queries | None, weights: Floats | None
) -> Iterator[str]:
    """Report weighted rules that few queries decide: a line for each rule, with its slices."""
    slices: dict[int, tuple[RuleCheck, list[str]]] = {}
    for check in checks:
        if queries is None or weights is None or not check.rule.traits.weighted:
            continue
        inside = weights[check.slice.mask(queries)]
        weigh = weighting(inside, inside.size)
        if weigh.is_decided_by_few:
            on = f" of {check.slice}" if check.slice.conditions else ""
            text = f"{format_count(inside.size, 'query')}{on} count like {weigh.effective_size} of equal weight"
            slices.setdefault(check.rule.index, (check, []))[1].append(text)
    for check, texts in slices.values():
        more = f"; and {format_count(len(texts) - MOST_NAMED, 'more slice')}" if len(texts) > MOST_NAMED else ""
        place = f"{check.place.file}:{check.place.line}: {check.family} {check.part.metric or ''}".rstrip()
        yield f"{place} is weighted, and few queries decide it: {'; '.join(texts[:MOST_NAMED])}{more}"


def compares_with_baseline(rule: RuleSpec) -> bool:
    """Tell whether a rule compares with the stored baseline, and not with what it names instead."""
    return rule.compares and rule.traits.reference.stored


def compares_with_anchor(rule: RuleSpec) -> bool:
    """Tell whether a rule compares with the anchor."""
    return rule.compares and rule.traits.reference.anchored


def list_compared_figures(checks: Sequence[RuleCheck]) -> Iterator[MetricOnSlice]:
    """Each metric that a rule compares with the stored baseline: on all queries, then on the slices of its rules."""
    metrics: dict[str, Metric] = {}
    slices: dict[str, list[Slice]] = {}
    for check in checks:
        metric = check.part.metric
        if compares_with_baseline(check.rule) and metric and not metric.compares_lists:
            metrics.setdefault(str(metric), metric)
            slices.setdefault(str(metric), [WHOLE]).append(check.slice)
    for name, metric in metrics.items():
        yield from (MetricOnSlice(metric, slice_) for slice_ in dict.fromkeys(slices[name]))


def list_anchored_means(checks: Sequence[RuleCheck]) -> Iterator[MetricOnSlice]:
    """Each mean that a rule compares with the anchor, once for each slice."""
    means: dict[tuple[str, Slice], MetricOnSlice] = {}
    for check in checks:
        metric = check.part.metric
        if compares_with_anchor(check.rule) and metric and metric.aggregate == "mean":
            means[str(metric), check.slice] = MetricOnSlice(metric, check.slice)
    yield from means.values()


Filter = Mapping[str, tuple[str, ...]]
"""Columns of the queries, each with the values that count."""


def _select_slices(
    rule: RuleSpec, where: Filter, place: Place, queries: Queries | None, problems: list[Problem]
) -> Iterator[Slice]:
    """The slices of one rule; a slice without queries is a problem, because its rule would always pass."""
    per = rule.options.per
    if not where and not per:
        yield WHOLE
        return
    assert queries is not None  # noqa: S101 - needs_queries() says so
    unknown = [column for column in (*where, *([per] if per else [])) if column not in queries.columns]
    problems += [_unknown_column_problem(place, column, queries) for column in unknown]
    if unknown:
        return
    within = slice_where(where)
    wrong = list(_check_values(rule, where, place, queries))
    problems += wrong
    if not within.mask(queries).any():
        problems += [] if wrong else [Problem(f"no query has {within}", place=str(place))]
    elif not per:
        yield within
    else:
        parts = within.split(queries, per, rule.traits.tolerances)
        if len(parts) > MOST_VALUES:
            complaint = f"column {per!r} has {len(parts)} values; per allows up to {MOST_VALUES}"
            problems.append(Problem(f"{complaint}, with one verdict for each", place=str(rule.place)))
            return
        problems += [] if wrong else _check_tolerances(rule, [part.value for part in parts])
        yield from parts


def _check_values(rule: RuleSpec, where: Filter, place: Place, queries: Queries) -> Iterator[Problem]:
    """Values that a filter or a tolerance names and no query has."""
    named = [(column, value) for column, values in where.items() for value in values]
    named += [(rule.options.per, value) for value in rule.traits.tolerances]
    for column, value in named:
        known = set(queries.composed.get(column, ()))
        if known and value not in known:
            yield Problem(
                f"no query has {column}={value}",
                place=str(place),
                suggestion=did_you_mean(value, known),
                allowed=f"{column} is one of {', '.join(sorted(known)[:20])}",
            )


def _check_tolerances(rule: RuleSpec, values: Sequence[str]) -> Iterator[Problem]:
    """Values of the column for which a rule that has tolerances has none."""
    tolerances = rule.traits.tolerance
    if not isinstance(tolerances, Tolerances):
        return
    without = [value for value in values if tolerances.of(value) is None]
    if without:
        more = f" and {len(without) - MOST_NAMED} more" if len(without) > MOST_NAMED else ""
        yield Problem(
            f"no tolerance is given for {rule.options.per}={', '.join(without[:MOST_NAMED])}{more}",
            place=str(rule.place),
            suggestion="name one for each value, or one for all others: tolerance: {…, default: 3%}",
        )


def _check_rules_exist(suite: Suite) -> Iterator[Problem]:
    if not suite.rules:
        yield Problem(
            "has no rules, so it can never fail",
            place=str(suite.place),
            suggestion="add rules, such as - threshold: {nDCG@10: '>= 0.85'}",
            allowed="if it is only for other suites to extend, give it a name that begins with _",
        )


def _check_weights(rule: RuleSpec, suite: Suite) -> Iterator[Problem]:
    if rule.traits.weighted and not suite.weight:
        complaint = "is weighted, but the suite does not say how much traffic each query has"
        yield Problem(complaint, place=str(rule.place), suggestion="add weight: COLUMN, a column of the queries file")


def _check_metrics(rule: RuleSpec) -> Iterator[Problem]:
    for part, place in zip(rule.parts, rule.places, strict=True):
        metric = part.metric
        if metric is None:
            continue
        if metric.compares_lists != rule.compares_lists:
            what, wanted, suggestion = (
                ("scores one list", "metrics that compare two lists, such as RBO", "")
                if rule.compares_lists
                else ("compares two lists", "metrics that score one list", "use churn, or a threshold of its own")
            )
            complaint = f"{metric} {what}; {rule.kind.name} takes {wanted}"
            yield Problem(complaint, place=str(place), suggestion=suggestion)
            continue
        if rule.compares and metric.direction == "neither":
            complaint = f"no value of {metric} is better than another, so it cannot get worse"
            yield Problem(complaint, place=str(place), suggestion="use threshold to limit it to a range")
        if rule.traits.by_evidence and metric.aggregate != "mean" and rule.kind.p_value:
            complaint = f"the figure of {metric} is not a mean, but evidence is about means"
            yield Problem(
                complaint, place=str(place), suggestion="compare it by no_regression with decide_by: observed"
            )
        if metric.unit != "query" and rule.traits.weighted:
            yield Problem(f"{metric} scores a whole {metric.unit}, and only queries have weights", place=str(place))
        if metric.unit != "query" and (rule.options.where or rule.options.per):
            yield Problem(f"{metric} scores a whole {metric.unit}, not queries: it has no slices", place=str(place))


def _make_id(rule: RuleSpec, part: Part, within: Slice) -> str:
    label = slug(part.label) if part.label else slug(str(part.metric)) if part.metric else ""
    name = slug(rule.options.name) if rule.options.name else ""
    pieces = [piece for piece in (label, within.slug or rule.options.name_of_all, name) if piece]
    return f"{rule.kind.name}::{'.'.join(pieces) or 'all'}"


def _check_ids(checks: Sequence[Check]) -> Iterator[Problem]:
    """Checks that would have one id; the problem of the second gives the place of the first."""
    first: dict[str, Check] = {}
    for check in checks:
        other = first.setdefault(check.id, check)
        if other is not check:
            yield Problem(
                f"two rules would have the id {check.id}; the other is at {other.place.file}:{other.place.line}",
                place=str(check.place),
                suggestion="give one of them a name: …; the name becomes part of its id",
            )


def number_clusters(suite: Suite, queries: Queries) -> Counts | None:
    """The number of the cluster of each query; an empty cell is a cluster of its own. None without clusters."""
    if not suite.cluster:
        return None
    values = queries.composed[suite.cluster]
    numbers: dict[str, int] = {}
    own = iter(range(len(values), 2 * len(values)))
    return np.array(
        [numbers.setdefault(value, len(numbers)) if value.strip() else next(own) for value in values], np.int64
    )


def check_clusters(suite: Suite, queries: Queries) -> Iterator[Problem]:
    """The mistakes in what a suite says of clusters of queries."""
    if not suite.cluster:
        return
    if suite.cluster not in queries.columns:
        yield _unknown_column_problem(suite.cluster_place or suite.place, suite.cluster, queries)
        return
    values = set(queries.composed[suite.cluster])
    if len(queries) > 1 and len(values) == 1 and next(iter(values)).strip():
        yield Problem(
            f"all queries have {suite.cluster}={next(iter(values))}: evidence needs more than one cluster",
            place=str(suite.cluster_place or suite.place),
            suggestion="name a column with a different value for each intent; the variants of one intent share a value",
        )


def _check_names(suite: Suite, queries: Queries) -> Iterator[Problem]:
    """Queries and columns that the suite names and the queries lack."""
    if suite.weight and suite.weight not in queries.columns:
        yield _unknown_column_problem(suite.weight_place or suite.place, suite.weight, queries)
    unknown: list[tuple[str, Place, str]] = []
    for expectation, place in list_expectations(suite):
        found = queries.find_ids(expectation.query)
        if expectation.query and not found:
            unknown.append((expectation.query, place, "expectation"))
        if len(found) > 1:
            complaint = f"{format_count(len(found), 'query')} have the text {quote(expectation.query)}"
            yield Problem(complaint, str(place), suggestion=f"write the id of one of them: {format_some(found)}")
        yield from _check_columns_of_fields(expectation, place, queries)
    waivers = ((waiver.query, waiver.place, "waiver") for waiver in suite.waivers)
    unknown += [named for named in waivers if named[0] not in queries.position]
    for number, (query, place, what) in enumerate(unknown):
        yield Problem(
            f"query {quote(query)} is not in {queries.origin}",
            place=str(place),
            # Thousands take long. An expectation may name the text of a query, too.
            suggestion=did_you_mean(query, [*queries.ids, *queries.text]) if number < 5 else "",
            allowed=f"add it there, or remove the {what}",
        )


def _check_columns_of_fields(expectation: Expectation, place: Place, queries: Queries) -> Iterator[Problem]:
    """Columns that the values of fields name and the queries lack, or that are empty for one of the queries."""
    if not expectation.columns or any(column not in queries.columns for column in expectation.where):
        return  # a column that is not there is a problem of its own
    inside = slice_where(expectation.where).mask(queries)
    if expectation.query:
        inside &= np.isin(np.array(queries.ids, str), queries.find_ids(expectation.query))
    for column, field in expectation.columns.items():
        if column not in {*OF_EVERY_QUERY, *queries.columns}:
            yield _unknown_column_problem(place, column, queries)
            continue
        values = queries.columns.get(column, queries.ids if column == "id" else queries.text)
        empty = [queries.ids[row] for row in np.flatnonzero(inside).tolist() if not values[row].strip()]
        if empty:
            complaint = f"the column {column} is empty for {format_some(empty)}, but field: {field} needs it"
            yield Problem(complaint, str(place), suggestion="fill it in, or leave these queries out by where:")


def _unknown_column_problem(place: Place, column: str, queries: Queries) -> Problem:
    return Problem(
        f"{queries.origin} has no column {quote(column)}",
        place=str(place),
        suggestion=did_you_mean(column, queries.columns),
        allowed=f"columns: {', '.join(queries.columns) or 'only id and text'}",
    )


class PlacedExpectation(NamedTuple):
    """An expectation, and its place in the suite or in a table."""

    expectation: Expectation
    place: Place


def list_expectations(suite: Suite) -> Iterator[PlacedExpectation]:
    """Those of all rules."""
    for rule in suite.rules:
        for part, place in zip(rule.parts, rule.places, strict=True):
            if isinstance(part.item, Expectation):
                yield PlacedExpectation(part.item, place)
