"""The suites that Python tests gate themselves, with the fixture ``ireval``: recorded for the end of the run."""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import pytest


class Gate(NamedTuple):
    """A suite that a Python test has gated."""

    baseline_key: str
    suite: str
    verdict: str
    """Empty if an error ended the gate."""


GATES = pytest.StashKey[list[Gate]]()
"""The gates of a test so far."""
GATES_OF_REPORT = "ireval_gates"
"""The same as an attribute of its report."""


class GateRecorder:
    """Adds what a Python test has gated to its report, so that a worker's report has it, too."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if gates := item.stash.get(GATES, []):
            setattr(report, GATES_OF_REPORT, [tuple(gate) for gate in gates])  # pytest-xdist sends plain tuples alone
        return report


def read_gates(report: pytest.TestReport) -> list[Gate]:
    return [Gate(*values) for values in getattr(report, GATES_OF_REPORT, ())]
