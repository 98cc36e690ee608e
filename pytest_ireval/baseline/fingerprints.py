"""Fingerprints of the inputs of a suite: a baseline keeps them, to tell what changed since."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from hashlib import sha256

from pytest_ireval.baseline.record import JudgmentPrints
from pytest_ireval.data.judgments import Judgments, Subtopics
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
    rows = zip(queries.ids, queries.text, *(queries.columns[name] for name in columns), strict=True)
    encode = json.JSONEncoder().encode
    return fingerprint_text("\n".join([encode(columns), *sorted(map(encode, rows))]))


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
    documents, first = rankings.documents.texts(), rankings.first.tolist()
    for query, begin, end in zip(rankings.queries, first, first[1:], strict=False):
        yield query, documents[begin : end if depth is None else min(end, begin + depth)]


def fingerprint_judgments(judgments: Judgments) -> JudgmentPrints:
    """Of the judgments as a whole and of those of each query; and the grades, as a baseline keeps them."""
    unique = {grade: shorten_number(grade) for grade in set(judgments.grade.tolist())}
    pairs: dict[str, list[tuple[str, float]]] = {query: [] for query in judgments.queries}
    by_code = list(pairs.values())
    for code, document, grade in zip(
        judgments.query.tolist(), judgments.documents.texts(), judgments.grade.tolist(), strict=True
    ):
        by_code[code].append((document, unique[grade]))
    texts = {grade: repr(grade) for grade in unique.values()}
    grades = {query: dict(sorted(pairs[query])) for query in sorted(pairs)}
    lines = {
        query: _join([cell for document, grade in of_query.items() for cell in (document, texts[grade])])
        for query, of_query in grades.items()
    }
    if judgments.subtopics is not None:
        lines = _add_subtopics(lines, judgments, judgments.subtopics)
    grades_of = {query: fingerprint_text(line) for query, line in lines.items()}
    whole = fingerprint_text("\n".join(f"{print_of} {query}" for query, print_of in sorted(grades_of.items())))
    return JudgmentPrints(whole, grades_of, grades if len(judgments) <= MOST_PAIRS else None, _count_judges(judgments))


def shorten_number(number: float) -> float:
    """A whole number without a point."""
    return int(number) if number == int(number) and abs(number) < 1e15 else number


def _join(cells: list[str]) -> str:
    """Join cells by tabs, with escapes for characters that would end a cell."""
    text = "".join(cells)
    if any(character in text for character in "\\\t\n\r"):
        cells = [cell.translate(_ESCAPES) for cell in cells]
    return "\t".join(cells)


def _add_subtopics(lines: dict[str, str], judgments: Judgments, subtopics: Subtopics) -> dict[str, str]:
    """The lines, each followed by the judgments of single subtopics."""
    documents = judgments.documents.texts(subtopics.row)
    more: dict[str, list[str]] = {query: [] for query in lines}
    for row, document, subtopic, grade in zip(
        subtopics.row.tolist(), documents, subtopics.subtopic.tolist(), subtopics.grade.tolist(), strict=True
    ):
        more[judgments.queries[judgments.query[row]]].append(json.dumps([document, subtopics.names[subtopic], grade]))
    return {query: "\n".join([line, *sorted(more[query])]) for query, line in lines.items()}


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
