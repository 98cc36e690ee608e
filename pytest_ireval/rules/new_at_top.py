"""Documents that are new at the top of rankings, and unjudged: the baseline does not list them for the query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pytest_ireval.data.arrays import Integers, look_up
from pytest_ireval.data.ids import Ids, find_ids, number_ids
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.errors import quote
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.suite.quantities import SHARE_ROUNDING
from pytest_ireval.words import format_count

TOP = 3
"""People look at the first documents; lower ones move few metrics much."""
SHARE = 0.05
"""At rank 1 of this many queries one document can cost about what tolerances usually allow for a mean."""
FEWEST = 5
"""In fewer queries, or clusters of them, a new document is one good or bad find."""
HALF = 0.5
"""On this share of queries, figures depend on one document, whatever the clusters."""
NAMED = 3
"""The most documents to name."""


class NewDocument(NamedTuple):
    """A document at the top that the baseline does not list: its ranks, and the rows of the queries, all unjudged."""

    document: str
    rows: Integers
    ranks: Integers
    judged: int | None
    """The number of other queries where it is new at the top, and judged. None without judgments."""

    def describe(self, at: int, queries: int, where: str = "") -> str:
        """``d7 is new in the top 3 for 40 of 400 queries (rank 1, unjudged)``."""
        low, high = int(self.ranks.min()), int(self.ranks.max())
        ranks = f"rank {low}" if low == high else f"ranks {low} to {high}"
        of = f"{self.rows.size} of {format_count(queries, 'query')}{where}"
        unjudged = ", unjudged" if self.judged is not None else ""
        judged = f" there, judged for {format_count(self.judged, 'other query')}" if self.judged else ""
        return f"{self.document} is new in the top {at} for {of} ({ranks}{unjudged}{judged})"


class NewDocuments(NamedTuple):
    """New documents at the top of many queries, those of most queries first; and the number of all queries."""

    documents: Sequence[NewDocument]
    queries: int

    def describe(self, at: int = TOP, where: str = "") -> str:
        """The first ones, and how many others there are."""
        words = "; ".join(document.describe(at, self.queries, where) for document in self.documents[:NAMED])
        others = len(self.documents) - NAMED
        return words if others <= 0 else f"{words}; and {format_count(others, 'other document')}"

    @property
    def option(self) -> str:
        """The option that makes them expected: ``expected: [d7]``."""
        return f"expected: [{', '.join(quote(new.document) for new in self.documents[:NAMED])}]"


def find_prominent(context: RuleContext, expected: frozenset[str] = frozenset()) -> NewDocuments:
    """Find the new documents that figures may depend on, whatever the rules of the suite.

    Queries of one cluster are one find, unless they are half of the suite.
    """
    compared = context.paired_rows()
    if compared.size < FEWEST:
        return NewDocuments((), compared.size)
    candidates = find_new_documents(context, compared, min(TOP, context.current.depth), FEWEST)
    if not candidates:  # most runs have none, and the first call of np.unique imports all of numpy.ma
        return NewDocuments((), compared.size)
    clusters = context.population.clusters
    cluster_of = np.arange(len(context.population.queries)) if clusters is None else clusters
    least = max(FEWEST, int(np.ceil(SHARE * np.unique(cluster_of[compared]).size - SHARE_ROUNDING)))

    def is_prominent(rows: Integers) -> bool:
        return np.unique(cluster_of[rows]).size >= least or rows.size >= max(FEWEST, HALF * compared.size)

    prominent = [new for new in candidates if new.document not in expected and is_prominent(new.rows)]
    return NewDocuments(prominent, compared.size)


class _Listed(NamedTuple):
    """Documents of some queries: for each the row of its query among those of the suite, and its rank."""

    row: Integers
    rank: Integers
    ids: Ids


def _list_documents(context: RuleContext, rankings: Rankings, rows: Integers, depth: int | None = None) -> _Listed:
    """The first ``depth`` documents of some queries, or all of them; in the order of the queries and ranks."""
    ids = context.population.queries.ids
    known = look_up([ids[row] for row in rows.tolist()], rankings.position)
    rows, known = rows[known >= 0], known[known >= 0]
    length = rankings.first[known + 1] - rankings.first[known]
    length = length if depth is None else np.minimum(length, depth)
    begin = np.cumsum(length) - length
    rank = np.arange(int(length.sum())) - np.repeat(begin, length) + 1
    documents = rankings.documents.take(np.repeat(rankings.first[known], length) + rank - 1)
    return _Listed(np.repeat(rows, length), rank, documents)


def find_new_documents(context: RuleContext, compared: Integers, at: int, least: int) -> list[NewDocument]:
    """Documents that are new, and unjudged, in the top of ``least`` queries or more; those of most queries first."""
    top = _list_documents(context, context.current.rankings[0], compared, at)
    distinct, code = number_ids(top.ids)
    kept = np.flatnonzero(np.bincount(code)[code] >= least)
    if not kept.size:
        return []
    pair = _number_pairs(context, top.row[kept], code[kept])
    new = ~np.isin(pair, _number_baseline_pairs(context, np.unique(top.row[kept]), distinct))
    known = np.isin(pair, _number_judged_pairs(context, distinct))
    judgments = context.population.judgments is not None
    unjudged = kept[new & ~known]
    by_document = unjudged[np.argsort(code[unjudged], kind="stable")]
    often = np.bincount(code[unjudged], minlength=len(distinct))
    end = np.cumsum(often)
    judged_elsewhere = np.bincount(code[kept[new & known]], minlength=len(distinct))
    documents = []
    for number in np.flatnonzero(often >= least).tolist():
        rows = by_document[end[number] - often[number] : end[number]]
        judged = int(judged_elsewhere[number]) if judgments else None
        documents.append(NewDocument(top.ids[int(rows[0])], top.row[rows], top.rank[rows], judged))
    return sorted(documents, key=lambda new: (-new.rows.size, new.document))


def _number_pairs(context: RuleContext, row: Integers, document: Integers) -> Integers:
    """A number for each query and document; -1 for other documents."""
    return np.where(document < 0, -1, document * len(context.population.queries) + row)


def _number_baseline_pairs(context: RuleContext, rows: Integers, documents: Ids) -> Integers:
    """Such pairs of the baseline's rankings, of all askings."""
    assert context.baseline is not None  # noqa: S101 - it was asked for above
    lists = [_list_documents(context, rankings, rows) for rankings in context.baseline.rankings]
    return np.concatenate([_number_pairs(context, listed.row, find_ids(listed.ids, documents)) for listed in lists])


def _number_judged_pairs(context: RuleContext, documents: Ids) -> Integers:
    """Such pairs of the judgments."""
    judgments = context.population.judgments
    if judgments is None:
        return np.zeros(0, np.int64)
    position = context.population.queries.position
    row = np.array([position.get(query, -1) for query in judgments.queries], np.int64)[judgments.query]
    there = np.flatnonzero(row >= 0)
    return _number_pairs(context, row[there], find_ids(judgments.documents.take(there), documents))
