"""Fingerprints of the inputs of a suite: a baseline keeps them, to tell what changed since."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from hashlib import sha256
from itertools import chain, islice

import numpy as np

from pytest_ireval.baseline.record import JudgmentPrints
from pytest_ireval.data.arrays import BLOCK, compute_begins, cut_between_groups, list_rows
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.results.policies import Policies

MOST_PAIRS = 200_000
"""A baseline keeps no more grades; then a fingerprint of each query's judgments still says which queries changed."""
MOST_JUDGES = 20
"""Names of judges that a baseline keeps; the others are counted together."""
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def fingerprint(content: bytes | memoryview) -> str:
    """The first 16 digits of its SHA-256."""
    return sha256(content).hexdigest()[:16]


def fingerprint_text(text: str) -> str:
    """Of a description, as that of a source."""
    return fingerprint(text.encode("utf-8", "surrogatepass"))


def fingerprint_queries(queries: Queries) -> str:
    """Of ids, texts and columns; neither rows nor columns need to be in order."""
    columns = sorted(queries.columns)
    encode = json.JSONEncoder().encode
    cells = (map(encode, each) for each in (queries.ids, queries.text, *(queries.columns[name] for name in columns)))
    rows = sorted(f"[{', '.join(row)}]" for row in zip(*cells, strict=True))
    return fingerprint_text("\n".join([encode(columns), *rows]))


def fingerprint_policies(policies: Policies, collection: int | None = None) -> str:
    """Of all policies that are set, and of the size of the collection; what is not set changes nothing."""
    chosen = {**asdict(policies), "collection": collection}
    return fingerprint_text(json.dumps({k: v for k, v in chosen.items() if v is not None}, sort_keys=True))


def fingerprint_rankings(rankings: Rankings, depth: int | None = None) -> str:
    """Of the first ``depth`` documents of every query, in order; scores do not count."""
    lists = sorted(list_documents(rankings, depth))
    return fingerprint_text("".join(f"{_join([query, *documents])}\n" for query, documents in lists))


def list_documents(rankings: Rankings, depth: int | None = None) -> Iterator[tuple[str, list[str]]]:
    """Each query with its first ``depth`` documents, all unless given."""
    for first, last in cut_between_groups(rankings.first, BLOCK):  # not all documents become text at once
        begins = rankings.first[first : last + 1]
        documents = rankings.documents.texts(np.arange(begins[0], begins[-1]))
        edges = (begins - begins[0]).tolist()
        for query, begin, end in zip(rankings.queries[first:last], edges, edges[1:], strict=False):
            yield query, documents[begin : end if depth is None else min(end, begin + depth)]


def fingerprint_judgments(judgments: Judgments) -> JudgmentPrints:
    """Of the judgments as a whole and of those of each query; and the grades, as a baseline keeps them."""
    numbers = {repr(number): number for number in map(shorten_number, set(judgments.grade.tolist()))}
    subtopics = _list_subtopics(judgments)
    keeps_grades = len(judgments) <= MOST_PAIRS
    grades: dict[str, dict[str, float]] = {}
    prints: dict[str, str] = {}
    for query, graded in _list_grades(judgments):
        line = _join([*chain.from_iterable(graded)])
        if subtopics is not None:
            line = "\n".join([line, *sorted(subtopics[query])])
        prints[query] = fingerprint_text(line)
        if keeps_grades:
            grades[query] = {document: numbers[grade] for document, grade in graded}
    whole = fingerprint_text("\n".join(f"{of_query} {query}" for query, of_query in prints.items()))
    return JudgmentPrints(whole, prints, grades if keeps_grades else None, _count_judges(judgments))


def _list_grades(judgments: Judgments) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each query with its documents and their grades as text; both sorted by id."""
    queries, texts = judgments.queries, {grade: repr(shorten_number(grade)) for grade in set(judgments.grade.tolist())}
    by_id = np.array(sorted(range(len(queries)), key=queries.__getitem__), np.int64)
    count = np.bincount(judgments.query, minlength=len(queries))
    begins = compute_begins(count[by_id])
    rows = np.argsort(judgments.query, kind="stable")[list_rows((np.cumsum(count) - count)[by_id], count[by_id])]
    for first, last in cut_between_groups(begins, BLOCK):  # not all documents become text at once
        some = rows[begins[first] : begins[last]]
        grades = map(texts.__getitem__, judgments.grade[some].tolist())
        pairs = zip(judgments.documents.texts(some), grades, strict=True)
        for query in by_id[first:last].tolist():
            yield queries[query], sorted(islice(pairs, int(count[query])))


def shorten_number(number: float) -> float:
    """A whole number without a point."""
    return int(number) if number == int(number) and abs(number) < 1e15 else number


def _join(cells: list[str]) -> str:
    """Join cells by tabs, with escapes for characters that would end a cell."""
    line = "\t".join(cells)
    if "\\" in line or "\n" in line or "\r" in line or line.count("\t") >= max(1, len(cells)):
        return "\t".join(cell.translate(_ESCAPES) for cell in cells)
    return line


def _list_subtopics(judgments: Judgments) -> dict[str, list[str]] | None:
    """By query, the judgments of single subtopics; None without any."""
    subtopics = judgments.subtopics
    if subtopics is None:
        return None
    documents = judgments.documents.texts(subtopics.row)
    found: dict[str, list[str]] = {query: [] for query in judgments.queries}
    for row, document, subtopic, grade in zip(
        subtopics.row.tolist(), documents, subtopics.subtopic.tolist(), subtopics.grade.tolist(), strict=True
    ):
        found[judgments.queries[judgments.query[row]]].append(json.dumps([document, subtopics.names[subtopic], grade]))
    return found


def _count_judges(judgments: Judgments) -> dict[str, int]:
    """The most frequent judges by name; a model by its name and the hash of its prompt."""
    names = ("judge", "model", "prompt")
    if judgments.columns.keys().isdisjoint(names):
        return {}
    columns = [judgments.columns.get(name) or [""] * len(judgments) for name in names]
    counts = Counter(map(_name_judge, *columns))
    del counts[""]
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    others = sum(number for _, number in ordered[MOST_JUDGES:])
    return dict(sorted([*ordered[:MOST_JUDGES], *([("others", others)] if others else [])]))


def _name_judge(judge: str, model: str, prompt: str) -> str:
    return f"{model or judge}, prompt {prompt}" if prompt else model or judge
