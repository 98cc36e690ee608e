"""Accepting what a run measured as the new baselines: what was asked for, what stands in the way, what was written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

import pytest

from pytest_ireval.baselines.baseline import Acceptance
from pytest_ireval.baselines.git import commit_state
from pytest_ireval.baselines.writing import write_baseline
from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.circumstances import written
from pytest_ireval.gate.material import Material
from pytest_ireval.gate.updating import accepted, blockers, needs_reason
from pytest_ireval.plurals import counted
from pytest_ireval.pytest_adapter.suite_run import SuiteRun
from pytest_ireval.results.suite_result import SuiteResult


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
    def accepts(self) -> Literal["nothing", "new", "all"]:
        """Which baselines."""
        return "all" if self.update else "new" if self.new else "nothing"

    def accept(self, runs: Sequence[SuiteRun], moment: datetime) -> None:
        """Write the baseline of every suite that was evaluated whole and has nothing in its way."""
        for run in runs:
            obstacle = self._obstacle(run)
            if obstacle:
                self.problems.append(f"{run.suite.name}: {obstacle}")
            elif run.gated is not None and run.gated.material is not None and self._wanted(run):
                self._write(run, run.gated.result, run.gated.material, moment)

    def _wanted(self, run: SuiteRun) -> bool:
        """With --ireval-update-new, an existing baseline is left alone."""
        material = run.gated.material if run.gated else None
        return material is not None and (self.update or not _exists(material))

    def _obstacle(self, run: SuiteRun) -> str:
        """What stands in the way of accepting a suite; nothing if it can be, or is not to be, accepted."""
        if run.gated is not None and run.gated.material is not None and not self._wanted(run):
            return ""
        if not run.whole:
            left = len(run.checks) - len(run.reported)
            return f"{left} of its {counted(len(run.checks), 'verdict')} were not part of this run; left as it is"
        if run.gated is None or run.gated.material is None:
            return "its inputs are broken; left as it is"
        return self._red(run.gated.result, run.gated.material)

    def _red(self, result: SuiteResult, material: Material) -> str:
        """What is red, and not forced or explained."""
        red = list(blockers(result))
        if red and not self.force:
            return f"{counted(len(red), 'verdict')} red, and --ireval-force was not given: {red[0]}"
        if material.stored is None and material.baseline_error is not None and not self.force:
            return f"its baseline cannot be read, and --ireval-force was not given: {material.baseline_error}"
        compared = material.stored is not None and needs_reason(result)
        if (compared or red) and not self.reason.strip():
            return 'a comparison was red: say why that is fine, with --ireval-reason "…"'
        return ""

    def _write(self, run: SuiteRun, result: SuiteResult, material: Material, moment: datetime) -> None:
        try:
            baseline = accepted(material, self._acceptance(run, result, moment))
            if baseline is None:
                self.told.append(f"{run.suite.name}: nothing to accept, all is as in the baseline")
                return
            write_baseline(run.suite.baselines, baseline)
        except (IrevalError, OSError) as error:
            self.problems.append(f"{run.suite.name}: {error}")
            return
        self.written.append(run.suite.name)

    def _acceptance(self, run: SuiteRun, result: SuiteResult, moment: datetime) -> Acceptance:
        commit, branch, dirty = commit_state(run.suite.path.parent)
        forced = self.force and any(True for _ in blockers(result))
        return Acceptance(written(moment), commit, branch, dirty, self.reason.strip(), forced)


def _exists(material: Material) -> bool:
    return material.stored is not None or material.baseline_error is not None


def accepting_of(config: pytest.Config) -> Accepting:
    """As the command line says; refused where nobody can answer for it."""
    asked = Accepting(
        update=config.getoption("ireval_update"),
        new=config.getoption("ireval_update_new"),
        reason=config.getoption("ireval_reason"),
        force=config.getoption("ireval_force"),
    )
    if asked.update and asked.new:
        raise IrevalError("--ireval-update accepts everything, --ireval-update-new what is new: say one of them")
    if (asked.force or asked.reason) and not asked.asked:
        raise IrevalError("--ireval-force and --ireval-reason are about accepting: say --ireval-update, too")
    if asked.asked and os.environ.get("CI", "") not in ("", "0", "false") and not config.getoption("ireval_allow_ci"):
        raise IrevalError("CI is set, and a change is accepted by somebody, not by CI; --ireval-allow-ci allows it")
    return asked
