"""Rankings joined with judgments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.ids import BLOCK, Ids, mapped, parts_of
from pytest_ireval.data.judged import Documents, Hits, Integers, JudgedRankings
from pytest_ireval.data.judgments import Ideal, Judgments
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.scan.kept import KeptRows
from pytest_ireval.data.scan.tokens import Words, begins_of, mixed


def judged_hits(judgments: Judgments, parts: Sequence[KeptRows], highest_grade: float | None = None) -> JudgedRankings:
    """Judged rankings from the judged documents found while reading; other documents were not kept."""
    names = [name for part in parts for name in part.query_id]
    code = _codes(judgments, names)
    retrieved = np.concatenate([np.zeros(0, np.int64), *(part.count for part in parts)])
    before = np.cumsum([0, *(len(part.query_id) for part in parts)])
    query = np.concatenate(
        [np.zeros(0, np.int64), *(part.query + at for part, at in zip(parts, before[:-1].tolist(), strict=True))]
    )
    row = np.concatenate([np.zeros(0, np.int64), *(p.judgment for p in parts if p.judgment is not None)])
    hits = Hits(
        query=code[query],
        rank=np.concatenate([np.zeros(0, np.int64), *(part.rank for part in parts)]),
        grade=judgments.grade[row],
        judgment=row,
        score=np.concatenate([np.zeros(0), *(part.score for part in parts)]),
        tied_from=np.concatenate([np.zeros(0, np.int64), *(part.tied_from for part in parts)]),
        tied_to=np.concatenate([np.zeros(0, np.int64), *(part.tied_to for part in parts)]),
    )
    if (hits.query[1:] < hits.query[:-1]).any():  # the documents of a query are already in order of rank
        hits = hits.at(np.argsort(hits.query, kind="stable"))
    return _assembled(judgments, code, retrieved, hits, None, highest_grade)


def judge(
    judgments: Judgments, rankings: Rankings, highest_grade: float | None = None, *, documents: bool = True
) -> JudgedRankings:
    """Judged rankings with all documents that ``rankings`` kept; other documents do not count.

    Without ``documents``, only the judged ones among them become part of the result.
    """
    if not documents:
        return judged_hits(judgments, [_hits_of(judgments, rankings)], highest_grade)
    code = _codes(judgments, [query.encode() for query in rankings.queries])
    rows, query, first = _rows_by_query(len(judgments.queries), rankings, code)
    listed = _documents(rankings, rows, query, first)
    judgment = _judgment_of(judgments, query, listed.ids, _query_keys(judgments))
    grade = _grades(judgments, judgment)
    rank = np.arange(rows.size) - first[query] + 1
    every = Hits(query, rank, grade, judgment, listed.score, listed.tied_from, listed.tied_to)
    hits, listed = every.at(np.flatnonzero(judgment >= 0)), listed._replace(grade=grade)
    return _assembled(judgments, code, np.diff(rankings.first), hits, listed, highest_grade)


def returned_judgments(judgments: Judgments, rankings: Rankings) -> Integers:
    """The rows of the judgments whose documents the rankings return."""
    return judge(judgments, rankings, documents=False).hits.judgment


def _hits_of(judgments: Judgments, rankings: Rankings) -> KeptRows:
    """The judged documents of all rankings."""
    row, judgment = _found_in(judgments, rankings)
    length = np.diff(rankings.first)
    query = np.searchsorted(rankings.first, row, side="right") - 1
    return KeptRows(
        query_id=[query.encode() for query in rankings.queries],
        count=length,
        query=query,
        rank=row - rankings.first[query] + 1,
        score=rankings.score[row],
        tied_from=rankings.tied_from[row],
        tied_to=np.minimum(rankings.tied_to[row], length[query]),
        judgment=judgment,
    )


class _Found(NamedTuple):
    """The rows of the judged documents of some rankings, those of a query ascending, and of their judgments."""

    row: Integers
    judgment: Integers


_found_last: WeakKeyDictionary[Rankings, tuple[ref[Judgments], _Found]] = WeakKeyDictionary()
"""The judged documents that were found last, by rankings; only of rankings that are still in use."""


def _found_in(judgments: Judgments, rankings: Rankings) -> _Found:
    """The judged documents; lists that are the same in other rankings, and were searched there, are not searched."""
    known = _known(judgments, rankings)
    if known is not None:
        return known
    code = _codes(judgments, [query.encode() for query in rankings.queries])
    carried, left = _Found(*np.zeros((2, 0), np.int64)), code >= 0
    for other, lists in _comparisons.get(rankings, {}).items():
        known = _known(judgments, other)
        if known is not None:
            carried = _carried_over(known, other, rankings, lists.place)
            left &= lists.place < 0
            break
    queries, keys = np.flatnonzero(left), _query_keys(judgments)
    begins = begins_of(np.diff(rankings.first)[queries])

    def found(part: tuple[int, int]) -> _Found:
        begin, end = part
        row = _rows_of(rankings.first[:-1][queries[begin:end]], np.diff(begins[begin : end + 1]))
        query = np.repeat(code[queries[begin:end]], np.diff(begins[begin : end + 1]))
        judgment = _judgment_of(judgments, query, rankings.documents.at(row), keys)
        hit = np.flatnonzero(judgment >= 0)
        return _Found(row[hit], judgment[hit])

    parts = [carried, *mapped(found, parts_of(begins, BLOCK))]
    row, judgment = (np.concatenate(column) for column in zip(*parts, strict=True))
    _found_last[rankings] = ref(judgments), _Found(row, judgment)
    return _Found(row, judgment)


def _known(judgments: Judgments, rankings: Rankings) -> _Found | None:
    of, found = _found_last.get(rankings, (None, None))
    return found if of is not None and of() is judgments else None


def _carried_over(known: _Found, other: Rankings, rankings: Rankings, place: Integers) -> _Found:
    """The judged documents of the queries that have a ``place`` in the ``other`` rankings, where they are ``known``."""
    here = np.full(len(other), -1, np.int64)
    here[place[place >= 0]] = np.flatnonzero(place >= 0)
    query = np.searchsorted(other.first, known.row, side="right") - 1
    rank = known.row - other.first[query]
    query = here[query]
    kept = np.flatnonzero((query >= 0) & (rank < np.diff(rankings.first)[query]))
    return _Found(rankings.first[query[kept]] + rank[kept], known.judgment[kept])


def _rows_of(first: Integers, length: Integers) -> Integers:
    """The rows of some queries, given the first of each and how many."""
    return np.repeat(first - begins_of(length)[:-1], length) + np.arange(int(length.sum()))


class _Alike(NamedTuple):
    """Queries of some rankings that have the same first ``depth`` documents in others.

    ``place`` is the place there of each query whose list is no longer than that and the same, else -1.
    """

    depth: int
    same: NDArray[np.bool_]
    place: Integers


_comparisons: WeakKeyDictionary[Rankings, WeakKeyDictionary[Rankings, _Alike]] = WeakKeyDictionary()
"""The last comparison of each pair of rankings that are still in use."""


def begin_alike(ours: Rankings, theirs: Rankings, depth: int) -> NDArray[np.bool_]:
    """Tell which queries of ours have the same first ``depth`` documents in theirs.

    Such lists are judged once: what is found in theirs is then taken over for ours.
    """
    compared = _comparisons.setdefault(ours, WeakKeyDictionary())
    if theirs not in compared or compared[theirs].depth != depth:
        compared[theirs] = _compared(ours, theirs, depth)
    return compared[theirs].same


def _compared(ours: Rankings, theirs: Rankings, depth: int) -> _Alike:
    position = {query: i for i, query in enumerate(theirs.queries)}
    place = np.array([position.get(query, -1) for query in ours.queries], np.int64)
    length, others = (np.minimum(np.diff(rankings.first), depth) for rankings in (ours, theirs))
    both = np.flatnonzero(place >= 0)
    both = both[length[both] == others[place[both]]]
    begins = begins_of(length[both])

    def differing(part: tuple[int, int]) -> Integers:
        mine = both[slice(*part)]
        count = length[mine]
        my_rows, their_rows = _rows_of(ours.first[mine], count), _rows_of(theirs.first[place[mine]], count)
        return np.repeat(mine, count)[~ours.documents.same(my_rows, theirs.documents, their_rows)]

    same = np.zeros(len(ours), bool)
    same[both] = True
    for differ in mapped(differing, parts_of(begins, BLOCK)):
        same[differ] = False
    whole = same & (np.diff(ours.first) <= depth)
    return _Alike(depth, same, np.where(whole, place, -1))


def _documents(rankings: Rankings, rows: Integers, query: Integers, first: Integers) -> Documents:
    """Some rows as documents without grades."""
    return Documents(
        first=first,
        ids=rankings.documents.some(rows),
        score=rankings.score[rows],
        grade=np.full(rows.size, np.nan),
        tied_from=rankings.tied_from[rows].astype(np.int64),
        tied_to=np.minimum(rankings.tied_to[rows], np.diff(first)[query]),
    )


def unjudged(rankings: Rankings, queries: Sequence[str]) -> JudgedRankings:
    """The rankings of these queries without any judgments, for metrics that compare them with a reference."""
    number = {query: i for i, query in enumerate(queries)}
    code = np.array([number.get(query, -1) for query in rankings.queries], np.int64)
    rows, query, first = _rows_by_query(len(queries), rankings, code)
    none, no_grades = np.zeros(0, np.int64), np.zeros(0)
    present = np.zeros(len(queries), bool)
    present[code[code >= 0]] = True
    return JudgedRankings(
        queries=tuple(queries),
        retrieved=np.diff(first),
        present=present,
        hits=Hits(none, none, no_grades, none, no_grades, none, none),
        ideal=Ideal(none, none, no_grades, none),
        highest_grade=0.0,
        documents=_documents(rankings, rows, query, first),
    )


def grades_of(judgments: Judgments, rankings: Rankings) -> NDArray[np.float64]:
    """The grade of every document, in the rows of the rankings; NaN if it is not judged for its query."""
    code = _codes(judgments, [query.encode() for query in rankings.queries])
    query = np.repeat(code, np.diff(rankings.first))
    rows = np.flatnonzero(query >= 0)
    judgment = _judgment_of(judgments, query[rows], rankings.documents.take(rows), _query_keys(judgments))
    grades = np.full(query.size, np.nan)
    grades[rows] = _grades(judgments, judgment)
    return grades


def _grades(judgments: Judgments, judgment: Integers) -> NDArray[np.float64]:
    """The grades of these rows of the judgments; NaN for -1."""
    grades = np.full(judgment.size, np.nan)
    grades[judgment >= 0] = judgments.grade[judgment[judgment >= 0]]
    return grades


def unjudged_queries(judgments: Judgments, queries: Sequence[str]) -> tuple[str, ...]:
    """Queries that were ranked but have no judgments."""
    return tuple(query for query in queries if query.encode() not in judgments.position)


def _codes(judgments: Judgments, names: Sequence[bytes]) -> Integers:
    return np.array([judgments.position.get(name, -1) for name in names], np.int64)


def _rows_by_query(count: int, rankings: Rankings, code: Integers) -> tuple[Integers, Integers, Integers]:
    """Rows of ``rankings`` in the order of the ``count`` queries, the query of each, and the begin of each query."""
    kept = np.zeros(count, np.int64)
    length = np.diff(rankings.first)
    kept[code[code >= 0]] = length[code >= 0]
    query = np.repeat(code, length)
    rows = np.flatnonzero(query >= 0)
    rows = rows[np.argsort(query[rows], kind="stable")]
    return rows, query[rows], begins_of(kept)


def _judgment_of(judgments: Judgments, query: Integers, ids: Ids, query_keys: Words) -> Integers:
    """The judgment's row for each (query, document); -1 where there is none."""
    key = ids.keys(judgments.table.seed) ^ query_keys[query]
    at, row = judgments.table.pairs.find(key)
    sure = query[at] == judgments.query[row]
    sure[sure] = ids.same(at[sure], judgments.documents, row[sure])
    judgment = np.full(query.size, -1, np.int64)
    judgment[at[sure]] = row[sure]
    return judgment


def _query_keys(judgments: Judgments) -> Words:
    return mixed(Ids.of(judgments.queries).keys(judgments.table.seed))


def _assembled(
    judgments: Judgments,
    code: Integers,
    retrieved: Integers,
    hits: Hits,
    documents: Documents | None,
    highest_grade: float | None,
) -> JudgedRankings:
    count = len(judgments.queries)
    judged = code >= 0
    all_retrieved = np.zeros(count, np.int64)
    all_retrieved[code[judged]] = retrieved[judged]
    present = np.zeros(count, bool)
    present[code[judged]] = True
    return JudgedRankings(
        queries=judgments.queries,
        retrieved=all_retrieved,
        present=present,
        hits=hits,
        ideal=judgments.ideal,
        highest_grade=judgments.highest_grade if highest_grade is None else highest_grade,
        documents=documents,
        judgments=judgments,
        subtopics=judgments.subtopics,
        _judgments=judgments,
    )
