"""One suite in the process that runs its items: evaluated once, when the first of them is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from pytest_ireval.baselines.writing import finish_interrupted
from pytest_ireval.errors import BaselineError, IrevalError
from pytest_ireval.gate.gate import Plan, gate
from pytest_ireval.gate.judging import Circumstances
from pytest_ireval.gate.last_run import kept_rankings
from pytest_ireval.gate.updating import proposal_of
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.pytest_adapter.code_host import as_printed
from pytest_ireval.pytest_adapter.crashes import crashed
from pytest_ireval.pytest_adapter.planned_suite import Evaluated, PlannedSuite
from pytest_ireval.pytest_adapter.shared_run import SharedRun
from pytest_ireval.pytest_adapter.undisturbed import as_they_are, without_collecting
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.shown import shown_result
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.rules.planning import Check
from pytest_ireval.suites.suite import Suite

Accepts = Literal["nothing", "new", "all"]
"""Which baselines a run accepts: none, those that do not exist yet, or all."""


@dataclass(eq=False)
class SuiteRun:
    """With several processes, evaluated by the first of them, and known to all."""

    suite: Suite
    registry: Registry
    plan: Plan
    planned: PlannedSuite
    circumstances: Circumstances
    tell: Callable[[SuiteRun, Outcome], str]
    """What a terminal shows of a verdict against the change."""
    accepts: Accepts = "nothing"
    proposes: bool = False
    """Whether the run writes baselines."""
    keeps: bool = False
    """Whether the run writes files, and keeps its rankings with them."""
    shared: SharedRun | None = None
    """None: there is one process."""
    meanwhile: Callable[[], bool] = lambda: False
    """What to do while another process evaluates the suite; whether there was anything."""
    evaluated: Evaluated | None = None
    """None: nobody evaluated it here."""
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    @property
    def checks(self) -> tuple[Check, ...]:
        """What is planned."""
        return self.plan.checks

    def judged(self) -> SuiteResult:
        """The result of all that was selected; whatever happens on the way happens once."""
        if self.evaluated is None:
            shared = self.shared
            self.evaluated = self._evaluate() if shared is None else self._in_any_case(lambda: self._share(shared))
            self.outcomes = {outcome.id: outcome for outcome in self.evaluated.result.outcomes}
        return self.evaluated.result

    def _share(self, shared: SharedRun) -> Evaluated:
        """As the process found it that came first."""
        return Evaluated(shared.evaluated(self.suite.name, self._evaluate, self.meanwhile))

    def begin(self, shared: SharedRun) -> bool:
        """Evaluate it for all processes before any of its items is run, unless somebody has; whether that was done."""
        try:
            return bool(self.planned.selected) and shared.begin(self.suite.name, self._evaluate)
        except IrevalError:  # what cannot be handed over now is told when its own items are run
            return False

    def _evaluate(self) -> Evaluated:
        return self._in_any_case(self._gated)

    def _gated(self) -> Evaluated:
        with as_they_are(), without_collecting():
            finished = self.proposes and self._finished()
            gated = gate(self.suite, self.registry, self.plan, self.circumstances, set(self.planned.selected))
            material = gated.material
            if material is None:
                return Evaluated(gated.result)
            proposal = proposal_of(material, finished=finished) if self.proposes else None
            return Evaluated(gated.result, proposal, kept_rankings(material) if self.keeps else None)

    def _finished(self) -> bool:
        """Whether an interrupted update is in place now; why one cannot be is said where the baseline is read."""
        try:
            return finish_interrupted(self.suite.baselines, self.suite.name)
        except BaselineError:
            return False

    def _in_any_case(self, evaluate: Callable[[], Evaluated]) -> Evaluated:
        """What was evaluated, or an error for everything that was selected."""
        try:
            return evaluate()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - not a verdict must get lost, so anything is an error of all
            broken = crashed(self.suite, self.registry, self.plan, set(self.planned.selected), error)
            return Evaluated(shown_result(broken))

    def text(self, outcome: Outcome) -> str:
        """What a terminal shows of it."""
        return as_printed(self.tell(self, outcome))

    def outcome(self, check: Check) -> Outcome:
        """Of one check."""
        self.judged()
        return self.outcomes[check.id]

    def passes(self, outcome: Outcome) -> bool:
        """Whether its test passes: in a run that accepts what it measures, a comparison does not stand in the way."""
        if outcome.verdict in ("pass", "inconclusive"):
            return True
        accepts = self.accepts == "all" or (self.accepts == "new" and outcome.missing_baseline)
        return accepts and outcome.acceptable and self.planned.all_selected
