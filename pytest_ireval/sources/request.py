"""The request that a source gets: the queries, and how many documents are wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.retrieval.formats.reader import Reader
from pytest_ireval.retrieval.queries import Queries


@dataclass(frozen=True)
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
    """True if documents below ``depth`` are needed as well, to order equal scores across it."""
    repetition: int = 1
    """The number of this asking among several, from 1."""
    progress: Progress = SILENT
    described: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """By document, its title, url and other fields: a source that knows them adds them here, and reports show them."""
