"""One set of rankings of all queries of a suite, scored; and the queries themselves."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.queries import Queries, composed
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.errors import IrevalError
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.statistics.estimate import Counts

T = TypeVar("T")
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scored:
    """One metric of one side: a value for each unit, NaN where none counts; queries are in the suite's order."""

    metric: Metric
    names: tuple[str, ...]
    values: Floats


class Judgedness(NamedTuple):
    """For each judged query, the number of listed documents and of judged ones among them."""

    listed: NDArray[np.int64]
    judged: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Side:
    """Rankings, scored by every metric."""

    origin: str
    """Their source in words."""
    rankings: tuple[Rankings, ...]
    """One for each time that the source was asked; documents of the first are shown."""
    depth: int
    scored: Mapping[str, Scored] = field(default_factory=dict)
    """By the name under which the suite asks for the metric."""
    errors: Mapping[str, IrevalError] = field(default_factory=dict)
    """The errors of metrics without values."""
    askings: Mapping[str, Floats] = field(default_factory=dict)
    """The values whose mean is in ``scored``: a row for each time that the source was asked."""
    counterpart: Mapping[str, Scored] = field(default_factory=dict)
    """On a reference side: the current values of metrics of sessions and of the whole, over the same queries."""
    judgedness: Judgedness | None = None
    """Of the first asking, down to the lowest rank that metrics use; None without judgments."""
    recall_precision: Floats | None = None
    """A row for each query: interpolated precision at eleven levels of recall, and R-precision; the mean of all
    askings. NaN for queries that do not count or have no relevant documents; None where it was not wanted."""

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Query to its place among the rankings."""
        return {query: i for i, query in enumerate(self.rankings[0].queries)}

    @cached_property
    def _memory(self) -> dict[Hashable, Any]:
        return {}

    def remembered(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of ``make``, made once: the worst queries of one rule are those of others, too."""
        if key not in self._memory:
            self._memory[key] = make()
        found: T = self._memory[key]
        return found

    def has_values(self, metric: str) -> bool:
        """Tell whether a metric was computed here, and can be compared."""
        return metric in self.scored and metric not in self.errors

    def documents(self, query: str, asking: int = 0) -> list[str]:
        """The first ``depth`` documents of a query's ranking, of one asking; none if it has no ranking."""
        rankings = self.rankings[asking]
        if query not in (self.position if asking == 0 else rankings.queries):
            return []
        i = self.position[query] if asking == 0 else rankings.queries.index(query)
        first = int(rankings.first[i])
        return rankings.documents.texts(np.arange(first, min(int(rankings.first[i + 1]), first + self.depth)))


@dataclass(frozen=True, eq=False)
class Population:
    """The queries of a suite, with their judgments and weights, and those that do not count for now."""

    queries: Queries
    judgments: Judgments | None = None
    weights: Floats | None = None
    waived: frozenset[str] = frozenset()
    called: Callable[..., str] = lambda document, _query="": document
    """Gives the current name of a document, if the suite has other names for it; with a query, that of its passage."""
    clusters: Counts | None = None
    """The number of each query's cluster: variants of one intent share one. None: all queries were drawn one by one."""

    @cached_property
    def counting(self) -> Mask:
        """Queries that no waiver takes out."""
        return np.array([query not in self.waived for query in self.queries.ids], bool)

    @cached_property
    def _masks(self) -> dict[Slice, Mask]:
        return {}

    def mask(self, within: Slice) -> Mask:
        """The queries of a slice that count."""
        if within not in self._masks:
            self._masks[within] = within.mask(self.queries) & self.counting
        return self._masks[within]

    def share(self, within: Slice) -> float | None:
        """The share of the searches that the queries of a slice carry."""
        return None if self.weights is None else self.share_of(self.mask(within))

    def share_of(self, rows: Mask | Counts) -> float | None:
        """The share of the searches that some queries carry; None without weights."""
        total = 0.0 if self.weights is None else float(self.weights.sum())
        return float(self.weights[rows].sum()) / total if self.weights is not None and total else None

    def grades(self, query: str) -> Mapping[str, float]:
        """The judgments of one query: grades by document."""
        judgments = self.judgments
        code = -1 if judgments is None else judgments.position.get(query, -1)
        if judgments is None or code < 0:
            return {}
        order, first = self._rows
        rows = order[first[code] : first[code + 1]]
        return dict(zip(judgments.documents.texts(rows), judgments.grade[rows].tolist(), strict=True))

    @cached_property
    def _rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows of the judgments by query, and where each query begins among them."""
        assert self.judgments is not None  # noqa: S101 - only asked for where there are judgments
        order = np.argsort(self.judgments.query, kind="stable")
        return order, np.searchsorted(self.judgments.query[order], np.arange(len(self.judgments.queries) + 1))


Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Slice:
    """Queries whose columns have one of these values each; without conditions: all of them."""

    conditions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    value: str = ""
    """The value of the column that the rule makes slices of (``per``)."""

    def __str__(self) -> str:
        return ", ".join(f"{column}={'|'.join(values)}" for column, values in self.conditions) or "all"

    @property
    def slug(self) -> str:
        """For ids: ``segment-tail``; nothing for all queries."""
        return ".".join(slug(f"{column}-{'-'.join(values)}", at=False) for column, values in self.conditions)

    def mask(self, queries: Queries) -> Mask:
        """The queries that belong to it."""
        found = np.ones(len(queries), bool)
        for column, values in self.conditions:
            found &= np.isin(np.array(queries.composed[column], str), np.array(values, str))
        return found


WHOLE = Slice()


def slice_of(where: Mapping[str, tuple[str, ...]]) -> Slice:
    """The slice that ``where`` describes."""
    return Slice(tuple(where.items()))


def in_order(values: Iterable[str], given: Iterable[str]) -> list[str]:
    """Each value once: those that a rule gives in its order, such as head, middle, tail; then the others."""
    there = dict.fromkeys(values)
    return list(dict.fromkeys([*(each for each in given if each in there), *there]))


def one_value(within: Slice, column: str, value: str) -> Slice:
    """The part of a slice where a column has one value."""
    return Slice((*within.conditions, (column, (value,))), value)


def slug(text: str, *, at: bool = True) -> str:
    """``nDCG@10`` is ``nDCG_10``; a name that loses more than its ``at`` sign ends in a short hash of the whole.

    Letters of all scripts stay, in their composed form.
    """
    plain = text.replace("@", "_") if at else text
    fits = _in_environment(plain)
    letters = composed(plain) if fits else plain.encode("ascii", "replace").decode()
    kept = re.sub(" +", "_", "".join(each if _is_kept(each) else " " for each in letters))
    if plain and kept == plain:
        return plain
    digest = hashlib.sha256(text.encode()).hexdigest()[:6]
    return f"{kept.strip('_')}-{digest}".strip("-")


def _is_kept(character: str) -> bool:
    """Marks are parts of letters, such as vowels of Hindi and Thai."""
    return character in "_.-" or character.isalnum() or unicodedata.category(character).startswith("M")


def _in_environment(text: str) -> bool:
    """Tell whether a variable of the environment can hold it; pytest puts the id of each test into one."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True
