"""Readers: a format with its name, its kind of content, its recognition, and the function that reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from pytest_ireval.data.formats.input_file import InputFile
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.scan import JudgedRows
from pytest_ireval.errors import IrevalError, PluginError, make_exception_problem
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.policies import Grades

Content = Literal["queries", "judgments", "rankings"]
CONTENTS: tuple[Content, ...] = ("queries", "judgments", "rankings")


class Reading(NamedTuple):
    """Options of reading; a reader that returns plain Python objects may ignore them."""

    grades: Grades = "integer"
    depth: int | None = None
    """The number of documents of each ranking that are wanted; None: all."""
    by_id: bool = True
    """True if equal scores are ordered by document id, descending; False: in the order of the file."""
    recognised: bool = False
    """True if the format was recognised by its content, not named by the user."""
    progress: Progress = SILENT


Read = Callable[[InputFile, Reading], Any]
ReadHits = Callable[[InputFile, Judgments, Reading], list[JudgedRows] | None]


class Reader(NamedTuple):
    """One format of queries, of judgments, or of rankings."""

    name: str
    """The name for ``format=``: lower case, with hyphens. Formats of different contents may share a name."""
    holds: Content
    """The kind of its content."""
    summary: str
    """A description of such a file, in a line."""
    fits: Callable[[InputFile], bool]
    """True if a file looks like this. It runs on files without a named format, so it must be quick."""
    read: Read
    """Takes the file; returns one of the Python forms that ``evaluate`` takes, for queries ``{id: text}`` or rows as
    dictionaries with ``id`` and ``text``. Raises InputError for wrong content."""
    hits: ReadHits | None = None
    """A quicker way to rankings when their unjudged documents do not matter; None from it means: use ``read``."""
    also: tuple[str, ...] = ()
    """Other names of it."""
    origin: str = ""
    """The distribution, or the conftest.py, that registers it."""

    @property
    def source(self) -> str:
        """Its origin, for messages."""
        return self.origin or f"{self.read.__module__} (not registered)"


def run_reader(reader: Reader, file: InputFile, how: Reading) -> Any:
    """The content of the file, read by the reader."""
    with _blame_reader(reader, file):
        return reader.read(file, how)


def is_fitting(reader: Reader, file: InputFile) -> bool:
    """Tell whether the file looks like the reader's format."""
    with _blame_reader(reader, file):
        return bool(reader.fits(file))


@contextmanager
def _blame_reader(reader: Reader, file: InputFile) -> Iterator[None]:
    """Turn any error of a plugin's reader into one that names the reader."""
    try:
        yield
    except (IrevalError, OSError):
        raise
    except Exception as error:  # a plugin may raise anything
        problem = make_exception_problem(f"reader {reader.name} of {reader.source}", error)
        raise PluginError(replace(problem, place=file.name)) from error
