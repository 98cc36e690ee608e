"""Rankings joined with judgments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_ireval.data.arrays import (
    BLOCK,
    Floats,
    Integers,
    Mask,
    compute_begins,
    cut_between_groups,
    list_rows,
    look_up,
)
from pytest_ireval.data.judged import Documents, Hits, JudgedRankings
from pytest_ireval.data.judgments import Ideal, Judgments
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.scan import JudgedRows
from pytest_ireval.data.threads import map_on_threads


def join_judgments(
    judgments: Judgments, rankings: Rankings, highest_grade: float | None = None, *, documents: bool = True
) -> JudgedRankings:
    """Judged rankings with all documents that ``rankings`` kept; other documents do not count.

    Without ``documents``, only the judged ones among them become part of the result.
    """
    if not documents:
        return join_judged_rows(judgments, [_find_judged_rows(judgments, rankings)], highest_grade)
    code = judgments.number_queries(rankings.queries)
    rows, query, first = _sort_rows_by_query(len(judgments.queries), rankings, code)
    listed = _take_documents(rankings, rows, query, first)
    judgment = judgments.index.find(query, listed.ids)
    listed = listed._replace(grade=_take_grades(judgments, judgment))
    rank = np.arange(rows.size) - first[query] + 1
    every = Hits(query, rank, listed.grade, judgment, listed.score, listed.tied_from, listed.tied_to)
    hits = every.at(np.flatnonzero(judgment >= 0))
    return assemble_rankings(judgments, code, np.diff(rankings.first), hits, listed, highest_grade)


def join_judged_rows(
    judgments: Judgments, parts: Sequence[JudgedRows], highest_grade: float | None = None
) -> JudgedRankings:
    """Judged rankings from the judged documents found while reading; other documents were not kept."""
    code = judgments.number_queries([name for part in parts for name in part.queries])
    none, before = np.zeros(0, np.int64), 0
    query = [none]
    for part in parts:
        query.append(part.query + np.int64(before))
        before += len(part.queries)
    judgment = np.concatenate([none, *(part.judgment for part in parts)])
    hits = Hits(
        query=code[np.concatenate(query)],
        rank=np.concatenate([none, *(part.rank for part in parts)]),
        grade=judgments.grade[judgment],
        judgment=judgment,
        score=np.concatenate([np.zeros(0), *(part.score for part in parts)]),
        tied_from=np.concatenate([none, *(part.tied_from for part in parts)]),
        tied_to=np.concatenate([none, *(part.tied_to for part in parts)]),
    )
    retrieved = np.concatenate([none, *(part.count for part in parts)])
    return assemble_rankings(judgments, code, retrieved, hits, None, highest_grade)


def find_returned_judgments(judgments: Judgments, rankings: Rankings) -> Integers:
    """The rows of the judgments whose documents the rankings return."""
    return join_judgments(judgments, rankings, documents=False).hits.judgment


def _find_judged_rows(judgments: Judgments, rankings: Rankings) -> JudgedRows:
    code = judgments.number_queries(rankings.queries)
    queries = np.flatnonzero(code >= 0)
    length = np.diff(rankings.first)
    begins = compute_begins(length[queries])

    def find(part: tuple[int, int]) -> tuple[Integers, Integers]:
        some = queries[slice(*part)]
        row = list_rows(rankings.first[some], length[some])
        judgment = judgments.index.find(np.repeat(code[some], length[some]), rankings.documents.view(row))
        judged = np.flatnonzero(judgment >= 0)
        return row[judged], judgment[judged]

    none = np.zeros(0, np.int64)
    parts = [(none, none), *map_on_threads(find, cut_between_groups(begins, BLOCK))]
    row, judgment = (np.concatenate(column) for column in zip(*parts, strict=True))
    query = np.searchsorted(rankings.first, row, side="right") - 1
    return JudgedRows(
        queries=list(rankings.queries),
        count=length,
        query=query,
        rank=row - rankings.first[query] + 1,
        score=rankings.score[row],
        tied_from=rankings.tied_from[row],
        tied_to=np.minimum(rankings.tied_to[row], length[query]),
        judgment=judgment,
    )


def compare_first_documents(ours: Rankings, theirs: Rankings, depth: int) -> Mask:
    """Tell which queries of ours have the same first ``depth`` documents in theirs."""
    place = look_up(ours.queries, theirs.position)
    length, their_length = (np.minimum(np.diff(rankings.first), depth) for rankings in (ours, theirs))
    both = np.flatnonzero(place >= 0)
    both = both[length[both] == their_length[place[both]]]

    def find_differing(part: tuple[int, int]) -> Integers:
        some = both[slice(*part)]
        rows = list_rows(ours.first[some], length[some])
        their_rows = list_rows(theirs.first[place[some]], length[some])
        return np.repeat(some, length[some])[~ours.documents.equal(rows, theirs.documents, their_rows)]

    same = np.zeros(len(ours), bool)
    same[both] = True
    for differing in map_on_threads(find_differing, cut_between_groups(compute_begins(length[both]), BLOCK)):
        same[differing] = False
    return same


def leave_unjudged(rankings: Rankings, queries: Sequence[str]) -> JudgedRankings:
    """The rankings of these queries without any judgments, for metrics that compare them with a reference."""
    code = look_up(rankings.queries, dict(zip(queries, range(len(queries)), strict=True)))
    rows, query, first = _sort_rows_by_query(len(queries), rankings, code)
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
        documents=_take_documents(rankings, rows, query, first),
    )


def look_up_grades(judgments: Judgments, rankings: Rankings) -> Floats:
    """The grade of every document, in the rows of the rankings; NaN if it is not judged for its query."""
    query = np.repeat(judgments.number_queries(rankings.queries), np.diff(rankings.first))
    rows = np.flatnonzero(query >= 0)
    grades = np.full(query.size, np.nan)
    grades[rows] = _take_grades(judgments, judgments.index.find(query[rows], rankings.documents.take(rows)))
    return grades


def find_unjudged_queries(judgments: Judgments, queries: Sequence[str]) -> tuple[str, ...]:
    """Queries that were ranked but have no judgments."""
    return tuple(queries[row] for row in np.flatnonzero(judgments.number_queries(queries) < 0).tolist())


def _take_grades(judgments: Judgments, judgment: Integers) -> Floats:
    """The grades of these rows of the judgments; NaN for -1."""
    grades = np.full(judgment.size, np.nan)
    grades[judgment >= 0] = judgments.grade[judgment[judgment >= 0]]
    return grades


def _take_documents(rankings: Rankings, rows: Integers, query: Integers, first: Integers) -> Documents:
    """Some rows as documents without grades."""
    return Documents(
        first=first,
        ids=rankings.documents.take(rows),
        score=rankings.score[rows],
        grade=np.full(rows.size, np.nan),
        tied_from=rankings.tied_from[rows].astype(np.int64),
        tied_to=np.minimum(rankings.tied_to[rows], np.diff(first)[query]),
    )


def _sort_rows_by_query(count: int, rankings: Rankings, code: Integers) -> tuple[Integers, Integers, Integers]:
    """Rows of ``rankings`` in the order of the ``count`` queries, the query of each, and the begin of each query."""
    kept = np.zeros(count, np.int64)
    length = np.diff(rankings.first)
    kept[code[code >= 0]] = length[code >= 0]
    query = np.repeat(code, length)
    rows = np.flatnonzero(query >= 0)
    rows = rows[np.argsort(query[rows], kind="stable")]
    return rows, query[rows], compute_begins(kept)


def assemble_rankings(
    judgments: Judgments,
    code: Integers,
    retrieved: Integers,
    hits: Hits,
    documents: Documents | None,
    highest_grade: float | None,
) -> JudgedRankings:
    """Judged rankings of all judged queries.

    ``code`` has the position of each ranked query among them (-1: it is not judged), and ``retrieved`` its size. The
    hits of a query are in order of rank.
    """
    if (hits.query[1:] < hits.query[:-1]).any():
        hits = hits.at(np.argsort(hits.query, kind="stable"))
    judged = code >= 0
    all_retrieved = np.zeros(len(judgments.queries), np.int64)
    all_retrieved[code[judged]] = retrieved[judged]
    present = np.zeros(len(judgments.queries), bool)
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
