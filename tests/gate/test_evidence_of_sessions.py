"""Metrics of sessions, decided by evidence."""

import pytest
from suite_files import outcomes_by_id, write_suite
from town import Town

from pytest_ireval import load_suite, run_gate
from pytest_ireval.errors import SuiteError
from pytest_ireval.plugins.conftests import Conftests

LONG = '''
import numpy as np

from pytest_ireval import hookimpl, metric


@metric(name="Long", unit="session", needs=("sessions",), range=(0, 100))
def long(judged):
    """How many queries a session has."""
    return np.bincount(judged.sessions.session).astype(np.float64)


@hookimpl
def ireval_metrics():
    return [long]
'''


@pytest.fixture
def gate(tmp_path):
    """The outcomes of a rule about 60 queries, two in each session."""
    folder = Town(tmp_path / "town", [(2, 2)] * 60).folder
    table = folder / "queries.tsv"
    rows = [f"{row}\ts{number // 2}\t{number % 2 + 1}" for number, row in enumerate(table.read_text().splitlines()[1:])]
    table.write_text("\n".join(["id\ttext\tsegment\tsearches\tsession\tposition", *rows]) + "\n")
    (folder / "conftest.py").write_text(LONG)

    def run(rule):
        path = write_suite(folder, rule, source="{run: now.txt}", queries="queries.tsv", weight="searches")
        registry = Conftests().registry_for(path)
        return outcomes_by_id(run_gate(load_suite(path, registry), registry=registry))

    return run


def test_sessions_have_no_weights(gate):
    """Those of queries would be given to whatever sessions stand at their places."""
    with pytest.raises(SuiteError, match="Long scores a whole session, and only queries have weights"):
        gate("no_regression: {metric: Long, tolerance: 2%, weighted: true, against: {run: before.txt}}")


def test_a_move_of_sessions_is_told_in_sessions(gate):
    outcome = gate("equivalent: {metric: Long, tolerance: 2%, against: {run: before.txt}}")["equivalent::Long.all"]
    assert (outcome.verdict, outcome.sentence) == ("pass", "0 of 30 sessions got worse, 0 better.")
