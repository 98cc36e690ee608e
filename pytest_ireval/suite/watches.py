"""Globs of files that a suite depends on, such as ``src/**``: how they are read, and which files fit them."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from pytest_ireval.errors import quote
from pytest_ireval.repositories.changed_files import Files, lies_in, names_below
from pytest_ireval.repositories.git import find_places, find_root
from pytest_ireval.suite.scalars import Scalar, UnfitError, place_of, plain_value
from pytest_ireval.suite.suite import Pattern, Watch

WILD = re.compile(r"[*?\[]")
ANY = "**"
"""Any number of folders, or none."""
DRIVE = re.compile(r"[A-Za-z]:[/\\]")
EXAMPLES = "write search/**, ../search/*.py, or /libs/analysis/** from the top of the repository"


def read_watch(value: object) -> Watch:
    """Read a glob, relative to the folder of the file it is written in, or with ``/`` to the repository."""
    if isinstance(value, Watch):
        return value
    text = plain_value(value, "glob")
    glob = text.removeprefix("!").strip()
    if mistake := next(_find_mistakes(glob), None):
        raise UnfitError(f"{quote(text)} {mistake[0]}", mistake[1])
    folder = Path(os.path.abspath(value.folder if isinstance(value, Scalar) else ""))
    root = find_root(folder)
    _refuse_machine_path(glob, root)
    pattern = make_pattern(glob, (root or folder) if glob.startswith("/") else folder)
    if root is not None and not find_places(pattern.base, root):
        raise UnfitError(f"{quote(text)} is outside of the repository: git knows nothing about {pattern.base}")
    return Watch(text, place_of(value), pattern, text.startswith("!"))


def make_pattern(glob: str, folder: Path) -> Pattern:
    """The pattern of a glob, seen from a folder. A glob that ends in a name also means everything below it."""
    parts = [part for part in glob.split("/") if part not in ("", ".")]
    fixed = next((number for number, part in enumerate(parts) if WILD.search(part)), len(parts))
    wild = parts[fixed:]
    if not wild or not WILD.search(wild[-1]):
        wild.append(ANY)
    return Pattern(Path(os.path.normpath(os.path.join(folder, *parts[:fixed]))), tuple(wild))


def _find_mistakes(glob: str) -> Iterator[tuple[str, str]]:
    """Complaints about a glob, each with a suggestion."""
    parts = glob.split("/")
    wild = next((number for number, part in enumerate(parts) if WILD.search(part)), len(parts))
    if not glob.strip("/") or "\0" in glob:
        yield "is not a glob", EXAMPLES
    if DRIVE.match(glob) or glob.startswith("~"):
        yield "is an absolute path of one machine", EXAMPLES
    if "\\" in glob:
        yield "has a backslash: folders are separated by /", "write " + glob.replace("\\", "/")
    if any("," in part.partition("{")[2] for part in glob.split("}")[:-1]):
        yield "has braces, which are not wildcards here", "write a glob for each alternative"
    if any(ANY in part and part != ANY for part in parts):
        yield "has ** inside of a name, but ** means whole folders", "write search/**/*.py, or * within a name"
    if ".." in parts[wild:]:
        yield "has .. after a wildcard", EXAMPLES


def _refuse_machine_path(glob: str, root: Path | None) -> None:
    """Refuse a path from the top of the machine; the top of the repository is meant."""
    if not glob.startswith("/") or root is None:
        return
    below = f"{glob}/".startswith(f"{root.as_posix().rstrip('/')}/")
    first = glob.strip("/").partition("/")[0]
    if not below and (WILD.search(first) or os.path.exists(root / first) or not os.path.exists(f"/{first}")):
        return
    suggestion = f"write /{glob.removeprefix(root.as_posix()).lstrip('/')}" if below else EXAMPLES
    complaint = f"{quote(glob)} is a path of this machine; / is the top of the repository here"
    raise UnfitError(complaint, suggestion)


def find_watched(watches: Sequence[Watch], files: Files, root: Path) -> tuple[str, Watch] | None:
    """The first file that fits one of the globs and no exception, with its watch; None if there is none."""
    exceptions = [
        (place, watch.pattern.wild)
        for watch in watches
        if watch.excludes
        for place in find_places(watch.pattern.base, root)
    ]
    for watch in (each for each in watches if not each.excludes):
        for file in find_fitting(watch.pattern, files, root):
            if not any(lies_in(file, place) and _fits(wild, _split_below(file, place)) for place, wild in exceptions):
                return file, watch
    return None


def find_fitting(pattern: Pattern, files: Files, root: Path) -> Iterator[str]:
    """The files that fit a pattern, and submodules and links in which a file may fit it."""
    for place in find_places(pattern.base, root):
        yield from _list_names_above(files.names, place)
        for file in names_below(files.names, place):
            if _fits(pattern.wild, _split_below(file, place), file in files.folders):
                yield file


def _split_below(file: str, place: str) -> tuple[str, ...]:
    """The names on the way from a place down to a file."""
    below = file[len(place) :].strip("/")
    return tuple(below.split("/")) if below else ()


def _list_names_above(names: Sequence[str], place: str) -> Iterator[str]:
    """Names on the way to a place: what was or became a submodule or a link."""
    for name in map(str, PurePosixPath(place).parents if place else ()):
        at = bisect_left(names, name)
        if name != "." and name in names[at : at + 1]:
            yield name


def _fits(wild: Sequence[str], parts: Sequence[str], folder: bool = False) -> bool:
    """Tell whether parts of a path fit; of a folder, whether something below it may fit."""
    if not parts:
        return folder or all(each == ANY for each in wild)
    if not wild:
        return False
    if wild[0] == ANY:
        return len(wild) == 1 or any(_fits(wild[1:], parts[at:], folder) for at in range(len(parts) + 1))
    return fnmatchcase(parts[0], wild[0]) and _fits(wild[1:], parts[1:], folder)
