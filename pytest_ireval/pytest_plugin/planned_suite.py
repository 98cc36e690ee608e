"""A suite of a run as plain data, which workers of pytest-xdist send to the process that writes files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from pytest_ireval.baseline.rankings_file import KeptRankings
from pytest_ireval.gate.acceptance import Proposal
from pytest_ireval.gate.changed_since import list_suite_files
from pytest_ireval.gate.planning import Check
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.suite.suite import Suite


@dataclass(eq=False)
class PlannedSuite:
    """A suite with its checks, and those of them that the run selected."""

    name: str
    path: Path
    shown_path: str
    owner: str
    matrix: Mapping[str, str]
    baselines: Path
    """The folder of its baseline."""
    compress_baseline: bool
    checks: tuple[str, ...]
    """The ids of all its checks."""
    files: tuple[Path, ...]
    """The files that it is made of, and those that it names."""
    affected_by: str | None
    """The reason why it takes part where not all do; None: it takes no part, because no change concerns it."""
    selected: list[str] = field(default_factory=list)
    """The checks that the run was asked for, in the order of running."""
    nodes: dict[str, str] = field(default_factory=dict)
    """The same by the ids of their tests."""
    deselected: set[str] = field(default_factory=set)

    def select(self, check: str, node: str) -> None:
        self.nodes[node] = check
        if check not in self.selected:  # pytest may collect a test several times
            self.selected.append(check)

    @property
    def baseline_key(self) -> str:
        return make_baseline_key(self.baselines, self.name)

    @property
    def is_affected(self) -> bool:
        """True if the suite takes part: a change concerns it, or all suites take part."""
        return self.affected_by is not None

    @property
    def is_complete(self) -> bool:
        """True if all checks were selected; a part of a suite is never accepted."""
        return set(self.selected) == set(self.checks)


def make_baseline_key(folder: Path, name: str) -> str:
    """Identify a baseline on this machine, whatever links lead to it."""
    return os.path.join(os.path.realpath(folder), name)


def plan_suite(suite: Suite, checks: tuple[Check, ...], affected_by: str | None) -> PlannedSuite:
    return PlannedSuite(
        name=suite.name,
        path=suite.path,
        shown_path=suite.shown,
        owner=suite.owner,
        matrix=dict(suite.values),
        baselines=suite.baselines,
        compress_baseline=suite.compress_baseline,
        checks=tuple(check.id for check in checks),
        files=() if affected_by is None else list_suite_files(suite),
        affected_by=affected_by,
    )


class SuiteEvaluation(NamedTuple):
    """The evaluation of a suite, as plain data, too."""

    result: SuiteResult
    proposal: Proposal | None = None
    """What accepting it would write; None where inputs are broken, or nothing is to be accepted."""
    rankings: KeptRankings | None = None
    """The rankings for a later `ireval why`; None where inputs are broken, or the run writes no files."""


@dataclass
class CollectedSuites:
    suites: list[PlannedSuite] = field(default_factory=list)
    files: int = 0
    """The number of files of suites, valid or not."""


class Evaluations(Protocol):
    """Where the end of a run finds suites and results: the session of this process, or the folder of its workers."""

    def read_collected(self) -> CollectedSuites: ...

    def read_evaluation(self, name: str) -> SuiteEvaluation | None:
        """The evaluation of a suite; None if there was none."""
