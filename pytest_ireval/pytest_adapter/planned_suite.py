"""A suite as the end of a run has to know it, wherever it was evaluated: what was planned, and what was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_ireval.gate.last_run import KeptRankings
from pytest_ireval.gate.named_files import files_of
from pytest_ireval.gate.updating import Proposal
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.rules.planning import Check
from pytest_ireval.suites.suite import Suite


@dataclass(eq=False)
class PlannedSuite:
    """Plain data: a worker hands it over to the process that writes files."""

    name: str
    path: Path
    shown: str
    """The file as messages show it."""
    owner: str
    values: Mapping[str, str]
    """Of the matrix."""
    baselines: Path
    """The folder of its baseline."""
    planned: tuple[str, ...]
    """The ids of everything it has a verdict on."""
    files: tuple[Path, ...] = ()
    """What it is made of, and what it names."""
    affected_by: str | None = ""
    """Why it takes part where not all do; None: it takes none, for no change concerns it."""
    selected: list[str] = field(default_factory=list)
    """Of these, what the run was asked for, in the order of running."""
    nodes: dict[str, str] = field(default_factory=dict)
    """The same by what pytest calls their tests."""
    deselected: set[str] = field(default_factory=set)
    """What somebody took out, so that it is not missed."""

    def select(self, check: str, node: str) -> None:
        """The run was asked for a verdict; pytest may collect its test several times."""
        self.nodes[node] = check
        if check not in self.selected:
            self.selected.append(check)

    @property
    def all_selected(self) -> bool:
        """Whether nothing was left out; a part of a suite is never accepted."""
        return set(self.selected) == set(self.planned)


@dataclass(frozen=True)
class Evaluated:
    """What a suite came to, plain, too."""

    result: SuiteResult
    proposal: Proposal | None = None
    """What accepting it takes; None where inputs are broken, or nothing is to be accepted."""
    rankings: KeptRankings | None = None
    """What `ireval why` explains later; None where inputs are broken, or the run writes no files."""


@dataclass
class Collected:
    """What collecting came to."""

    suites: list[PlannedSuite] = field(default_factory=list)
    found: int = 0
    """Files of suites, be they right or wrong."""


def planned_suite(suite: Suite, checks: tuple[Check, ...], affected_by: str | None = "") -> PlannedSuite:
    """Of which nothing was selected yet."""
    return PlannedSuite(
        name=suite.name,
        path=suite.path,
        shown=suite.shown,
        owner=suite.owner,
        values=dict(suite.values),
        baselines=suite.baselines,
        planned=tuple(check.id for check in checks),
        files=() if affected_by is None else files_of(suite),
        affected_by=affected_by,
    )
