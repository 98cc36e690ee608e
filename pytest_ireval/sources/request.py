"""What a source is asked for: these queries, so many documents of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.retrieval.formats.reader import Reader
from pytest_ireval.retrieval.queries import Queries


@dataclass(frozen=True)
class Request:
    """What a source is told. ``queries.text`` is what people search for ("" where nobody said)."""

    queries: Queries
    """All of the queries file; without one, the judged queries."""
    depth: int
    """How many documents of each ranking are wanted; more do no harm."""
    folder: Path
    """The folder of the suite file."""
    suite: str
    readers: Sequence[Reader] = ()
    """Of files in any installed format."""
    by_id: bool = True
    """Whether equal scores are ordered by document id; or as they stand."""
    keep_all: bool = False
    """Whether documents below ``depth`` are needed as well, to order equal scores across it."""
    repetition: int = 1
    """Which of several askings this is, from 1."""
    progress: Progress = SILENT
