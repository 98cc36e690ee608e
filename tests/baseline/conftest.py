"""Repositories for tests of baselines."""

from pathlib import Path

import pytest
from git_repository import isolate_git, run_git


@pytest.fixture
def git(tmp_path, monkeypatch):
    """A repository in the current folder, and a way to call git there."""
    monkeypatch.chdir(tmp_path)
    isolate_git(monkeypatch, tmp_path)

    def call(*arguments, check=True):
        return run_git(tmp_path, *arguments, check=check)

    call("init", "--quiet", "--initial-branch=main")
    Path("code.py").write_text("1\n")
    call("add", "code.py")
    call("commit", "--quiet", "-m", "first")
    return call
