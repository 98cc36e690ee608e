"""Suites as pytest collects them: a file, below it its families of rules, below those one item for each verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_ireval.errors import IrevalError
from pytest_ireval.pytest_adapter.code_host import as_printed
from pytest_ireval.pytest_adapter.crashes import crash_of
from pytest_ireval.pytest_adapter.marks import mark
from pytest_ireval.pytest_adapter.suite_run import SuiteRun
from pytest_ireval.pytest_adapter.undisturbed import as_they_are, without_collecting
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.rules.planning import Check

if TYPE_CHECKING:
    from pytest_ireval.pytest_adapter.session import EvaluationSession

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
                mark(self.config, run)
        except IrevalError as error:
            raise self.CollectError(as_printed(str(error))) from error
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # plugins may raise anything, and pytest takes a skip for green
            raise self.CollectError(as_printed(str(crash_of(error, ours.shown(self.path))))) from error
        if len(runs) == 1 and not runs[0].suite.values:
            return nodes_of(self, runs[0], runs[0].checks)
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
        return nodes_of(self, self.run, self.run.checks)


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


def nodes_of(parent: pytest.Collector, run: SuiteRun, checks: Sequence[Check]) -> list[pytest.Item | pytest.Collector]:
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
