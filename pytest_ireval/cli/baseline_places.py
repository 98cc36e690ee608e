"""Which baseline somebody means: its .json file, a suite file, or one of them at a git ref."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from pytest_ireval.baselines.baseline import Baseline
from pytest_ireval.baselines.files import RECORD, names_in, near, path_of
from pytest_ireval.baselines.reading import read_baseline, read_baseline_at
from pytest_ireval.cli.suite_names import baselines_of_suites
from pytest_ireval.errors import BaselineError, Problem, did_you_mean

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


def place_of(text: str) -> BaselinePlace:
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
        second = place_of(other)
        return second._replace(ref=one), second
    first = place_of(one)
    return first, place_of(other) if _has_path(other) else first._replace(ref=other)


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
