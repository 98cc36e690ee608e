"""All promises of metrics: each promise in words, its exceptions, and the attempts to break it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import read_bounds
from pytest_ireval.testing.breaking import (
    Breaks,
    find_better_than_perfect,
    find_change_below_cutoff,
    find_difference,
    find_difference_after_other_arguments,
    find_difference_alone,
    find_difference_the_second_time,
    find_either,
    find_harm_by_promotion,
    find_misread_name,
    find_missing_value,
    find_single_value,
    find_value_out_of_range,
    find_writing,
    make_siblings,
)
from pytest_ireval.testing.data import (
    Data,
    apply_change,
    list_all_data,
    list_plain_data,
    make_fractions,
    make_random_data,
    rename_documents,
    rename_documents_at_length,
    rename_queries,
    rename_queries_at_length,
    scale_scores,
    shuffle_lines,
    shuffle_queries,
)

DEEPEST = 1000
"""Cutoffs up to this are tried with longer rankings."""


def _list_all() -> tuple[Data, ...]:
    return (
        *list_all_data(),
        apply_change(rename_documents_at_length, apply_change(rename_queries_at_length, make_random_data(8))),
    )


def _list_tied() -> tuple[Data, ...]:
    return (make_random_data(5, tied=True), make_random_data(30, tied=True))


def _list_few() -> tuple[Data, ...]:
    return (make_random_data(3), make_random_data(8))


def _list_none() -> tuple[Data, ...]:
    return (Data(()),)


@dataclass
class Promise:
    """One promise that every metric makes."""

    name: str
    says: str
    advice: str
    breaks: Breaks
    data: Callable[[], tuple[Data, ...]] = list_plain_data
    deep: bool = False
    """True if the data are rankings deeper than the metric's cutoff."""
    spares: Callable[[Metric], str] = lambda _: ""
    """The reason why it does not apply to a metric; empty if it does."""
    optional: bool = False
    """True if a metric may declare in ``not_promised`` that its definition forbids it."""
    by_some: bool = False
    """True if it is enough that the metric keeps it under some of the arguments that are tried."""


def _explain_missing_value(metric: Metric) -> str:
    return f"a query may have no value: {metric.undefined}" if metric.undefined else ""


def _explain_endless_range(metric: Metric) -> str:
    low, high = read_bounds(metric)
    return "its range is unbounded" if math.isinf(low) and math.isinf(high) else ""


def _explain_missing_order(metric: Metric) -> str:
    if metric.direction == "neither":
        return "neither higher nor lower values are better"
    for need, decides in {
        "reference": "the reference decides which ranking is good",
        "subtopics": "the grades for subtopics decide which ranking is good",
        "fields": "fields of documents decide which ranking is good",
    }.items():
        if need in metric.needs:
            return decides
    return ""


def _explain_other_unit(metric: Metric) -> str:
    if metric.unit != "query":
        return f"it has one value per {metric.unit}"
    return "queries of one session belong together" if "sessions" in metric.needs else ""


def _explain_missing_cutoff(metric: Metric) -> str:
    cutoff = metric.settings.get("cutoff")
    if not isinstance(cutoff, int):
        return "it has no cutoff"
    return f"the test uses no rankings longer than {DEEPEST:,}" if cutoff > DEEPEST else ""


PROMISES = (
    Promise(
        "a_value_for_every_query",
        "every query gets a number, whatever was judged or retrieved",
        "set no_relevant= and empty= to the score of such queries, or return a number for them, as ratio(…) does for "
        "0 / 0; and declare in needs= the data that it uses in addition to grades",
        find_missing_value,
        _list_all,
        spares=_explain_missing_value,
    ),
    Promise(
        "within_its_range",
        "values are within the range that the metric declares",
        "correct the formula, or declare range=(lowest, highest)",
        find_value_out_of_range,
        _list_all,
        spares=_explain_endless_range,
    ),
    Promise(
        "tells_rankings_apart",
        "rankings that differ do not all have the same value",
        "correct the formula; or pass arguments with which it tells good rankings from bad ones",
        find_single_value,
        _list_none,
        optional=True,
        by_some=True,
    ),
    Promise(
        "perfect_is_best",
        "no ranking is better than all relevant documents in order of grade",
        "correct the formula, or declare another direction",
        find_better_than_perfect,
        spares=_explain_missing_order,
        optional=True,
    ),
    Promise(
        "promotion_never_harms",
        "moving a relevant document above one with a lower grade never makes a ranking worse",
        "correct the formula, or declare another direction",
        find_harm_by_promotion,
        lambda: (*list_plain_data(), make_fractions()),
        spares=_explain_missing_order,
        optional=True,
    ),
    Promise(
        "names_of_documents",
        "the ids of documents do not matter",
        "use grades and ranks, not ids; the result must not depend on a set or sort of ids",
        find_either(
            find_difference(rename_documents, "with every document renamed"),
            find_difference(rename_documents_at_length, "with a long id for every document"),
        ),
        optional=True,
    ),
    Promise(
        "names_of_queries",
        "the ids of queries do not matter",
        "do not use the id of a query in the formula, and keep nothing under it from one call to the next: "
        "use judged.remember for values that belong to the data",
        find_either(
            find_difference(rename_queries, "with every query renamed"),
            find_difference(rename_queries_at_length, "with a long id for every query"),
        ),
    ),
    Promise(
        "order_of_queries",
        "the order of queries does not matter, nor do other queries",
        "carry nothing over from one query to the next: judged.running and judged.sum start again for each query",
        find_difference(shuffle_queries, "with the queries in another order"),
    ),
    Promise(
        "order_of_lines",
        "the order of lines in the files does not matter, even for equal scores",
        "use the rank; the row number of a judgment has no meaning",
        find_difference(shuffle_lines, "with lines in another order"),
        lambda: (*_list_tied(), *_list_few()),
    ),
    Promise(
        "alone_or_together",
        "a query scores the same alone as among others",
        "compare a query only with its own documents; the scale is judged.highest_grade, never a maximum over "
        "the queries that are present",
        find_difference_alone,
        _list_few,
        spares=_explain_other_unit,
        optional=True,
    ),
    Promise(
        "below_the_cutoff",
        "adding documents that are not relevant below the cutoff changes nothing",
        "exclude documents below the cutoff: hits.rank <= cutoff, grades[:cutoff], min(retrieved, cutoff)",
        find_change_below_cutoff,
        deep=True,
        spares=_explain_missing_cutoff,
        optional=True,
    ),
    Promise(
        "scores_scaled",
        "scores only order documents",
        "use the rank, or declare needs=('scores',)",
        find_difference(scale_scores, "with other scores in the same order", scored=True),
        lambda: (*_list_few(), *_list_tied()),
        spares=lambda metric: "it needs scores" if "scores" in metric.needs else "",
    ),
    Promise(
        "same_twice",
        "the same data score the same twice",
        "keep values between calls only with judged.remember, and do not depend on chance or time",
        find_difference_the_second_time,
        _list_few,
    ),
    Promise(
        "arguments_apart",
        "earlier calls with other arguments do not matter",
        "include every argument in the key of judged.remember",
        find_difference_after_other_arguments,
        _list_few,
        spares=lambda metric: "" if make_siblings(metric) else "it has no other arguments to try",
    ),
    Promise(
        "reads_only",
        "judgments, rankings and all related data are read, never changed",
        "work on a copy",
        find_writing,
        _list_few,
    ),
    Promise(
        "name_round_trips",
        "its canonical name, read again, is the same metric",
        "choose a name that cannot be read as one of its own spellings",
        find_misread_name,
        _list_none,
    ),
)
