"""One suite in one pytest run: what is planned, what was selected, what it came to, and what of that was reported."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from pytest_ireval.gate.gate import Gated, Plan, gate
from pytest_ireval.gate.judging import Circumstances
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.results.outcome import Outcome, worst_of
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.rules.planning import Check
from pytest_ireval.suites.suite import Suite


@contextmanager
def without_collecting() -> Iterator[None]:
    """Python does not look for cycles meanwhile: there are many objects and none of them is garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@dataclass(eq=False)
class SuiteRun:
    """Evaluated once, when the first of its items is run."""

    suite: Suite
    registry: Registry
    plan: Plan
    circumstances: Circumstances
    tell: Callable[[SuiteRun, Outcome], str]
    """What a terminal shows of a verdict against the change."""
    selected: set[str] = field(default_factory=set)
    reported: set[str] = field(default_factory=set)
    gated: Gated | None = None

    @property
    def checks(self) -> tuple[Check, ...]:
        """What is planned."""
        return self.plan.checks

    def judged(self) -> Gated:
        """The result of all that was selected."""
        if self.gated is None:
            with without_collecting():
                self.gated = gate(self.suite, self.registry, self.plan, self.circumstances, self.selected)
        return self.gated

    def text(self, outcome: Outcome) -> str:
        """What a terminal shows of it."""
        return self.tell(self, outcome)

    def outcome(self, check: Check) -> Outcome:
        """Of one check."""
        outcomes = self.judged().result.outcomes
        return next(outcome for outcome in outcomes if outcome.id == check.id)

    @property
    def whole(self) -> bool:
        """Whether everything that is planned was selected and reported."""
        return {check.id for check in self.checks} == self.selected == self.reported

    def result(self) -> SuiteResult:
        """What was reported; a suite that was never judged is an error, for nobody looked."""
        if self.gated is None:
            planned = tuple(check.id for check in self.checks)
            error = "the run ended before this suite was evaluated"
            shown = self.suite.shown
            return SuiteResult(self.suite.name, shown, "error", (), self.suite.owner, planned=planned, error=error)
        result = self.gated.result
        outcomes = tuple(outcome for outcome in result.outcomes if outcome.id in self.reported)
        verdict = "error" if result.error or not outcomes else worst_of(tuple(each.verdict for each in outcomes))
        left = len(self.selected) - len(outcomes)
        notes = (*result.notes, *([f"the run ended before {left} of its verdicts were reported"] if left else []))
        return replace(result, outcomes=outcomes, verdict=verdict, notes=notes)
