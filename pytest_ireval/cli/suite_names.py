"""Which baselines suite files have."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.baselines.anchors import suite_of
from pytest_ireval.errors import IrevalError


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
