"""The queries of a suite, with judgments, weights and waivers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.document_names import DocumentNames
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.queries import Queries
from pytest_ireval.sides.slices import Slice
from pytest_ireval.statistics.differences import Floats, Mask
from pytest_ireval.statistics.estimate import Counts


@dataclass(eq=False)
class Population:
    """The queries of a suite, with their judgments and weights, and those that do not count for now."""

    queries: Queries
    judgments: Judgments | None = None
    weights: Floats | None = None
    waived: frozenset[str] = frozenset()
    names: DocumentNames = field(default_factory=DocumentNames)
    """Other names of documents."""
    clusters: Counts | None = None
    """The number of each query's cluster: variants of one intent share one. None: all queries were drawn one by one."""

    @cached_property
    def counted_queries(self) -> Mask:
        """Queries that no waiver takes out."""
        counted = np.ones(len(self.queries), bool)
        counted[[self.queries.position[query] for query in self.waived if query in self.queries.position]] = False
        return counted

    @cached_property
    def _masks(self) -> dict[Slice, Mask]:
        return {}

    def mask(self, within: Slice) -> Mask:
        """The queries of a slice that count."""
        if within not in self._masks:
            self._masks[within] = within.mask(self.queries) & self.counted_queries
        return self._masks[within]

    def share(self, within: Slice) -> float | None:
        """The share of the searches that the queries of a slice carry."""
        return None if self.weights is None else self.share_of(self.mask(within))

    def share_of(self, rows: Mask | Counts) -> float | None:
        """The share of the searches that some queries carry; None without weights."""
        total = 0.0 if self.weights is None else float(self.weights.sum())
        return float(self.weights[rows].sum()) / total if self.weights is not None and total else None

    def find_current_name(self, document: str, query: str = "") -> str:
        """The current name of a document, if the suite has other names for it; with a query, that of its passage."""
        return self.names.find_current_name(document, query)

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
