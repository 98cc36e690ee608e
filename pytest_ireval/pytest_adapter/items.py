"""Suites as pytest collects them: a file, below it its families of rules, below those one item for each verdict."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

import pytest_ireval
from pytest_ireval.baselines.writing import finish_interrupted
from pytest_ireval.errors import BaselineError, IrevalError, Problem, SuiteError
from pytest_ireval.gate.acceptance import proposal_of
from pytest_ireval.gate.last_run import kept_rankings
from pytest_ireval.gate.report_data import broken_result
from pytest_ireval.gate.run import Plan, gate
from pytest_ireval.gate.verdicts import Circumstances, broken_outcome
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.pytest_adapter.code_host import as_printed
from pytest_ireval.pytest_adapter.planned_suite import Evaluated, PlannedSuite, SharedRun
from pytest_ireval.pytest_adapter.undisturbed import as_they_are, without_collecting
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.plain import shown_result
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.rules.planning import Check
from pytest_ireval.suites.suite import Place, Suite

if TYPE_CHECKING:
    from pytest_ireval.pytest_adapter.session import EvaluationSession


def _mark(config: pytest.Config, run: SuiteRun) -> None:
    """Register the tags; a mark of a plugin that takes arguments does something to tests, and is no tag."""
    tags = dict(_tags(run))
    acting = _acting(config)
    wrong = [(tag, place) for tag, place in tags.items() if tag in acting]
    if wrong:
        raise SuiteError(*(_refusal(tag, acting[tag], place) for tag, place in wrong))
    for tag in tags:
        config.addinivalue_line("markers", f"{tag}: a tag of suite {run.suite.name}")


def _tags(run: SuiteRun) -> Iterator[tuple[str, Place]]:
    yield from ((tag, run.suite.place) for tag in run.suite.tags)
    yield from ((tag, check.place) for check in run.checks for tag in check.tags)


def _acting(config: pytest.Config) -> dict[str, str]:
    """Marks that take arguments, as they were registered."""
    heads = [line.partition(":")[0].strip() for line in config.getini("markers")]
    return {head.partition("(")[0]: head for head in heads if "(" in head}


def _refusal(tag: str, head: str, place: Place) -> Problem:
    complaint = f"{tag!r} is not a tag: a pytest plugin uses marks of that name"
    return Problem(complaint, str(place), suggestion=f"it is registered as {head}; choose another word")


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
        """Tell whether an interrupted update is in place now; why one cannot be is said where the baseline is read."""
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
            broken = _crashed(self.suite, self.registry, self.plan, set(self.planned.selected), error)
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


SUITE, RULE = "ireval_suite", "ireval_rule"
"""Properties that say which verdict a test is about."""


class SuiteFile(pytest.File):
    """A YAML file with one suite, or one for each value of a matrix."""

    session_of_ireval: EvaluationSession

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """The checks of the suite; with a matrix, a node for each suite."""
        ours = self.session_of_ireval
        try:
            with as_they_are(), without_collecting():
                runs = ours.runs_of(self.path)
            for run in runs:
                _mark(self.config, run)
        except IrevalError as error:
            raise self.CollectError(as_printed(str(error))) from error
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # plugins may raise anything, and pytest takes a skip for green
            raise self.CollectError(as_printed(str(_crash_of(error, ours.shown(self.path))))) from error
        if len(runs) == 1 and not runs[0].suite.values:
            return _nodes_of(self, runs[0], runs[0].checks)
        return [MatrixSuite.of(self, run) for run in runs]


class MatrixSuite(pytest.Collector):
    """One suite of a matrix; its name is made of its values."""

    run: SuiteRun

    @classmethod
    def of(cls, parent: pytest.Collector, run: SuiteRun) -> MatrixSuite:
        """The node below the file."""
        node: MatrixSuite = cls.from_parent(parent, name=node_name(run))
        node.run = run
        return node

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Its checks."""
        return _nodes_of(self, self.run, self.run.checks)


def node_name(run: SuiteRun) -> str:
    """What a suite of a matrix is called below its file."""
    return ".".join(run.suite.values.values())


class Family(pytest.Collector):
    """All verdicts of one kind of rule."""

    run: SuiteRun
    checks: Sequence[Check]

    def collect(self) -> Iterable[pytest.Item]:
        """An item for each."""
        return [RuleItem.of(self, self.run, check, check.id.partition("::")[2]) for check in self.checks]


def _nodes_of(parent: pytest.Collector, run: SuiteRun, checks: Sequence[Check]) -> list[pytest.Item | pytest.Collector]:
    """The inputs, then a node for each family, in the order in which the suite names them."""
    order = {family: place for place, family in enumerate(dict.fromkeys(check.family for check in checks))}
    nodes: list[pytest.Item | pytest.Collector] = []
    for family, members in groupby(sorted(checks, key=lambda check: order[check.family]), key=lambda c: c.family):
        found = list(members)
        if len(found) == 1 and found[0].id == family:
            nodes.append(RuleItem.of(parent, run, found[0], family))
            continue
        node: Family = Family.from_parent(parent, name=family)
        node.run, node.checks = run, found
        nodes.append(node)
    return nodes


class RuleItem(pytest.Item):
    """One verdict."""

    run: SuiteRun
    check: Check

    @classmethod
    def of(cls, parent: pytest.Collector, run: SuiteRun, check: Check, name: str) -> RuleItem:
        """The item, marked and findable by its metric and slice."""
        item: RuleItem = cls.from_parent(parent, name=name)
        item.run, item.check = run, check
        item.add_marker("ireval")
        item.user_properties += [(SUITE, run.suite.name), (RULE, check.id)]
        for tag in (*run.suite.tags, *check.tags):
            item.add_marker(getattr(pytest.mark, tag))
        item.extra_keyword_matches.update((run.suite.name, *run.suite.tags, *check.tags))
        return item

    def setup(self) -> None:
        """An error of what the verdict rests on is pytest's ERROR, not FAILED."""
        outcome = self.run.outcome(self.check)
        self.user_properties += self._verdict(outcome)
        self.user_properties += [(f"ireval_{name}", float(value)) for name, value in outcome.numbers.items()]
        if outcome.metric:
            self.user_properties.append(("ireval_metric", outcome.metric))
        if outcome.verdict == "error" and not self.run.passes(outcome):
            pytest.fail(self.run.text(outcome), pytrace=False)

    def _verdict(self, outcome: Outcome) -> list[tuple[str, object]]:
        """As the test reports it: what is to be accepted is no failure."""
        if self.run.passes(outcome) and outcome.verdict in ("fail", "error"):
            return [("ireval_verdict", "pass"), ("ireval_accepted", "true")]
        return [("ireval_verdict", outcome.verdict)]

    def runtest(self) -> None:
        """A verdict against the change is pytest's FAILED."""
        outcome = self.run.outcome(self.check)
        if not self.run.passes(outcome):
            text = self.run.text(outcome)
            shown = text.partition("\n")[0] if self.config.getoption("tbstyle") == "line" else text
            pytest.fail(shown, pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The rule's own line, so that whatever marks lines marks that one; it may stand in a file that is extended."""
        place = self.check.place
        family, _, rest = self.check.id.partition("::")
        title = " :: ".join(filter(None, (self.run.suite.name, family, rest)))
        return self.config.invocation_params.dir / place.file, place.line - 1 if place.line else None, title

    def at_the_rule(self, report: pytest.TestReport, error: BaseException) -> None:
        """What pytest shows of a failure in one line is our first one, at the rule's own line."""
        crash = getattr(report.longrepr, "reprcrash", None)
        if crash is None or not isinstance(error, pytest.fail.Exception):
            return
        path, line, _ = self.reportinfo()
        outcome = self.run.outcomes.get(self.check.id)
        first = next(iter(str(error).splitlines()), "")
        crash.path, crash.lineno = str(path), (line or 0) + 1
        crash.message = first.removeprefix(f"{outcome.place}: ") if outcome is not None else first


PACKAGE = Path(pytest_ireval.__file__).parent


def _crash_of(error: BaseException, place: str) -> IrevalError:
    """As it is told: type, message, and the last place in our code."""
    told = f"{type(error).__name__}: {error}".rstrip(": ")
    at = _places(error)
    return IrevalError(
        Problem(
            f"{told}{f' ({at})' if at else ''}",
            place=place,
            suggestion="nothing in pytest-ireval expects this; please report it, with the plugins of the run",
        )
    )


def _crashed(suite: Suite, registry: Registry, plan: Plan, selected: set[str], error: BaseException) -> SuiteResult:
    """The suite with an error for everything that was selected, so that nothing is asked a second time."""
    told = error if isinstance(error, IrevalError) else _crash_of(error, str(suite.place))
    outcomes = tuple(broken_outcome(check, told) for check in plan.checks if check.id in selected)
    return broken_result(suite, registry, plan.checks, outcomes, told)


def _places(error: BaseException) -> str:
    """Where it was raised, and the last line of ours on the way there."""
    walked = [each for each in traceback.walk_tb(error.__traceback__) if not each[0].f_locals.get("__tracebackhide__")]
    frames = [(Path(frame.f_code.co_filename), line) for frame, line in walked]
    ours = [f"{file.relative_to(PACKAGE.parent).as_posix()}:{n}" for file, n in frames if file.is_relative_to(PACKAGE)]
    if not frames or frames[-1][0].is_relative_to(PACKAGE):
        return "".join(ours[-1:])
    raised = f"{frames[-1][0].name}:{frames[-1][1]}"
    return f"{raised}, called from {ours[-1]}" if ours else raised
