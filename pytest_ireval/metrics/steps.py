"""The arithmetic of metrics on one query, for ``ireval why``: who shows it, and the tools with which it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isnan
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.arrays import Floats, Integers, Mask
from pytest_ireval.data.judged import JudgedRankings
from pytest_ireval.errors import MetricError
from pytest_ireval.metrics.metric import Metric

if TYPE_CHECKING:
    from pytest_ireval.metrics.metric import Batch
    from pytest_ireval.results.explanation import Column, Steps

    ShowSteps = Callable[Concatenate[JudgedRankings, ...], Steps]

Function = TypeVar("Function", bound="ShowSteps")

_SHOWN_BY: dict[Batch, ShowSteps] = {}
"""By the function that scores, the one that shows how: a metric with arguments shares both with the metric alone."""


def steps_for(*metrics: Metric) -> Callable[[Function], Function]:
    """Register ``function(judged, **arguments) -> Steps``, which shows the arithmetic of these metrics on one query.

    ``judged`` holds that query alone, ``arguments`` are all arguments of the metric. :func:`make_steps` makes the
    result, of columns that often begin with :func:`list_ranking`. For a metric of sessions ``judged`` holds the queries
    of one session, and :func:`list_session` lists them.

    >>> from pytest_ireval import list_ranking, make_steps, per_query_metric, steps_for, why
    >>> @per_query_metric(name="Top")
    ... def top(ranking, *, cutoff: int):
    ...     '''Share of the first documents that are relevant.'''
    ...     return (ranking.grades > 0).mean()
    >>> @steps_for(top)
    ... def show_top(judged, *, cutoff):
    ...     listed = list_ranking(judged, cutoff)
    ...     found = listed.relevant(1).astype(float)
    ...     text = f"{found.sum():g} / {cutoff}"
    ...     return make_steps(listed, {"found": found}, arithmetic=text, value=found.sum() / cutoff)
    >>> why(top @ 2, {"mug": {"a": 1}}, {"mug": ["a", "x", "y"]}).first.steps.arithmetic
    '1 / 2'
    """
    if strangers := [each for each in metrics if not isinstance(each, Metric)]:
        raise MetricError(f"steps_for takes metrics, as in @steps_for(my_metric); it got {strangers[0]!r}")

    def register(function: Function) -> Function:
        _SHOWN_BY.update({metric.batch: function for metric in metrics})
        return function

    return register


def find_steps(metric: Metric) -> ShowSteps | None:
    """The function that shows the arithmetic of a metric; None if there is none."""
    return _SHOWN_BY.get(metric.batch)


class Listing(NamedTuple):
    """One query's ranking, unjudged documents included; ``rank``, ``documents``, ``grade`` and ``judged`` by rank.

    ``grade`` is 0 where a document is not judged. ``ideal`` holds the grades of all judged documents, best first,
    ``retrieved`` counts the whole list. Of a session it has the lists of all queries one after the other, and
    ``position`` is that of the query in the session.
    """

    rank: Integers
    documents: tuple[str, ...]
    grade: Floats
    judged: Mask
    ideal: Floats
    retrieved: int
    position: Integers | None = None

    def relevant(self, rel: float) -> Mask:
        """True for relevant documents: judged, with grade ``rel`` or more."""
        return self.judged & (self.grade >= rel)

    def relevant_count(self, rel: float) -> int:
        """The number of relevant documents, retrieved or not."""
        return int(np.count_nonzero(self.ideal >= rel))


def list_ranking(judged: JudgedRankings, cutoff: int | None = None) -> Listing:
    """The list of the only query of ``judged``, down to the cutoff."""
    if judged.count != 1 or judged.documents is None:
        raise MetricError("steps describe one query, whose documents must be kept")
    rows = np.arange(judged.documents.grade.size)[:cutoff]
    grade = judged.documents.grade[rows]
    return Listing(
        rank=rows + 1,
        documents=tuple(judged.documents.ids.texts(rows)),
        grade=np.nan_to_num(grade),
        judged=~np.isnan(grade),
        ideal=judged.ideal.grade,
        retrieved=int(judged.retrieved[0]),
    )


def list_session(judged: JudgedRankings, cutoff: int | None = None) -> Listing:
    """The lists of the queries of the only session of ``judged``, by position, each down to the cutoff."""
    documents, sessions = judged.documents, judged.sessions
    if sessions is None or len(sessions.names) != 1 or documents is None:
        raise MetricError("steps of a session describe one session, whose documents must be kept")
    position = sessions.position[documents.query]
    rows = np.lexsort((documents.rank, position))
    rows = rows if cutoff is None else rows[documents.rank[rows] <= cutoff]
    grade = documents.grade[rows]
    return Listing(
        rank=documents.rank[rows],
        documents=tuple(documents.ids.texts(rows)),
        grade=np.nan_to_num(grade),
        judged=~np.isnan(grade),
        ideal=np.sort(judged.ideal.grade)[::-1],
        retrieved=int(judged.retrieved.sum()),
        position=position[rows],
    )


def make_steps(
    listed: Listing,
    columns: Mapping[str, NDArray[Any]],
    *,
    arithmetic: str,
    value: float,
    facts: Iterable[str] = (),
    shares: NDArray[Any] | None = None,
    second_title: str = "",
    second_table: Mapping[str, NDArray[Any]] | None = None,
) -> Steps:
    """Steps with these columns, an entry for each listed document; NaN is an empty field.

    ``shares`` is what each document contributes to ``value``; ``second_table`` has columns of another length.
    """
    from pytest_ireval.results.explanation import SecondTable, Steps  # no run that only scores needs them

    grades = np.where(listed.judged, listed.grade, np.nan)
    for name, column in {**columns, "shares": grades if shares is None else shares}.items():
        if np.shape(column) != listed.rank.shape:
            raise MetricError(
                f"column {name!r} of its steps must have one entry for each of {listed.rank.size} documents"
            )
    return Steps(
        ranks=tuple(listed.rank.tolist()),
        documents=listed.documents,
        grades=_numbers(grades),
        columns=_columns(columns),
        arithmetic=arithmetic,
        value=float(value),
        facts=tuple(facts),
        shares=None if shares is None else _columns({"contributes": shares})[0],
        second_table=None if second_table is None else SecondTable(second_title, _columns(second_table)),
        positions=() if listed.position is None else tuple(listed.position.tolist()),
    )


def _columns(columns: Mapping[str, NDArray[Any]]) -> tuple[Column, ...]:
    from pytest_ireval.results.explanation import Column  # as above

    return tuple(Column(name, _numbers(values)) for name, values in columns.items())


def _numbers(values: NDArray[Any]) -> tuple[float | None, ...]:
    numbers = np.asarray(values, np.float64).tolist()
    return tuple(None if isnan(number) else number for number in numbers)
