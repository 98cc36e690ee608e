"""Queries, judgments and rankings from files, through the installed readers."""

from __future__ import annotations

from pytest_ireval.plugins.registry import Registry, installed
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.evaluation import Grades
from pytest_ireval.retrieval.doors import as_judgments, as_queries, as_rankings
from pytest_ireval.retrieval.formats.input_file import FilePath
from pytest_ireval.retrieval.formats.reader import Reading
from pytest_ireval.retrieval.formats.recognised import Format
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.retrieval.rankings import Rankings


def read_queries(path: FilePath, *, format: Format = None, registry: Registry | None = None) -> Queries:  # noqa: A002 - as users say it
    """All queries in the file; its format is recognised by its content unless it is named."""
    return as_queries(path, (registry or installed()).readers, format)


def read_judgments(
    path: FilePath,
    *,
    format: Format = None,  # noqa: A002 - as users say it
    grades: Grades = "integer",
    registry: Registry | None = None,
    progress: Progress = SILENT,
) -> Judgments:
    """All judgments in the file. Grades are whole numbers unless ``grades="float"`` declares otherwise."""
    return as_judgments(path, (registry or installed()).readers, format, Reading(grades, progress=progress))


def read_rankings(
    path: FilePath,
    depth: int | None = None,
    *,
    format: Format = None,  # noqa: A002 - as users say it
    by_id: bool = True,
    registry: Registry | None = None,
    progress: Progress = SILENT,
) -> Rankings:
    """The first ``depth`` documents of every ranking in the file (None: all of them).

    Equal scores are in descending order of document id; unless ``by_id``, in the order of the file.
    """
    how = Reading(depth=depth, by_id=by_id, progress=progress)
    return as_rankings(path, (registry or installed()).readers, format, how)
