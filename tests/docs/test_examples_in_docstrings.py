"""The examples in docstrings of public names run, and show what they promise."""

import doctest

import pytest

import pytest_ireval

WITH_EXAMPLES = (
    *("Comparison", "Elsewhere", "Evaluation", "Metric", "MetricResolver", "Param", "Policies", "SideData"),
    *("compare", "evaluate", "metric", "per_query_metric", "steps_for", "why"),
)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_an_example_runs(name):
    value = getattr(pytest_ireval, name)
    (example,) = doctest.DocTestFinder(recurse=False).find(value, name, globs={})

    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0
