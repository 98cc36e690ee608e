"""Judged rankings with assumed labels for their unjudged documents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pytest_ireval.retrieval.judged import Documents, Floats, Hits, Integers, JudgedRankings, Mask, ranks_in
from pytest_ireval.retrieval.judgments import Ideal


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

    def some(self, rows: Mask) -> OpenDocuments:
        """The marked documents alone."""
        query = self.query[rows]
        first = np.searchsorted(query, np.arange(self.first.size)).astype(np.int64)
        return OpenDocuments(first, query, self.now[rows], self.before[rows])

    def first_of_each(self, most: int) -> OpenDocuments:
        """The first documents of each query, up to ``most``, by their best rank on either side."""
        return self.some(np.arange(self.query.size) - self.first[self.query] < most)


def open_documents(now: JudgedRankings, before: JudgedRankings, cutoff: int | None, *, scores: bool) -> OpenDocuments:
    """Unjudged documents of queries whose two lists differ, down to the ``cutoff`` on at least one side.

    With equal lists no label changes the difference, unless ``scores`` count, too: they may differ.
    """
    ours, theirs = listed_rows(now), listed_rows(before)
    if not (np.isnan(ours.grade).any() or np.isnan(theirs.grade).any()):
        nothing = np.zeros(0, np.int64)
        return OpenDocuments(np.zeros(now.count + 1, np.int64), nothing, nothing, nothing)
    there, back = ranks_in(theirs, ours), ranks_in(ours, theirs)
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
    wanted = np.ones(order.size, bool) if cutoff is None else best[order] <= cutoff
    if not scores:
        wanted &= _changed(ours, theirs, there)[found.query]
    return found.some(wanted)


def listed_rows(judged: JudgedRankings) -> Documents:
    """The documents of rankings that have all of them."""
    if judged.documents is None:
        raise TypeError("these rankings were joined without document ids")
    return judged.documents


def _changed(ours: Documents, theirs: Documents, there: Integers) -> Mask:
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


@dataclass(frozen=True, eq=False)
class Template:
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


def template(judged: JudgedRankings, found: OpenDocuments, ranks: Integers) -> Template:
    """The template of one side; ``ranks`` are those of the open documents there, 0 for missing ones."""
    documents = listed_rows(judged)
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


def labelled(made: Template, labels: Labellings, scale: Floats, *, documents: bool) -> JudgedRankings:
    """A query for each labelling, judged on a ``scale`` of grades; with all listed ``documents`` if asked."""
    judged, query = made.judged, labels.query
    names = np.array(judged.queries, object)[query] if query.size else np.zeros(0, object)
    return replace(
        judged,
        queries=tuple(names.tolist()),
        retrieved=judged.retrieved[query],
        present=judged.present[query],
        hits=_hits(made, labels, scale),
        ideal=_ideal(judged, labels, scale),
        documents=_documents(made, labels, scale) if documents else None,
        judgments=None,
        subtopics=None,
        sessions=None,
        preferences=None,
        timings=None,
        reference=None,
        _memory={},
        _memory_of_ideal={},
    )


def labelled_rows(made: Template) -> Integers:
    """The most rows that one labelling of each query makes."""
    return np.diff(made.first) + np.diff(made.judged.first_ideal) + made.open.counts


def _hits(made: Template, labels: Labellings, scale: Floats) -> Hits:
    """The judged and the labelled documents, by rank."""
    rows, number = _gathered(made.first, labels.query)
    label = _labels_at(made.opened[rows], number, labels, made.open)
    kept = label != LEFT
    rows, number, label = rows[kept], number[kept], label[kept]
    documents = listed_rows(made.judged)
    place = made.place[rows]
    return Hits(
        query=number,
        rank=made.rank[rows],
        grade=_grades(made.grade[rows], made.opened[rows], label, scale),
        judgment=made.judgment[rows],
        score=documents.score[place],
        tied_from=documents.tied_from[place],
        tied_to=documents.tied_to[place],
    )


def _documents(made: Template, labels: Labellings, scale: Floats) -> Documents:
    """All listed documents with their grades under the labels."""
    documents = listed_rows(made.judged)
    rows, number = _gathered(documents.first, labels.query)
    opened = np.full(documents.grade.size, -1, np.int64)
    opened[made.place] = made.opened
    label = _labels_at(opened[rows], number, labels, made.open)
    grade = _grades(documents.grade[rows], opened[rows], label, scale)
    first = np.searchsorted(number, np.arange(labels.query.size + 1)).astype(np.int64)
    return documents.at(rows, first)._replace(grade=np.where(label == LEFT, np.nan, grade))


def _gathered(first: Integers, query: Integers) -> tuple[Integers, Integers]:
    """The rows of some queries, one query's after the other's, and for each row the number of its query among them."""
    length = first[query + 1] - first[query]
    number = np.repeat(np.arange(query.size), length)
    begin = np.cumsum(length) - length
    return np.arange(number.size) + (first[query] - begin)[number], number


def _labels_at(opened: Integers, number: Integers, labels: Labellings, found: OpenDocuments) -> Integers:
    """The label of each row; of a judged document, one that is not ``LEFT``."""
    label = np.full(opened.size, LEFT + 1, np.int64)
    at = np.flatnonzero(opened >= 0)
    of = number[at]
    label[at] = labels.label[labels.first[of] + opened[at] - found.first[labels.query[of]]]
    return label


def _grades(grade: Floats, opened: Integers, label: Integers, scale: Floats) -> Floats:
    grades: Floats = np.where(opened >= 0, np.append(np.nan, scale)[label], grade)
    return grades


def _ideal(judged: JudgedRankings, labels: Labellings, scale: Floats) -> Ideal:
    """All judged documents, including the new ones, by grade descending."""
    rows, number = _gathered(judged.first_ideal, labels.query)
    given = np.flatnonzero(labels.label != LEFT)
    of = np.repeat(np.arange(labels.query.size), np.diff(labels.first))[given]
    number = np.concatenate((number, of))
    grade = np.concatenate((judged.ideal.grade[rows], scale[labels.label[given] - 1]))
    order = np.lexsort((-grade, number))
    number = number[order]
    first = np.searchsorted(number, np.arange(labels.query.size))
    judgment = np.concatenate((judged.ideal.judgment[rows], np.full(given.size, -1)))
    return Ideal(number, np.arange(number.size) - first[number] + 1, grade[order], judgment[order])
