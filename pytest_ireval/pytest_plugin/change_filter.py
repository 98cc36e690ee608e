"""``--ireval-changed-since``: which suites take part, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.changed_since import IN_ANY_CASE, Repositories, find_reason_to_run
from pytest_ireval.pytest_plugin.planned_suite import PlannedSuite
from pytest_ireval.pytest_plugin.run_plugins import RunPlugins
from pytest_ireval.repositories.changed_files import Changes
from pytest_ireval.repositories.git import short_ref
from pytest_ireval.results.suite_result import RunResult, SuiteResult
from pytest_ireval.suite.suite import Suite
from pytest_ireval.words import format_count


@dataclass
class ChangeFilter:
    """Chooses each suite as it is collected."""

    since: str | None = None
    """The ref; None: all suites take part."""
    repositories: Repositories = field(default_factory=Repositories)

    def find_reason(self, suite: Suite, plugins: RunPlugins) -> str | None:
        """The reason why a suite takes part, empty where all do; None if it does not. Raises where git cannot tell."""
        if self.since is None:
            return ""
        return find_reason_to_run(suite, self.since, self.repositories, plugins.module_paths) or None

    def format_header(self) -> list[str]:
        """The lines at the top of pytest's output."""
        if self.since is None:
            return []
        changes = self.repositories.changes.values()
        files = ", ".join(
            f"{format_count(len(each.files.names), 'file')} changed since {each.base}" for each in changes
        )
        notes = dict.fromkeys(f"  {note}" for each in changes for note in each.base.notes)
        return [f"ireval: only suites affected by a change: {files}", *notes]


def make_change_filter(config: pytest.Config, known: Mapping[Path, Changes]) -> ChangeFilter:
    """Read the option; ``known`` are changes that another process of the run has found."""
    since = config.getoption("ireval_changed_since")
    changes = ChangeFilter(since, Repositories(dict(known)))
    if since is None:
        return changes
    if not since.strip():  # as of a variable that is not set
        raise IrevalError("--ireval-changed-since is empty: give a git ref, such as origin/main")
    paths = (config.invocation_params.dir / argument.partition("::")[0] for argument in config.args)
    try:  # git refuses a bad ref before anything is run
        for folder in dict.fromkeys(path if path.is_dir() else path.parent for path in paths):
            changes.repositories.find_changes_around(folder, since)
    except IrevalError as error:  # git's complaint about the ref itself is one about the option
        problems = (replace(problem, place=problem.place or "--ireval-changed-since") for problem in error.problems)
        raise IrevalError(*problems) from error
    return changes


def is_no_suite_affected(suites: Sequence[PlannedSuite]) -> bool:
    """Tell whether there are suites, and no change concerns any of them."""
    return bool(suites) and not any(suite.is_affected for suite in suites)


def add_unaffected_suites(result: RunResult, since: str | None, suites: Sequence[PlannedSuite]) -> RunResult:
    """Add the suites that took no part, and the reasons of the others; a run without an affected suite passes."""
    if since is None:
        return result
    reasons = {suite.name: suite.affected_by for suite in suites}
    passes = is_no_suite_affected(suites) and not result.suites and not result.problems
    return replace(
        result,
        suites=tuple(_add_reason(suite, reasons[suite.name] or "") for suite in result.suites),
        verdict="pass" if passes else result.verdict,
        changed_since=short_ref(since),
        unaffected=tuple(name for name, reason in reasons.items() if reason is None),
    )


def _add_reason(suite: SuiteResult, reason: str) -> SuiteResult:
    """Add the reason, and a note of it where the suite runs in any case."""
    notes = (*suite.notes, reason) if reason.startswith(IN_ANY_CASE) else suite.notes
    return replace(suite, affected_by=reason, notes=notes)
