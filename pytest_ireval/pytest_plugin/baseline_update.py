"""``--ireval-update`` and ``--ireval-update-new``: what a run measured is accepted as the new baselines."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_ireval.baseline.record import Acceptance
from pytest_ireval.baseline.writing import write_baseline
from pytest_ireval.clock import format_moment
from pytest_ireval.errors import IrevalError, quote
from pytest_ireval.gate.acceptance import Obstacle, Proposal, list_blockers, needs_reason
from pytest_ireval.pytest_plugin.planned_suite import PlannedSuite, SuiteEvaluation
from pytest_ireval.repositories.git import CommitState, find_root, has_untracked, read_commit_state
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.suite.finding import find_suites_by_name
from pytest_ireval.words import format_count, is_placeholder


class WrittenBaseline(NamedTuple):
    acceptance: Acceptance
    path: Path


@dataclass
class BaselineUpdate:
    """What the command line asks for, and what came of it."""

    update: bool
    """Accept all that was measured."""
    update_new: bool
    """Write baselines that do not exist yet."""
    reason: str = ""
    force: bool = False
    messages: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    written: dict[str, WrittenBaseline] = field(default_factory=dict)
    """By suite."""
    suites_by_name: dict[Path, dict[str, list[Path]]] = field(default_factory=dict)
    """By folder: its suite files, by the names that are written in them."""
    commit_states: dict[Path | None, CommitState] = field(default_factory=dict)
    """By the top of a repository, without untracked files; None: outside of any."""

    @property
    def is_requested(self) -> bool:
        return self.update or self.update_new

    @property
    def has_reason(self) -> bool:
        return bool(self.reason.strip())

    def would_settle(self, outcome: Outcome) -> bool:
        """Tell whether accepting its suite settles a red outcome: a first baseline, or a loss for a reason."""
        may = self.is_requested if outcome.missing_baseline else self.update and self.has_reason
        return outcome.acceptable and may

    def accept_suite(
        self, suite: PlannedSuite, evaluation: SuiteEvaluation | None, reported: Collection[str], moment: datetime
    ) -> None:
        """Write the baseline of a suite that was evaluated whole and has nothing in its way."""
        if not suite.selected:
            self.messages.append(f"{suite.name}: not part of this run, left as it is")
            return
        proposal = None if evaluation is None else evaluation.proposal
        if proposal is not None and proposal.exists and not self.update:
            if proposal.baseline is not None:  # something changed
                hint = "--ireval-update replaces it, --ireval-update-new only writes first ones"
                self.messages.append(f"{suite.name}: not accepted, it has a baseline: {hint}")
            return
        if not suite.is_complete or set(reported) != set(suite.checks):
            missing, count = len(set(suite.checks) - set(reported)), format_count(len(suite.checks), "verdict")
            obstacles = [f"{missing} of its {count} were not part of this run; left as it is"]
        elif evaluation is None or proposal is None:
            obstacles = ["its inputs are broken; its baseline is left as it is"]
        else:
            obstacles = list(self._find_obstacles(evaluation.result, proposal))
            if not obstacles:
                obstacles = self._write(suite, evaluation.result, proposal, moment)
        self.problems += [f"{suite.name}: {obstacle}" for obstacle in obstacles]

    def _find_obstacles(self, result: SuiteResult, proposal: Proposal) -> Iterator[str]:
        """What needs --ireval-force or a reason, named in one run so that one more command can give both."""
        obstacle = _find_need_of_force(result, proposal)
        if obstacle is not None and not self.force:
            if proposal.obstacle is not None:
                yield f"{obstacle.headline}, and --ireval-force was not given: {obstacle.details}"
            else:
                remedy = "make it pass, change its rule, or add --ireval-force"
                yield f"{obstacle.headline}: {remedy}: {obstacle.details}"
        if not self.has_reason:
            if need := needs_reason(result):
                yield f'{need}: give a reason with --ireval-reason "…"'
            elif obstacle is not None:
                yield f'{obstacle.headline}, to be accepted by force: give a reason with --ireval-reason "…"'

    def _write(self, suite: PlannedSuite, result: SuiteResult, proposal: Proposal, moment: datetime) -> list[str]:
        """Write the baseline; returns what prevents that."""
        if twin := self._find_suite_of_same_name(suite):
            return [
                f"{twin.name} beside it has a suite of the same name, and both would share one baseline; left as it is"
            ]
        if proposal.error:
            return [proposal.error]
        commit, branch, dirty = self._read_commit_state(suite)
        forced = _find_need_of_force(result, proposal) is not None
        baseline = proposal.make_baseline(
            Acceptance(format_moment(moment), commit, branch, dirty, self.reason.strip(), forced)
        )
        if baseline is None:
            self.messages.append(f"{suite.name}: nothing to accept, unchanged since the baseline")
            return []
        try:
            path = write_baseline(suite.baselines, baseline, compress=suite.compress_baseline)
        except (IrevalError, OSError) as error:
            return [str(error)]
        self.written[suite.name] = WrittenBaseline(baseline.accepted, path)
        if proposal.history_lost:
            lost = "its history is lost: the new baseline does not know the acceptances before this one"
            self.messages.append(f"{suite.name}: {lost}")
        return []

    def _read_commit_state(self, suite: PlannedSuite) -> CommitState:
        """The state of its repository, for which git looks at all files: it is asked once for all suites."""
        folder = suite.path.parent
        root = find_root(folder)
        if root not in self.commit_states:
            self.commit_states[root] = read_commit_state(folder)
        state = self.commit_states[root]
        if state == CommitState() or state.dirty:  # git cannot tell, or there is nothing more to find
            return state
        return state._replace(dirty=has_untracked(folder, suite.files))

    def _find_suite_of_same_name(self, suite: PlannedSuite) -> Path | None:
        """Another suite file in the folder; one that takes part in the run is refused as it is collected."""
        folder = suite.path.parent
        if folder not in self.suites_by_name:
            self.suites_by_name[folder] = find_suites_by_name(folder)
        return next((path for path in self.suites_by_name[folder].get(suite.name, ()) if path != suite.path), None)


def _find_need_of_force(result: SuiteResult, proposal: Proposal) -> Obstacle | None:
    """What only force can accept; None where force is not needed."""
    if proposal.obstacle is not None:
        return proposal.obstacle
    red = list(list_blockers(result))
    return Obstacle(f"{format_count(len(red), 'verdict')} red", red[0]) if red else None


def read_update_options(config: pytest.Config) -> BaselineUpdate:
    """Read the options; in CI they are refused unless the command line allows them."""
    reason = config.getoption("ireval_reason")
    update = BaselineUpdate(
        update=config.getoption("ireval_update"),
        update_new=config.getoption("ireval_update_new"),
        # a locale of ASCII alone turns typed UTF-8 into escapes
        reason=reason.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
        force=config.getoption("ireval_force"),
    )
    if update.update and update.update_new:
        raise IrevalError("--ireval-update accepts every suite, --ireval-update-new only new ones: choose one")
    if (update.force or update.reason) and not update.is_requested:
        raise IrevalError("--ireval-force and --ireval-reason need --ireval-update or --ireval-update-new")
    if update.has_reason and is_placeholder(update.reason):
        raise IrevalError(f"--ireval-reason {quote(update.reason)} is no reason: say why the change is fine")
    if update.is_requested and os.environ.get("CI", "") not in ("", "0", "false"):
        if not config.getoption("ireval_allow_ci"):
            raise IrevalError("refusing to update baselines in CI; --ireval-allow-ci allows it")
        # addopts belongs to the branch, which could accept its own changes; a worker has another command line
        if not hasattr(config, "workerinput") and "--ireval-allow-ci" not in config.invocation_params.args:
            raise IrevalError("--ireval-allow-ci counts only on the command line: addopts would accept every change")
    return update
