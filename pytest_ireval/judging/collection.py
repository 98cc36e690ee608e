"""A test collection in figures: queries, judgments and documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval.retrieval.companions import flat_fields
from pytest_ireval.retrieval.judged import Floats, Integers
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.tables import cell_text


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


def query_spreads(judgments: Judgments, texts: Sequence[str], rel: float) -> list[Spread]:
    """Judged and relevant documents of each query, and the words of the queries, if there are texts."""
    size = len(judgments.queries)
    judged = np.bincount(judgments.query, minlength=size)
    relevant = np.bincount(judgments.query[judgments.grade >= rel], minlength=size)
    found = [_spread("judged documents", judged), _spread("relevant documents", relevant)]
    words = np.array([len(text.split()) for text in texts], np.int64)
    return [*found, _spread("words", words)] if words.any() else found


def grade_counts(judgments: Judgments) -> list[GradeCount]:
    """The grades, ascending."""
    grades, counts = np.unique(judgments.grade, return_counts=True)
    return [
        GradeCount(int(grade) if grade.is_integer() else grade, count, count / len(judgments))
        for grade, count in zip(grades.tolist(), counts.tolist(), strict=True)
    ]


def corpus_of(documents: Iterable[tuple[str, Mapping[str, Any]]], judgments: Judgments) -> Corpus:
    """Size and words of documents, given as id and fields; every field counts as text."""
    wanted = set(judgments.documents.texts())
    known, count, size, words = set[str](), 0, 0, 0
    for document, fields in documents:
        if document in wanted:
            known.add(document)
        texts = [cell_text(value) for _, value in flat_fields(fields)]
        count += 1
        size += sum(len(text.encode("utf-8", "replace")) for text in texts)
        words += sum(len(text.split()) for text in texts)
    return Corpus(count, size, words / count if count else 0.0, len(known), len(wanted) - len(known))


def _spread(figure: str, numbers: Integers | Floats) -> Spread:
    return Spread(figure, float(numbers.mean()), float(np.median(numbers)), int(numbers.min()), int(numbers.max()))
