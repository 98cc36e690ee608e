"""A test collection: its figures, the documents to judge, and what each ranking adds to the judgments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval import Judgments, Rankings
from pytest_ireval.plugin_api import drop_judgments, find_returned_judgments, number_pairs
from pytest_ireval.tables import format_cell
from pytest_ireval_judgments.arrays import Floats, Integers, Mask


class Spread(NamedTuple):
    """Spread of a figure over queries."""

    figure: str
    mean: float
    median: float
    lowest: int
    highest: int


class GradeCount(NamedTuple):
    """One grade, and the judgments that have it."""

    grade: float
    judgments: int
    share: float


class Corpus(NamedTuple):
    """The documents of a collection."""

    documents: int
    size: int
    """Bytes of their text, in UTF-8."""
    words: float
    """The mean number of words of a document."""
    judged: int
    """Judged documents that are in it."""
    not_in_it: int
    """Judged documents that are not."""


def measure_queries(judgments: Judgments, texts: Sequence[str], rel: float) -> list[Spread]:
    """Judged and relevant documents of each query, and the words of the queries, if there are texts."""
    size = len(judgments.queries)
    judged = np.bincount(judgments.query, minlength=size)
    relevant = np.bincount(judgments.query[judgments.grade >= rel], minlength=size)
    found = [_measure_spread("judged documents", judged), _measure_spread("relevant documents", relevant)]
    words = np.array([len(text.split()) for text in texts], np.int64)
    return [*found, _measure_spread("words", words)] if words.any() else found


def count_grades(judgments: Judgments) -> list[GradeCount]:
    """The grades, ascending."""
    grades, counts = np.unique(judgments.grade, return_counts=True)
    return [
        GradeCount(int(grade) if grade.is_integer() else grade, count, count / len(judgments))
        for grade, count in zip(grades.tolist(), counts.tolist(), strict=True)
    ]


def measure_corpus(documents: Iterable[tuple[str, Mapping[str, Any]]], judgments: Judgments) -> Corpus:
    """Size and words of documents, given as id and fields; every field counts as text."""
    wanted = set(judgments.documents.texts())
    known, count, size, words = set[str](), 0, 0, 0
    for document, fields in documents:
        if document in wanted:
            known.add(document)
        texts = [format_cell(value) for value in fields.values()]
        count += 1
        size += sum(len(text.encode("utf-8", "replace")) for text in texts)
        words += sum(len(text.split()) for text in texts)
    return Corpus(count, size, words / count if count else 0.0, len(known), len(wanted) - len(known))


def _measure_spread(figure: str, numbers: Integers | Floats) -> Spread:
    return Spread(figure, float(numbers.mean()), float(np.median(numbers)), int(numbers.min()), int(numbers.max()))


class Contribution(NamedTuple):
    """One ranking's part of a pool. A document counts once for each query."""

    ranking: str
    documents: int
    """Its documents down to the depth."""
    judged: int
    """Those with a judgment."""
    to_judge: int
    unique: int
    """Documents that no other ranking has down to the depth, judged or not."""


class Pool(NamedTuple):
    """Documents to judge: ``pairs`` of query and document in the order in which they are to be judged."""

    pairs: tuple[tuple[str, str], ...]
    judged: int
    """Pairs of the pool that are judged already, and left out."""
    queries: frozenset[str]
    """The queries of the rankings."""
    contributions: tuple[Contribution, ...]


def make_pool(
    rankings: Mapping[str, Rankings], judged: Judgments | None, seed: int, queries: Sequence[str] = ()
) -> Pool:
    """The union of the rankings, which are cut at the depth of the pool, without what is judged.

    Queries are in the order of ``queries``, then by id; the documents of a query are in a random order that depends
    only on the pool and the seed, not on the order of the rankings.
    """
    found, number = number_pairs([*rankings.values(), *([] if judged is None else [judged])])
    system = np.repeat(np.arange(len(rankings)), [len(each.documents) for each in rankings.values()])
    pooled_rows, judged_rows = number[: system.size], number[system.size :]
    times = np.bincount(pooled_rows, minlength=len(found))
    known: Mask = np.zeros(len(found), bool)
    known[judged_rows] = True
    contributions = [
        Contribution(
            name,
            documents=rows.size,
            judged=int(known[rows].sum()),
            to_judge=int((~known[rows]).sum()),
            unique=int((times[rows] == 1).sum()),
        )
        for i, name in enumerate(rankings)
        for rows in [pooled_rows[system == i]]
    ]
    place = {query: i for i, query in enumerate(queries)}
    by_id = sorted(found.queries, key=lambda query: (place.get(query, len(place)), query))
    order = {query: i for i, query in enumerate(by_id)}
    rows = np.flatnonzero(~known)
    names = (found.queries[i] for i in found.query[rows].tolist())
    pairs = sorted((order[query], document) for query, document in zip(names, found.documents.texts(rows), strict=True))
    draws = np.random.Generator(np.random.PCG64(seed)).random(len(pairs)).tolist()
    shuffled = sorted((query, draw, document) for (query, document), draw in zip(pairs, draws, strict=True))
    return Pool(
        tuple((by_id[query], document) for query, _, document in shuffled),
        int(known[times > 0].sum()),
        frozenset(query for each in rankings.values() for query in each.queries),
        tuple(contributions),
    )


class LeftOut(NamedTuple):
    """Judgments without those that one ranking alone contributed."""

    ranking: str
    unique: int
    """The number of its own judgments."""
    relevant: int
    """Those of relevant documents."""
    judgments: Judgments


def leave_one_out(rankings: Mapping[str, Rankings], judgments: Judgments, rel: float) -> list[LeftOut]:
    """For each ranking the judgments that a pool of the others would have; all are cut at the depth of the pool.

    Judgments that none of the rankings contributed stay.
    """
    found = {name: _find_judged_rows(judgments, each) for name, each in rankings.items()}
    times = np.bincount(np.concatenate(list(found.values())), minlength=len(judgments))
    parts = []
    for name, rows in found.items():
        own = rows[times[rows] == 1]
        relevant = int((judgments.grade[own] >= rel).sum())
        parts.append(LeftOut(name, own.size, relevant, drop_judgments(judgments, own)))
    return parts


def _find_judged_rows(judgments: Judgments, rankings: Rankings) -> Integers:
    return np.unique(find_returned_judgments(judgments, rankings))
