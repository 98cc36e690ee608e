"""The behaviour of a metric: how much a rank counts, and which changes of a ranking it notices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import settled
from pytest_ireval.retrieval.companions import with_companions
from pytest_ireval.retrieval.from_objects import judgments_from, rankings_from
from pytest_ireval.retrieval.join import judge
from pytest_ireval.retrieval.judged import Floats

RANKS = 20
"""The relevant document of a drawing moves from rank 1 to this rank."""
RELEVANT = (10, 100)
"""The numbers of relevant documents in the drawings."""
_MADE_UP = {"scores", "ties", "documents", "unjudged", "collection"}
"""The needs of a metric that made-up lists can meet."""


class Behaviour(NamedTuple):
    """Measured on made-up lists, so it holds for metrics of plugins, too."""

    curves: Mapping[int, Floats]
    """For each number of relevant documents the value of a list whose only relevant document is at rank 1, 2, …"""
    rises: list[str]
    """Changes of a list that raise the value."""
    falls: list[str]
    ignores: list[str]
    """Changes that leave it as it is."""


def behaviour_of(metric: Metric) -> Behaviour | None:
    """The behaviour of a metric of single queries; None if made-up lists cannot show it.

    Raises MetricError if the metric fails.
    """
    if metric.unit != "query" or metric.needs - _MADE_UP:
        return None
    ranks = range(1, RANKS + 1)
    lists = {(relevant, rank): _with_one_relevant(relevant, rank) for relevant in RELEVANT for rank in ranks}
    values = _values(metric, list(lists.values())).reshape(len(RELEVANT), RANKS)
    before, *after = _values(metric, [_BEFORE, *_CHANGES.values()])
    changed = {text: value - before for text, value in zip(_CHANGES, after, strict=True)}
    if not np.isfinite([*values.flat, *changed.values()]).all():
        return None
    return Behaviour(
        dict(zip(RELEVANT, values, strict=True)),
        [text for text, change in changed.items() if change > _SAME],
        [text for text, change in changed.items() if change < -_SAME],
        [text for text, change in changed.items() if abs(change) <= _SAME],
    )


def is_recall(metric: Metric) -> bool:
    """Tell whether a metric counts which relevant documents were found, and neither their ranks nor other documents."""
    behaviour = behaviour_of(metric)
    return (
        behaviour is not None
        and behaviour.falls == [_MORE_EXIST]
        and {_TO_THE_TOP, _MORE_AT_THE_END} <= {*behaviour.ignores}
    )


_SAME = 1e-12
_TO_THE_TOP = "a relevant document moves from rank 5 to rank 1"
_MORE_EXIST = "ten more relevant documents exist, and none of them is found"
_MORE_AT_THE_END = "ten documents that are not relevant are added at the end"


class _List(NamedTuple):
    """A ranking, and the grades of its query."""

    ranking: Sequence[str]
    grades: Mapping[str, int]


def _values(metric: Metric, lists: Sequence[_List]) -> Floats:
    names = [f"q{i:03}" for i in range(len(lists))]
    judgments = judgments_from({name: each.grades for name, each in zip(names, lists, strict=True)})
    rankings = rankings_from({name: each.ranking for name, each in zip(names, lists, strict=True)})
    return settled(metric, with_companions(judge(judgments, rankings), collection=10_000))


def _others(count: int) -> list[str]:
    return [f"not relevant {i}" for i in range(count)]


def _with_one_relevant(relevant: int, rank: int) -> _List:
    """A list with one of the relevant documents, at ``rank``; all of them have the top grade."""
    ranking = _others(RANKS - 1)
    ranking.insert(rank - 1, "relevant 0")
    return _List(ranking, dict.fromkeys(ranking, 0) | {f"relevant {i}": 1 for i in range(relevant)})


def _placed(places: Mapping[int, str], length: int = 30) -> list[str]:
    """A list with these documents at these ranks, and documents that are not relevant elsewhere."""
    return [places.get(rank, other) for rank, other in enumerate(_others(length), 1)]


_GRADES = dict.fromkeys(_others(40), 0) | {"fair": 1, "good": 2, "other": 1, "lost": 3}
_BEFORE = _List(_placed({2: "fair", 5: "good", 20: "other"}), _GRADES)
_CHANGES = {
    _TO_THE_TOP: _List(_placed({2: "fair", 1: "good", 20: "other"}), _GRADES),
    "a relevant document moves from rank 20 to rank 4": _List(_placed({2: "fair", 5: "good", 4: "other"}), _GRADES),
    "the better of two relevant documents changes places with the one above it": _List(
        _placed({2: "good", 5: "fair", 20: "other"}), _GRADES
    ),
    "the relevant document at rank 2 gets the top grade": _BEFORE._replace(grades=_GRADES | {"fair": 3}),
    _MORE_EXIST: _BEFORE._replace(grades=_GRADES | {f"lost {i}": 1 for i in range(10)}),
    _MORE_AT_THE_END: _BEFORE._replace(ranking=_placed({2: "fair", 5: "good", 20: "other"}, 40)),
    "the document at rank 1, judged as not relevant, is unjudged instead": _BEFORE._replace(
        grades={document: grade for document, grade in _GRADES.items() if document != "not relevant 0"}
    ),
}
