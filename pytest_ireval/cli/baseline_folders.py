"""Folders of baselines: they lie beside suite files, and are called ``baselines``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from pytest_ireval.baselines.merging import FOLDER
from pytest_ireval.errors import BaselineError, Problem
from pytest_ireval.suites.finding import NOT_ENTERED


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
