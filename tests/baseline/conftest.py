"""Repositories for tests of baselines."""

import shutil

import pytest
from git_repository import commit_all, isolate_git, run_git


@pytest.fixture(scope="session")
def first_commit(tmp_path_factory):
    """A repository with one commit; a copy of it is there sooner than git makes another."""
    folder = tmp_path_factory.mktemp("first-commit")
    with pytest.MonkeyPatch.context() as patch:
        isolate_git(patch, folder)
        run_git(folder, "init", "--quiet", "--initial-branch=main")
        folder.joinpath("code.py").write_text("1\n")
        commit_all(folder, "first")
    return folder


@pytest.fixture
def git(first_commit, tmp_path, monkeypatch):
    """A repository in the current folder, and a way to call git there."""
    monkeypatch.chdir(tmp_path)
    isolate_git(monkeypatch, tmp_path)
    shutil.copytree(first_commit, tmp_path, dirs_exist_ok=True)

    def call(*arguments, check=True):
        return run_git(tmp_path, *arguments, check=check)

    return call
