"""Where a file lies in the git repository that holds it, links on the way included."""

from __future__ import annotations

import os
from pathlib import Path


def root_of(folder: Path) -> Path | None:
    """The top of the repository that really holds a folder; found without asking git, None where there is none."""
    real = Path(os.path.realpath(folder))
    return next((each for each in (real, *real.parents) if (each / ".git").exists()), None)


def places_of(path: Path, root: Path) -> tuple[str, ...]:
    """The places of an absolute path below a repository, seen from its ``root``; none if it lies elsewhere.

    There are several where links lead to it: its own name, and what the links stand for. Git names the former when a
    link is changed, the latter when the file is. The root itself is ``""``.
    """
    written, real = str(path), os.path.realpath(path)
    if written == real:
        return _below(path, root)
    ways = (path, Path(os.path.realpath(path.parent), path.name), Path(real))
    return tuple(dict.fromkeys(place for way in ways for place in _below(way, root)))


def _below(path: Path, root: Path) -> tuple[str, ...]:
    if path.is_relative_to(root):
        return (_named(path.relative_to(root)),)
    above = next((each for each in (path, *path.parents) if os.path.realpath(each) == str(root)), None)
    return () if above is None else (_named(path.relative_to(above)),)


def _named(path: Path) -> str:
    return "" if path == Path() else path.as_posix()
