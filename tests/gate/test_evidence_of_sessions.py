"""Metrics of sessions, decided by evidence."""

import pytest
from suite_files import write_suite
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
RULE = "no_regression: {metric: Long, tolerance: 2%, decide_by: evidence, weighted: true, against: {run: before.txt}}"


def test_sessions_have_no_weights(tmp_path):
    """Those of queries would be given to whatever sessions stand at their places."""
    folder = Town(tmp_path / "town", [(2, 2)] * 60).folder
    table = folder / "queries.tsv"
    rows = [f"{row}\ts{number // 2}\t{number % 2 + 1}" for number, row in enumerate(table.read_text().splitlines()[1:])]
    table.write_text("\n".join(["id\ttext\tsegment\tsearches\tsession\tposition", *rows]) + "\n")
    (folder / "conftest.py").write_text(LONG)
    path = write_suite(folder, RULE, source="{run: now.txt}", queries="queries.tsv", weight="searches")
    registry = Conftests().registry_for(path)

    with pytest.raises(SuiteError, match="Long scores a whole session, and only queries have weights"):
        run_gate(load_suite(path, registry), registry=registry)
