"""What all tests share."""

import os

import numpy as np  # noqa: F401 - pytester forgets what an in-process run imported, and NumPy refuses to load twice
import pytest
import scipy.special  # noqa: F401 - as NumPy
from hypothesis import settings

import pytest_ireval.cli.evaluate_command
import pytest_ireval.pytest_adapter.fixture
import pytest_ireval.pytest_adapter.session  # noqa: F401 - loaded here once, or every in-process run has classes of its own
from pytest_ireval.plugins.manager import installed

assert installed().rules
assert installed().sources

settings.register_profile("exploring", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "exploring")
"""A check says the same of the same code; whoever works on it sees new examples every time."""

pytest_plugins = ["pytester", "command_line"]


@pytest.fixture(scope="session")
def registry():
    """What is installed: the built-in metrics, through their entry point."""
    from pytest_ireval import load_registry

    return load_registry()


@pytest.fixture
def trec_files(tmp_path):
    """Writes judgments and rankings given as text, and returns both paths."""

    def write(judgments, rankings):
        paths = tmp_path / "judgments.txt", tmp_path / "rankings.txt"
        for path, text in zip(paths, (judgments, rankings), strict=True):
            path.write_text(text, encoding="utf-8", newline="")
        return paths

    return write
