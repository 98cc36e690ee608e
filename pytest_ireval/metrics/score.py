"""Metrics applied to judged rankings, every value checked before it is used."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pytest_ireval.data.arrays import Floats, Mask
from pytest_ireval.data.judged import JudgedRankings
from pytest_ireval.data.views import select_queries
from pytest_ireval.errors import MetricError, Problem, describe_exception, did_you_mean, find_raise_place
from pytest_ireval.metrics.metric import SOURCES, Metric, NotANumberError
from pytest_ireval.words import format_count, format_some

ROUNDING = 1e-9
"""A value this far outside the declared range is rounding, and is pulled back."""

SMALLEST_FACTOR = 1e-5
"""A smaller value counts as this in a geometric mean, as in trec_eval."""


@dataclass(eq=False)
class Scores:
    """The values of one metric for all units. ``values`` has one entry for each name in ``units``.

    ``counted`` marks the units that enter the aggregate, ``no_relevant`` those without relevant documents.
    """

    metric: Metric
    units: tuple[str, ...]
    values: Floats
    counted: Mask
    no_relevant: Mask

    @property
    def aggregate(self) -> float | None:
        """The figure for the whole by ``metric.aggregate``, over the counted units."""
        return aggregate_values(self.values[self.counted], self.metric.aggregate)

    @property
    def mean(self) -> float | None:
        """The arithmetic mean over the counted units, whatever the metric's own aggregate."""
        return aggregate_values(self.values[self.counted], "mean")


def score(metric: Metric, judged: JudgedRankings) -> Scores:
    """The values of one metric; raises MetricError if it cannot be computed or breaks its own promises.

    A missing ranking gets the worst value: leaving queries out never improves a score. A metric whose queries may have
    no value takes it for an empty list.
    """
    values = compute_values(metric, judged)
    units = list_units(metric, judged)
    lacking = _mark_without_ranking(metric, judged)
    if metric.direction != "neither" and not metric.undefined and lacking.any():
        values = np.where(lacking, _require_worst_value(metric, units, lacking), values)
    checked = _check_values(metric, units, values)
    return Scores(metric, units, checked, ~np.isnan(checked), _mark_without_relevant(metric, judged))


def compute_values(metric: Metric, judged: JudgedRankings) -> Floats:
    """The metric's value of each unit, or the one that it declares for empty rankings and without relevant documents.

    Raises MetricError if there is no such value. The values are not yet checked against the metric's promises.
    """
    if metric.missing:
        raise MetricError(Problem(f"needs {' and '.join(metric.missing)}", place=str(metric)))
    check_needs(metric, judged)
    with np.errstate(all="ignore"):  # what comes out is checked
        values = _call_batch(metric, judged)
    units = list_units(metric, judged)
    if values.shape != (len(units),):
        wanted = f"for {format_count(len(units), metric.unit)}: it must be an array with one number for each"
        raise _broken_metric_error(metric, f"returned {_describe_shape(values)} {wanted}")
    if metric.unit == "query":
        if metric.judged and metric.no_relevant is not None:
            values = np.where(_mark_without_relevant(metric, judged), metric.no_relevant, values)
        if metric.empty is not None:
            values = np.where(judged.retrieved == 0, metric.empty, values)
    return values


def _describe_shape(values: Floats) -> str:
    """The contents of an array in words."""
    if values.ndim == 0:
        return f"a single number, {float(values):g},"
    return format_count(values.size, "value") if values.ndim == 1 else f"an array of shape {values.shape}"


def find_worst_value(metric: Metric) -> float | None:
    """The worst value that the metric can have; None where no value is better than another."""
    low, high = read_bounds(metric)
    return {"higher": low, "lower": high}.get(metric.direction)


def _mark_without_ranking(metric: Metric, judged: JudgedRankings) -> Mask:
    """True for units without any ranking; an empty ranking that was given is a ranking."""
    if metric.unit == "query":
        return ~judged.present
    if metric.unit == "session" and judged.sessions is not None:
        return ~np.isin(np.arange(len(judged.sessions.names)), judged.sessions.session[judged.present])
    return np.array([not judged.present.any()])


def _require_worst_value(metric: Metric, units: Sequence[str], lacking: Mask) -> float:
    value = find_worst_value(metric)
    if value is not None and math.isfinite(value):
        return value
    names = [unit for unit, lacks in zip(units, lacking.tolist(), strict=True) if lacks]
    which = format_count(len(names), metric.unit)
    complaint = (
        f"{which} without a ranking cannot be scored, because the metric has no worst value: {format_some(names)}"
    )
    suggestion = 'missing_queries="ignore" (command line: --missing ignore) leaves them out, "error" refuses them'
    raise MetricError(Problem(complaint, place=str(metric), suggestion=suggestion))


def aggregate_values(values: Floats, how: str) -> float | None:
    """One figure for many values; None without values, and when there is no such figure."""
    if how == "none" or not values.size:
        return None
    if how in ("sum", "mean"):
        try:
            total = math.fsum(values.tolist())
        except OverflowError:
            raise MetricError("the sum of the values is too large") from None
        return total if how == "sum" else total / values.size
    if how == "geometric":
        return math.exp(math.fsum(np.log(np.maximum(values, SMALLEST_FACTOR)).tolist()) / values.size)
    return float(np.percentile(values, float(how[1:])))


def check_needs(metric: Metric, judged: JudgedRankings) -> None:
    for need in sorted(metric.needs):
        there = {"scores": True, "ties": True, "unjudged": judged.documents is not None}
        there["queries"] = judged.columns is not None
        there["fields"] = bool(judged.fields) or (judged.fields is not None and not judged.retrieved.any())
        if not there.get(need, getattr(judged, need, None) is not None):
            raise MetricError(Problem(f"needs {need}", place=str(metric), suggestion=SOURCES[need]))
        if need == "fields" and judged.fields and metric.uses is not None:
            _refuse_unknown_fields(metric, judged.fields)
    if metric.unit == "session" and judged.sessions is None:
        raise MetricError(Problem("scores sessions", place=str(metric), suggestion=SOURCES["sessions"]))


def _refuse_unknown_fields(metric: Metric, fields: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse a field that no document has: its name is wrong, or the file is."""
    for name in metric.uses(metric.settings) if metric.uses else ():
        if not any(name in known for known in fields.values()):
            there = list(dict.fromkeys(each for known in fields.values() for each in known))
            problem = Problem(
                f"no document has the field {name!r}",
                place=str(metric),
                suggestion=did_you_mean(name, there),
                allowed=f"fields of documents: {format_some(there) or 'none'}",
            )
            raise MetricError(problem)


def list_units(metric: Metric, judged: JudgedRankings) -> tuple[str, ...]:
    """The names of the units that have a value each."""
    if metric.unit == "query":
        return judged.queries
    if metric.unit == "session" and judged.sessions is not None:
        return judged.sessions.names
    return ("run",)


def _mark_without_relevant(metric: Metric, judged: JudgedRankings) -> Mask:
    if metric.unit != "query" or not metric.judged:
        return np.zeros(len(list_units(metric, judged)), bool)
    rel = metric.settings.get("rel")
    without: Mask = judged.relevant_count(rel if isinstance(rel, int | float) else None) == 0
    return without


def _call_batch(metric: Metric, judged: JudgedRankings) -> Floats:
    try:
        values = metric.batch(judged, **metric.settings)
    except MetricError as error:
        raise MetricError(*(p if p.place else replace(p, place=str(metric)) for p in error.problems)) from None
    except NotANumberError as error:
        raise _broken_metric_error(metric, str(error)) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a plugin's code raises, skips and exits too: the message names it
        query = _first_query_that_raises(metric, judged, type(error))
        raise _broken_metric_error(
            metric, f"raised {describe_exception(error)}", query, find_raise_place(error)
        ) from error
    if values is None:
        raise _broken_metric_error(metric, "returned None: a return statement is missing")
    array = np.asarray(values)
    masked = "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray)  # asking would load it
    if array.dtype.kind not in "fiub" or masked:
        raise _broken_metric_error(metric, f"returned {type(values).__name__} of {array.dtype}, not numbers")
    return array.astype(np.float64)


def _first_query_that_raises(metric: Metric, judged: JudgedRankings, kind: type[BaseException]) -> str:
    """The last of the shortest list of first queries that raises; found by halving, only after an error."""
    if metric.unit != "query":
        return ""
    fine, raises = 0, judged.count
    while raises - fine > 1:
        middle = (fine + raises) // 2
        try:
            metric.batch(select_queries(judged, np.arange(judged.count) < middle), **metric.settings)
        except kind:
            raises = middle
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - another one: which query it is cannot be said
            return ""
        else:
            fine = middle
    return judged.queries[raises - 1]


def _check_values(metric: Metric, units: Sequence[str], values: Floats) -> Floats:
    """Values without NaN and inside the declared range."""
    low, high = read_bounds(metric)
    undefined = np.flatnonzero(np.isnan(values))
    if undefined.size and not metric.undefined:
        raise _broken_metric_error(metric, "returned NaN", units[int(undefined[0])])
    slack = ROUNDING * max(1.0, *(abs(end) for end in (low, high) if math.isfinite(end)), 1.0)
    outside = np.flatnonzero((values < low - slack) | (values > high + slack))
    if outside.size:
        first = int(outside[0])
        raise _broken_metric_error(
            metric, f"returned {values[first]:g}, outside its range {low:g} to {high:g}", units[first]
        )
    if np.isinf(values).any():
        raise _broken_metric_error(metric, "returned inf", units[int(np.flatnonzero(np.isinf(values))[0])])
    return np.clip(values, low, high) + 0.0  # no negative zeros


def read_bounds(metric: Metric) -> tuple[float, float]:
    """Least and greatest value that the metric declares; raises MetricError if it cannot say."""
    try:
        low, high = metric.bounds
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin's range may be a function that raises anything
        complaint = f"its range failed for these arguments: {describe_exception(error)}"
        raise _broken_metric_error(metric, complaint, at=find_raise_place(error)) from error
    return low, high


def _broken_metric_error(metric: Metric, complaint: str, unit: str = "", at: str = "") -> MetricError:
    where = f" for {metric.unit} {unit!r}" if unit else ""
    source = f"the metric comes from {metric.source}"
    return MetricError(Problem(f"{complaint}{where}", place=str(metric), suggestion=at, allowed=source))


def count_only(scores: Scores, counted: Mask) -> Scores:
    """The same scores with other units counted."""
    return replace(scores, counted=counted)
