"""Accepting what a run measured as the new baselines: what was asked for, what prevents it, what was written."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import pytest

from pytest_ireval.baselines.record import Acceptance
from pytest_ireval.baselines.writing import write_baseline
from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.acceptance import Proposal, blockers, needs_reason
from pytest_ireval.gate.material import written
from pytest_ireval.pytest_adapter.items import Accepts
from pytest_ireval.pytest_adapter.planned_suite import Evaluated, PlannedSuite
from pytest_ireval.repositories.git import commit_state
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.suites.finding import twin_of
from pytest_ireval.text_table import counted

Endings = Callable[[PlannedSuite], tuple[Evaluated | None, Collection[str]]]
"""What a suite came to, and which of its verdicts were reported."""
FINISHED = "finished an interrupted update"
LOST = "its history is lost: the new baseline does not know the acceptances before this one"


@dataclass
class Accepting:
    """What the command line asks for, and what came of it."""

    update: bool
    """Accept whatever was measured."""
    new: bool
    """Write what does not exist yet."""
    reason: str = ""
    force: bool = False
    told: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    """Suites."""

    @property
    def asked(self) -> bool:
        """Whether this run accepts anything."""
        return self.update or self.new

    @property
    def accepts(self) -> Accepts:
        """Which baselines."""
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
            if obstacle := self._accept(suite, evaluated, reported, moment):
                self.problems.append(f"{suite.name}: {obstacle}")

    def _accept(
        self, suite: PlannedSuite, evaluated: Evaluated | None, reported: Collection[str], moment: datetime
    ) -> str:
        """Nothing, or what is in the way."""
        proposal = None if evaluated is None else evaluated.proposal
        if proposal is not None and proposal.finished:
            self.told.append(f"{suite.name}: {FINISHED}")
        if proposal is not None and proposal.exists and not self.update:
            return ""  # --ireval-update-new leaves it alone
        if not suite.all_selected or set(reported) != set(suite.planned):
            left = len(set(suite.planned) - set(reported))
            return f"{left} of its {counted(len(suite.planned), 'verdict')} were not part of this run; left as it is"
        if evaluated is None or proposal is None:
            return "its inputs are broken; its baseline is left as it is"
        return self._obstacle(evaluated.result, proposal) or self._write(suite, evaluated.result, proposal, moment)

    def _obstacle(self, result: SuiteResult, proposal: Proposal) -> str:
        """What is red, and not forced or explained; nothing if the suite can be accepted."""
        what, why = _only_by_force(result, proposal)
        if what and not self.force:
            return f"{what}, and --ireval-force was not given: {why}"
        needed = needs_reason(result)
        if self.reason.strip() or not (what or needed):
            return ""
        if needed:
            return f'{needed}: give a reason with --ireval-reason "…"'
        return f'{what}, accepted by force: give a reason with --ireval-reason "…"'

    def _write(self, suite: PlannedSuite, result: SuiteResult, proposal: Proposal, moment: datetime) -> str:
        """Put the baseline into place; returns why that is impossible."""
        twin = twin_of(suite.path, suite.name)
        if twin is not None:
            return (
                f"{twin.name} beside it has a suite of the same name, and both would share one baseline; left as it is"
            )
        commit, branch, dirty = commit_state(suite.path.parent, suite.files)
        forced = bool(_only_by_force(result, proposal)[0])
        if proposal.error:
            return proposal.error
        baseline = proposal.accepted(Acceptance(written(moment), commit, branch, dirty, self.reason.strip(), forced))
        if baseline is None:
            self.told.append(f"{suite.name}: nothing to accept, unchanged since the baseline")
            return ""
        try:
            write_baseline(suite.baselines, baseline)
        except (IrevalError, OSError) as error:
            return str(error)
        self.written.append(suite.name)
        if proposal.history_lost:
            self.told.append(f"{suite.name}: {LOST}")
        return ""


def _only_by_force(result: SuiteResult, proposal: Proposal) -> tuple[str, str]:
    """What can be accepted by force alone, and more of it; empty where that is not needed."""
    if proposal.only_by_force[0]:
        return proposal.only_by_force
    red = list(blockers(result))
    return (f"{counted(len(red), 'verdict')} red", red[0]) if red else ("", "")


def accepting_of(config: pytest.Config) -> Accepting:
    """As the command line says; refused where nobody can answer for it."""
    asked = Accepting(
        update=config.getoption("ireval_update"),
        new=config.getoption("ireval_update_new"),
        reason=_as_typed(config.getoption("ireval_reason")),
        force=config.getoption("ireval_force"),
    )
    if asked.update and asked.new:
        raise IrevalError("--ireval-update accepts every suite, --ireval-update-new only new ones: choose one")
    if (asked.force or asked.reason) and not asked.asked:
        raise IrevalError("--ireval-force and --ireval-reason need --ireval-update or --ireval-update-new")
    if asked.asked and os.environ.get("CI", "") not in ("", "0", "false") and not config.getoption("ireval_allow_ci"):
        raise IrevalError("refusing to update baselines in CI; --ireval-allow-ci allows it")
    return asked


def _as_typed(text: str) -> str:
    """What was typed in UTF-8, where the locale knows ASCII alone and Python took it for bytes of nothing."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
