"""Which verdicts pytest reported as they are: by the node of the test, for properties are anybody's to record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pytest

from pytest_ireval.pytest_adapter.planned_suite import Evaluated, PlannedSuite

PHASES = ("setup", "call", "teardown")
"""Reports about anything else tell of a worker that died."""
AGAINST = ("fail", "error")


@dataclass
class Reported:
    """The reports of all tests, those of Python functions among them."""

    nodes: set[str] = field(default_factory=set)
    failed: dict[str, set[str]] = field(default_factory=dict)
    """By node, the verdicts that the failed test told."""

    def take(self, report: pytest.TestReport) -> None:
        """A verdict counts once its report is here."""
        if report.when in PHASES and (report.when == "call" or report.failed):
            self.nodes.add(report.nodeid)
        if report.failed:
            self.failed.setdefault(report.nodeid, set()).update(_told(report))

    def verdicts(self, suite: PlannedSuite) -> set[str]:
        """The ids of what was reported."""
        return {check for node, check in suite.nodes.items() if node in self.nodes}

    def failed_tests(self, suites: Iterable[PlannedSuite]) -> tuple[str, ...]:
        """Failed tests that are no verdict of a suite."""
        ours = {node for suite in suites for node in suite.nodes}
        return tuple(sorted(node for node in self.failed if node not in ours))

    def disturbed(self, suite: PlannedSuite, evaluated: Evaluated | None) -> set[str]:
        """Those of them whose test failed though the verdict is not against the change: something else failed."""
        found = () if evaluated is None else evaluated.result.outcomes
        red = {outcome.id for outcome in found if outcome.verdict in AGAINST}
        return {
            check
            for node, check in suite.nodes.items()
            if node in self.nodes and node in self.failed and not (check in red and self.failed[node] & {*AGAINST})
        }


def _told(report: pytest.TestReport) -> Iterator[str]:
    """What the test recorded as its verdict; other properties may be anything."""
    for each in report.user_properties:
        if isinstance(each, tuple | list) and len(each) == 2 and each[0] == "ireval_verdict":
            yield str(each[1])
