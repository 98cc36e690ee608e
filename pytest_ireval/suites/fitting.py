"""Which files of a repository a pattern fits."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from pytest_ireval.repositories.changed_files import Files
from pytest_ireval.repositories.repository import places_of
from pytest_ireval.suites.globs import ANY
from pytest_ireval.suites.suite import Pattern, Watch


def watched(watches: Sequence[Watch], files: Files, root: Path) -> tuple[str, Watch] | None:
    """The first file that one of the globs fits, and no exception does; None if there is none."""
    exceptions = [
        (place, watch.pattern.wild)
        for watch in watches
        if watch.excludes
        for place in places_of(watch.pattern.base, root)
    ]
    for watch in (each for each in watches if not each.excludes):
        for file in fitting(watch.pattern, files, root):
            if not any(_lies_at(file, place) and _fits(wild, _parts(file, place)) for place, wild in exceptions):
                return file, watch
    return None


def fitting(pattern: Pattern, files: Files, root: Path) -> Iterator[str]:
    """The files that a pattern fits; of a submodule or link, those in which it may fit something."""
    for place in places_of(pattern.base, root):
        yield from _above(files.names, place)
        for file in _at(files.names, place):
            if _fits(pattern.wild, _parts(file, place), file in files.folders):
                yield file


def _lies_at(file: str, place: str) -> bool:
    return not place or file == place or file.startswith(f"{place}/")


def _parts(file: str, place: str) -> tuple[str, ...]:
    """The way from a place down to a file."""
    below = file[len(place) :].strip("/")
    return tuple(below.split("/")) if below else ()


def _above(names: Sequence[str], place: str) -> Iterator[str]:
    """Names that stand where the way to a place goes: what was or became a submodule or a link."""
    for parent in PurePosixPath(place).parents if place else ():
        name = str(parent)
        at = bisect_left(names, name)
        if name != "." and at < len(names) and names[at] == name:
            yield name


def _at(names: Sequence[str], place: str) -> Sequence[str]:
    """Those that are the place, or lie below it."""
    if not place:
        return names
    at = bisect_left(names, place)
    itself = names[at : at + 1] if at < len(names) and names[at] == place else ()
    below = names[bisect_left(names, f"{place}/") : bisect_left(names, f"{place}0")]  # 0 follows / in order
    return (*itself, *below)


def _fits(wild: Sequence[str], parts: Sequence[str], folder: bool = False) -> bool:
    """Whether parts of a path are as the pattern wants; of a folder, whether something below it may be."""
    if not parts:
        return folder or all(each == ANY for each in wild)
    if not wild:
        return False
    if wild[0] == ANY:
        return len(wild) == 1 or any(_fits(wild[1:], parts[at:], folder) for at in range(len(parts) + 1))
    return fnmatchcase(parts[0], wild[0]) and _fits(wild[1:], parts[1:], folder)
