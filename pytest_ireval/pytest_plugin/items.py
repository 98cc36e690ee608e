"""A suite as pytest collects it: its families of rules, below those one item for each check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

import pytest

from pytest_ireval.gate.planning import Check
from pytest_ireval.pytest_plugin.suite_run import SuiteRun

SUITE_PROPERTY = "ireval_suite"
RULE_PROPERTY = "ireval_rule"
VERDICT_PROPERTY = "ireval_verdict"
"""The user properties of a report that name its suite, its rule and the verdict."""


class MatrixSuite(pytest.Collector):
    """One suite of a matrix; its name is made of its values."""

    run: SuiteRun

    @classmethod
    def from_run(cls, parent: pytest.Collector, run: SuiteRun) -> MatrixSuite:
        node: MatrixSuite = cls.from_parent(parent, name=run.node_name)
        node.run = run
        return node

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        return make_nodes(self, self.run)


class Family(pytest.Collector):
    """All checks of one kind of rule."""

    run: SuiteRun
    checks: Sequence[Check]

    def collect(self) -> Iterable[pytest.Item]:
        return [RuleItem.from_check(self, self.run, check, check.id.partition("::")[2]) for check in self.checks]


def make_nodes(parent: pytest.Collector, run: SuiteRun) -> list[pytest.Item | pytest.Collector]:
    """The inputs, then a node for each family, in the order in which the suite names them."""
    order = {family: place for place, family in enumerate(dict.fromkeys(check.family for check in run.plan.checks))}
    nodes: list[pytest.Item | pytest.Collector] = []
    by_family = sorted(run.plan.checks, key=lambda check: order[check.family])
    for family, members in groupby(by_family, key=lambda check: check.family):
        checks = list(members)
        if len(checks) == 1 and checks[0].id == family:
            nodes.append(RuleItem.from_check(parent, run, checks[0], family))
        else:
            node: Family = Family.from_parent(parent, name=family)
            node.run, node.checks = run, checks
            nodes.append(node)
    return nodes


class RuleItem(pytest.Item):
    """One check of a suite."""

    run: SuiteRun
    check: Check

    @classmethod
    def from_check(cls, parent: pytest.Collector, run: SuiteRun, check: Check, name: str) -> RuleItem:
        item: RuleItem = cls.from_parent(parent, name=name)
        item.run, item.check = run, check
        item.user_properties += [(SUITE_PROPERTY, run.suite.name), (RULE_PROPERTY, check.id)]
        for mark in ("ireval", *run.suite.tags, *check.tags):
            item.add_marker(getattr(pytest.mark, mark))
        item.extra_keyword_matches.update((run.suite.name, *run.suite.tags, *check.tags))
        return item

    def setup(self) -> None:
        """Record the verdict; one that is an error fails here, so that pytest reports ERROR and not FAILED."""
        outcome = self.run.get_outcome(self.check)
        accepted = outcome.verdict in ("fail", "error") and self.run.is_test_passed(outcome)
        self.user_properties.append((VERDICT_PROPERTY, "pass" if accepted else outcome.verdict))
        if accepted:
            self.user_properties.append(("ireval_accepted", "true"))
        if outcome.warning and outcome.verdict == "pass":
            self.user_properties.append(("ireval_warning", outcome.headline))
        self.user_properties += [(f"ireval_{name}", float(value)) for name, value in outcome.numbers.items()]
        if outcome.metric:
            self.user_properties.append(("ireval_metric", outcome.metric))
        if outcome.verdict == "error" and not self.run.is_test_passed(outcome):
            pytest.fail(self.run.format_failure(outcome), pytrace=False)

    def runtest(self) -> None:
        """Fail for a verdict against the change: pytest reports FAILED."""
        outcome = self.run.get_outcome(self.check)
        if not self.run.is_test_passed(outcome):
            text = self.run.format_failure(outcome)
            one_line = self.config.getoption("tbstyle") == "line"
            pytest.fail(text.partition("\n")[0] if one_line else text, pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The rule's own line, for programs that mark lines; it may be in a file that the suite extends."""
        place = self.check.place
        family, _, rest = self.check.id.partition("::")
        title = " :: ".join(filter(None, (self.run.suite.name, family, rest)))
        return self.config.invocation_params.dir / place.file, place.line - 1 if place.line else None, title

    def point_at_rule(self, report: pytest.TestReport, error: BaseException) -> None:
        """Make pytest's one-line form of a failure our first line, at the rule's own line."""
        crash = getattr(report.longrepr, "reprcrash", None)
        if crash is None or not isinstance(error, pytest.fail.Exception):
            return
        path, line, _ = self.reportinfo()
        outcome = self.run.outcomes.get(self.check.id)
        message = str(error).partition("\n")[0]
        crash.path, crash.lineno = str(path), (line or 0) + 1
        crash.message = message.removeprefix(f"{outcome.place}: ") if outcome is not None else message
