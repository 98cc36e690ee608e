"""One suite in one pytest run: what is planned, what was selected, what it came to, and what of that was reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from pytest_ireval.gate.gate import Gated, Plan, gate
from pytest_ireval.gate.judging import Circumstances
from pytest_ireval.gate.material import Material
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.pytest_adapter.code_host import as_printed
from pytest_ireval.pytest_adapter.crashes import crashed
from pytest_ireval.pytest_adapter.undisturbed import as_they_are, without_collecting
from pytest_ireval.results.outcome import Outcome, Verdict, worst_of
from pytest_ireval.results.suite_result import MetricFigures, SuiteResult
from pytest_ireval.rules.planning import Check
from pytest_ireval.suites.suite import Suite

Accepts = Literal["nothing", "new", "all"]
"""Which baselines a run accepts: none, those that do not exist yet, or all."""


@dataclass(eq=False)
class SuiteRun:
    """Evaluated once, when the first of its items is run."""

    suite: Suite
    registry: Registry
    plan: Plan
    circumstances: Circumstances
    tell: Callable[[SuiteRun, Outcome], str]
    """What a terminal shows of a verdict against the change."""
    accepts: Accepts = "nothing"
    selected: set[str] = field(default_factory=set)
    deselected: set[str] = field(default_factory=set)
    reported: set[str] = field(default_factory=set)
    gated: Gated | None = None
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    @property
    def checks(self) -> tuple[Check, ...]:
        """What is planned."""
        return self.plan.checks

    @property
    def material(self) -> Material | None:
        """What it was judged on; None where nobody looked, or inputs are broken."""
        return None if self.gated is None else self.gated.material

    def judged(self) -> Gated:
        """The result of all that was selected; whatever happens on the way happens once."""
        if self.gated is None:
            try:
                with as_they_are(), without_collecting():
                    self.gated = gate(self.suite, self.registry, self.plan, self.circumstances, self.selected)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - not a verdict must get lost, so anything is an error of all
                self.gated = crashed(self.suite, self.registry, self.plan, self.selected, error)
            self.outcomes = {outcome.id: outcome for outcome in self.gated.result.outcomes}
        return self.gated

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
        all_selected = self.selected == {check.id for check in self.checks}  # a part of a suite is never accepted
        return accepts and outcome.acceptable and all_selected

    @property
    def whole(self) -> bool:
        """Whether everything that is planned was selected and reported."""
        return {check.id for check in self.checks} == self.selected == self.reported

    @property
    def unreported(self) -> set[str]:
        """What was selected, and nobody said anything of."""
        return self.selected - self.reported

    def result(self, written: bool = False) -> SuiteResult:
        """What was reported, as accepted if its baseline was ``written``; with a verdict missing it is an error."""
        if self.gated is None:
            return self._never_judged()
        result = self.gated.result
        outcomes = tuple(_settled(each, written) for each in result.outcomes if each.id in self.reported)
        broken = result.error or not outcomes or self.unreported
        notes = (
            [f"the run ended before {len(self.unreported)} of its verdicts were reported"] if self.unreported else []
        )
        return replace(
            result,
            outcomes=outcomes,
            verdict="error" if broken else worst_of(tuple(each.verdict for each in outcomes)),
            metrics=tuple(_judged_by(metric, outcomes) for metric in result.metrics),
            notes=(*result.notes, *notes),
        )

    def _never_judged(self) -> SuiteResult:
        """An error, for nobody looked."""
        return SuiteResult(
            self.suite.name,
            self.suite.shown,
            "error",
            (),
            self.suite.owner,
            matrix=self.suite.values,
            planned=tuple(check.id for check in self.checks),
            error="the run ended before this suite was evaluated",
        )


def _settled(outcome: Outcome, written: bool) -> Outcome:
    """What was against the change is accepted once the baseline is written, and not before."""
    if not written or not outcome.acceptable:
        return outcome
    return replace(outcome, verdict="pass", accepted=True)


def _judged_by(metric: MetricFigures, outcomes: tuple[Outcome, ...]) -> MetricFigures:
    about: tuple[Verdict, ...] = tuple(each.verdict for each in outcomes if each.metric == metric.name)
    return replace(metric, verdict=worst_of(about) if about else None)
