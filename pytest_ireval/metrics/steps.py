"""The tools with which a metric shows its arithmetic: the list of one query as arrays, and steps made of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.arrays import Floats, Integers, Mask
from pytest_ireval.data.judged import JudgedRankings
from pytest_ireval.errors import MetricError
from pytest_ireval.results.explanation import Beside, Column, Steps


class Listing(NamedTuple):
    """One query's ranking, unjudged documents included; ``rank``, ``documents``, ``grade`` and ``judged`` by rank.

    ``grade`` is 0 where a document is not judged. ``ideal`` holds the grades of all judged documents, best first,
    ``retrieved`` counts the whole list.
    """

    rank: Integers
    documents: tuple[str, ...]
    grade: Floats
    judged: Mask
    ideal: Floats
    retrieved: int

    def relevant(self, rel: float) -> Mask:
        """True for relevant documents: judged, with grade ``rel`` or more."""
        return self.judged & (self.grade >= rel)

    def relevant_count(self, rel: float) -> int:
        """The number of relevant documents, retrieved or not."""
        return int(np.count_nonzero(self.ideal >= rel))


def listing(judged: JudgedRankings, cutoff: int | None = None) -> Listing:
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


def steps_of(
    listed: Listing,
    columns: Mapping[str, NDArray[Any]],
    *,
    arithmetic: str,
    value: float,
    facts: Iterable[str] = (),
    shares: NDArray[Any] | None = None,
    beside: tuple[str, Mapping[str, NDArray[Any]]] | None = None,
) -> Steps:
    """Steps with these columns, an entry for each listed document; NaN is an empty field.

    ``shares`` is what each document contributes to ``value``, ``beside`` a second table with a title.
    """
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
        shares=None if shares is None else Column("contributes", _numbers(shares)),
        beside=None if beside is None else Beside(beside[0], _columns(beside[1])),
    )


def _columns(columns: Mapping[str, NDArray[Any]]) -> tuple[Column, ...]:
    return tuple(Column(name, _numbers(values)) for name, values in columns.items())


def _numbers(values: NDArray[Any]) -> tuple[float | None, ...]:
    numbers = np.asarray(values, np.float64).tolist()
    return tuple(None if isnan(number) else number for number in numbers)
