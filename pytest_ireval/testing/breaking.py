"""The tests of the promises: functions that look for data on which a metric breaks one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from pytest_ireval.errors import IrevalError, MetricError, Problem
from pytest_ireval.metrics.catalog import MetricCatalog, make_entry
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.names import Vocabulary
from pytest_ireval.metrics.parameters import Parameter
from pytest_ireval.metrics.score import ROUNDING, read_bounds
from pytest_ireval.testing.data import (
    Case,
    Change,
    Data,
    MetricValues,
    Query,
    apply_change,
    compute_metric_values,
    leave_each_alone,
    lengthen,
    list_promotions,
    make_corner_cases,
    make_fractions,
    make_perfect_rankings,
    make_random_data,
    put_each_first,
    read_contents,
    rename_documents_at_length,
    rename_queries_at_length,
    select_deep_enough,
    select_queries,
)


@dataclass
class SeenBreak:
    """Data, their origin, and the metric's value of one unit of them."""

    how: str
    data: Data
    unit: str
    value: str
    scored: bool = False
    """True if scores have to be shown."""


@dataclass
class Broken:
    """A broken promise: the data seen, and the data that should have agreed with them."""

    seen: tuple[SeenBreak, ...]
    complaint: str = ""


Breaks: TypeAlias = Callable[[Case, Data], Broken | None]


def find_missing_value(case: Case, data: Data) -> Broken | None:
    """Raises, or returns NaN or infinity."""
    found = case.first_values(data)
    if found.raised and not found.wrote:
        return Broken((SeenBreak("", data, "", "none"),), found.raised)
    for unit, value in found.by_unit.items():
        if not math.isfinite(value):
            return Broken((SeenBreak("", data, unit, f"{value:g}"),))
    return None


def find_value_out_of_range(case: Case, data: Data) -> Broken | None:
    """A finite value is outside the declared range."""
    low, high = read_bounds(case.metric)
    slack = ROUNDING * max([1.0, *(abs(end) for end in (low, high) if math.isfinite(end))])
    for unit, value in case.first_values(data).by_unit.items():
        if math.isfinite(value) and not low - slack <= value <= high + slack:
            return Broken((SeenBreak("", data, unit, f"{value:g}, outside {low:g} to {high:g}"),))
    return None


def find_difference(change: Change, how: str, *, scored: bool = False) -> Breaks:
    """A test that finds a value which a change of the data changes."""

    def breaks(case: Case, data: Data) -> Broken | None:
        other = apply_change(change, data)
        names = ([q.name for q in sorted(each.queries, key=lambda q: q.number)] for each in (data, other))
        new = dict(zip(*names, strict=True))
        before, after = case.first_values(data), case.values(other)
        broken = _find_differing_unit(case, (data, before), (other, after), how, new)
        return broken and Broken(tuple(replace(seen, scored=scored) for seen in broken.seen))

    return breaks


def find_either(*ways: Breaks) -> Breaks:
    """A test that takes the first finding of several tests."""

    def breaks(case: Case, data: Data) -> Broken | None:
        return next((broken for way in ways if (broken := way(case, data))), None)

    return breaks


def find_change_below_cutoff(case: Case, data: Data) -> Broken | None:
    """Documents below the cutoff change a value."""
    deep = select_deep_enough(data, case.metric.settings["cutoff"])
    if not deep.queries:
        return None
    longer = lengthen(deep)
    before, after = case.values(deep), case.values(longer)
    return _find_differing_unit(case, (deep, before), (longer, after), "with two more documents after the others")


def find_difference_alone(case: Case, data: Data) -> Broken | None:
    """A query that comes before others has another score by itself."""
    for together, alone in zip(put_each_first(data), leave_each_alone(data), strict=True):
        before, after = case.first_values(together), case.first_values(alone)
        if before.raised:
            continue
        query = alone.queries[0].name
        before = MetricValues({query: before.by_unit[query]})
        if broken := _find_differing_unit(case, (together, before), (alone, after), "alone"):
            return broken
    return None


def find_difference_the_second_time(case: Case, data: Data) -> Broken | None:
    """A second call gives other values: on data of its own, or on the data of the first call."""
    judged = case.judged(data)
    kept = read_contents(judged)
    first, again = compute_metric_values(case.metric, judged), case.values(data)
    second = compute_metric_values(case.metric, judged) if read_contents(judged) == kept else again
    for other in (again, second):
        if (unit := _compare_units(first, other, {})) is not None:
            return Broken(_show_both((data, first), (data, other), "the second time", unit, {}))
    return None


def find_difference_after_other_arguments(case: Case, data: Data) -> Broken | None:
    """Remembered values of other arguments change a value."""
    judged = case.judged(data)
    kept = read_contents(judged)
    for other in make_siblings(case.metric):
        compute_metric_values(other, judged)
    if read_contents(judged) != kept:  # it writes, which is another promise
        return None
    before, after = case.values(data), compute_metric_values(case.metric, judged)
    return _find_differing_unit(case, (data, before), (data, after), "after other arguments")


def find_writing(case: Case, data: Data) -> Broken | None:
    """Something that it may only read is different afterwards, or it tried to change it."""
    judged = case.judged(data)
    before = read_contents(judged)
    found = compute_metric_values(case.metric, judged)
    if found.wrote:
        return Broken((SeenBreak("", data, "", "none"),), found.raised)
    if read_contents(judged) != before:
        return Broken((SeenBreak("", data, "", "none"),), "changed what it was given")
    return None


def find_single_value(case: Case, data: Data) -> Broken | None:  # noqa: ARG001 - as below
    """Every unit of data that differ has the same value."""
    renamed = apply_change(rename_documents_at_length, apply_change(rename_queries_at_length, make_random_data(8)))
    several = (make_random_data(8), make_random_data(30), make_corner_cases(), make_fractions(), renamed)
    places = [_find_queries(each, lambda query: query.ranking and max(query.grades.values()) > 0) for each in several]
    every = [case.values(select_queries(each, few)) for each, few in zip(several, places, strict=True)]
    found = {round(value, 9) for each in every for value in each.by_unit.values()}
    return Broken((), f"has the value {found.pop():g} for all rankings, good or bad") if len(found) == 1 else None


def find_misread_name(case: Case, data: Data) -> Broken | None:  # noqa: ARG001 - as the others
    """Its name is read as something else, or not at all."""
    try:
        catalog = MetricCatalog([make_entry(replace(case.metric, arguments={}), case.metric.origin)])
        read = Vocabulary(catalog).parse(str(case.metric))
    except IrevalError as error:
        return Broken((), f"cannot be read: {error.problems[0].complaint}")
    if read == [case.metric]:
        return None
    return Broken((), f"is read as {', '.join(map(repr, map(str, read)))}")


def find_better_than_perfect(case: Case, data: Data) -> Broken | None:
    """A ranking is better than the perfect one; queries without relevant documents have none."""
    perfect = make_perfect_rankings(data, _find_relevant_grade(case.metric))
    with_relevant = _find_queries(perfect, lambda query: query.ranking)
    if not with_relevant:
        return None
    some, best = select_queries(data, with_relevant), select_queries(perfect, with_relevant)
    return _find_worse(case, some, best, "with all relevant documents in order of grade")


def find_harm_by_promotion(case: Case, data: Data) -> Broken | None:
    """A promoted document makes a value worse."""
    for better in list_promotions(data, _find_relevant_grade(case.metric)):
        if broken := _find_worse(case, data, better, "with a relevant document one place higher"):
            return broken
    return None


def _find_queries(data: Data, condition: Callable[[Query], object]) -> tuple[int, ...]:
    """The places of the queries that meet a condition."""
    return tuple(place for place, query in enumerate(data.queries) if condition(query))


def _find_relevant_grade(metric: Metric) -> float | None:
    """The grade from which documents are relevant to it, if it says so."""
    rel = metric.settings.get("rel")
    return float(rel) if isinstance(rel, int | float) else None


def _find_worse(case: Case, data: Data, better: Data, how: str) -> Broken | None:
    """The first unit that is worse although it should be at least as good."""
    before, after = case.first_values(data), case.values(better)
    sign = -1 if case.metric.direction == "lower" else 1
    for unit, value in before.by_unit.items():
        other = after.by_unit.get(unit, math.nan)
        if sign * other < sign * value and not are_equal(value, other):
            steady = _is_steady(case, data, before)
            return Broken(_show_both((data, before), (better, after), how, unit, {})) if steady else None
    return None


def _find_differing_unit(
    case: Case,
    old: tuple[Data, MetricValues],
    new: tuple[Data, MetricValues],
    how: str,
    names: Mapping[str, str] | None = None,
) -> Broken | None:
    """The first unit whose value differs; a metric with other values at each call breaks another promise."""
    names = names or {}
    unit = _compare_units(old[1], new[1], names)
    if unit is None or not _is_steady(case, *old):
        return None
    return Broken(_show_both(old, new, how, unit, names))


def _is_steady(case: Case, data: Data, before: MetricValues) -> bool:
    again = case.values(data)
    return all(are_equal(value, again.by_unit.get(unit, math.nan)) for unit, value in before.by_unit.items())


def _compare_units(old: MetricValues, new: MetricValues, names: Mapping[str, str]) -> str | None:
    if old.raised or new.raised:
        return None if old.raised and new.raised else next(iter(old.by_unit or new.by_unit), "")
    for unit, value in old.by_unit.items():
        if not are_equal(value, new.by_unit.get(names.get(unit, unit), math.nan)):
            return unit
    return None


def are_equal(one: float, other: float) -> bool:
    """Equal but for rounding; NaN is NaN."""
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(one) and math.isnan(other))


def _show_both(
    old: tuple[Data, MetricValues], new: tuple[Data, MetricValues], how: str, unit: str, names: Mapping[str, str]
) -> tuple[SeenBreak, SeenBreak]:
    return (
        SeenBreak("", old[0], unit, _format_value(old[1], unit)),
        SeenBreak(how, new[0], names.get(unit, unit), _format_value(new[1], names.get(unit, unit))),
    )


def _format_value(found: MetricValues, unit: str) -> str:
    return found.raised.replace("\n  ", "; ") if found.raised else f"{found.by_unit.get(unit, math.nan):.10g}"


CUTOFFS = (1, 3, 10)
WHOLE_NUMBERS = (*CUTOFFS, 1000)
NUMBERS = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0)
OTHER_NUMBERS = (0.5, 2)
"""Tried in place of a default."""
GAINS = {1: 1, 2: 3, 3: 7}


def make_variants(metric: Metric) -> tuple[Metric, ...]:
    """The metric itself if it has arguments, else with sensible ones; raises MetricError if none fit."""
    if metric.arguments:
        return (metric,)
    required = {p.name: _list_candidates(p) for p in metric.parameters if p.required}
    for name, found in required.items():
        if not found:
            suggestion = f"pass the metric with arguments, as {metric.name}({name}=…)"
            raise MetricError(Problem(f"no suitable value is known for {name}", str(metric), suggestion=suggestion))
    plain = {name: found[len(found) // 2] for name, found in required.items()}
    chosen = [{**plain, name: value} for name, found in required.items() for value in found] or [plain]
    short = {**plain, "cutoff": CUTOFFS[1]} if metric.parameter("cutoff") else plain
    for parameter in metric.parameters:
        if not parameter.required:
            start = plain if parameter.name == "cutoff" else short
            chosen += [{**start, parameter.name: value} for value in _list_other_values(parameter)]
    return tuple({str(made): made for made in (metric(**arguments) for arguments in chosen)}.values())


def make_siblings(metric: Metric) -> tuple[Metric, ...]:
    """The metric with one argument changed each."""
    return tuple(
        metric(**{parameter.name: value})
        for parameter in metric.parameters
        for value in list_tried_values(parameter)
        if value != metric.settings.get(parameter.name)
    )


def list_tried_values(parameter: Parameter) -> list[Any]:
    """The values with which a parameter is tried unless its author gives some."""
    return _list_candidates(parameter) if parameter.required else _list_other_values(parameter)


def _list_candidates(parameter: Parameter) -> list[Any]:
    possible: dict[str, tuple[Any, ...]] = {
        "int": CUTOFFS if parameter.name == "cutoff" else WHOLE_NUMBERS,
        "float": NUMBERS,
        "bool": (False, True),
        "text": parameter.choices,
        "map": (GAINS,),
    }
    return _select_allowed(parameter, possible[parameter.kind])


def _list_other_values(parameter: Parameter) -> list[Any]:
    """Values in place of the default; none where the default is None, because nothing tells a fitting value."""
    if parameter.name == "cutoff":
        return _select_allowed(parameter, CUTOFFS)
    if parameter.default is None:
        return []
    possible: dict[str, tuple[Any, ...]] = {
        "int": OTHER_NUMBERS[1:],
        "float": OTHER_NUMBERS,
        "bool": (False, True),
        "text": parameter.choices,
        "map": (),
    }
    return [value for value in _select_allowed(parameter, possible[parameter.kind]) if value != parameter.default]


def _select_allowed(parameter: Parameter, values: tuple[Any, ...]) -> list[Any]:
    fitting = []
    for value in values:
        try:
            fitting.append(parameter.check(value))
        except ValueError:  # outside its bounds: not a value of this parameter
            continue
    return fitting
