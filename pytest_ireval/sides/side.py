"""One side of a comparison: rankings of all queries of a suite, scored by every metric."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.arrays import list_rows, look_up
from pytest_ireval.data.ids import Ids
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.errors import IrevalError
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.statistics.differences import Floats, Mask

T = TypeVar("T")

MANY_QUERIES = 10_000
"""The tops of more queries do not become text at once."""


@dataclass(eq=False)
class Scored:
    """One metric of one side: a value for each unit, NaN where none counts; queries are in the suite's order."""

    metric: Metric
    names: tuple[str, ...]
    values: Floats


class Judgedness(NamedTuple):
    """For each judged query, whether it has a ranking, the number of listed documents and of judged ones among them."""

    ranked: NDArray[np.bool_]
    listed: NDArray[np.int64]
    judged: NDArray[np.int64]


@dataclass(eq=False)
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
    judgedness: Judgedness | None = None
    """Of the first asking, down to the lowest rank that metrics use; None without judgments."""
    recall_precision: Floats | None = None
    """A row for each query: interpolated precision at eleven levels of recall, and R-precision; the mean of all
    askings. NaN for queries that do not count or have no relevant documents; None where it was not wanted."""
    gone_documents: frozenset[str] = frozenset()
    """Documents that rules expect and that the index does not have any more, if the source looks them up."""

    @property
    def position(self) -> Mapping[str, int]:
        """Query to its place among the rankings."""
        return self.rankings[0].position

    @cached_property
    def _memory(self) -> dict[Hashable, Any]:
        return {}

    def remember(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of ``make``, made once for each key, as all rules and slices of a suite share this side.

        The key says what is made, and names all that it depends on besides this side.
        """
        if key not in self._memory:
            self._memory[key] = make()
        value: T = self._memory[key]
        return value

    def mark_ranked(self, queries: Queries) -> Mask:
        """Mark the queries that have a ranking, which may be empty."""
        return self.remember(("ranked", queries), lambda: look_up(queries.ids, self.position) >= 0)

    def has_values(self, metric: str) -> bool:
        """Tell whether a metric was computed here, and can be compared."""
        return metric in self.scored and metric not in self.errors

    def documents(self, query: str, asking: int = 0) -> list[str]:
        """The first ``depth`` documents of a query's ranking, of one asking; none if it has no ranking."""
        rankings = self.rankings[asking]
        if query not in rankings.position:
            return []
        i = rankings.position[query]
        first = int(rankings.first[i])
        return rankings.documents.texts(np.arange(first, min(int(rankings.first[i + 1]), first + self.depth)))

    def list_first_documents(self, queries: Iterable[str], count: int | None = None) -> Ids:
        """The first ``count`` documents of some queries, at most ``depth``; one query's after the other's."""
        rankings = self.rankings[0]
        rows = np.array([self.position[query] for query in queries if query in self.position], np.int64)
        begin, end = rankings.first[rows], rankings.first[rows + 1]
        length = np.minimum(end - begin, self.depth if count is None else min(count, self.depth))
        return rankings.documents.take(list_rows(begin, length))

    def iterate_tops(self, queries: Sequence[str], count: int) -> Iterator[tuple[str, ...]]:
        """The first ``count`` documents of each query; for many queries quicker than one by one."""
        lengths = np.append(np.diff(self.rankings[0].first), 0)  # the last one is for queries without a ranking
        for begin in range(0, len(queries), MANY_QUERIES):
            some = queries[begin : begin + MANY_QUERIES]
            texts = iter(self.list_first_documents(some, count).texts())
            for length in lengths[look_up(some, self.position)].tolist():
                yield tuple(islice(texts, min(length, count, self.depth)))
