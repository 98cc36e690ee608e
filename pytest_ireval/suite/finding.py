"""Files that are suites, and those that are left alone."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

MARK = re.compile(rb"^(?:\xef\xbb\xbf)?(?:\{\s*)?[\"']?ireval[\"']?\s*:", re.MULTILINE)
JUDGMENTS = re.compile(rb"^judgments\s*:", re.MULTILINE)
DECIDES = re.compile(rb"^(?:rules|metrics)\s*:", re.MULTILINE)
LOOKED_AT = 1 << 20
"""Bytes at the beginning of a file in which the mark must be."""
NOT_ENTERED = (".*", "build", "dist", "node_modules", "venv", "*.egg", "__pycache__")
"""Folders without suites; pytest does not enter them either."""


def is_suite(path: Path, *, named: bool = False) -> bool:
    """Tell whether a file is to be read as a suite, right or wrong; raises OSError if it cannot be read.

    ``*.ireval.yaml`` is one, and any YAML file with a line that begins with ``ireval:``. A file without that line is
    read if it was ``named`` or has judgments and rules or metrics: the error says which line is missing. A file whose
    name begins with ``_`` is only for others to extend.
    """
    if path.suffix not in (".yaml", ".yml"):
        return False
    return named or says_suite(path.stem, _read_head(path))


def may_be_suite(path: Path, *, named: bool = False) -> bool:
    """The same, and True for a file that cannot be read: the error of reading it says what is wrong."""
    try:
        return is_suite(path, named=named)
    except OSError:
        return True


def says_suite(stem: str, head: bytes) -> bool:
    """The same, given the name and the beginning of a YAML file."""
    if is_shared(stem):
        return False
    return stem.endswith(".ireval") or bool(MARK.search(head) or (JUDGMENTS.search(head) and DECIDES.search(head)))


def is_shared(name: str) -> bool:
    """Tell whether a file of that name is only for others to extend."""
    return name.startswith("_")


def find_unreadable(folder: Path) -> list[Path]:
    """Find what has the name of a suite in a folder and is no file: links that lead nowhere, pipes and devices."""
    with suppress(OSError):  # pytest reports a folder that it cannot read
        named = (path for path in folder.iterdir() if path.name.endswith((".ireval.yaml", ".ireval.yml")))
        return sorted(path for path in named if not is_shared(path.name) and not path.is_file() and not path.is_dir())
    return []


def find_suites(paths: Collection[Path]) -> list[Path]:
    """Find the files that are or may be suites among files, and in folders and those below; each once, in order."""
    suites: dict[Path, None] = {}
    for given in paths:
        for path in files_below(given) if given.is_dir() else [given]:
            if may_be_suite(path, named=path in paths):
                suites[path] = None
    return list(suites)


def files_below(folder: Path) -> Iterator[Path]:
    """List all files of a folder, without those of folders that pytest does not enter."""
    for home, folders, files in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not any(fnmatch(name, pattern) for pattern in NOT_ENTERED)
            and not os.path.isfile(os.path.join(home, name, "pyvenv.cfg"))  # a virtual environment
        )
        yield from (Path(home, name) for name in sorted(files))


def _read_head(path: Path) -> bytes:
    """The part of a file that is looked at; nothing of a pipe or a device, of which reading might never end."""
    if path.exists() and not path.is_file():
        return b""
    with open(path, "rb") as file:
        return file.read(LOOKED_AT)


MATRIX = re.compile(rb"^matrix\s*:", re.MULTILINE)
NAME = re.compile(rb"^suite\s*:\s*[\"']?([^\s\"'#]+)[\"']?\s*(?:#.*)?$", re.MULTILINE)


def find_suites_by_name(folder: Path) -> dict[str, list[Path]]:
    """Find the suite files of a folder by the names that are written in them.

    One that inherits its name is not found, nor one with a matrix, which makes several names.
    """
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        with suppress(OSError):  # the run that collects an unreadable file reports it
            if is_suite(path) and not MATRIX.search(head := _read_head(path)):
                for name in NAME.findall(head):
                    found.setdefault(name.decode("utf-8", "replace"), []).append(path)
    return found
