"""Whether the suites of a run can be told apart: by their names, and by what pytest calls them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_ireval.errors import SuiteError
from pytest_ireval.pytest_adapter.suite_files import node_name
from pytest_ireval.pytest_adapter.suite_run import SuiteRun
from pytest_ireval.suites.suite import Suite


def told_apart(known: Mapping[str, SuiteRun], runs: Sequence[SuiteRun]) -> dict[str, SuiteRun]:
    """All suites by name, those of one more file among them; raises SuiteError where two would be one."""
    found, nodes = dict(known), dict[str, SuiteRun]()
    for run in runs:
        other = found.setdefault(run.suite.name, run)
        if other is not run:
            raise SuiteError(_same_name(run.suite, other.suite))
        twin = nodes.setdefault(node_name(run), run)
        if twin is not run:
            raise SuiteError(_same_node(run, twin))
    return found


def _same_name(suite: Suite, other: Suite) -> str:
    if suite.path == other.path:
        both = f"{_values(suite)} and {_values(other)}"
        return f"{suite.place}: the matrix makes two suites called {suite.name!r}: {both}; they need a name each"
    return (
        f"{suite.place}: another suite is called {suite.name!r}: {other.place}; "
        "baselines and reports need one name for each"
    )


def _same_node(run: SuiteRun, twin: SuiteRun) -> str:
    both = f"{_values(run.suite)} and {_values(twin.suite)}"
    return f"{run.suite.place}: the matrix makes two nodes called {node_name(run)!r}: {both}; choose other values"


def _values(suite: Suite) -> str:
    return ", ".join(f"{name}: {value}" for name, value in suite.values.items())
