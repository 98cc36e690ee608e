"""The examples in docstrings of public names run, and show what they promise."""

import doctest

import pytest

import pytest_ireval

WITH_EXAMPLES = ("Policies", "SideData", "compare", "evaluate", "why")


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_an_example_runs(name):
    value = getattr(pytest_ireval, name)
    (example,) = doctest.DocTestFinder(recurse=False).find(value, name, globs={})

    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0
