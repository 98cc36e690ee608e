"""Which baseline somebody means: its .json file, a suite file, or one of them at a git ref."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.baselines.anchors import suite_of
from pytest_ireval.baselines.baseline import Baseline
from pytest_ireval.baselines.files import RECORD, names_in, near, path_of
from pytest_ireval.baselines.merging import FOLDER
from pytest_ireval.baselines.reading import read_baseline, read_baseline_at
from pytest_ireval.errors import BaselineError, IrevalError, Problem, did_you_mean
from pytest_ireval.suites.finding import NOT_ENTERED

SUITES = (".yaml", ".yml")


class BaselinePlace(NamedTuple):
    """A baseline in a folder; ``ref`` is empty for the one on the disk."""

    folder: Path
    name: str
    ref: str = ""

    @property
    def path(self) -> Path:
        """Its .json file."""
        return path_of(self.folder, self.name, RECORD)

    def __str__(self) -> str:
        return f"{self.ref}:{self.path}" if self.ref else str(self.path)


def baseline_place(text: str) -> BaselinePlace:
    """What a path means, or ``REF:path``."""
    path = Path(text)
    if path.suffix in (f".{RECORD}", *SUITES) and (path.exists() or ":" not in text):
        return _of_path(path)
    ref, colon, name = text.partition(":")
    if not colon or Path(name).suffix not in (f".{RECORD}", *SUITES):
        allowed = "a baseline is its .json file, its suite's .yaml file, or REF:path for the one at a git ref"
        raise BaselineError(Problem("is no baseline", place=text, allowed=allowed))
    return _of_path(Path(name))._replace(ref=ref)


def pair_of(one: str, other: str) -> tuple[BaselinePlace, BaselinePlace]:
    """Two baselines; a ref alone stands for the path of the other one."""
    if not _has_path(one) and _has_path(other):
        second = baseline_place(other)
        return second._replace(ref=one), second
    first = baseline_place(one)
    return first, baseline_place(other) if _has_path(other) else first._replace(ref=other)


def baseline_at(place: BaselinePlace) -> Baseline:
    """The baseline; an error if there is none."""
    if place.ref:
        found = read_baseline_at(place.ref, place.folder, place.name)
    else:
        found = read_baseline(place.folder, place.name)
    if found is None:
        raise BaselineError(missing(place))
    return found


def missing(place: BaselinePlace) -> Problem:
    """Nobody has accepted a baseline there."""
    meant = did_you_mean(place.name, names_in(place.folder)) if not place.ref else ""
    return Problem("there is no such baseline", place=str(place), suggestion=meant)


def _has_path(text: str) -> bool:
    return text.endswith((f".{RECORD}", *SUITES))


def _of_path(path: Path) -> BaselinePlace:
    if path.suffix not in SUITES:
        return BaselinePlace(path.parent, path.stem)
    found = baselines_of_suites(path)
    if len(found) == 1:
        return BaselinePlace(near(found[0].folder), found[0].name)
    listed = ", ".join(str(path_of(near(each.folder), each.name, RECORD)) for each in found)
    raise BaselineError(Problem("has several suites, and each has a baseline", place=str(path), allowed=listed))


def baseline_folders(roots: tuple[str, ...]) -> Iterator[Path]:
    """Those at some paths and below, each once, in order."""
    seen = set()
    for root in roots:
        if not os.path.isdir(root):
            raise BaselineError(Problem("is no folder", place=root))
        for folder in _below(Path(root)):
            if folder.resolve() not in seen:
                seen.add(folder.resolve())
                yield folder


def _below(root: Path) -> Iterator[Path]:
    for home, folders, _ in os.walk(root):
        folders[:] = sorted(name for name in folders if not any(fnmatch(name, each) for each in NOT_ENTERED))
        if Path(home).resolve().name == FOLDER:
            yield Path(home)


def interrupted_in(folder: Path) -> list[str]:
    """Names of baselines of which an update did not finish."""
    return sorted(path.name[1 : -len(".commit")] for path in folder.glob(".?*.commit"))


class SuiteBaseline(NamedTuple):
    """The baseline of a suite, be there one or not."""

    folder: Path
    name: str


def baselines_of_suites(path: Path) -> list[SuiteBaseline]:
    """Of the suites in a file: one, or several if it has a matrix."""
    from pytest_ireval.suites.loading import suite_names

    home = Path(os.path.abspath(path)).parent / "baselines"
    return [SuiteBaseline(home, name) for name in suite_names(path)]


def suite_files(folder: Path) -> list[Path]:
    """The suite files that lie in a folder itself."""
    from pytest_ireval.suites.finding import is_suite

    return [path for path in sorted(folder.iterdir()) if path.is_file() and is_suite(path)]


def suite_of_baseline(folder: Path, name: str) -> Path | None:
    """The suite file that a baseline or an anchor belongs to; None where none can be read that says so."""
    for path in suite_files(folder.parent) if folder.parent.is_dir() else ():
        try:
            if suite_of(name) in {each.name for each in baselines_of_suites(path)}:
                return path
        except IrevalError:  # it may be in conflict as well
            continue
    return None
