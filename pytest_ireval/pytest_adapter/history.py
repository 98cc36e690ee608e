"""The history of a run: the one that the ini file names, and how it remembers the run. No verdict depends on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import pytest

from pytest_ireval.errors import HistoryError, IrevalError, Problem, one_line
from pytest_ireval.history.database import USUAL
from pytest_ireval.history.kept import NO_JOB, Job, append, job_at, kept_run
from pytest_ireval.history.shared import (
    HistoryPlace,
    Shared,
    fetch_earlier,
    history_place,
    in_time,
    mark_of,
    send_one,
    send_waiting,
    waiting,
)
from pytest_ireval.history.trends import with_trends
from pytest_ireval.pytest_adapter.terminal import as_printed
from pytest_ireval.results.suite_result import RunResult
from pytest_ireval.secrets import shown_address
from pytest_ireval.text_table import counted

INI, OFF = "ireval_history", "none"


def _named_place(config: pytest.Config) -> HistoryPlace | None:
    """The places that the ini file names, None if it wants no history; an error if it names none."""
    told = str(config.getini(INI)).strip()
    if not told:
        raise IrevalError(Problem(f"{INI} is empty", allowed=f"{INI} = {OFF} remembers no run"))
    try:
        return None if told == OFF else history_place(told, config.rootpath)
    except HistoryError as error:
        raise IrevalError(*(Problem(each.complaint, INI, allowed=each.allowed) for each in error.problems)) from error


class NamedHere(NamedTuple):
    """The history of a run that would start in the current folder."""

    place: HistoryPlace | None
    usual: bool
    """No file is chosen, so that it is the usual one below rootdir."""
    by: str
    """The words for the setting: ``ireval_history of pytest.ini``."""

    @property
    def path(self) -> Path | None:
        """The file; None if a run keeps no history."""
        return None if self.place is None else self.place.path


_QUICKLY = ("-o", "addopts=", "--disable-plugin-autoload", "-p", "ireval")
"""Neither options of the project nor its other plugins: they may be slow, or write files."""


def named_here() -> NamedHere:
    """Ask pytest for it, which finds rootdir and reads the ini file, and is stopped before it does more."""
    stopper, told = _Stopper(), "pytest cannot read its ini file"
    try:
        pytest.main([*_QUICKLY], plugins=[stopper])  # an error of the ini file is printed there
    except _ReadError as read:
        place, ini = _named_place(read.config), read.config.inipath
        usual = place is None or place.path == read.config.rootpath / USUAL
        return NamedHere(place, usual, f"{INI} of {ini.name}" if ini else INI)
    except pytest.fail.Exception as error:
        told = str(error)
    raise HistoryError(Problem(told, suggestion="--history FILE names a history, and then the ini file is not read"))


class _ReadError(Exception):
    """Not an error: it stops pytest."""

    def __init__(self, config: pytest.Config) -> None:
        super().__init__()
        self.config = config


class _Stopper:
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: pytest.Config) -> Iterator[None]:
        raise _ReadError(early_config)
        yield


PATIENCE = 10.0
"""Seconds that a run waits for the shared database, twice: to fetch earlier runs, and to send its own."""


def history_of(config: pytest.Config) -> RunHistory:
    """The history that the ini file names; an error if it names none."""
    return RunHistory(_named_place(config), config.rootpath)


@dataclass
class RunHistory:
    """The history of this run; no place: it is not remembered."""

    place: HistoryPlace | None
    root: Path
    job: Job = NO_JOB
    trouble: str = ""
    """The reason why the run is not remembered."""
    only_shared: bool = False
    """The shared database has it all the same."""
    unread: str = ""
    """The reason why its report shows no earlier runs."""
    away: str = ""
    """The reason why the shared database is not asked again."""
    wrong: bool = False
    """The shared database cannot even be opened, as where its address is wrong: no later run will send anything."""
    left: int = 0
    """The number of runs that wait for it."""
    sent: int = 0

    def with_trends(self, run: RunResult) -> RunResult:
        """The run beside earlier ones, as far as any are known."""
        if self.place is None or not run.suites:
            return run
        path, self.job = self.place.path, job_at(self.root)
        self._ask(lambda shared, _: fetch_earlier(path, shared, run, self.job.repository))
        try:
            return with_trends(path, run, self.job.repository)
        except HistoryError as error:
            self.unread = one_line(error)
            return run

    def append(self, run: RunResult) -> None:
        """Add the run to the history; a run without a suite has nothing to remember."""
        if self.place is None or not run.suites:
            return
        path, address = self.place.path, self.place.address
        try:
            append(path, kept_run(run, job=self.job))
        except HistoryError as error:
            self.trouble = one_line(error)
            if self._ask(lambda shared, _: send_one(kept_run(run, job=self.job), shared)):
                self.only_shared = True
            return
        self.sent = self._ask(lambda shared, stop: send_waiting(path, shared, stop)) or 0
        try:
            self.left = len(waiting(path, mark_of(address))) if address and not self.wrong else 0
        except HistoryError as error:
            self.away = one_line(error)

    def _ask(self, work: Callable[[Shared, Event], Any]) -> Any:
        """The answer of the shared database; None where there is none, or where it is away."""
        if self.place is None or not self.place.address or self.away:
            return None
        address = self.place.address

        try:
            shared = Shared(address, PATIENCE)
        except HistoryError as error:
            self.away, self.wrong = one_line(error), True
            return None

        def asking(stop: Event) -> Any:
            try:
                return work(shared, stop)
            finally:
                shared.close()

        try:
            return in_time(asking, PATIENCE, shown_address(address))
        except HistoryError as error:
            self.away = one_line(error)
            return None

    def tell(self, reporter: pytest.TerminalReporter) -> None:
        """Warn of a problem with the history. The gate has decided without it, so the verdict stays."""

        def warn(text: str) -> None:
            reporter.write_line(as_printed(text), yellow=True)

        if self.only_shared:
            warn(f"warning: this run is in the shared history, but not in the file of this machine: {self.trouble}")
        elif self.trouble:
            warn(f"warning: this run is not in the history: {self.trouble}")
        elif self.unread:
            warn(f"warning: the report shows no earlier runs: {self.unread}")
        if self.place is None:
            return
        if self.left:
            why = f": {self.away}" if self.away else ""
            runs = f"{counted(self.left, 'run')} of this machine not in the shared history yet{why}"
            them = "it" if self.left == 1 else "them"
            warn(f"warning: {runs}; the next run sends {them}, or ireval history push")
        elif self.away:
            warn(f"warning: this run is not in the shared history: {self.away}")
        elif self.sent > 1:
            place, waited = shown_address(self.place.address), counted(self.sent - 1, "run")
            text = f"sent to {place}: this run, and {waited} that waited"
            reporter.write_line(as_printed(text))
        elif self.place.unset and not self.trouble:
            reporter.write_line(f"{INI}: {self.place.unset} is not set, so only this machine keeps the history")
