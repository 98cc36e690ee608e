"""The request that a source gets, and its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_ireval.data.formats.reader import Reader
from pytest_ireval.data.queries import Queries
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.suite_result import RecordedAnswers


@dataclass
class Request:
    """The request to a source. ``queries.text`` is the text to search for, "" if it is unknown."""

    queries: Queries
    """All of the queries file; without one, the judged queries."""
    depth: int
    """The number of documents wanted of each ranking; more are allowed."""
    folder: Path
    """The folder of the suite file."""
    suite: str
    readers: Sequence[Reader] = ()
    """Readers of files in all installed formats."""
    by_id: bool = True
    """True if equal scores are ordered by document id, else by their place in the input."""
    keep_all: bool = False
    """True if documents below ``depth`` are needed as well: the suite collapses documents, so that others move up."""
    repetition: int = 1
    """The number of this asking among several, from 1."""
    reference: int = 0
    """The number of a source that rules compare with, from 1; 0: the source of the suite."""
    relevant: Callable[[], Sequence[str]] = tuple
    """Relevant documents of the queries. A source that can look them up may name those that are gone."""
    progress: Progress = SILENT
    public_texts: Mapping[str, Any] = field(default_factory=dict)
    """The options of the source as texts of the suite, in which variables that may hold a secret are names."""
    fields: tuple[str, ...] = ()
    """Fields of documents that rules look at, in addition to those that the options of the source name."""
    count_to: int = 0
    """Rules look at the number of documents that match: it must be exact up to this one. 0: they do not."""
    expected: Callable[[], Sequence[str]] = tuple
    """Documents that rules expect. A source that can look them up may name those that are gone, too."""
    timed: bool = False
    """True if a metric uses the times, so that connections should be open before the first timed request."""


@dataclass
class Answer:
    """The answer of a source: rankings, and data for metrics and reports. A source may also return rankings alone."""

    rankings: Any
    """In any form that ``evaluate`` takes."""
    timings: Any = None
    """Seconds by query; in a function that gets one query, the seconds of that query."""
    fields: Mapping[str, Mapping[str, Any]] | None = None
    """By document, its title, url, price and other fields."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Facts on the system, such as ``{"engine": "Lucene 9.11"}``; reports show them."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """By query that the system did not answer, the reason. Its ranking is empty; a note counts these queries."""
    notes: Sequence[str] = ()
    """Sentences that every report shows beside the verdict."""
    index: Mapping[str, Any] | Sequence[Mapping[str, Any]] = ()
    """Facts of the searched index by name (name, build, mapping, documents, details, stored), or several, in the order
    of the time.
    """
    gone: Sequence[str] = ()
    """Relevant and expected documents of the request that the index does not have."""
    recorded: RecordedAnswers | None = None
    """The answers that are recordings: the system was not asked for them, and every report says so."""
    stages: Mapping[str, Any] = field(default_factory=dict)
    """By earlier stage, its whole rankings, in any form that ``evaluate`` takes. A function returns them in
    ``rankings``: ``Answer({"retrieve": […], "rerank": […]})``."""
    unknown_fields: Sequence[str] = ()
    """Fields that the request searches and the index does not have, each with a hint if there is one."""
    totals: Any = None
    """By query, the number of documents that match, or an object such as ``{"value": 10000, "relation": "gte"}`` of
    Elasticsearch; in a function that gets one query, that of the query.
    """
