"""Baselines that no suite uses: in a run over a whole folder, a sign that a suite is missing."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Generator, Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from pytest_ireval.baselines.files import RECORD, names_in, near, path_of
from pytest_ireval.baselines.record import is_record
from pytest_ireval.baselines.writing import suite_of
from pytest_ireval.errors import IrevalError
from pytest_ireval.repositories.branches import absent_submodules
from pytest_ireval.repositories.git import root_of

CLAIMS = pytest.StashKey[list[str]]()
"""Of a test: the baselines of the suites that it has gated itself, as :func:`claim` names them."""
REPORTED = "ireval_claims"
"""The same of the report of a test, which also comes from a worker."""
NARROWING = ("ignore", "ignore_glob", "deselect", "lf", "stepwise")
"""Options that leave tests out on purpose: then a suite may be missing."""
CHOOSING = re.compile("-[A-Za-z]*[km]")
"""-k and -m on the command line do so, too."""


def claim(folder: Path, name: str) -> str:
    """The name of a baseline here."""
    return os.path.join(os.path.realpath(folder), name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the test's claims to its report, so that a worker's report has them, too."""
    report = yield
    claimed = item.stash.get(CLAIMS, [])
    if claimed:
        setattr(report, REPORTED, claimed)
    return report


def folders_named_whole(config: pytest.Config) -> list[Path]:
    """The folders that the command line asks for, if it asks for folders alone and for all that is in them."""
    option = config.option
    asked = config.invocation_params.args  # -m of a project's addopts leaves out slow tests, and no suite
    if any(CHOOSING.match(each) for each in asked) or any(getattr(option, each, None) for each in NARROWING):
        return []
    if any("::" in each for each in config.args):
        return []
    named = [Path(os.path.abspath(config.invocation_params.dir / each)) for each in config.args]
    return named if all(each.is_dir() for each in named) else []


def unclaimed(config: pytest.Config, folder: Path, claimed: Collection[str]) -> Iterator[str]:
    """A message for each baseline below the folder that no suite claims, in folders where pytest looks for suites."""
    passed_by = config.getini("norecursedirs")
    for place, folders, _ in os.walk(folder):
        folders[:] = sorted(
            each
            for each in folders
            if not any(fnmatch(each, pattern) for pattern in passed_by)
            and not os.path.isfile(os.path.join(place, each, "pyvenv.cfg"))
        )
        if os.path.basename(place) != "baselines":
            continue
        here = Path(place)
        names = {suite_of(name) for name in names_in(here) if _is_ours(path_of(here, name, RECORD))}
        for name in sorted(names):
            if claim(here, name) not in claimed:
                stem = near(here / name)
                yield (
                    f"{stem}.json: no suite uses this baseline; was its suite renamed, moved or deleted? Bring the "
                    f"suite back; or `ireval baseline prune {near(here)} --yes` deletes the baseline"
                )


def absent(folder: Path) -> Iterator[tuple[str, bool]]:
    """A message for each missing submodule below the folder, and whether it is expected to contain suites."""
    # a run of the whole repository may leave out submodules on purpose; a run of a folder inside means the suites there
    try:
        paths = absent_submodules(folder)
    except IrevalError:  # git does not say
        return
    for path in paths:
        ours = root_of(folder) != Path(os.path.realpath(folder))
        said = f"{near(path)}: this submodule is not checked out, and it may contain suites"
        yield f"{said}: git submodule update --init {near(path)}", ours


def _is_ours(path: Path) -> bool:
    """Tell whether it is the record of a baseline and not other JSON; an unreadable file counts as one."""
    try:
        return is_record(path)
    except OSError:
        return path.is_file()
