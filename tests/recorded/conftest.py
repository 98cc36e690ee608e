"""``--record`` writes what the suites give now, ``--texts`` compares the texts of all of them."""

import os

import pytest

collect_ignore = ["suites"]  # they are copied, and run there


def pytest_addoption(parser):
    parser.addoption("--record", action="store_true", help="write the results and texts of the recorded suites again")
    parser.addoption("--texts", action="store_true", help="compare the texts of all recorded suites, not of a few")


def pytest_configure(config):
    if config.getoption("--record", False) and os.environ.get("CI"):
        raise pytest.UsageError("--record is refused under CI: record on your machine, and read the difference")
