"""A run is remembered: what it came to is appended to the history; if that is impossible, it is said, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_ireval.errors import HistoryError, IrevalError, Problem, one_line
from pytest_ireval.history.appending import append
from pytest_ireval.history.kept import kept_run
from pytest_ireval.history.run_trends import with_trends
from pytest_ireval.pytest_adapter.code_host import as_printed
from pytest_ireval.pytest_adapter.run_files import OFF
from pytest_ireval.results.suite_result import RunResult

INI = "ireval_history"


class RunHistory:
    """Where a run is remembered; None: nowhere."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.trouble = ""
        """Why it is not."""
        self.unread = ""
        """Why its report shows no earlier runs."""

    def with_trends(self, run: RunResult) -> RunResult:
        """The run beside earlier ones, as far as any are known."""
        if self.path is None or not run.suites:
            return run
        try:
            return with_trends(self.path, run)
        except HistoryError as error:
            self.unread = one_line(error)
            return run

    def append(self, run: RunResult) -> None:
        """The run is in the history; one without a suite came to nothing that could be remembered."""
        if self.path is None or not run.suites:
            return
        try:
            append(self.path, kept_run(run))
        except HistoryError as error:
            self.trouble = one_line(error)

    def tell(self, reporter: pytest.TerminalReporter) -> None:
        """What stood in the way. The gate has decided without the history, so the verdict stays what it is."""
        if self.trouble:
            reporter.write_line(as_printed(f"warning: this run is not in the history: {self.trouble}"), yellow=True)
        elif self.unread:
            reporter.write_line(as_printed(f"warning: the report shows no earlier runs: {self.unread}"), yellow=True)


def history_of(config: pytest.Config) -> RunHistory:
    """As the ini file says."""
    told = str(config.getini(INI)).strip()
    if not told:
        raise IrevalError(Problem(f"{INI} names no file", allowed=f"{INI} = {OFF} remembers no run"))
    return RunHistory(None if told == OFF else config.rootpath / told)
