"""Suites as pytest collects them: a file, below it its families of rules, below those one item for each verdict."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

import pytest_ireval
from pytest_ireval.errors import IrevalError, Problem, SuiteError
from pytest_ireval.gate.acceptance import proposal_of
from pytest_ireval.gate.report_data import broken_result
from pytest_ireval.gate.run import Plan, gate
from pytest_ireval.gate.verdicts import broken_outcome
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.pytest_plugin.asking_lines import AskingLines
from pytest_ireval.pytest_plugin.files import files_of
from pytest_ireval.pytest_plugin.imports import without_assertion_rewriting
from pytest_ireval.pytest_plugin.planned_suite import Evaluated, PlannedSuite, SharedRun
from pytest_ireval.pytest_plugin.terminal import RULE, as_printed
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.plain import shown_result
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.rules.planning import Check
from pytest_ireval.suite.suite import Suite

if TYPE_CHECKING:
    from pytest_ireval.pytest_plugin.session import EvaluationSession


def _mark(config: pytest.Config, run: SuiteRun) -> None:
    """Register the tags; a mark of a plugin that takes arguments acts on tests, so it cannot be a tag."""
    tags = dict.fromkeys(run.suite.tags, run.suite.place)
    tags |= {tag: check.place for check in run.checks for tag in check.tags}
    heads = [line.partition(":")[0].strip() for line in config.getini("markers")]
    acting = {head.partition("(")[0]: head for head in heads if "(" in head}
    wrong = [
        Problem(
            f"{tag!r} is not a tag: a pytest plugin uses marks of that name",
            str(place),
            suggestion=f"it is registered as {head}; choose another word",
        )
        for tag, place in tags.items()
        if (head := acting.get(tag))
    ]
    if wrong:
        raise SuiteError(*wrong)
    for tag in tags:
        config.addinivalue_line("markers", f"{tag}: a tag of suite {run.suite.name}")


Accepts = Literal["nothing", "new", "all"]
"""The baselines that a run accepts: none, those that do not exist yet, or all."""


@dataclass(eq=False)
class SuiteRun:
    """A suite in a run; with several processes, the first of them evaluates it for all."""

    suite: Suite
    registry: Registry
    plan: Plan
    planned: PlannedSuite
    session: EvaluationSession
    evaluated: Evaluated | None = None
    """None: it was not evaluated here."""
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    @property
    def checks(self) -> tuple[Check, ...]:
        """The planned checks."""
        return self.plan.checks

    def judged(self) -> SuiteResult:
        """The result of all that was selected; whatever happens on the way happens once."""
        if self.evaluated is None:
            shared = self.session.shared
            self.evaluated = self._evaluate() if shared is None else self._in_any_case(lambda: self._share(shared))
            self.outcomes = {outcome.id: outcome for outcome in self.evaluated.result.outcomes}
        return self.evaluated.result

    def _share(self, shared: SharedRun) -> Evaluated:
        return Evaluated(shared.evaluated(self.suite.name, self._evaluate, self.session.another))

    def begin(self, shared: SharedRun) -> bool:
        """Evaluate it for all processes before any of its items is run, unless it was begun; returns whether it was."""
        try:
            return bool(self.planned.selected) and shared.begin(self.suite.name, self._evaluate)
        except IrevalError:  # what cannot be handed over now is told when its own items are run
            return False

    def _evaluate(self) -> Evaluated:
        return self._in_any_case(self._gated)

    def _gated(self) -> Evaluated:
        with without_assertion_rewriting(self.session.config):
            proposes, config = self.session.accepting.asked, self.session.config
            circumstances, selected = self.session.circumstances, set(self.planned.selected)
            keep = files_of(config, config.option).folder is not None
            progress = AskingLines(config)
            gated = gate(self.suite, self.registry, self.plan, circumstances, selected, progress, keep=keep)
            material = gated.material
            if material is None:
                return Evaluated(gated.result)
            proposal = proposal_of(material) if proposes else None
            return Evaluated(gated.result, proposal, gated.rankings)

    def _in_any_case(self, evaluate: Callable[[], Evaluated]) -> Evaluated:
        try:
            return evaluate()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - not a verdict must get lost, so anything is an error of all
            told = error if isinstance(error, IrevalError) else _crash_of(error, str(self.suite.place))
            selected = set(self.planned.selected)
            outcomes = tuple(broken_outcome(check, told) for check in self.checks if check.id in selected)
            return Evaluated(shown_result(broken_result(self.suite, self.registry, self.checks, outcomes, told)))

    def text(self, outcome: Outcome) -> str:
        """The terminal's text of an outcome."""
        return as_printed(self.session.text(self, outcome))

    def outcome(self, check: Check) -> Outcome:
        """The outcome of one check."""
        self.judged()
        return self.outcomes[check.id]

    def passes(self, outcome: Outcome) -> bool:
        """Tell whether its test passes; a run that accepts what it measures accepts a comparison, too."""
        if outcome.verdict in ("pass", "inconclusive"):
            return True
        accepts = self.session.accepting.accepts
        settled = accepts == "all" or (accepts == "new" and outcome.missing_baseline)
        return settled and outcome.acceptable and self.planned.all_selected


_SUITE = "ireval_suite"
"""The property of a report that holds its suite; RULE is that of its rule."""


class SuiteFile(pytest.File):
    """A YAML file with one suite, or one for each value of a matrix."""

    session_of_ireval: EvaluationSession

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """The checks of the suite; with a matrix, a node for each suite."""
        ours = self.session_of_ireval
        try:
            with without_assertion_rewriting(self.config):
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
    """The name of a matrix suite below its file."""
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
        item.user_properties += [(_SUITE, run.suite.name), (RULE, check.id)]
        for tag in (*run.suite.tags, *check.tags):
            item.add_marker(getattr(pytest.mark, tag))
        item.extra_keyword_matches.update((run.suite.name, *run.suite.tags, *check.tags))
        return item

    def setup(self) -> None:
        """An error of what the verdict rests on is pytest's ERROR, not FAILED."""
        outcome = self.run.outcome(self.check)
        accepted = outcome.verdict in ("fail", "error") and self.run.passes(outcome)
        self.user_properties.append(("ireval_verdict", "pass" if accepted else outcome.verdict))
        self.user_properties += [("ireval_accepted", "true")] if accepted else []
        if outcome.warning and outcome.verdict == "pass":
            self.user_properties.append(("ireval_warning", outcome.headline))
        self.user_properties += [(f"ireval_{name}", float(value)) for name, value in outcome.numbers.items()]
        if outcome.metric:
            self.user_properties.append(("ireval_metric", outcome.metric))
        if outcome.verdict == "error" and not self.run.passes(outcome):
            pytest.fail(self.run.text(outcome), pytrace=False)

    def runtest(self) -> None:
        """A verdict against the change is pytest's FAILED."""
        outcome = self.run.outcome(self.check)
        if not self.run.passes(outcome):
            text = self.run.text(outcome)
            shown = text.partition("\n")[0] if self.config.getoption("tbstyle") == "line" else text
            pytest.fail(shown, pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The rule's own line, for programs that mark lines; it may be in a file that is extended."""
        place = self.check.place
        family, _, rest = self.check.id.partition("::")
        title = " :: ".join(filter(None, (self.run.suite.name, family, rest)))
        return self.config.invocation_params.dir / place.file, place.line - 1 if place.line else None, title

    def at_the_rule(self, report: pytest.TestReport, error: BaseException) -> None:
        """Make pytest's one-line form of a failure our first line, at the rule's own line."""
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
    told = f"{type(error).__name__}: {error}".rstrip(": ")
    at = _places(error)
    return IrevalError(
        Problem(
            f"{told}{f' ({at})' if at else ''}",
            place=place,
            suggestion="nothing in pytest-ireval expects this; please report it, with the plugins of the run",
        )
    )


def _places(error: BaseException) -> str:
    """Where it was raised, and the last line of ours on the way there."""
    walked = [each for each in traceback.walk_tb(error.__traceback__) if not each[0].f_locals.get("__tracebackhide__")]
    frames = [(Path(frame.f_code.co_filename), line) for frame, line in walked]
    ours = [f"{file.relative_to(PACKAGE.parent).as_posix()}:{n}" for file, n in frames if file.is_relative_to(PACKAGE)]
    if not frames or frames[-1][0].is_relative_to(PACKAGE):
        return "".join(ours[-1:])
    raised = f"{frames[-1][0].name}:{frames[-1][1]}"
    return f"{raised}, called from {ours[-1]}" if ours else raised
