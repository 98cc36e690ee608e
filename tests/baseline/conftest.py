"""Repositories for tests of baselines."""

import shutil
import subprocess
from pathlib import Path

import pytest


@pytest.fixture
def git(tmp_path, monkeypatch):
    """A repository in the current folder, and a way to call git there."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    monkeypatch.chdir(tmp_path)
    for name, value in {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": "2026-11-01T00:00:00Z"}.items():
        monkeypatch.setenv(f"GIT_AUTHOR_{name}", value)
        monkeypatch.setenv(f"GIT_COMMITTER_{name}", value)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "none"))
    monkeypatch.setenv("GIT_EDITOR", "true")

    def call(*arguments, check=True):
        done = subprocess.run(["git", "-C", str(tmp_path), *arguments], check=False, capture_output=True, text=True)
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip()

    call("init", "--quiet", "--initial-branch=main")
    Path("code.py").write_text("1\n")
    call("add", "code.py")
    call("commit", "--quiet", "-m", "first")
    return call
