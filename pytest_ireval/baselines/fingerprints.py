"""Fingerprints: short names of contents, equal where the contents are equal, whatever order they came in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import NamedTuple

from pytest_ireval.baselines.stored import MOST_PAIRS, StoredGrades, grades_of_judgments, ranking_lines
from pytest_ireval.results.evaluation import Policies
from pytest_ireval.retrieval.judgments import Judgments, Subtopics
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.retrieval.rankings import Rankings

DIGITS = 16


class JudgmentPrints(NamedTuple):
    """What a baseline remembers of judgments."""

    whole: str
    grades_of: Mapping[str, str]
    """By query."""
    grades: StoredGrades | None
    """The grades themselves; None where there are too many to keep."""


def fingerprint(content: bytes | memoryview) -> str:
    """The first digits of its SHA-256."""
    return sha256(content).hexdigest()[:DIGITS]


def fingerprint_of_text(text: str) -> str:
    """Of a description, as that of a source."""
    return fingerprint(text.encode("utf-8", "surrogatepass"))


def fingerprint_of_queries(queries: Queries) -> str:
    """Of ids, texts and columns; neither rows nor columns need to be in order."""
    columns = sorted(queries.columns)
    rows = zip(queries.ids, queries.text, *(queries.columns[name] for name in columns), strict=True)
    encode = json.JSONEncoder().encode
    lines = sorted(map(encode, rows))
    return fingerprint_of_text("\n".join([encode(columns), *lines]))


def fingerprint_of_policies(policies: Policies) -> str:
    """Of all that are said; one that later versions add changes nothing until it is used."""
    return fingerprint_of_text(json.dumps({k: v for k, v in asdict(policies).items() if v is not None}, sort_keys=True))


def fingerprint_of_rankings(rankings: Rankings, depth: int | None = None) -> str:
    """Of the first ``depth`` documents of every query, in order; scores do not count."""
    return fingerprint(ranking_lines(rankings, depth))


def fingerprints_of_judgments(judgments: Judgments) -> JudgmentPrints:
    """Of the judgments as a whole and of those of each query; and the grades, as a baseline keeps them."""
    grades = grades_of_judgments(judgments)
    lines = grades.lines
    if judgments.subtopics is not None:
        lines = _with_subtopics(judgments, judgments.subtopics, grades)
    grades_of = {query: fingerprint(line) for query, line in lines.items()}
    whole = fingerprint_of_text("\n".join(f"{print_of} {query}" for query, print_of in sorted(grades_of.items())))
    return JudgmentPrints(whole, grades_of, grades if len(judgments) <= MOST_PAIRS else None)


def _with_subtopics(judgments: Judgments, subtopics: Subtopics, grades: StoredGrades) -> dict[str, bytes]:
    """The lines, with what was said of single subtopics behind them."""
    documents = judgments.documents.texts(subtopics.row)
    said: dict[str, list[str]] = {query: [] for query in grades.lines}
    for row, document, subtopic, grade in zip(
        subtopics.row.tolist(), documents, subtopics.subtopic.tolist(), subtopics.grade.tolist(), strict=True
    ):
        said[judgments.queries[judgments.query[row]]].append(json.dumps([document, subtopics.names[subtopic], grade]))
    return {query: b"\n".join([line, *map(str.encode, sorted(said[query]))]) for query, line in grades.lines.items()}
