"""The same judged rankings seen another way: some queries only, cut at a depth, without unjudged documents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pytest_ireval.retrieval.judged import (
    Documents,
    Hits,
    Integers,
    JudgedRankings,
    Mask,
    Sessions,
)
from pytest_ireval.retrieval.judgments import Ideal


def condensed(judged: JudgedRankings) -> JudgedRankings:
    """Rankings without their unjudged documents: what is left moves up."""
    return judged.remember("condensed", lambda: _condensed(judged))


def _condensed(judged: JudgedRankings) -> JudgedRankings:
    hits = judged.hits
    rank = np.arange(hits.query.size) - judged.first[:-1][hits.query] + 1
    tied_from, tied_to = _spans_among_hits(judged)
    documents = judged.documents
    if documents is not None:
        rows = np.flatnonzero(~np.isnan(documents.grade))
        documents = documents.at(rows, judged.first)._replace(tied_from=tied_from, tied_to=tied_to)
    return replace(
        judged,
        retrieved=np.diff(judged.first),
        hits=hits._replace(rank=rank, tied_from=tied_from, tied_to=tied_to),
        documents=documents,
        reference=judged.reference and condensed(judged.reference),
        _memory={},
    )


def _spans_among_hits(judged: JudgedRankings) -> tuple[Integers, Integers]:
    """First and last condensed rank of the hits that share a score."""
    hits = judged.hits
    new_group = np.ones(hits.query.size, bool)
    new_group[1:] = (hits.query[1:] != hits.query[:-1]) | (hits.tied_from[1:] != hits.tied_from[:-1])
    first = np.flatnonzero(new_group)
    group = np.cumsum(new_group) - 1
    before = judged.first[:-1][hits.query]
    return first[group] - before + 1, np.append(first[1:], hits.query.size)[group] - before


def perfect(judged: JudgedRankings) -> JudgedRankings:
    """The best rankings there could be: all judged documents by grade, and nothing else."""
    return judged.remember("perfect", lambda: _perfect(judged))


def _perfect(judged: JudgedRankings) -> JudgedRankings:
    ideal = judged.ideal
    return replace(
        judged,
        retrieved=np.diff(judged.first_ideal),
        present=np.ones(judged.count, bool),
        hits=Hits(
            query=ideal.query,
            rank=ideal.rank,
            grade=ideal.grade,
            judgment=np.full(ideal.rank.size, -1),
            score=-ideal.rank.astype(np.float64),
            tied_from=ideal.rank,
            tied_to=ideal.rank,
        ),
        documents=None,
        reference=None,
        _memory={},
    )


def cut(judged: JudgedRankings, depth: int) -> JudgedRankings:
    """Only the first ``depth`` documents of each ranking count."""
    if not (judged.retrieved > depth).any() and (
        judged.reference is None or cut(judged.reference, depth) is judged.reference
    ):
        return judged
    documents = judged.documents
    if documents is not None:
        rank = np.arange(documents.grade.size) - np.repeat(documents.first[:-1], np.diff(documents.first)) + 1
        rows = np.flatnonzero(rank <= depth)
        documents = documents.at(rows, np.searchsorted(rows, documents.first))
        documents = documents._replace(tied_to=np.minimum(documents.tied_to, depth))
    hits = judged.hits.at(judged.hits.rank <= depth)
    return replace(
        judged,
        retrieved=np.minimum(judged.retrieved, depth),
        hits=hits._replace(tied_to=np.minimum(hits.tied_to, depth)),
        documents=documents,
        reference=judged.reference and cut(judged.reference, depth),
        _memory={},
    )


def only(judged: JudgedRankings, queries: Mask) -> JudgedRankings:
    """The marked queries alone."""
    number = np.cumsum(queries) - 1
    hits = judged.hits.at(queries[judged.hits.query])
    in_ideal = queries[judged.ideal.query]
    return replace(
        judged,
        queries=tuple(query for query, wanted in zip(judged.queries, queries.tolist(), strict=True) if wanted),
        retrieved=judged.retrieved[queries],
        present=judged.present[queries],
        hits=hits._replace(query=number[hits.query]),
        ideal=Ideal(number[judged.ideal.query[in_ideal]], judged.ideal.rank[in_ideal], judged.ideal.grade[in_ideal]),
        documents=judged.documents and _documents_of(judged.documents, queries),
        sessions=judged.sessions and _sessions_of(judged.sessions, queries),
        timings=None if judged.timings is None else judged.timings[queries],
        reference=judged.reference and only(judged.reference, queries),
        _memory={},
        _memory_of_ideal={},
    )


def _documents_of(documents: Documents, queries: Mask) -> Documents:
    length = np.diff(documents.first)
    rows = np.flatnonzero(np.repeat(queries, length))
    return documents.at(rows, np.concatenate((np.zeros(1, np.int64), np.cumsum(length[queries]))))


def _sessions_of(sessions: Sessions, queries: Mask) -> Sessions:
    used = sorted({s for s in sessions.session[queries].tolist() if s >= 0})
    number = np.full(len(sessions.names) + 1, -1)
    number[used] = np.arange(len(used))
    return Sessions(
        tuple(sessions.names[s] for s in used), number[sessions.session[queries]], sessions.position[queries]
    )
