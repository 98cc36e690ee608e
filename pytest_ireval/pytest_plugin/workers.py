"""Runs with workers (``-n`` of pytest-xdist): they share a folder, and each suite is evaluated once."""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pytest_ireval.errors import IrevalError, Problem
from pytest_ireval.gate.versus import Versus
from pytest_ireval.pytest_plugin.planned_suite import CollectedSuites, SuiteEvaluation
from pytest_ireval.repositories.changed_files import Changes
from pytest_ireval.results.suite_result import SuiteResult

CHANGES = "changes"
COLLECTED = "collected"
VERSUS = "versus"
RESULT = "result"
PROPOSAL = "proposal"
RANKINGS = "rankings"
LOCK = "lock"
POLL_SECONDS = 0.02


@dataclass
class WorkerFolder:
    """The folder of a run. It belongs to this run and this account alone, so its content can be trusted."""

    path: Path

    def evaluate_once(
        self, name: str, evaluate: Callable[[], SuiteEvaluation], work_meanwhile: Callable[[], bool] = lambda: False
    ) -> SuiteResult:
        """Return the result of a suite; the first process to ask evaluates it.

        Others wait, and do other work meanwhile; ``work_meanwhile`` returns whether there was any. If the first process
        dies, its lock is free again, and another one evaluates.
        """
        while True:
            self.evaluate_if_free(name, evaluate)
            result: SuiteResult | None = _read(self.suite_folder(name) / RESULT)
            if result is not None:
                return result
            if not work_meanwhile():
                time.sleep(POLL_SECONDS)

    def evaluate_if_free(self, name: str, evaluate: Callable[[], SuiteEvaluation]) -> bool:
        """Evaluate a suite unless another process does or did; returns whether it was evaluated here."""
        folder = self.suite_folder(name)
        with _explain_write_errors(self.path):
            if (folder / RESULT).exists():
                return False
            folder.mkdir(exist_ok=True)
            with hold_if_free(folder / LOCK) as free:
                if not free or (folder / RESULT).exists():
                    return False
                evaluation = evaluate()
                _write(folder / PROPOSAL, evaluation.proposal)
                _write(folder / RANKINGS, evaluation.rankings)
                _write(folder / RESULT, evaluation.result)  # last: with it the suite counts as evaluated
        return True

    def read_evaluation(self, name: str) -> SuiteEvaluation | None:
        folder = self.suite_folder(name)
        result = _read(folder / RESULT)
        return None if result is None else SuiteEvaluation(result, _read(folder / PROPOSAL), _read(folder / RANKINGS))

    def write_collected(self, collected: CollectedSuites) -> None:
        """Keep what this worker collected. Every worker collects the same; the last one counts."""
        with _explain_write_errors(self.path):
            _write(self.path / COLLECTED, collected)

    def read_collected(self) -> CollectedSuites:
        return _read(self.path / COLLECTED) or CollectedSuites()

    def write_changes(self, changes: dict[Path, Changes]) -> None:
        """Keep the changes, so that all workers choose the same suites, however late one of them begins."""
        with _explain_write_errors(self.path):
            _write(self.path / CHANGES, changes)

    def read_changes(self) -> dict[Path, Changes]:
        """The changes by repository; empty where none were asked for."""
        return _read(self.path / CHANGES) or {}

    def write_versus(self, versus: Versus | None) -> None:
        """Keep what the run compares with, so that another commit is asked once for all workers."""
        with _explain_write_errors(self.path):
            _write(self.path / VERSUS, versus)

    def read_versus(self) -> Versus | None:
        versus: Versus | None = _read(self.path / VERSUS)
        return versus

    def suite_folder(self, name: str) -> Path:
        return self.path / hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]


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
def _explain_write_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        complaint = f"{folder}: the results of a worker cannot be written: {error.strerror or error}"
        raise IrevalError(Problem(complaint, suggestion="set TMPDIR to another folder")) from error


@contextmanager
def hold_if_free(path: Path) -> Iterator[bool]:
    """Take a lock if it is free, until the block ends; yields whether it was. It is free when its holder dies."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        yield _take(handle)
    finally:
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _take(handle: int) -> bool:
        try:
            # unlike flock, this is not inherited by a child of the holder, which may outlive it
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


WORKER_INPUT = "ireval"
"""The key of our values in what pytest-xdist gives a worker."""


@dataclass
class WorkerSetup:
    """Gives each worker what it has to know, and deletes the shared folder when the run ends."""

    folder: Path
    moment: datetime
    width: int

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """A hook of pytest-xdist, called before a worker starts. Values must be plain."""
        node.workerinput[WORKER_INPUT] = (str(self.folder), self.moment.isoformat(), self.width)

    def pytest_unconfigure(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)  # workers have ended by now


def set_up_workers(config: pytest.Config, moment: datetime, width: int) -> WorkerFolder:
    """Make the folder of the run, and hand it to the workers."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="ireval-"))  # no other account can read or write it
    except OSError as error:
        complaint = f"cannot create a folder for the workers of this run: {error.strerror or error}"
        raise IrevalError(Problem(complaint, suggestion="set TMPDIR to another folder")) from error
    config.pluginmanager.register(WorkerSetup(folder, moment, width), "ireval-worker-setup")
    return WorkerFolder(folder)


def read_worker_setup(config: pytest.Config) -> WorkerSetup | None:
    """In a worker, what it was given; None in the process that the user started."""
    if not hasattr(config, "workerinput"):
        return None
    folder, moment, width = config.workerinput[WORKER_INPUT]
    if not os.path.isdir(folder):
        complaint = f"a worker of pytest-xdist does not see the folder {folder} of this run"
        raise IrevalError(Problem(complaint, suggestion="workers on other machines cannot share a suite: use -n"))
    return WorkerSetup(Path(folder), datetime.fromisoformat(moment), width)


def uses_workers(config: pytest.Config) -> bool:
    option = config.option
    return getattr(option, "dist", "no") != "no" and bool(getattr(option, "tx", None)) and not option.collectonly
