"""Which baselines suite files have."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class SuiteBaseline(NamedTuple):
    """The baseline of a suite, be there one or not."""

    folder: Path
    name: str


def baselines_of_suites(path: Path) -> list[SuiteBaseline]:
    """Of the suites in a file: one, or several if it has a matrix."""
    from pytest_ireval.suites.loading import load_suites

    return [SuiteBaseline(suite.baselines, suite.name) for suite in load_suites(path)]


def suite_files(folder: Path) -> list[Path]:
    """The suite files that lie in a folder itself."""
    from pytest_ireval.suites.finding import is_suite

    return [path for path in sorted(folder.iterdir()) if path.is_file() and is_suite(path)]
