"""Finds what a run leaves out of the folders that it names: suites, and baselines whose suite is gone."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_ireval.baseline.files import FOLDER, baseline_name, display_path, suite_name_of
from pytest_ireval.errors import IrevalError
from pytest_ireval.pytest_plugin.planned_suite import PlannedSuite
from pytest_ireval.pytest_plugin.selection import claim
from pytest_ireval.repositories.changed_files import list_absent_submodules
from pytest_ireval.repositories.git import find_root
from pytest_ireval.suite.finding import files_below, is_suite
from pytest_ireval.suite.loading import suite_names
from pytest_ireval.words import format_count


class NamedPlaces(NamedTuple):
    """The places that the command line names; options such as -k and --ignore do not make them fewer."""

    folders: tuple[Path, ...] = ()
    """Folders, named with all that is in them."""
    beside: tuple[Path, ...] = ()
    """The folders of single files."""


def named_places(config: pytest.Config) -> NamedPlaces:
    """The places that the command line names, or testpaths, or the current folder."""
    home = config.invocation_params.dir
    paths = [Path(os.path.abspath(home / each.partition("::")[0])) for each in config.args]
    folders = dict.fromkeys(path for path in paths if path.is_dir())
    beside = dict.fromkeys(path.parent for path in paths if path.is_file())
    return NamedPlaces(tuple(folders), tuple(each for each in beside if not _is_within(each, folders)))


def _is_within(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


@dataclass(frozen=True)
class HiddenSuite:
    """A suite file that pytest did not collect: --ignore, norecursedirs, or a conftest.py passes over it."""

    path: Path
    names: tuple[str, ...]
    """Of its suites; the file itself where they cannot be read."""
    chosen: bool
    """True if the command line names another file in its folder, and so leaves this one out on purpose."""


@dataclass
class PlacesSeen:
    """What lies in the named places."""

    hidden: list[HiddenSuite] = field(default_factory=list)
    unclaimed: list[str] = field(default_factory=list)
    """A message for each baseline that no suite and no Python test uses."""


def look_at(places: NamedPlaces, collected: Collection[Path], claimed: Collection[str]) -> PlacesSeen:
    """Find the suites that are not among the ``collected`` files, and baselines that are not ``claimed``."""
    seen, claims, unreadable = PlacesSeen(), set(claimed), set[Path]()
    real = {os.path.realpath(path) for path in collected}
    baselines: list[Path] = []
    for path in _files_at(places):
        if path.parent.name == FOLDER and baseline_name(path):
            baselines.append(path)
        elif os.path.realpath(path) not in real and _is_suite(path):
            chosen = not _is_within(path, places.folders)
            try:
                names = suite_names(path)
            except IrevalError:
                unreadable.add(path.parent / "baselines")
                seen.hidden.append(HiddenSuite(path, (str(display_path(path)),), chosen))
            else:
                claims |= {claim(path.parent / "baselines", name) for name in names}
                seen.hidden.append(HiddenSuite(path, tuple(names), chosen))
    for path in baselines:
        if path.parent not in unreadable and claim(path.parent, suite_name_of(baseline_name(path))) not in claims:
            seen.unclaimed.append(_describe_unclaimed(path))
    seen.unclaimed = list(dict.fromkeys(seen.unclaimed))
    return seen


def _files_at(places: NamedPlaces) -> Iterator[Path]:
    for folder in places.folders:
        yield from files_below(folder)
    for folder in places.beside:
        for home in (folder, folder / "baselines"):
            yield from sorted(path for path in home.glob("*") if path.is_file())


def _is_suite(path: Path) -> bool:
    try:
        return is_suite(path)
    except OSError:  # a run that collects it reports it
        return False


def _describe_unclaimed(path: Path) -> str:
    return (
        f"{display_path(path)}: no suite uses this baseline; was its suite renamed, moved or deleted? Bring the "
        f"suite back; or `ireval baseline prune {display_path(path.parent)} --yes` deletes the baseline"
    )


def refused_selection(config: pytest.Config, suites: Sequence[PlannedSuite], hidden: Sequence[HiddenSuite]) -> str:
    """The complaint of a run that must judge all suites it was asked for, and does not; empty if it does.

    Naming files, or -m on the command line, is a choice of a person. Other options may come from an ini file or a
    conftest.py that the branch itself has changed.
    """
    said = [name for each in hidden if not each.chosen for name in each.names]
    if not _marks_alone_deselect(config):
        for suite in suites:
            gone = suite.deselected.difference(suite.selected)
            if suite.affected_by is not None and gone:
                count = format_count(len(gone), "check")
                said.append(f"{count} of {suite.name}" if suite.selected else suite.name)
    if not said:
        return ""
    return (
        f"left out of this run: {', '.join(said)}. With --ireval-base and ireval_baseline_lowering = fail, only the "
        "files and folders that the command line names, or its -m, may leave out suites; not -k, --deselect, --ignore, "
        "norecursedirs or a conftest.py"
    )


def _marks_alone_deselect(config: pytest.Config) -> bool:
    """Tell whether -m is written on the command line, and nothing else deselects."""
    option = config.option
    others = ("keyword", "deselect", "lf", "stepwise")
    expression = getattr(option, "markexpr", "")
    if not expression or any(getattr(option, each, None) for each in others):
        return False
    joined = re.compile(rf"-[A-Za-z]*m=?{re.escape(expression)}")
    words = ["", *config.invocation_params.args]
    return any(
        joined.fullmatch(word) or (word == expression and re.fullmatch("-[A-Za-z]*m", before))
        for before, word in pairwise(words)
    )


def absent(folder: Path) -> Iterator[tuple[str, bool]]:
    """A message for each missing submodule below the folder, and whether it is expected to contain suites."""
    # a run of the whole repository may leave out submodules on purpose; a run of a folder inside means the suites there
    try:
        paths = list_absent_submodules(folder)
    except IrevalError:  # git does not say
        return
    for path in paths:
        ours = find_root(folder) != Path(os.path.realpath(folder))
        said = f"{display_path(path)}: this submodule is not checked out, and it may contain suites"
        yield f"{said}: git submodule update --init {display_path(path)}", ours
