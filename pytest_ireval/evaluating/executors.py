"""Files of rankings that the workers of an executor read: other processes, or other machines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_ireval.data.coerce import FileRankings, read_rankings_file
from pytest_ireval.data.formats.input_file import is_address
from pytest_ireval.data.formats.reader import Reading
from pytest_ireval.data.formats.recognition import Format
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.errors import IrevalError, Problem, describe_exception
from pytest_ireval.masking import public_address
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.progress import SILENT

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

FEWEST_TASKS, MOST_TASKS = 8, 128
"""A task reads several files where there are more files than tasks."""
JUDGMENTS_SENT = 4_000_000
"""Each task carries the judgments: tasks are so many that they carry this many together, about half a gigabyte."""


def read_with(
    executor: Executor, judgments: Judgments, named: Format, how: Reading, documents: bool, files: Sequence[str]
) -> list[FileRankings]:
    """Read all files, in their order; the first that cannot be read is an error.

    The workers reach the files under the same names, and use the plugins that are installed there.
    """
    # A worker may have been started in another folder.
    places = [file if is_address(file) else os.path.abspath(file) for file in files]
    most = min(MOST_TASKS, max(FEWEST_TASKS, JUDGMENTS_SENT // max(len(judgments), 1)))
    each = -(-len(files) // most)
    groups = [places[at : at + each] for at in range(0, len(places), each)]
    how.progress.expect(len(files), "files")
    there = how._replace(progress=SILENT)  # a bar cannot be sent
    tasks: list[Future[list[FileRankings]]] = []
    found: list[FileRankings] = []
    try:
        for group in groups:
            with _name_files(group):
                tasks.append(executor.submit(_read_group, judgments, group, named, there, documents))
        for group, task in zip(groups, tasks, strict=True):
            with _name_files(group):
                found += task.result()
            how.progress.advance(len(group))
    finally:
        for task in tasks:
            task.cancel()
    return found


@contextmanager
def _name_files(files: Sequence[str]) -> Iterator[None]:
    """Turn the error of an executor into one that names the files."""
    try:
        yield
    except IrevalError:
        raise
    except Exception as error:  # each executor has its own for a lost worker, and for what cannot be sent
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        place = public_address(files[0]) if is_address(files[0]) else files[0]
        raise IrevalError(
            Problem(f"no worker could read it: {describe_exception(error)}", place=f"{place}{more}")
        ) from error


def _read_group(
    judgments: Judgments, files: Sequence[str], named: Format, how: Reading, documents: bool
) -> list[FileRankings]:
    readers = installed_registry().readers
    return [read_rankings_file(judgments, file, readers, named, how, documents=documents) for file in files]
