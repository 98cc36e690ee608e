"""Repositories of git that do not depend on how git is set up on this machine."""

import shutil
import subprocess

import pytest


def isolate_git(monkeypatch, folder):
    """Give commits a name and a day, and leave the machine's configuration aside; ``folder`` is where it would be."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    for name, value in {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": "2026-11-01T00:00:00Z"}.items():
        monkeypatch.setenv(f"GIT_AUTHOR_{name}", value)
        monkeypatch.setenv(f"GIT_COMMITTER_{name}", value)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(folder / "no-config"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", str(folder / "no-config"))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", "")  # hooks of examples would be copied
    monkeypatch.setenv("GIT_EDITOR", "true")
    for name, value in {"COUNT": "1", "KEY_0": "maintenance.auto", "VALUE_0": "false"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)  # else each commit starts a program that finds nothing to do


def run_git(folder, *arguments, check=True):
    """Call git in a folder, and return what it printed."""
    done = subprocess.run(["git", *arguments], cwd=folder, check=False, capture_output=True, text=True)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout.strip()


def commit_all(folder, message):
    run_git(folder, "add", "--all")
    run_git(folder, "commit", "--quiet", "--allow-empty", "-m", message)


def read_commit(folder):
    """The id of the commit that is checked out."""
    return run_git(folder, "rev-parse", "HEAD")
