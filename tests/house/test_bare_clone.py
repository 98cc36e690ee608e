"""A clone after the first command of the README: the package is installed, and no package of the tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="needs a checkout of the project")


@pytest.fixture
def pytest_in_the_clone(tmp_path, monkeypatch):
    """Run pytest where hypothesis cannot be imported."""
    (tmp_path / "hypothesis.py").write_text("raise ModuleNotFoundError('No module named hypothesis')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)

    def run(*arguments):
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    return run


def test_the_help_of_pytest_has_our_options(pytest_in_the_clone):
    done = pytest_in_the_clone("--help")

    assert (done.returncode, done.stderr) == (0, "")
    assert "--ireval-update-new" in done.stdout


def test_a_run_of_the_tests_says_what_to_install(pytest_in_the_clone):
    done = pytest_in_the_clone("tests/house")

    assert done.returncode == 4
    assert "ERROR: these tests need more packages: pip install -e '.[test]'" in done.stderr
