"""What a reader is: a format by name, what it holds, how it is recognised, and how its content comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

from pytest_ireval.errors import IrevalError, PluginError, Problem
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.evaluation import Grades
from pytest_ireval.retrieval.formats.input_file import InputFile
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.scan.kept import KeptRows

Content = Literal["queries", "judgments", "rankings"]
CONTENTS: tuple[Content, ...] = ("queries", "judgments", "rankings")


class Reading(NamedTuple):
    """How to read; a reader that returns plain Python objects need not look at it."""

    grades: Grades = "integer"
    depth: int | None = None
    """How many documents of each ranking are wanted; None: all."""
    by_id: bool = True
    """Whether equal scores are ordered by document id, descending; or as they stand."""
    recognised: bool = False
    """True when nobody named the format: it was recognised by its content."""
    progress: Progress = SILENT


Read = Callable[[InputFile, Reading], Any]
ReadHits = Callable[[InputFile, Judgments, Reading], list[KeptRows]]


class Reader(NamedTuple):
    """One format of queries, of judgments, or of rankings."""

    name: str
    """What ``format=`` calls it: lower case, with hyphens. Formats of different contents may share a name."""
    holds: Content
    """What comes out."""
    summary: str
    """What such a file looks like, in a line."""
    fits: Callable[[InputFile], bool]
    """Whether a file looks like this; asked of files whose format nobody named, so it must be quick."""
    read: Read
    """Takes the file; returns one of the Python forms that ``evaluate`` takes, for queries ``{id: text}`` or rows as
    dictionaries with ``id`` and ``text``. Raises InputError for what cannot be right."""
    hits: ReadHits | None = None
    """A quicker way to rankings when their unjudged documents do not matter."""
    also: tuple[str, ...] = ()
    """Other names it answers to."""
    origin: str = ""
    """The distribution, or the conftest.py, that brings it."""

    @property
    def source(self) -> str:
        """Who brings it, for messages."""
        return self.origin or f"{self.read.__module__} (not registered)"


def read_by(reader: Reader, file: InputFile, how: Reading) -> Any:
    """What the reader makes of the file."""
    with _blamed(reader, file):
        return reader.read(file, how)


def fits(reader: Reader, file: InputFile) -> bool:
    """Tell whether the file looks like the reader's format."""
    with _blamed(reader, file):
        return bool(reader.fits(file))


@contextmanager
def _blamed(reader: Reader, file: InputFile) -> Iterator[None]:
    """Whatever a plugin's reader raises becomes an error that names it."""
    try:
        yield
    except (IrevalError, OSError):
        raise
    except Exception as error:  # a plugin may raise anything
        complaint = f"reader {reader.name} of {reader.source} raised {type(error).__name__}: {error}"
        raise PluginError(Problem(complaint, place=file.name)) from error
