"""The files of a run: what every suite came to, as results.json; never one of an earlier run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

import pytest

import pytest_ireval
from pytest_ireval.baselines.git import commit_state
from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.circumstances import moment_of, written
from pytest_ireval.pytest_adapter.suite_run import SuiteRun
from pytest_ireval.reports.results_json import results_text
from pytest_ireval.results.outcome import worst_of
from pytest_ireval.results.suite_result import RunResult
from pytest_ireval.retrieval.formats.writers import put

OFF = "none"


@dataclass
class RunFiles:
    """Where files go; None: nowhere."""

    folder: Path | None
    root: Path
    written: list[str] = field(default_factory=list)
    """As messages show them."""

    @property
    def results(self) -> Path | None:
        """The file with everything."""
        return None if self.folder is None else self.folder / "results.json"

    def begin(self, moment: datetime) -> None:
        """Nobody shall take the file of an earlier run for that of this one."""
        unfinished = RunResult(pytest_ireval.__version__, written(moment), "error", (), problems=(NOT_ENDED,))
        if self.write(unfinished) and self.results is not None:
            with suppress(OSError):  # a full disk has no room for another file, and lets an old one go all the same
                self.results.unlink()
        self.written.clear()

    def result_of(
        self, runs: Sequence[SuiteRun], moment: datetime, problems: Sequence[str], accepted: Sequence[str]
    ) -> RunResult:
        """What the run came to."""
        suites = tuple(run.result(run.suite.name in accepted) for run in runs)
        verdict = worst_of(tuple(suite.verdict for suite in suites))
        commit, branch, dirty = commit_state(self.root)
        return RunResult(
            version=pytest_ireval.__version__,
            date=written(moment),
            verdict="error" if problems or not suites else verdict,
            suites=suites,
            commit=commit,
            branch=branch,
            dirty=dirty,
            accepted=tuple(accepted),
            problems=tuple(problems),
        )

    def write(self, result: RunResult) -> str:
        """Put the file in its place; returns why that is impossible."""
        if self.folder is None or self.results is None:
            return ""
        try:
            if not self.folder.exists():
                self.folder.mkdir(parents=True)
                (self.folder / ".gitignore").write_text(IGNORED, encoding="utf-8")
            put({self.results: [results_text(result)]})
        except OSError as error:
            reason = error.strerror or error
            return f"{self.results}: cannot be written: {reason}; --ireval-report DIR writes elsewhere, none nothing"
        path = self.results
        self.written.append((path.relative_to(self.root) if path.is_relative_to(self.root) else path).as_posix())
        return ""


NOT_ENDED = "the run did not end"
IGNORED = "# Files of runs of pytest-ireval, made anew by each.\n*\n"
LOOKING = ("help", "version", "markers", "showfixtures", "show_fixtures_per_test", "cacheshow", "collectonly")


def only_looks(options: argparse.Namespace) -> bool:
    """Whether nothing is run."""
    return any(getattr(options, option, None) for option in LOOKING)


def begin(config: pytest.Config, options: argparse.Namespace) -> None:
    """No file of an earlier run is left, however early this one ends."""
    if only_looks(options):
        return
    try:
        moment = moment_of()
    except IrevalError:  # it is told when the session starts
        moment = datetime.now(timezone.utc)
    files_of(config, options).begin(moment)


def files_of(config: pytest.Config, options: argparse.Namespace) -> RunFiles:
    """As the option says, or the ini file."""
    root = config.invocation_params.dir
    option = options.ireval_report
    told = option if option is not None else str(config.getini("ireval_report"))
    base = root if option is not None else config.rootpath
    return RunFiles(None if told == OFF else base / told, root)
