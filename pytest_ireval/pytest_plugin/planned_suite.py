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

from pytest_ireval.errors import IrevalError, Problem
from pytest_ireval.gate.acceptance import Proposal
from pytest_ireval.gate.changed_since import files_of_suite
from pytest_ireval.gate.last_run import KeptRankings
from pytest_ireval.pytest_plugin.worker_lock import hold_if_free
from pytest_ireval.repositories.changed_files import Changes
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.rules.planning import Check
from pytest_ireval.suite.suite import Suite


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
    compress_baseline: bool
    planned: tuple[str, ...]
    """The ids of everything it has a verdict on."""
    files: tuple[Path, ...] = ()
    """The files that it is made of, and those that it names."""
    affected_by: str | None = ""
    """The reason why it takes part where not all do; None: it takes no part, because no change concerns it."""
    selected: list[str] = field(default_factory=list)
    """Of these, the ones that the run was asked for, in the order of running."""
    nodes: dict[str, str] = field(default_factory=dict)
    """The same by the ids of their tests."""
    deselected: set[str] = field(default_factory=set)
    """Those that were deselected, so that they are not missed."""

    def select(self, check: str, node: str) -> None:
        """The run was asked for a verdict; pytest may collect its test several times."""
        self.nodes[node] = check
        if check not in self.selected:
            self.selected.append(check)

    @property
    def all_selected(self) -> bool:
        """True if all of it was selected; a part of a suite is never accepted."""
        return set(self.selected) == set(self.planned)


@dataclass(frozen=True)
class Evaluated:
    """The evaluation of a suite, as plain data, too."""

    result: SuiteResult
    proposal: Proposal | None = None
    """The means to accept it; None where inputs are broken, or nothing is to be accepted."""
    rankings: KeptRankings | None = None
    """The rankings for a later `ireval why`; None where inputs are broken, or the run writes no files."""


@dataclass
class Collected:
    """The suites that were collected."""

    suites: list[PlannedSuite] = field(default_factory=list)
    found: int = 0
    """The number of files of suites, valid or not."""


def planned_suite(suite: Suite, checks: tuple[Check, ...], affected_by: str | None = "") -> PlannedSuite:
    """A suite of which nothing was selected yet."""
    named = (suite.name, suite.path, suite.shown, suite.owner)
    planned = tuple(check.id for check in checks)
    files = () if affected_by is None else files_of_suite(suite)
    return PlannedSuite(
        *named, dict(suite.values), suite.baselines, suite.compress_baseline, planned, files, affected_by
    )


CHANGES = "changes"
COLLECTED = "collected"
RESULT = "result"
PROPOSAL = "proposal"
RANKINGS = "rankings"
LOCK = "lock"
PAUSE = 0.02
"""Seconds between two looks at what another worker does."""


@dataclass(frozen=True)
class SharedRun:
    """The folder of a run. It belongs to this run and this account alone, so its content can be trusted."""

    folder: Path

    def evaluated(
        self, name: str, evaluate: Callable[[], Evaluated], meanwhile: Callable[[], bool] = lambda: False
    ) -> SuiteResult:
        """The result of a suite; the first process to ask evaluates it. A lock dies with its holder.

        Others wait, and do the work of ``meanwhile``; it returns whether there was any.
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
        """Evaluate a suite that was not begun yet; returns whether it was evaluated here."""
        home = self._home(name)
        with _told(self.folder):
            if (home / RESULT).exists():
                return False
            home.mkdir(exist_ok=True)
            with hold_if_free(home / LOCK) as free:
                if not free or (home / RESULT).exists():
                    return False
                evaluated = evaluate()
                _write(home / PROPOSAL, evaluated.proposal)
                _write(home / RANKINGS, evaluated.rankings)
                _write(home / RESULT, evaluated.result)  # last: with it the suite counts as evaluated
        return True

    def found(self, name: str) -> Evaluated | None:
        """The evaluation of a suite; None if there was none."""
        home = self._home(name)
        result, proposal, rankings = (_read(home / name) for name in (RESULT, PROPOSAL, RANKINGS))
        return None if result is None else Evaluated(result, proposal, rankings)

    def tell(self, collected: Collected) -> None:
        """Keep what this worker collected. Every worker collects the same; the last one counts."""
        with _told(self.folder):
            _write(self.folder / COLLECTED, collected)

    def collected(self) -> Collected:
        """The suites that the workers collected; none if no worker came so far."""
        return _read(self.folder / COLLECTED) or Collected()

    def hand_out(self, changes: dict[Path, Changes]) -> None:
        """Keep the changes, so that all workers choose the same suites, however late one of them begins."""
        with _told(self.folder):
            _write(self.folder / CHANGES, changes)

    def handed_out(self) -> dict[Path, Changes]:
        """The changes by repository; empty where none were asked for."""
        return _read(self.folder / CHANGES) or {}

    def _home(self, name: str) -> Path:
        return self.folder / hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _write(path: Path, value: Any) -> None:
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    with open(unfinished, "wb") as file:
        pickle.dump(value, file, protocol=pickle.HIGHEST_PROTOCOL)
    os.replace(unfinished, path)


def _read(path: Path) -> Any:
    try:
        with open(path, "rb") as file:
            return pickle.load(file)  # noqa: S301 - written by a process of this run, in a folder that only it can write
    except FileNotFoundError:
        return None


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """Turn an error of the system into one that names the folder."""
    try:
        yield
    except OSError as error:
        complaint = f"{folder}: the results of a worker cannot be written: {error.strerror or error}"
        raise IrevalError(Problem(complaint, suggestion="set TMPDIR to another folder")) from error
