"""Metrics of time: how long queries take, how many are answered at once, and how many in a second."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

import numpy as np

from pytest_ireval import JudgedRankings, MetricError, Param, Steps, listing, metric, steps_of
from pytest_ireval_metrics.gains import by_nothing
from pytest_ireval_metrics.vocabulary import Floats, shown_number

timed_metric = partial(metric, needs=("timings",), judged=False, no_relevant=None, tie_order=by_nothing)


def _milliseconds(judged: JudgedRankings) -> Floats:
    if judged.timings is None:
        raise MetricError("the queries have no timings")
    return judged.timings * 1000


def _latency_steps(judged: JudgedRankings, **_: Any) -> Steps:
    time = float(_milliseconds(judged)[0])
    fact = "seconds that the query took, in milliseconds; documents play no part"
    return steps_of(listing(judged), {}, arithmetic=f"{time / 1000:.6g} * 1000", value=time, facts=[fact])


def _aggregate(settings: Mapping[str, Any]) -> dict[str, str]:
    percentile = settings["p"]
    return {"aggregate": "mean" if percentile is None else f"p{percentile:g}"}


@timed_metric(
    name="Latency",
    direction="lower",
    range=(0, np.inf),
    milliseconds=True,
    ratio=True,
    steps=_latency_steps,
    by_arguments=_aggregate,
)
def latency(
    judged: JudgedRankings,
    *,
    p: Annotated[  # noqa: ARG001 - it decides how queries are summed up
        float | None,
        Param(
            "the figure for all queries: with 95, the time in which 95% of them are answered; else the mean",
            low=1,
            below=100,
        ),
    ] = None,
) -> Floats:
    """Milliseconds that a query takes.

    Formula: Latency = 1000 * seconds between the query and its answer; for all queries the mean, or a percentile,
    linear between the two nearest values (type 7 of Hyndman and Fan, the default of NumPy)
    Reference: W. B. Croft, D. Metzler, T. Strohman, Search engines: information retrieval in practice, 2009, 8.5.
    Example: Latency of 1 1 in 0.2 seconds = 1000 * 0.2 = 200
    """
    return _milliseconds(judged)


def _instant_steps(judged: JudgedRankings, *, below: float) -> Steps:
    time, there = float(_milliseconds(judged)[0]), bool(judged.present[0])
    value = float(there and time < below)
    spent = f"{shown_number(time)} milliseconds" if there else "no answer"
    fact = f"{spent}; less than {below:g} milliseconds count as 1, others as 0"
    return steps_of(listing(judged), {}, arithmetic=shown_number(value), value=value, facts=[fact])


@timed_metric(name="Instant", steps=_instant_steps)
def instant(
    judged: JudgedRankings,
    *,
    below: Annotated[float, Param("milliseconds in which an answer seems instantaneous", above=0)] = 150,
) -> Floats:
    """Share of the queries that are answered so fast that users notice no delay.

    Formula: Instant = 1 if the query takes less than 150 milliseconds (below), else 0
    Reference: W. B. Croft, D. Metzler, T. Strohman, Search engines: information retrieval in practice, 2009, 8.5.
    Example: Instant of 1 1 in 0.2 seconds = (200 < 150) = 0
    """
    return (judged.present & (_milliseconds(judged) < below)).astype(np.float64)


@timed_metric(name="Throughput", unit="run", range=(0, np.inf))
def throughput(judged: JudgedRankings) -> Floats:
    """Queries that are answered in a second, one after the other.

    Formula: Throughput = answered queries / the sum of the seconds of all queries
    Reference: W. B. Croft, D. Metzler, T. Strohman, Search engines: information retrieval in practice, 2009, 8.5.
    Example: Throughput of 1 1 in 0.2 seconds = 1 / 0.2 = 5
    """
    time = _milliseconds(judged)
    if lacking := int(np.count_nonzero(np.isnan(time))):
        what = "query has" if lacking == 1 else "queries have"
        raise MetricError(f"{lacking} {what} no ranking and no time, so the time of all queries is unknown")
    whole = float(time.sum()) / 1000
    answered = int(np.count_nonzero(judged.present))
    if answered and not whole:
        raise MetricError("all queries together took 0 seconds")
    return np.array([answered / whole if whole else 0.0])
