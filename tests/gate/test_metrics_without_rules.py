"""A metric that no rule is about is only shown, but one that cannot be computed is not passed over in silence."""

import pytest
from suite_files import outcomes_by_id, write_judgments, write_rankings, write_suite

from pytest_ireval import load_registry, load_suite, run_gate

CONFTEST = """
from pytest_ireval import hookimpl, per_query_metric

@per_query_metric(name="Bad", range=(0, 1))
def bad(ranking, *, cutoff: int) -> float:
    '''Bad.'''
    return {value}

@hookimpl
def ireval_metrics():
    return [bad]
"""


@pytest.fixture
def gate_with(tmp_path):
    write_rankings(tmp_path / "rankings.txt", {"q1": ["a", "b"]})
    write_judgments(tmp_path / "judgments.txt", {"q1": {"a": 1}})

    def run(value):
        (tmp_path / "conftest.py").write_text(CONFTEST.format(value=value))
        path = write_suite(tmp_path, 'threshold: {P@1: ">= 0.5"}', metrics="[P@1, Bad@1]")
        registry = load_registry(path)
        return outcomes_by_id(run_gate(load_suite(path, registry), registry=registry))["inputs"]

    return run


@pytest.mark.parametrize("value", ["1 / 0", "2.0", "None"])
def test_it_is_a_warning_that_names_the_metric(gate_with, value):
    inputs = gate_with(value)
    assert inputs.warning
    assert inputs.headline.startswith("Bad@1 could not be computed: ")


def test_a_metric_with_values_is_no_warning(gate_with):
    assert not gate_with("0.5").warning
