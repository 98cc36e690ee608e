"""The request to a source, and the output of foreign code, made fit for a message: short, and with its place."""

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
"""Colours and cursor movements of terminals, tabs and the like, and every other control character but line ends."""
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
    """An exception by its class, with what it says."""
    try:
        said = tidy(str(error))
    except Exception:  # noqa: BLE001 - a foreign exception may fail to say anything
        said = ["(its text cannot be shown)"]
    name = type(error).__name__
    return f"{name}: " + "\n  ".join(said[:LAST_LINES]) if said else name


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
    """Tell whether it is neither ours, nor Python's, nor no file at all."""
    standard = file.startswith(STANDARD) and not file.startswith(INSTALLED)
    return not standard and not file.startswith((HOUSE, "<"))


def _shown(file: str, folder: Path) -> str:
    """As seen from the folder; what is installed without the place where it is."""
    home = next((home for home in INSTALLED if file.startswith(home)), "")
    return Path(file.removeprefix(home)).as_posix() if home else within(file, folder)


def within(file: str | os.PathLike[str], folder: Path) -> str:
    """A path as seen from a folder; as it is where no way leads there."""
    try:
        return Path(os.path.relpath(file, folder)).as_posix()
    except ValueError:  # another drive
        return os.fspath(file)


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
    described: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """By document, its title, url and other fields: a source that knows them adds them here, and reports show them."""
