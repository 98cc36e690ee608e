"""A suite as it was planned, wherever it is evaluated; with ``-n``, one worker evaluates it for all."""

from __future__ import annotations

import hashlib
import os
import pickle
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_ireval.baselines.journal import PAUSE, locked_if_free
from pytest_ireval.errors import IrevalError, Problem
from pytest_ireval.gate.acceptance import Proposal
from pytest_ireval.gate.changed_since import files_of_suite
from pytest_ireval.gate.last_run import KeptRankings
from pytest_ireval.pytest_adapter.undisturbed import without_collecting
from pytest_ireval.repositories.changed_files import Changes
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
        files=() if affected_by is None else files_of_suite(suite),
        affected_by=affected_by,
    )


CHANGES = "changes"
COLLECTED = "collected"
RESULT = "result"
PROPOSAL = "proposal"
RANKINGS = "rankings"


@dataclass(frozen=True)
class SharedRun:
    """The folder belongs to this run alone and to nobody else's account, so what lies in it can be trusted."""

    folder: Path

    def evaluated(
        self, name: str, evaluate: Callable[[], Evaluated], meanwhile: Callable[[], bool] = lambda: False
    ) -> SuiteResult:
        """The result of a suite; whoever comes first evaluates it. A lock dies with its holder.

        Others wait, and do ``meanwhile`` what there is to do; it says whether there was anything.
        """
        home = self._home(name)
        while True:
            self.begin(name, evaluate)
            known: SuiteResult | None = _read(home / RESULT)
            if known is not None:
                return known
            if not meanwhile():
                time.sleep(PAUSE)

    def begin(self, name: str, evaluate: Callable[[], Evaluated]) -> bool:
        """Evaluate a suite unless somebody has, or is at it; whether it was evaluated here."""
        home = self._home(name)
        with _told(self.folder):
            if (home / RESULT).exists():
                return False
            home.mkdir(exist_ok=True)
            with locked_if_free(home) as free:
                if not free or (home / RESULT).exists():
                    return False
                _hand_over(home, evaluate())
        return True

    def found(self, name: str) -> Evaluated | None:
        """What a suite came to; None if nobody evaluated it."""
        home = self._home(name)
        result: SuiteResult | None = _read(home / RESULT)
        proposal: Proposal | None = _read(home / PROPOSAL)
        rankings: KeptRankings | None = _read(home / RANKINGS)
        return None if result is None else Evaluated(result, proposal, rankings)

    def tell(self, collected: Collected) -> None:
        """Every worker collects the same; the last one to tell is believed."""
        with _told(self.folder):
            _write(self.folder / COLLECTED, collected)

    def collected(self) -> Collected:
        """What the workers collected; nothing if none of them came so far."""
        told: Collected | None = _read(self.folder / COLLECTED)
        return told or Collected()

    def hand_out(self, changes: dict[Path, Changes]) -> None:
        """All workers shall choose the same suites, however late one of them begins."""
        with _told(self.folder):
            _write(self.folder / CHANGES, changes)

    def handed_out(self) -> dict[Path, Changes]:
        """What changed, by repository; nothing where nobody asked."""
        handed: dict[Path, Changes] | None = _read(self.folder / CHANGES)
        return handed or {}

    def _home(self, name: str) -> Path:
        return self.folder / hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _hand_over(home: Path, evaluated: Evaluated) -> None:
    _write(home / PROPOSAL, evaluated.proposal)
    _write(home / RANKINGS, evaluated.rankings)
    _write(home / RESULT, evaluated.result)  # last: with it the suite counts as evaluated


def _write(path: Path, value: Any) -> None:
    """Whole, or not at all."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    with without_collecting(), open(unfinished, "wb") as file:
        pickle.dump(value, file, protocol=pickle.HIGHEST_PROTOCOL)
    os.replace(unfinished, path)


def _read(path: Path) -> Any:
    """What was written; None if nothing was."""
    try:
        with without_collecting(), open(path, "rb") as file:
            return pickle.load(file)  # noqa: S301 - written by a process of this run, in a folder that only it can write
    except FileNotFoundError:
        return None


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """What the system refuses is an error that names the folder."""
    try:
        yield
    except OSError as error:
        complaint = f"{folder}: the results of a worker cannot be written: {error.strerror or error}"
        raise IrevalError(Problem(complaint, suggestion="set TMPDIR to another folder")) from error
