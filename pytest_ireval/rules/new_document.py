"""``new_document``: limits how many queries one new document may top; needs no judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from pytest_ireval.data.ids import Ids, find_ids, number_ids
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.errors import SuiteError, quote
from pytest_ireval.plugins.plugin_types import rule
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.result import RuleResult
from pytest_ireval.rules.wording import format_queries, format_slice
from pytest_ireval.suite.option_types import AmountText, Texts, Whole
from pytest_ireval.suite.options import LESS, MORE, ComparingOptions
from pytest_ireval.suite.quantities import SHARE_ROUNDING
from pytest_ireval.words import format_count, format_percent

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
Integers = NDArray[np.int64]


class NewDocumentOptions(ComparingOptions):
    """The ranks that count, the number of queries with a new document there, and the expected documents."""

    at: Annotated[Whole, LESS] = Field(TOP, description="How many documents at the top of a ranking are looked at.")
    at_most: AmountText = Field(
        "5%",
        validate_default=True,
        description="The share or number of queries for which one document may be new there: 5%, or 20.",
    )
    expected: Annotated[Texts, MORE] = Field(
        (), description="Ids of documents that may be new for any number of queries, such as a promoted product."
    )

    @model_validator(mode="after")
    def _can_fail(self) -> NewDocumentOptions:
        if self.at_most.share is not None and self.at_most.share >= 1:
            raise ValueError(f"at_most: {self.at_most} lets everything pass")
        return self


@dataclass(frozen=True, eq=False)
class NewDocument:
    """A document at the top that the baseline does not list: its ranks, and the places of the queries, all unjudged."""

    document: str
    places: Integers
    ranks: Integers
    judged: int | None
    """The number of other queries where it is new at the top, and judged. None without judgments."""

    def describe(self, at: int, queries: int, where: str = "") -> str:
        """``d7 is new in the top 3 of 40 of 400 queries (rank 1, unjudged)``."""
        low, high = int(self.ranks.min()), int(self.ranks.max())
        ranks = f"rank {low}" if low == high else f"ranks {low} to {high}"
        of = f"{self.places.size} of {format_count(queries, 'query')}{where}"
        unjudged = ", unjudged" if self.judged is not None else ""
        judged = f" there, judged for {format_count(self.judged, 'other query')}" if self.judged else ""
        return f"{self.document} is new in the top {at} of {of} ({ranks}{unjudged}{judged})"


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


def _describe(options: NewDocumentOptions, context: RuleContext, result: RuleResult) -> str:
    failing: NewDocuments = result.details
    if failing.documents:
        return f"{failing.describe(options.at, format_slice(context))}; at most {options.at_most} are allowed"
    too_many = f"more than {options.at_most} of {format_queries(context, failing.queries)}"
    return f"no document is new in the top {options.at} of {too_many}{format_slice(context)}"


@rule(
    name="new_document",
    options=NewDocumentOptions,
    describe=_describe,
    compares=True,
    compares_lists=True,
    needs_judgments=False,
)
def new_document(options: NewDocumentOptions, context: RuleContext) -> RuleResult:
    """Limit how many queries have the same new, unjudged document at the top."""
    depth = context.now.depth
    if options.at > depth:
        raise SuiteError(f"looks at the first {options.at} documents, but the suite keeps only {depth} (depth)")
    compared = context.places_on_both_sides()
    size = compared.size
    expected = {context.population.called(document) for document in options.expected}
    candidates = [new for new in _find_new(context, compared, options.at, 2) if new.document not in expected]
    failing = NewDocuments(
        [new for new in candidates if new.places.size > options.at_most.of(size) + SHARE_ROUNDING], size
    )
    most = max((new.places.size for new in candidates), default=0)
    numbers = {"queries": float(most), "share": most / size}
    if not failing.documents:
        return RuleResult("pass", numbers=numbers, details=failing)
    first = failing.documents[0]
    them = "it" if len(failing.documents) == 1 else "them"
    return RuleResult(
        "fail",
        queries=tuple(context.query_change(place) for place in first.places[:100].tolist()),
        queries_title="queries with this document",
        numbers=numbers,
        sentence=f"{first.document} came to the top for {format_percent(first.places.size / size)} of the queries.",
        notes=(f"if you expect {them}, add {failing.option} to the rule",),
        details=failing,
    )


def find_prominent(context: RuleContext, expected: frozenset[str] = frozenset()) -> NewDocuments:
    """Find the new documents that figures may depend on, whatever the rules of the suite.

    Queries of one cluster are one find, unless they are half of the suite.
    """
    compared = context.places_on_both_sides()
    candidates = _find_new(context, compared, min(TOP, context.now.depth), FEWEST) if compared.size >= FEWEST else []
    if not candidates:
        return NewDocuments((), compared.size)
    clusters = context.population.clusters
    cluster_of = np.arange(len(context.population.queries)) if clusters is None else clusters
    least = max(FEWEST, int(np.ceil(SHARE * np.unique(cluster_of[compared]).size - SHARE_ROUNDING)))

    def is_prominent(places: Integers) -> bool:
        return np.unique(cluster_of[places]).size >= least or places.size >= max(FEWEST, HALF * compared.size)

    prominent = [new for new in candidates if new.document not in expected and is_prominent(new.places)]
    return NewDocuments(prominent, compared.size)


class _Rows(NamedTuple):
    """Documents of some queries: the query of each as a place among those of the suite, and its rank."""

    place: Integers
    rank: Integers
    ids: Ids


def _list_rows(context: RuleContext, rankings: Rankings, places: Integers, depth: int | None = None) -> _Rows:
    """The first ``depth`` documents of some queries, or all of them; in the order of the queries and ranks."""
    ids = context.population.queries.ids
    position = {query: i for i, query in enumerate(rankings.queries)}
    known = np.array([position.get(ids[place], -1) for place in places.tolist()], np.int64)
    places, known = places[known >= 0], known[known >= 0]
    length = rankings.first[known + 1] - rankings.first[known]
    length = length if depth is None else np.minimum(length, depth)
    begin = np.cumsum(length) - length
    rank = np.arange(int(length.sum())) - np.repeat(begin, length) + 1
    documents = rankings.documents.take(np.repeat(rankings.first[known], length) + rank - 1)
    return _Rows(np.repeat(places, length), rank, documents)


def _find_new(context: RuleContext, compared: Integers, at: int, least: int) -> list[NewDocument]:
    """Documents that are new, and unjudged, in the top of ``least`` queries or more; those of most queries first."""
    top = _list_rows(context, context.now.rankings[0], compared, at)
    distinct, code = number_ids(top.ids)
    kept = np.flatnonzero(np.bincount(code)[code] >= least)
    if not kept.size:
        return []
    pair = _number_pairs(context, top.place[kept], code[kept])
    new = ~np.isin(pair, _pairs_before(context, np.unique(top.place[kept]), distinct))
    known = np.isin(pair, _judged_pairs(context, distinct))
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
        documents.append(NewDocument(top.ids[int(rows[0])], top.place[rows], top.rank[rows], judged))
    return sorted(documents, key=lambda new: (-new.places.size, new.document))


def _number_pairs(context: RuleContext, place: Integers, document: Integers) -> Integers:
    """A number for each query and document; -1 for other documents."""
    return np.where(document < 0, -1, document * len(context.population.queries) + place)


def _pairs_before(context: RuleContext, places: Integers, documents: Ids) -> Integers:
    """Such pairs of the baseline's rankings, of all askings."""
    assert context.baseline is not None  # noqa: S101 - it was asked for above
    lists = [_list_rows(context, rankings, places) for rankings in context.baseline.rankings]
    return np.concatenate([_number_pairs(context, rows.place, find_ids(rows.ids, documents)) for rows in lists])


def _judged_pairs(context: RuleContext, documents: Ids) -> Integers:
    """Such pairs of the judgments."""
    judgments = context.population.judgments
    if judgments is None:
        return np.zeros(0, np.int64)
    position = context.population.queries.position
    place = np.array([position.get(query, -1) for query in judgments.queries], np.int64)[judgments.query]
    there = np.flatnonzero(place >= 0)
    return _number_pairs(context, place[there], find_ids(judgments.documents.take(there), documents))
