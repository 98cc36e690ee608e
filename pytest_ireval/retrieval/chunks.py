"""Chunks of documents: a chunk counts as the judged passage that it covers, and a ranking ends where a budget ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pytest_ireval.errors import Mistakes, Problem, shown
from pytest_ireval.retrieval.aliases import without_rows
from pytest_ireval.retrieval.ids import Ids
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.scan.tokens import owners_of
from pytest_ireval.retrieval.tables import Unfit
from pytest_ireval.retrieval.views import with_documents

SPAN = re.compile(r"(.+)#([0-9]{1,18})-([0-9]{1,18})", re.DOTALL)
FORM = "with documents: spans, an id is DOCUMENT#START-END, as in handbook.pdf#120-240, and START is less than END"


class _Passage(NamedTuple):
    """A judged part of a document, from ``start`` to before ``end``."""

    start: int
    end: int
    name: str
    grade: float

    def covered(self, start: int, end: int) -> float:
        """The share of the passage that a chunk covers."""
        return (min(end, self.end) - max(start, self.start)) / (self.end - self.start)


@dataclass(frozen=True)
class Passages:
    """The judged passages of each query, which retrieved chunks count as."""

    by_query: Mapping[str, Mapping[str, Sequence[_Passage]]]
    """By query and document."""
    share: float
    """The share of a passage that a chunk covers at least."""

    def in_rankings(self, rankings: Rankings) -> Rankings:
        """Rankings with the judged passage in place of a chunk that covers it.

        From the best chunk down, each counts as the passage that it covers most, among those that do not count yet.
        A chunk that covers only passages that count already is left out, and those below it move up. A document
        without a span stays as it is.
        """
        names, repeated = rankings.documents.texts(), []
        fields = dict(rankings.fields or {})
        for number, query in enumerate(rankings.queries):
            passages, counted = self.by_query.get(query, {}), set[str]()
            for row in range(int(rankings.first[number]), int(rankings.first[number + 1])):
                chunk = names[row]
                names[row] = self._name(chunk, passages, counted)
                if names[row] in counted:
                    repeated.append(row)
                elif names[row] != chunk and chunk in fields:
                    fields.setdefault(names[row], fields[chunk])
                counted.add(names[row])
        found = replace(rankings, documents=Ids.of(names), fields=fields if rankings.fields else rankings.fields)
        return without_rows(found, np.array(repeated, np.int64))

    def name(self, chunk: str, query: str) -> str:
        """The passage that a chunk counts as if it is the first; the chunk itself if it covers none."""
        return self._name(chunk, self.by_query.get(query, {}), ())

    def _name(self, chunk: str, passages: Mapping[str, Sequence[_Passage]], counted: Container[str]) -> str:
        """The passage that a chunk counts as, a new one if there is one; the chunk itself if it covers none."""
        document, start, end = _span(chunk) or ("", 0, 0)
        covered = [each for each in passages.get(document, ()) if each.covered(start, end) >= self.share]

        def order(each: _Passage) -> tuple[bool, float, bool, float]:
            return each.name not in counted, each.covered(start, end), each.name == chunk, each.grade

        return max(covered, key=order).name if covered else chunk


def passages_of(judgments: Judgments, share: float) -> Passages:
    """The judged passages; an error names the judged documents that have no span."""
    refuse_without_span(judgments.documents, judgments.place)
    found: dict[str, dict[str, list[_Passage]]] = {}
    for row, name in enumerate(judgments.documents.texts()):
        document, start, end = _span(name) or ("", 0, 0)
        query = judgments.queries[judgments.query[row]]
        passage = _Passage(start, end, name, float(judgments.grade[row]))
        found.setdefault(query, {}).setdefault(document, []).append(passage)
    return Passages(found, share)


def refuse_without_span(documents: Ids, place: str | Callable[[int], str]) -> None:
    """Raise InputError with the documents that have no span; ``place`` is that of all rows, or gives that of a row."""
    mistakes = Mistakes()
    for row, name in enumerate(documents.texts()):
        if _span(name) is None:
            at = place if isinstance(place, str) else place(row)
            mistakes.add(Problem(f"document {shown(name)} has no span", at, allowed=FORM))
    mistakes.refuse()


def _span(name: str) -> tuple[str, int, int] | None:
    match = SPAN.fullmatch(name)
    return (match[1], int(match[2]), int(match[3])) if match and int(match[2]) < int(match[3]) else None


def within_budget(rankings: Rankings, size: Callable[[str], float], at_most: float) -> Rankings:
    """Rankings that end before the first document with which the sizes exceed the budget."""
    mistakes, sizes = Mistakes(), []
    for document in rankings.documents.texts():
        try:
            sizes.append(size(document))
        except Unfit as unfit:
            sizes.append(0)
            mistakes.add(Problem(str(unfit), rankings.origin, suggestion=unfit.suggestion))
    mistakes.refuse()
    total = np.concatenate([np.zeros(1), np.cumsum(np.array(sizes, np.float64))])
    used = total[1:] - total[rankings.first[:-1]][owners_of(rankings.first)]
    found = with_documents(rankings, used <= at_most)
    return replace(found, retrieved=np.diff(found.first))
