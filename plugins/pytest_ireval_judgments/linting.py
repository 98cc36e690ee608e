"""Doubtful judgments and queries, found before anything is evaluated, for ``ireval lint``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_ireval import Judgments, Queries, Rankings
from pytest_ireval.plugin_api import find_returned_judgments, format_count, keep_first_documents, quote

CHECKS = {
    "no-relevant": "a judged query without a relevant document: every ranking scores 0",
    "all-relevant": "a query with two or more judged documents, all relevant: no judged document can be wrong",
    "not-judged": "a query without judgments",
    "unknown-query": "a judged query that is not among the queries",
    "near-duplicate": "two queries with nearly the same text: the same need counts twice",
    "leak": "a query with nearly the same text as a holdout query: the holdout is not independent",
    "no-text": "a query without text",
    "outside-scale": "a grade outside the scale",
    "repeated": "a judgment that is there twice: it counts once",
    "never-returned": "judged documents that no ranking returns",
    "one-pool": "the first documents of one ranking are judged, those of all others much less",
}
"""Every check by name, with a description."""

SHOWN_DOCUMENTS = 3


@dataclass
class Doubt:
    """One doubtful thing, and its place."""

    place: str
    check: str
    text: str


def find_doubts(
    judgments: Judgments,
    queries: Queries | None = None,
    rankings: Sequence[Rankings] = (),
    *,
    holdout: Queries | None = None,
    scale: tuple[float, float] | None = None,
    rel: float = 1,
) -> list[Doubt]:
    """All doubts, in the order of the checks; checks without their input are left out."""
    found = [*_check_relevance(judgments, rel), *_check_repetitions(judgments)]
    if queries is not None:
        found += [*_check_coverage(judgments, queries), *_check_texts(queries)]
        found += [] if holdout is None else _check_holdout(queries, holdout)
    if scale is not None:
        found += _check_scale(judgments, scale)
    if rankings:
        found += [*_check_returned(judgments, rankings, rel), *_check_pool(judgments, rankings)]
    order = list(CHECKS)
    return sorted(found, key=lambda finding: order.index(finding.check))


def _find_first_rows(judgments: Judgments) -> list[int]:
    """The first row of each query."""
    first = np.full(len(judgments.queries), len(judgments))
    np.minimum.at(first, judgments.query, np.arange(len(judgments)))
    return [int(row) for row in first]


def _check_relevance(judgments: Judgments, rel: float) -> Iterator[Doubt]:
    count = np.bincount(judgments.query, minlength=len(judgments.queries)).tolist()
    relevant = np.bincount(judgments.query[judgments.grade >= rel], minlength=len(judgments.queries)).tolist()
    for query, row, judged, good in zip(judgments.queries, _find_first_rows(judgments), count, relevant, strict=True):
        documents = format_count(judged, "judged document")
        if not good:
            yield Doubt(judgments.place(row), "no-relevant", f"query {quote(query)}: none of {documents} is relevant")
        elif good == judged > 1:
            text = f"query {quote(query)}: all {documents} are relevant"
            yield Doubt(judgments.place(row), "all-relevant", text)


def _check_coverage(judgments: Judgments, queries: Queries) -> Iterator[Doubt]:
    judged = set(judgments.queries)
    for row, query in enumerate(queries.ids):
        if query not in judged:
            yield Doubt(queries.place(row), "not-judged", f"query {quote(query)} has no judgments")
    for query, row in zip(judgments.queries, _find_first_rows(judgments), strict=True):
        if query not in queries.position:
            text = f"query {quote(query)} is judged, but is not in {queries.origin}"
            yield Doubt(judgments.place(row), "unknown-query", text)


def _check_texts(queries: Queries) -> Iterator[Doubt]:
    for row, (query, text) in enumerate(zip(queries.ids, queries.text, strict=True)):
        if not text.strip():
            yield Doubt(queries.place(row), "no-text", f"query {quote(query)} has no text")
    for earlier, later in find_near_duplicates(queries.text):
        one, other = queries.ids[earlier], queries.ids[later]
        text = (
            f"query {quote(other)} {quote(queries.text[later])} is nearly the same as query {quote(one)} "
            f"{quote(queries.text[earlier])} at {queries.place(earlier)}"
        )
        yield Doubt(queries.place(later), "near-duplicate", text)


def _check_holdout(queries: Queries, holdout: Queries) -> Iterator[Doubt]:
    seen = _SeenTexts()
    for row, words in _split_words(holdout.text):
        seen.add(words, row)
    for row, words in _split_words(queries.text):
        like = seen.like(words)
        if like is not None:
            text = (
                f"query {quote(queries.ids[row])} {quote(queries.text[row])} is nearly the same as the holdout query "
                f"{quote(holdout.ids[like])} {quote(holdout.text[like])} at {holdout.place(like)}"
            )
            yield Doubt(queries.place(row), "leak", text)


def _check_scale(judgments: Judgments, scale: tuple[float, float]) -> Iterator[Doubt]:
    low, high = scale
    for row in np.flatnonzero((judgments.grade < low) | (judgments.grade > high)).tolist():
        query, document = judgments.queries[judgments.query[row]], judgments.documents[row]
        text = (
            f"document {quote(document)} of query {quote(query)} has grade {judgments.grade[row]:g}, "
            f"outside {low:g} to {high:g}"
        )
        yield Doubt(judgments.place(row), "outside-scale", text)


def _check_repetitions(judgments: Judgments) -> Iterator[Doubt]:
    if (found := judgments.repeated) is None:
        return
    for row, later in zip(found.row.tolist(), found.later.tolist(), strict=True):
        query, document = judgments.queries[judgments.query[row]], judgments.documents[row]
        text = (
            f"document {quote(document)} of query {quote(query)} has grade {judgments.grade[row]:g} here, as at "
            f"{judgments.place(row)}"
        )
        yield Doubt(found.place(later), "repeated", text)


def _check_returned(judgments: Judgments, rankings: Sequence[Rankings], rel: float) -> Iterator[Doubt]:
    """One finding a query: relevant documents are named, others counted."""
    returned = np.zeros(len(judgments), bool)
    for each in rankings:
        returned[find_returned_judgments(judgments, each)] = True
    missed: dict[int, list[int]] = {}
    for row in np.flatnonzero(~returned).tolist():
        missed.setdefault(int(judgments.query[row]), []).append(row)
    for number, rows in missed.items():
        judged = format_count(int(np.count_nonzero(judgments.query == number)), "judged document")
        relevant = [judgments.documents[row] for row in rows if judgments.grade[row] >= rel]
        more = f" and {len(relevant) - SHOWN_DOCUMENTS} more" if len(relevant) > SHOWN_DOCUMENTS else ""
        named = f" ({', '.join(map(quote, relevant[:SHOWN_DOCUMENTS]))}{more})" if relevant else ""
        query = f"query {quote(judgments.queries[number])}"
        text = f"{query}: no ranking returns {len(rows)} of {judged}, {len(relevant)} of them relevant{named}"
        yield Doubt(judgments.place(rows[0]), "never-returned", text)


TOP, WELL_JUDGED, GAP = 10, 0.8, 0.2
"""The documents of each ranking that are looked at, the share of a well-judged one, and its distance to the others."""


def _check_pool(judgments: Judgments, rankings: Sequence[Rankings]) -> Iterator[Doubt]:
    """The sign of judgments that one system's results were made of: its documents are judged, other ones are not."""
    judged = set(judgments.queries)
    shares = []
    for cut in (keep_first_documents(each, TOP) for each in rankings):
        size = int(np.diff(cut.first)[[query in judged for query in cut.queries]].sum())
        shares += [(find_returned_judgments(judgments, cut).size / size, cut.origin)] * (size > 0)
    shares.sort(reverse=True)
    if len(shares) < 2:
        return
    (most, first), *others = shares
    if most >= WELL_JUDGED > others[0][0] and most - others[0][0] >= GAP:
        listed = ", ".join(f"{share:.0%} in {origin}" for share, origin in others[:SHOWN_DOCUMENTS])
        more = f" and {len(others) - SHOWN_DOCUMENTS} more" if len(others) > SHOWN_DOCUMENTS else ""
        text = (
            f"{most:.0%} of the first {TOP} documents are judged in {first}, but {listed}{more}: if one ranking chose "
            "the documents to judge, others score too low (ireval pool --judged shows by how much)"
        )
        yield Doubt(judgments.origin, "one-pool", text)


ONE_MORE, ONE_OTHER = 4, 6
"""The fewest letters of a word for a variant with one more letter (mug, mugs), and for a slip with another letter
(teapot, tepaot): ``boot`` and ``boat``, ``vitamin b`` and ``vitamin c`` are two things."""

LONGEST = 200
"""Longer texts are compared word by word only."""

WORD = re.compile(r"[\w#+]+")
"""``c``, ``c#`` and ``c++`` are three things."""


def find_near_duplicates(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of positions, the earlier first; each text is named once, with the first that is like it."""
    seen = _SeenTexts()
    pairs = []
    for row, words in _split_words(texts):
        like = seen.like(words)
        if like is not None:
            pairs.append((like, row))
        seen.add(words, row)
    return pairs


def _split_words(texts: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The row and the words of each text that has words."""
    for row, text in enumerate(texts):
        if words := WORD.findall(strip_accents(text)):
            yield row, words


def strip_accents(text: str) -> str:
    """The text in lower case without accents."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    return "".join(mark for mark in folded if not unicodedata.combining(mark))


class _SeenTexts:
    """The texts so far, by keys that they share with their variants."""

    def __init__(self) -> None:
        self.by_words: dict[str, int] = {}
        self.whole: dict[str, int] = {}
        self.shortened: dict[str, int] = {}
        self.with_gap: dict[tuple[int, str], int] = {}

    def like(self, words: Sequence[str]) -> int | None:
        """The first text that is like this one."""
        text = " ".join(words)
        found = [self.by_words.get(" ".join(sorted(words))), self.shortened.get(text)]
        found += [self.whole.get(rest) for _, rest in _leave_out_letters(words, ONE_MORE)]
        for at, rest in _leave_out_letters(words, ONE_OTHER):
            found += [self.with_gap.get((at + step, rest)) for step in (-1, 0, 1)]
        return min((row for row in found if row is not None), default=None)

    def add(self, words: Sequence[str], row: int) -> None:
        """Remember a text."""
        self.by_words.setdefault(" ".join(sorted(words)), row)
        self.whole.setdefault(" ".join(words), row)
        for _, rest in _leave_out_letters(words, ONE_MORE):
            self.shortened.setdefault(rest, row)
        for gap in _leave_out_letters(words, ONE_OTHER):
            self.with_gap.setdefault(gap, row)


def _leave_out_letters(words: Sequence[str], shortest: int) -> Iterator[tuple[int, str]]:
    """The text without each letter of its longer words, and the letter's place; digits are never left out."""
    text, start = " ".join(words), 0
    for word in words if len(text) <= LONGEST else ():
        if len(word) >= shortest:
            for at in range(start, start + len(word)):
                if text[at].isalpha():
                    yield at, text[:at] + text[at + 1 :]
        start += len(word) + 1
