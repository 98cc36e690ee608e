"""Accepting what a run measured as the new baselines: what was asked for, what stands in the way, what was written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import pytest

from pytest_ireval.baselines.baseline import Acceptance
from pytest_ireval.baselines.git import commit_state
from pytest_ireval.baselines.reading import read_record
from pytest_ireval.baselines.writing import write_baseline
from pytest_ireval.errors import BaselineError, IrevalError
from pytest_ireval.gate.circumstances import written
from pytest_ireval.gate.judging import bring_back
from pytest_ireval.gate.material import Material
from pytest_ireval.gate.updating import accepted, blockers, needs_reason
from pytest_ireval.plurals import counted
from pytest_ireval.pytest_adapter.suite_run import Accepts, SuiteRun
from pytest_ireval.results.suite_result import SuiteResult

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

    def accept(self, runs: Sequence[SuiteRun], moment: datetime) -> None:
        """Write the baseline of every suite that was evaluated whole and has nothing in its way."""
        for run in runs:
            if not run.selected:
                self.told.append(f"{run.suite.name}: not part of this run, left as it is")
            elif not self._exists(run):
                self._accept(run, moment)

    def _exists(self, run: SuiteRun) -> bool:
        """Whether there is a baseline that --ireval-update-new leaves alone."""
        material = run.material
        known = material is not None and (material.stored is not None or material.baseline_error is not None)
        return known and not self.update

    def _accept(self, run: SuiteRun, moment: datetime) -> None:
        if not run.whole:
            left = len(run.checks) - len(run.reported)
            obstacle = f"{left} of its {counted(len(run.checks), 'verdict')} were not part of this run; left as it is"
        elif run.material is None:
            obstacle = "its inputs are broken; left as it is"
        else:
            result = run.judged().result
            obstacle = self._obstacle(result, run.material) or self._write(run, result, run.material, moment)
        if obstacle:
            self.problems.append(f"{run.suite.name}: {obstacle}")

    def _obstacle(self, result: SuiteResult, material: Material) -> str:
        """What is red, and not forced or explained; nothing if the suite can be accepted."""
        forced = _only_by_force(result, material)
        what, why = forced or ("", "")
        if forced and not self.force:
            return f"{what}, and --ireval-force was not given: {why}"
        if self.reason.strip() or not (forced or needs_reason(result)):
            return ""
        if needs_reason(result):
            return 'a comparison was red: say why that is fine, with --ireval-reason "…"'
        return f'{what}, accepted by force: say why, with --ireval-reason "…"'

    def _write(self, run: SuiteRun, result: SuiteResult, material: Material, moment: datetime) -> str:
        """Put the baseline into place; returns why that is impossible."""
        commit, branch, dirty = commit_state(run.suite.path.parent)
        forced = bool(_only_by_force(result, material))
        acceptance = Acceptance(written(moment), commit, branch, dirty, self.reason.strip(), forced)
        lost = _history_lost(material)
        try:
            baseline = accepted(material, acceptance)
            if baseline is not None:
                write_baseline(run.suite.baselines, baseline)
        except (IrevalError, OSError) as error:
            return str(error)
        if baseline is None:
            self.told.append(f"{run.suite.name}: nothing to accept, all is as in the baseline")
            return ""
        self.written.append(run.suite.name)
        if lost:
            self.told.append(f"{run.suite.name}: {LOST}")
        return ""


def _only_by_force(result: SuiteResult, material: Material) -> tuple[str, str] | None:
    """What can be accepted by force alone, and how it is; nothing where that is not needed."""
    if material.stored is None and material.baseline_error is not None:
        return "its baseline cannot be read", str(material.baseline_error)
    if material.deleted:
        return "the last commit has a baseline of this suite that is not here", bring_back(material)
    red = list(blockers(result))
    return (f"{counted(len(red), 'verdict')} red", red[0]) if red else None


def _history_lost(material: Material) -> bool:
    """Whether earlier acceptances cannot be kept: nobody can read them."""
    if material.stored is not None or material.baseline_error is None:
        return bool(material.deleted)
    try:
        return read_record(material.suite.baselines, material.suite.name) is None
    except BaselineError:
        return True


def accepting_of(config: pytest.Config) -> Accepting:
    """As the command line says; refused where nobody can answer for it."""
    asked = Accepting(
        update=config.getoption("ireval_update"),
        new=config.getoption("ireval_update_new"),
        reason=_as_typed(config.getoption("ireval_reason")),
        force=config.getoption("ireval_force"),
    )
    if asked.update and asked.new:
        raise IrevalError("--ireval-update accepts everything, --ireval-update-new what is new: say one of them")
    if (asked.force or asked.reason) and not asked.asked:
        raise IrevalError("--ireval-force and --ireval-reason are about accepting: say --ireval-update, too")
    if asked.asked and os.environ.get("CI", "") not in ("", "0", "false") and not config.getoption("ireval_allow_ci"):
        raise IrevalError("CI is set, and a change is accepted by somebody, not by CI; --ireval-allow-ci allows it")
    return asked


def _as_typed(text: str) -> str:
    """What was typed in UTF-8, where the locale knows ASCII alone and Python took it for bytes of nothing."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
