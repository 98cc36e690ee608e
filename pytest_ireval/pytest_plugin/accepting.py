"""Accepting what a run measured as the new baselines: what was asked for, what prevents it, what was written."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pytest

from pytest_ireval.baseline.record import Acceptance
from pytest_ireval.baseline.writing import write_baseline
from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.acceptance import Proposal, blockers, needs_reason
from pytest_ireval.gate.material import written
from pytest_ireval.pytest_plugin.items import Accepts
from pytest_ireval.pytest_plugin.planned_suite import Evaluated, PlannedSuite
from pytest_ireval.repositories.git import read_commit_state
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.suite.finding import twin_of
from pytest_ireval.words import format_count

Endings = Callable[[PlannedSuite], tuple[Evaluated | None, Collection[str]]]
"""The result of a suite, and the ids of its reported verdicts."""
LOST = "its history is lost: the new baseline does not know the acceptances before this one"


@dataclass
class Accepting:
    """The acceptance that the command line asks for, and its outcome."""

    update: bool
    """Accept all that was measured."""
    new: bool
    """Write baselines that do not exist yet."""
    reason: str = ""
    force: bool = False
    told: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    written: dict[str, tuple[Acceptance, Path]] = field(default_factory=dict)
    """By suite, the acceptance and the file of the new baseline."""

    @property
    def asked(self) -> bool:
        """True if this run accepts anything."""
        return self.update or self.new

    @property
    def accepts(self) -> Accepts:
        """The baselines that it accepts."""
        if self.update and self.reason.strip():
            return "all"  # what is red is accepted for a reason only
        return "new" if self.asked else "nothing"

    def accept(self, suites: Sequence[PlannedSuite], endings: Endings, moment: datetime) -> None:
        """Write the baseline of every suite that was evaluated whole and has nothing in its way."""
        for suite in suites:
            if not suite.selected:
                self.told.append(f"{suite.name}: not part of this run, left as it is")
                continue
            evaluated, reported = endings(suite)
            obstacles = self._accept(suite, evaluated, reported, moment)
            self.problems += [f"{suite.name}: {obstacle}" for obstacle in obstacles if obstacle]

    def _accept(
        self, suite: PlannedSuite, evaluated: Evaluated | None, reported: Collection[str], moment: datetime
    ) -> list[str]:
        """Accept one suite; returns the obstacles."""
        proposal = None if evaluated is None else evaluated.proposal
        if proposal is not None and proposal.exists and not self.update:
            if proposal.baseline is not None:  # something changed
                other = "--ireval-update replaces it, --ireval-update-new only writes first ones"
                self.told.append(f"{suite.name}: not accepted, it has a baseline: {other}")
            return []
        if not suite.all_selected or set(reported) != set(suite.planned):
            left = len(set(suite.planned) - set(reported))
            return [
                f"{left} of its {format_count(len(suite.planned), 'verdict')} were not part of this run; left as it is"
            ]
        if evaluated is None or proposal is None:
            return ["its inputs are broken; its baseline is left as it is"]
        found = [*self._obstacles(evaluated.result, proposal)]
        return found or [self._write(suite, evaluated.result, proposal, moment)]

    def _obstacles(self, result: SuiteResult, proposal: Proposal) -> Iterator[str]:
        """All that is neither forced nor explained, so that the next command is the last."""
        what, why = _only_by_force(result, proposal)
        if what and not self.force:
            if proposal.only_by_force[0]:
                yield f"{what}, and --ireval-force was not given: {why}"
            else:
                yield f"{what}: make it pass, change its rule, or add --ireval-force: {why}"
        needed = needs_reason(result)
        if needed and not self.reason.strip():
            yield f'{needed}: give a reason with --ireval-reason "…"'
        elif what and not self.reason.strip():
            yield f'{what}, to be accepted by force: give a reason with --ireval-reason "…"'

    def _write(self, suite: PlannedSuite, result: SuiteResult, proposal: Proposal, moment: datetime) -> str:
        """Put the baseline into place; returns why that is impossible."""
        if twin := twin_of(suite.path, suite.name):
            return (
                f"{twin.name} beside it has a suite of the same name, and both would share one baseline; left as it is"
            )
        commit, branch, dirty = read_commit_state(suite.path.parent, suite.files)
        forced = bool(_only_by_force(result, proposal)[0])
        if proposal.error:
            return proposal.error
        baseline = proposal.accepted(Acceptance(written(moment), commit, branch, dirty, self.reason.strip(), forced))
        if baseline is None:
            self.told.append(f"{suite.name}: nothing to accept, unchanged since the baseline")
            return ""
        try:
            self.written[suite.name] = (
                baseline.accepted,
                write_baseline(suite.baselines, baseline, compress=suite.compress_baseline),
            )
        except (IrevalError, OSError) as error:
            return str(error)
        if proposal.history_lost:
            self.told.append(f"{suite.name}: {LOST}")
        return ""


def _only_by_force(result: SuiteResult, proposal: Proposal) -> tuple[str, str]:
    """The checks that only force can accept, and a detail; empty where force is not needed."""
    if proposal.only_by_force[0]:
        return proposal.only_by_force
    red = list(blockers(result))
    return (f"{format_count(len(red), 'verdict')} red", red[0]) if red else ("", "")


def accepting_of(config: pytest.Config) -> Accepting:
    """The acceptance that the command line asks for; refused in CI unless the command line allows it."""
    reason = config.getoption("ireval_reason")
    asked = Accepting(
        update=config.getoption("ireval_update"),
        new=config.getoption("ireval_update_new"),
        # a locale of ASCII alone turns typed UTF-8 into escapes
        reason=reason.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
        force=config.getoption("ireval_force"),
    )
    if asked.update and asked.new:
        raise IrevalError("--ireval-update accepts every suite, --ireval-update-new only new ones: choose one")
    if (asked.force or asked.reason) and not asked.asked:
        raise IrevalError("--ireval-force and --ireval-reason need --ireval-update or --ireval-update-new")
    if asked.asked and os.environ.get("CI", "") not in ("", "0", "false"):
        if not config.getoption("ireval_allow_ci"):
            raise IrevalError("refusing to update baselines in CI; --ireval-allow-ci allows it")
        # addopts belongs to the branch, which could accept its own changes; a worker has another command line
        if not hasattr(config, "workerinput") and "--ireval-allow-ci" not in config.invocation_params.args:
            raise IrevalError("--ireval-allow-ci counts only on the command line: addopts would accept every change")
    return asked
