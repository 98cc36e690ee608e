"""The request to a source, and the output of foreign code as short text with its place, for messages."""

from __future__ import annotations

import os
import re
import sysconfig
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.retrieval.formats.reader import Reader
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.secrets import hidden

LONGEST_LINE = 300
LAST_LINES = 10
CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[^\S \n]|[\x00-\x09\x0b-\x1f\x7f-\x9f]")
"""Colours and cursor movements of terminals, tabs, and every other control character except line ends."""
HOUSE = str(Path(__file__).parents[1]) + os.sep
STANDARD = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")})
INSTALLED = tuple({sysconfig.get_path(name) + os.sep for name in ("purelib", "platlib")})


def tidy(text: str) -> list[str]:
    """Its lines that are not blank, each cut when it is very long."""
    lines = CONTROL.sub(" ", hidden(text).replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    return [line.rstrip()[:LONGEST_LINE] for line in lines if line.strip()]


def last_lines(data: bytes) -> str:
    """The last lines of what a program wrote, whatever its encoding."""
    return "\n  ".join(tidy(data.decode("utf-8", "replace"))[-LAST_LINES:])


def told(error: BaseException) -> str:
    """The class and the text of an exception."""
    try:
        lines = tidy(str(error))
    except Exception:  # noqa: BLE001 - the text of a foreign exception may fail
        lines = ["(its text cannot be shown)"]
    name = type(error).__name__
    return f"{name}: " + "\n  ".join(lines[:LAST_LINES]) if lines else name


def raised_at(error: BaseException, folder: Path) -> str:
    """The last place in the user's own code that led to an exception, or else in an installed package."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"at {_shown(error.filename, folder)}:{error.lineno}"
    places = [
        (frame.f_code.co_filename, line, frame.f_code.co_name) for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    foreign = [place for place in places if _is_foreign(place[0])]
    if not foreign:
        return ""
    own = [place for place in foreign if not place[0].startswith(INSTALLED)]
    file, line, name = (own or foreign)[-1]
    where = f"at {_shown(file, folder)}:{line}"
    return where if name.startswith("<") else f"{where}, in {name}"


def _is_foreign(file: str) -> bool:
    """True for a file that belongs neither to this package nor to Python."""
    standard = file.startswith(STANDARD) and not file.startswith(INSTALLED)
    return not standard and not file.startswith((HOUSE, "<"))


def _shown(file: str, folder: Path) -> str:
    """The path relative to the folder; for installed packages relative to their home."""
    home = next((home for home in INSTALLED if file.startswith(home)), "")
    return Path(file.removeprefix(home)).as_posix() if home else within(file, folder)


def within(file: str | os.PathLike[str], folder: Path) -> str:
    """A path relative to a folder; unchanged if there is no relative path."""
    try:
        return Path(os.path.relpath(file, folder)).as_posix()
    except ValueError:  # another drive
        return os.fspath(file)


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


@dataclass(frozen=True)
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
