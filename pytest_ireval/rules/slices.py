"""Which queries a rule looks at: a filter on their columns, with a name for people and one for ids of tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.rules.ids import slug

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
        """Which queries belong to it."""
        found = np.ones(len(queries), bool)
        for column, values in self.conditions:
            found &= np.isin(np.array(queries.columns[column], str), np.array(values, str))
        return found


WHOLE = Slice()


def slice_of(where: Mapping[str, tuple[str, ...]]) -> Slice:
    """The slice that ``where`` describes."""
    return Slice(tuple(where.items()))


def one_value(within: Slice, column: str, value: str) -> Slice:
    """The part of a slice where a column has one value."""
    return Slice((*within.conditions, (column, (value,))), value)
