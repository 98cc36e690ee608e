"""Views of judged rankings: some queries only, cut at a depth, without unjudged documents, or with assumed labels."""

from __future__ import annotations

import itertools
from collections import ChainMap
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.arrays import Floats, Integers, Mask, compute_begins, list_rows
from pytest_ireval.data.judged import Documents, Hits, JudgedRankings, Sessions, find_ranks
from pytest_ireval.data.judgments import Ideal, Subtopics
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.scan import concatenate_ids


def condensed(judged: JudgedRankings) -> JudgedRankings:
    """Rankings without their unjudged documents; the others move up."""
    return judged.remember("condensed", lambda: _condense(judged))


def _condense(judged: JudgedRankings) -> JudgedRankings:
    hits = judged.hits
    rank = np.arange(hits.query.size) - judged.first[:-1][hits.query] + 1
    tied_from, tied_to = _find_ties_among_hits(judged)
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


def _find_ties_among_hits(judged: JudgedRankings) -> tuple[Integers, Integers]:
    """First and last condensed rank of the hits that share a score."""
    hits = judged.hits
    new_group = np.ones(hits.query.size, bool)
    new_group[1:] = (hits.query[1:] != hits.query[:-1]) | (hits.tied_from[1:] != hits.tied_from[:-1])
    first = np.flatnonzero(new_group)
    group = np.cumsum(new_group) - 1
    before = judged.first[:-1][hits.query]
    return first[group] - before + 1, np.append(first[1:], hits.query.size)[group] - before


def perfect(judged: JudgedRankings) -> JudgedRankings:
    """The best possible rankings: all judged documents by grade, and nothing else."""
    return judged.remember("perfect", lambda: _make_perfect(judged))


def _make_perfect(judged: JudgedRankings) -> JudgedRankings:
    ideal = judged.ideal
    return replace(
        judged,
        retrieved=np.diff(judged.first_ideal),
        present=np.ones(judged.count, bool),
        hits=Hits(
            query=ideal.query,
            rank=ideal.rank,
            grade=ideal.grade,
            judgment=ideal.judgment,
            score=-ideal.rank.astype(np.float64),
            tied_from=ideal.rank,
            tied_to=ideal.rank,
        ),
        documents=None,
        reference=None,
        _memory={},
        _judgments=None,
    )


def cut_to_depth(judged: JudgedRankings, depth: int) -> JudgedRankings:
    """Only the first ``depth`` documents of each ranking count."""
    if not (judged.retrieved > depth).any() and (
        judged.reference is None or cut_to_depth(judged.reference, depth) is judged.reference
    ):
        return judged
    documents = judged.documents
    if documents is not None:
        rows = np.flatnonzero(documents.rank <= depth)
        documents = documents.at(rows, np.searchsorted(rows, documents.first))
        documents = documents._replace(tied_to=np.minimum(documents.tied_to, depth))
    hits = judged.hits.at(judged.hits.rank <= depth)
    return replace(
        judged,
        retrieved=np.minimum(judged.retrieved, depth),
        hits=hits._replace(tied_to=np.minimum(hits.tied_to, depth)),
        documents=documents,
        reference=judged.reference and cut_to_depth(judged.reference, depth),
        _memory={},
    )


def select_queries(judged: JudgedRankings, queries: Mask) -> JudgedRankings:
    """The marked queries alone."""
    number = np.cumsum(queries) - 1
    hits = judged.hits.at(queries[judged.hits.query])
    ideal, documents = judged.ideal.at(queries[judged.ideal.query]), judged.documents
    return replace(
        judged,
        queries=tuple(itertools.compress(judged.queries, queries.tolist())),
        retrieved=judged.retrieved[queries],
        present=judged.present[queries],
        hits=hits._replace(query=number[hits.query]),
        ideal=ideal._replace(query=number[ideal.query]),
        documents=documents
        and documents.at(np.flatnonzero(queries[documents.query]), compute_begins(np.diff(documents.first)[queries])),
        subtopics=judged.subtopics and _select_subtopics(judged.subtopics, queries),
        sessions=judged.sessions and _select_sessions(judged.sessions, queries),
        timings=None if judged.timings is None else judged.timings[queries],
        query_texts=judged.query_texts and tuple(itertools.compress(judged.query_texts, queries.tolist())),
        columns=judged.columns
        and {name: tuple(itertools.compress(cells, queries.tolist())) for name, cells in judged.columns.items()},
        reference=judged.reference and select_queries(judged.reference, queries),
        _memory={},
        _memory_of_ideal={},
    )


def _select_subtopics(subtopics: Subtopics, queries: Mask) -> Subtopics:
    kept = subtopics.at(queries[subtopics.query])
    return kept._replace(query=(np.cumsum(queries) - 1)[kept.query])


def _select_sessions(sessions: Sessions, queries: Mask) -> Sessions:
    used = sorted({s for s in sessions.session[queries].tolist() if s >= 0})
    number = np.full(len(sessions.names) + 1, -1)
    number[used] = np.arange(len(used))
    return Sessions(
        tuple(sessions.names[s] for s in used), number[sessions.session[queries]], sessions.position[queries]
    )


def keep_first_documents(rankings: Rankings, depth: int) -> Rankings:
    """The first ``depth`` documents of each ranking; numbers of retrieved documents and ties stay."""
    if int(np.diff(rankings.first).max(initial=0)) <= depth:
        return rankings
    return mask_documents(rankings, rankings.rank <= depth)


def mask_documents(rankings: Rankings, kept: NDArray[np.bool_]) -> Rankings:
    """The documents whose rows are ``kept``, in their order; a query may keep none."""
    rows = np.flatnonzero(kept)
    return _take_rows(rankings, rows, np.searchsorted(rows, rankings.first))


def _take_rows(rankings: Rankings, rows: Integers, first: Integers) -> Rankings:
    """The documents in these rows; those of query i are ``first[i]`` to ``first[i + 1]`` of them."""
    return replace(
        rankings,
        first=first,
        documents=rankings.documents.take(rows),
        score=rankings.score[rows],
        tied_from=rankings.tied_from[rows],
        tied_to=rankings.tied_to[rows],
    )


def split_queries(rankings: Rankings, wanted: Callable[[str], bool]) -> tuple[Rankings, tuple[str, ...]]:
    """The rankings and timings of the queries that are ``wanted``, and the names of the other queries."""
    chosen = np.array([wanted(query) for query in rankings.queries], bool)
    if rankings.timings is not None:  # a query without a ranking may have one, too
        rankings = replace(rankings, timings={q: time for q, time in rankings.timings.items() if wanted(q)})
    stages = {name: {q: each for q, each in of.items() if wanted(q)} for name, of in rankings.stages.items()}
    rankings = replace(rankings, stages=stages)
    if chosen.all():
        return rankings, ()
    length = np.diff(rankings.first)[chosen]
    rows = list_rows(rankings.first[:-1][chosen], length)
    few = replace(
        _take_rows(rankings, rows, compute_begins(length)),
        queries=tuple(itertools.compress(rankings.queries, chosen)),
        retrieved=rankings.retrieved[chosen],
        contradicted=tuple(filter(wanted, rankings.contradicted)),
    )
    return few, tuple(itertools.compress(rankings.queries, ~chosen))


def concatenate_rankings(parts: Sequence[Rankings], origin: str) -> Rankings:
    """All rankings of several that have no query in common; empty rankings last."""
    if len(parts) == 1:
        return replace(parts[0], origin=origin)
    length = np.concatenate([np.diff(part.first) for part in parts])
    timings = [part.timings for part in parts if part.timings is not None]
    fields = [part.fields for part in parts if part.fields is not None]
    order = np.argsort(length == 0, kind="stable")  # an empty ranking has no documents that would have to move along
    queries = [query for part in parts for query in part.queries]
    return Rankings(
        queries=tuple(queries[i] for i in order),
        retrieved=np.concatenate([part.retrieved for part in parts])[order],
        first=compute_begins(length[order]),
        documents=concatenate_ids([part.documents for part in parts]),
        score=np.concatenate([part.score for part in parts]),
        tied_from=np.concatenate([part.tied_from for part in parts]),
        tied_to=np.concatenate([part.tied_to for part in parts]),
        origin=origin,
        timings=dict(ChainMap(*map(dict, timings))) if timings else None,
        fields=dict(ChainMap(*map(dict, fields))) if fields else None,
        contradicted=tuple(query for part in parts for query in part.contradicted),
        stages={name: dict(ChainMap(*(dict(part.stages[name]) for part in parts))) for name in _shared_stages(parts)},
    )


def _shared_stages(parts: Sequence[Rankings]) -> list[str]:
    return [name for name in parts[0].stages if all(name in part.stages for part in parts)]


class OpenDocuments(NamedTuple):
    """Unjudged documents of two sides, each once, sorted by query and best rank.

    Those of query i are rows ``first[i]`` to ``first[i + 1]``. ``now`` and ``before`` are ranks, 0 if a document is
    missing on that side.
    """

    first: Integers
    query: Integers
    now: Integers
    before: Integers

    @property
    def counts(self) -> Integers:
        """The number of documents of each query."""
        return np.diff(self.first)

    @property
    def best(self) -> Integers:
        """The better of the two ranks of each document."""
        now, before = (np.where(rank > 0, rank, np.iinfo(np.int64).max) for rank in (self.now, self.before))
        return np.minimum(now, before)

    def some(self, rows: Mask) -> OpenDocuments:
        """The marked documents alone."""
        query = self.query[rows]
        first = np.searchsorted(query, np.arange(self.first.size)).astype(np.int64)
        return OpenDocuments(first, query, self.now[rows], self.before[rows])

    def down_to(self, rank: int) -> OpenDocuments:
        """The documents down to this rank on at least one side."""
        return self.some(self.best <= rank)


def find_open_documents(now: JudgedRankings, before: JudgedRankings, *, scores: bool) -> OpenDocuments:
    """Unjudged documents of queries whose two lists differ.

    With equal lists no label changes the difference, unless ``scores`` count, too: they may differ.
    """
    ours, theirs = require_documents(now), require_documents(before)
    if not (np.isnan(ours.grade).any() or np.isnan(theirs.grade).any()):
        nothing = np.zeros(0, np.int64)
        return OpenDocuments(np.zeros(now.count + 1, np.int64), nothing, nothing, nothing)
    there, back = find_ranks(theirs, ours), find_ranks(ours, theirs)
    open_now, only_before = np.isnan(ours.grade), np.isnan(theirs.grade) & (back == 0)
    query = np.concatenate((ours.query[open_now], theirs.query[only_before]))
    rank_now = np.concatenate((ours.rank[open_now], np.zeros(int(only_before.sum()), np.int64)))
    rank_before = np.concatenate((there[open_now], theirs.rank[only_before]))
    best = np.minimum(np.where(rank_now, rank_now, rank_before), np.where(rank_before, rank_before, rank_now))
    order = np.lexsort((rank_now, best, query))
    found = OpenDocuments(
        np.searchsorted(query[order], np.arange(now.count + 1)).astype(np.int64),
        query[order],
        rank_now[order],
        rank_before[order],
    )
    return found if scores else found.some(_find_changed_queries(ours, theirs, there)[found.query])


def require_documents(judged: JudgedRankings) -> Documents:
    """The documents of rankings that have all of them."""
    if judged.documents is None:
        raise TypeError("these rankings were joined without document ids")
    return judged.documents


def _find_changed_queries(ours: Documents, theirs: Documents, there: Integers) -> Mask:
    """A mask of the queries with two different lists."""
    changed: Mask = np.diff(ours.first) != np.diff(theirs.first)
    changed[ours.query[there != ours.rank]] = True
    return changed


LEFT = 0
"""The label of a document that is left unjudged; label n is the n-th grade of a scale."""


class Labellings(NamedTuple):
    """Possible labels for the open documents of queries, sorted by ``query``; a query may occur any number of times.

    The labels of labelling i are ``label[first[i]:first[i + 1]]``, one for each open document of its query.
    """

    query: Integers
    first: Integers
    label: Integers


class Template(NamedTuple):
    """One side, ready for labels: its judged and open documents, each with its row among the open ones.

    ``place`` is the row among all listed documents, ``opened`` the row among the open documents (-1: it is judged);
    those of query i are entries ``first[i]`` to ``first[i + 1]``.
    """

    judged: JudgedRankings
    open: OpenDocuments
    first: Integers
    place: Integers
    opened: Integers
    rank: Integers
    grade: Floats
    judgment: Integers


def make_template(judged: JudgedRankings, found: OpenDocuments, ranks: Integers) -> Template:
    """The template of one side; ``ranks`` are those of the open documents there, 0 for missing ones."""
    documents = require_documents(judged)
    opened = np.full(documents.grade.size, -1, np.int64)
    here = np.flatnonzero(ranks)
    opened[documents.first[found.query[here]] + ranks[here] - 1] = here
    known = ~np.isnan(documents.grade)
    judgment = np.full(documents.grade.size, -1, np.int64)
    judgment[known] = judged.hits.judgment
    place = np.flatnonzero(known | (opened >= 0))
    return Template(
        judged=judged,
        open=found,
        first=np.searchsorted(place, documents.first).astype(np.int64),
        place=place,
        opened=opened[place],
        rank=documents.rank[place],
        grade=documents.grade[place],
        judgment=judgment[place],
    )


def label_sides(
    now: Template, before: Template, labels: Labellings, scale: Floats, *, documents: bool
) -> tuple[JudgedRankings, JudgedRankings]:
    """Both sides with a query for each labelling, judged on a ``scale`` of grades.

    They have all listed ``documents`` if asked, and share the best order of the judged documents.
    """
    ideal, memory = _label_ideal(now.judged, labels, scale), dict[Hashable, Any]()
    ours, theirs = (_apply_labels(side, labels, scale, ideal, memory, documents=documents) for side in (now, before))
    return ours, theirs


def _apply_labels(
    made: Template,
    labels: Labellings,
    scale: Floats,
    ideal: Ideal,
    memory_of_ideal: dict[Hashable, Any],
    *,
    documents: bool,
) -> JudgedRankings:
    judged, query = made.judged, labels.query
    return replace(
        judged,
        queries=tuple(map(judged.queries.__getitem__, query.tolist())),
        retrieved=judged.retrieved[query],
        present=judged.present[query],
        hits=_label_hits(made, labels, scale),
        ideal=ideal,
        documents=_label_documents(made, labels, scale) if documents else None,
        judgments=None,
        subtopics=None,
        sessions=None,
        preferences=None,
        timings=None,
        reference=None,
        _memory={},
        _memory_of_ideal=memory_of_ideal,
    )


def count_labelled_rows(made: Template) -> Integers:
    """The most rows that one labelling of each query makes."""
    return np.diff(made.first) + np.diff(made.judged.first_ideal) + made.open.counts


def _label_hits(made: Template, labels: Labellings, scale: Floats) -> Hits:
    """The judged and the labelled documents, by rank."""
    rows, number = _list_rows(made.first, labels.query)
    label = _look_up_labels(made.opened[rows], number, labels, made.open)
    kept = label != LEFT
    rows, number, label = rows[kept], number[kept], label[kept]
    documents = require_documents(made.judged)
    place = made.place[rows]
    return Hits(
        query=number,
        rank=made.rank[rows],
        grade=_look_up_grades(made.grade[rows], made.opened[rows], label, scale),
        judgment=made.judgment[rows],
        score=documents.score[place],
        tied_from=documents.tied_from[place],
        tied_to=documents.tied_to[place],
    )


def _label_documents(made: Template, labels: Labellings, scale: Floats) -> Documents:
    """All listed documents with their grades under the labels."""
    documents = require_documents(made.judged)
    rows, number = _list_rows(documents.first, labels.query)
    opened = np.full(documents.grade.size, -1, np.int64)
    opened[made.place] = made.opened
    label = _look_up_labels(opened[rows], number, labels, made.open)
    grade = _look_up_grades(documents.grade[rows], opened[rows], label, scale)
    first = np.searchsorted(number, np.arange(labels.query.size + 1)).astype(np.int64)
    return documents.at(rows, first)._replace(grade=np.where(label == LEFT, np.nan, grade))


def _list_rows(first: Integers, query: Integers) -> tuple[Integers, Integers]:
    """The rows of some queries, one query's after the other's, and for each row the number of its query among them."""
    length = first[query + 1] - first[query]
    number = np.repeat(np.arange(query.size), length)
    begin = np.cumsum(length) - length
    return np.arange(number.size) + (first[query] - begin)[number], number


def _look_up_labels(opened: Integers, number: Integers, labels: Labellings, found: OpenDocuments) -> Integers:
    """The label of each row; of a judged document, one that is not ``LEFT``."""
    label = np.full(opened.size, LEFT + 1, np.int64)
    at = np.flatnonzero(opened >= 0)
    of = number[at]
    label[at] = labels.label[labels.first[of] + opened[at] - found.first[labels.query[of]]]
    return label


def _look_up_grades(grade: Floats, opened: Integers, label: Integers, scale: Floats) -> Floats:
    grades: Floats = np.where(opened >= 0, np.append(np.nan, scale)[label], grade)
    return grades


def _label_ideal(judged: JudgedRankings, labels: Labellings, scale: Floats) -> Ideal:
    """All judged documents, including the new ones, by grade descending."""
    rows, number = _list_rows(judged.first_ideal, labels.query)
    given = np.flatnonzero(labels.label != LEFT)
    of = np.repeat(np.arange(labels.query.size), np.diff(labels.first))[given]
    number = np.concatenate((number, of))
    grade = np.concatenate((judged.ideal.grade[rows], scale[labels.label[given] - 1]))
    order = np.lexsort((-grade, number))
    number = number[order]
    first = np.searchsorted(number, np.arange(labels.query.size))
    judgment = np.concatenate((judged.ideal.judgment[rows], np.full(given.size, -1)))
    return Ideal(number, np.arange(number.size) - first[number] + 1, grade[order], judgment[order])
