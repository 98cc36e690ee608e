"""Guardrails: metrics of fields of documents, of lengths and of times, which need no judgments."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np

from pytest_ireval import JudgedRankings, Metric, MetricError, Param, list_ranking, make_steps, metric, steps_for
from pytest_ireval_metrics.vocabulary import Cutoff, Floats, Integers, format_number, parse_field_number

if TYPE_CHECKING:
    from pytest_ireval import Steps

timed_metric = partial(metric, needs=("timings",), judged=False, no_relevant=None)


def _read_milliseconds(judged: JudgedRankings) -> Floats:
    if judged.timings is None:
        raise MetricError("the queries have no timings")
    return judged.timings * 1000


def _choose_aggregate(settings: Mapping[str, Any]) -> dict[str, str]:
    percentile = settings["p"]
    return {"aggregate": "mean" if percentile is None else f"p{percentile:g}"}


@timed_metric(
    name="Latency", direction="lower", range=(0, np.inf), milliseconds=True, ratio=True, by_arguments=_choose_aggregate
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
    return _read_milliseconds(judged)


@steps_for(latency)
def _latency_steps(judged: JudgedRankings, **_: Any) -> Steps:
    time = float(_read_milliseconds(judged)[0])
    fact = "seconds that the query took, in milliseconds; documents play no part"
    return make_steps(list_ranking(judged), {}, arithmetic=f"{time / 1000:.6g} * 1000", value=time, facts=[fact])


@timed_metric(name="Instant")
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
    return (judged.present & (_read_milliseconds(judged) < below)).astype(np.float64)


@steps_for(instant)
def _instant_steps(judged: JudgedRankings, *, below: float) -> Steps:
    time, there = float(_read_milliseconds(judged)[0]), bool(judged.present[0])
    value = float(there and time < below)
    spent = f"{format_number(time)} milliseconds" if there else "no answer"
    fact = f"{spent}; less than {below:g} milliseconds count as 1, others as 0"
    return make_steps(list_ranking(judged), {}, arithmetic=format_number(value), value=value, facts=[fact])


@timed_metric(name="Throughput", unit="run", range=(0, np.inf))
def throughput(judged: JudgedRankings) -> Floats:
    """Queries that are answered in a second, one after the other.

    Formula: Throughput = answered queries / the sum of the seconds of all queries
    Reference: W. B. Croft, D. Metzler, T. Strohman, Search engines: information retrieval in practice, 2009, 8.5.
    Example: Throughput of 1 1 in 0.2 seconds = 1 / 0.2 = 5
    """
    time = _read_milliseconds(judged)
    if lacking := int(np.count_nonzero(np.isnan(time))):
        what = "query has" if lacking == 1 else "queries have"
        raise MetricError(f"{lacking} {what} no ranking and no time, so the time of all queries is unknown")
    whole = float(time.sum()) / 1000
    answered = int(np.count_nonzero(judged.present))
    if answered and not whole:
        raise MetricError("all queries together took 0 seconds")
    return np.array([answered / whole if whole else 0.0])


Settings = Mapping[str, Any]
Field = Annotated[str, Param("the name of a field of documents")]
Weights = Annotated[
    Literal["none", "log2"], Param("the attention that a rank gets: none, the same for all; log2, 1 / log2(rank + 1)")
]
Better = Annotated[Literal["higher", "lower", "neither"], Param("the better values; rules that compare need one")]
Lacking = Annotated[
    float,
    Param(
        "the share of the documents that may lack the field: they are left out, and a note counts them; more is an "
        "error",
        low=0,
        high=1,
    ),
]
DAY = timedelta(days=1)
WITHOUT = "none of its first documents has the field"


class Parts(NamedTuple):
    """Of each listed document down to the cutoff: its query, its attention, and its number; NaN without the field."""

    query: Integers
    weight: Floats
    number: Floats


def _read_field(judged: JudgedRankings, settings: Settings, number_of: Callable[[str, Any], float]) -> Parts:
    """The numbers that ``number_of`` makes of the field of each document."""
    documents, known = judged.documents, judged.fields
    if documents is None or known is None:
        raise MetricError("needs the fields of documents")
    rows = np.flatnonzero(documents.rank <= settings["cutoff"])
    rank, query, name = documents.rank[rows], documents.query[rows], settings["field"]
    numbers: dict[str, float] = {}
    names = documents.ids.texts(rows)
    for document in dict.fromkeys(names):
        value = known.get(document, {}).get(name)
        numbers[document] = math.nan if _is_missing(value) else number_of(document, value)
    weight = 1 / np.log2(rank + 1) if settings.get("discount") == "log2" else np.ones(rank.size)
    return Parts(query, weight, np.array([numbers[document] for document in names], np.float64))


def _is_missing(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())  # noqa: PLR0124 - NaN


def _compute_mean(judged: JudgedRankings, parts: Parts) -> Floats:
    """The mean of each query, weighted by attention; NaN for a query without a number."""
    there = ~np.isnan(parts.number)
    weight = np.bincount(parts.query[there], parts.weight[there], judged.count)
    total = np.bincount(parts.query[there], (parts.weight * parts.number)[there], judged.count)
    with np.errstate(invalid="ignore"):
        found: Floats = total / weight
    return found


def _list_texts(value: Any) -> list[str]:
    """The text of a value, in lower case, of a list that of each entry; true and false as in YAML."""
    values = value if isinstance(value, list | tuple) else [value]
    return [f"{each:.15g}" if isinstance(each, float) else str(each).strip().lower() for each in values]


def _read_matches(judged: JudgedRankings, settings: Settings) -> Parts:
    (wanted,) = _list_texts(settings["value"])
    return _read_field(judged, settings, lambda _, value: float(wanted in _list_texts(value)))


def _read_numbers(judged: JudgedRankings, settings: Settings) -> Parts:
    def number(document: str, value: Any) -> float:
        found = parse_field_number(value)
        if found is None:
            raise MetricError(f"the field {settings['field']!r} of document {document!r} is {value!r}, not a number")
        return found

    return _read_field(judged, settings, number)


def _read_ages(judged: JudgedRankings, settings: Settings) -> Parts:
    moment = float(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    today = datetime.fromtimestamp(moment, timezone.utc).date()
    on = today if settings["on"] == "today" else _parse_day(settings["on"])
    if on is None:
        raise MetricError(f"on={settings['on']!r} is not a date; write 'today', or a day as '2026-11-01'")

    def age(document: str, value: Any) -> float:
        day = _parse_day(value)
        if day is None:
            complaint = f"the field {settings['field']!r} of document {document!r} is {value!r}, not a date"
            raise MetricError(f"{complaint}; write 2026-11-01, or 2026-11-01T09:30:00Z")
        return (on - day) / DAY

    return _read_field(judged, settings, age)


def _parse_day(value: Any) -> date | None:
    """The day of a date of ISO 8601, in UTC; None for anything else."""
    if isinstance(value, datetime):
        return (value.astimezone(timezone.utc) if value.tzinfo else value).date()
    if isinstance(value, date):
        return value
    try:
        return (
            _parse_day(datetime.fromisoformat(value.strip().replace("Z", "+00:00"))) if isinstance(value, str) else None
        )
    except ValueError:
        return None


def _read_repeats(judged: JudgedRankings, settings: Settings) -> Parts:
    """1 for a document whose value a higher document of its list has, 0 for the first one with its value."""
    codes: dict[tuple[str, ...], float] = {}
    parts = _read_field(
        judged, settings, lambda _, value: codes.setdefault(tuple(_list_texts(value)), float(len(codes)))
    )
    order = np.lexsort((parts.number, parts.query))  # stable: the highest of equal values comes first
    query, number = parts.query[order], parts.number[order]
    again = np.zeros(order.size, bool)
    again[1:] = (query[1:] == query[:-1]) & (number[1:] == number[:-1])
    found = np.where(np.isnan(parts.number), np.nan, 0.0)
    found[order[again]] = 1.0
    return parts._replace(number=found)


_Reads = Callable[[JudgedRankings, Settings], Parts]


def _describe_missing(judged: JudgedRankings, *, reads: _Reads, **settings: Any) -> Iterator[str]:
    """A note on documents without the field, an error if there are more than allowed; and on a value that is rare."""
    parts, name = reads(judged, settings), settings["field"]
    count, without = parts.number.size, int(np.isnan(parts.number).sum())
    if without:
        share = without / count
        text = f"{without:,} of {count:,} documents at ranks 1 to {settings['cutoff']} have no field {name!r}"
        if share > settings["lacking"]:
            least = math.ceil(1000 * share) / 1000
            raise MetricError(f"{text} ({share:.1%}); complete it, or write lacking={least:g} to leave them out")
        yield f"{text}; they are left out"
    if "value" in settings and without < count and not np.nansum(parts.number):
        known = judged.fields or {}
        there = (each.get(name) for each in known.values())
        seen = {text for value in there if not _is_missing(value) for text in _list_texts(value)}
        others = ", ".join(map(repr, sorted(seen)[:5])) + (" …" if len(seen) > 5 else "")
        if not seen.issuperset(_list_texts(settings["value"])):
            yield f"no document has {settings['value']!r} in the field {name!r}; values there: {others}"


def _show_steps(judged: JudgedRankings, *, reads: _Reads, **settings: Any) -> Steps:
    parts, listed = reads(judged, settings), list_ranking(judged, settings["cutoff"])
    there = ~np.isnan(parts.number)
    weight = float(parts.weight[there].sum())
    adds = parts.weight * parts.number
    value = float(adds[there].sum()) / weight if weight else math.nan
    return make_steps(
        listed,
        {"value": parts.number, "weight": np.where(there, parts.weight, np.nan), "adds": adds},
        arithmetic=f"{format_number(float(adds[there].sum()))} / {format_number(weight)}" if weight else WITHOUT,
        value=value,
        facts=[f"value is made of the field {settings['field']!r}; value * weight, over the sum of the weights"],
        shares=adds / weight if weight else None,
    )


def _field_metric(name: str, reads: _Reads, **about: Any) -> Callable[[Callable[..., Any]], Metric]:
    """Make a metric that is the mean of a number of each of the first documents; the function has its parameters."""

    def batch(judged: JudgedRankings, **settings: Any) -> Floats:
        return _compute_mean(judged, reads(judged, settings))

    def make(described: Callable[..., Any]) -> Metric:
        own = metric(
            name=name,
            needs=("documents", "fields"),
            judged=False,
            undefined=WITHOUT,
            uses=lambda settings: (settings["field"],),
            notes=partial(_describe_missing, reads=reads),
            no_relevant=None,
            **about,
        )(described)
        made = replace(own, batch=batch)
        steps_for(made)(partial(_show_steps, reads=reads))
        return made

    return make


def _choose_direction(settings: Settings) -> Mapping[str, Any]:
    return {"direction": settings["better"]}


def _choose_for_age(settings: Settings) -> Mapping[str, Any]:
    return {**_choose_direction(settings), "repeatable": settings["on"] != "today"}


_ANY = {"range": (-np.inf, np.inf)}


@metric(
    name="Empty",
    judged=False,
    direction="lower",
    no_relevant=None,
    not_promised={"perfect_is_best": "a list of the relevant documents alone may be too short"},
)
def empty(
    judged: JudgedRankings, *, fewer: Annotated[int, Param("the least number of documents that is enough", low=1)] = 1
) -> Floats:
    """Share of the queries without results, or with fewer than a number.

    Formula: Empty(fewer=m) = 1 if a query has fewer than m documents, otherwise 0
    Reference: the zero-result rate of search logs.
    Example: Empty(fewer=3) of 1 0 = 1
    """
    return (judged.retrieved < fewer).astype(np.float64)


@steps_for(empty)
def _empty_steps(judged: JudgedRankings, *, fewer: int) -> Steps:
    listed, value = list_ranking(judged), float(judged.retrieved[0] < fewer)
    facts = [f"{listed.retrieved} documents are retrieved; fewer than {fewer} count as 1"]
    return make_steps(listed, {}, arithmetic=format_number(value), value=value, facts=facts)


@_field_metric(
    "Share",
    _read_matches,
    direction="neither",
    by_arguments=_choose_direction,
    spellings={"Exposure": {"discount": "log2"}},
)
def share_with_value(
    judged: JudgedRankings,
    *,
    cutoff: Cutoff,
    field: Field,
    value: Annotated[str, Param("the value that counts; letter case does not matter; of a list, any entry")],
    discount: Weights = "none",
    better: Better = "neither",
    lacking: Lacking = 0.0,
) -> None:
    """Share of the first documents that have a value in a field; Exposure is the share of attention they get.

    Formula: Share@k = sum of w_i for i = 1 to k with that value / sum of w_i for i = 1 to k with any value, with
        w_i = 1, or 1 / log2(i + 1)
    Reference: with log2, the exposure of a group of A. Singh, T. Joachims, Fairness of exposure in rankings, KDD 2018.
    Example: Share(field='stock', value='no')@3 where stock is yes no no = (0 + 1 + 1) / 3 = 0.6667
    """


@_field_metric("Mean", _read_numbers, direction="neither", by_arguments=_choose_direction, **_ANY)
def mean(
    judged: JudgedRankings,
    *,
    cutoff: Cutoff,
    field: Field,
    discount: Weights = "none",
    better: Better = "neither",
    lacking: Lacking = 0.0,
) -> None:
    """Mean of a field of the first documents that holds a number, such as a margin or a price.

    Formula: Mean@k = sum of w_i x_i for i = 1 to k / sum of w_i for i = 1 to k, with w_i = 1, or 1 / log2(i + 1)
    Reference: a weighted mean; the weights are those of the discount of nDCG.
    Example: Mean(field='price')@2 where price is 3 5 100 = (3 + 5) / 2 = 4
    """


@_field_metric("Age", _read_ages, direction="lower", by_arguments=_choose_for_age, repeatable=False, **_ANY)
def age(
    judged: JudgedRankings,
    *,
    cutoff: Cutoff,
    field: Field,
    on: Annotated[str, Param("the day that ages are counted to: 'today' (UTC), or a day as '2026-11-01'")] = "today",
    discount: Weights = "none",
    better: Better = "lower",
    lacking: Lacking = 0.0,
) -> None:
    """Mean age of the first documents in days, by a field that holds a date (ISO 8601).

    Formula: Age@k = sum of w_i (on - date_i) for i = 1 to k / sum of w_i for i = 1 to k, with w_i = 1, or
        1 / log2(i + 1)
    Reference: a weighted mean, in whole days.
    Example: Age(field='published', on='2026-11-05')@2 where published is 2026-11-01 2026-11-03 = (4 + 2) / 2 = 3
    """


@_field_metric("Repeats", _read_repeats, direction="lower")
def repeats(judged: JudgedRankings, *, cutoff: Cutoff, field: Field, lacking: Lacking = 0.0) -> None:
    """Share of the first documents whose value in a field, such as a title or a group, a higher document has, too.

    Formula: Repeats@k = #(documents among the first k with the value of a higher one) / #(first k with a value)
    Reference: the share of duplicates among the first results.
    Example: Repeats(field='title')@4 where title is mug pot mug mug = 2 / 4 = 0.5
    """
