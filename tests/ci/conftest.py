"""A repository with the made-up shop, its remote, and what a runner has: python, and GitHub to ask."""

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from fake_github import FakeGitHub
from steps import Machine, clean_environment

ROOT = Path(__file__).parents[2]
SUITE = "suites/product-search.ireval.yaml"
WHO = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
REQUIRED = "IREVAL_CI_TOOLS"
"""Set to ``required`` in this project's own check, where no tool may be missing unseen."""
TOOLS = {
    "gh": "the program gh (apt install gh), as runners of GitHub have it",
    "shellcheck": "shellcheck (pip install --group lint -e .)",
    "check-jsonschema": "check-jsonschema (pip install --group lint -e .)",
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """All of them play jobs of CI; without the project's files around them there is nothing to test."""
    folder = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(folder):
            item.add_marker(pytest.mark.ci)
            if not (ROOT / "action.yml").exists():
                item.add_marker(pytest.mark.skip(reason="needs a checkout of the project"))


@pytest.fixture(scope="session")
def tool():
    """The path of a program that not everybody has."""

    def find(name):
        beside = Path(sys.executable).parent / name
        found = str(beside) if beside.exists() else shutil.which(name)
        if found is None and os.environ.get(REQUIRED) == "required":
            pytest.fail(f"needs {TOOLS[name]}")
        if found is None:
            pytest.skip(f"needs {TOOLS[name]}")
        return found

    return find


class Repository:
    """A working copy with suites, whose remote is a bare repository beside it."""

    def __init__(self, folder, github):
        self.folder = folder / "work"
        self.fakes = folder / "fakes"
        self.log = folder / "python-calls"
        self.github = github
        shutil.copytree(ROOT / "examples" / "suites", self.folder / "suites")
        (self.folder / "requirements.txt").write_text("pytest-ireval\n")
        (self.folder / ".gitignore").write_text("__pycache__/\n")
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit("the shop")
        subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", folder / "origin.git"], check=True)
        self.git("remote", "add", "origin", str(folder / "origin.git"))
        self.git("push", "--quiet", "--set-upstream", "origin", "main")
        self._programs()

    def _programs(self):
        self.fakes.mkdir()
        here = Path(__file__).parent
        for name, script in (("python", "fake_python"), ("python3", "fake_python")):
            file = self.fakes / name
            file.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{here / script}.py" "$@"\n')
            file.chmod(0o755)

    def environment(self, **more):
        path = f"{self.fakes}{os.pathsep}{os.environ['PATH']}"
        fakes = {"FAKES": str(self.fakes), "FAKE_PYTHON": str(self.log)}
        asking = self.github.environment(self.folder.parent / "gh")
        return clean_environment(**{"PATH": path, "CI": "true", **fakes, **asking, **more})

    def machine(self, folder=None, **more):
        """One that has this working copy, or another."""
        return Machine(folder or self.folder, self.environment(**more))

    def git(self, *words, folder=None):
        done = subprocess.run(
            ["git", *WHO, *words], cwd=folder or self.folder, env=clean_environment(), check=True, capture_output=True
        )
        return done.stdout.decode().strip()

    def commit(self, message):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD")

    def branch(self, name, rankings="hidden_tail"):
        """A branch, pushed, on which the shop ranks otherwise; returns its commit."""
        self.git("switch", "--quiet", "--create", name)
        suite = self.folder / SUITE
        suite.write_text(suite.read_text().replace("runs/fine.trec", f"runs/{rankings}.trec"))
        commit = self.commit("another ranking")
        self.git("push", "--quiet", "origin", f"HEAD:refs/heads/{name}")
        return commit

    def clone(self, name, commit):
        """Another working copy, at a commit, as a job that begins has it."""
        folder = self.folder.parent / name / "work"
        folder.parent.mkdir()
        self.git("clone", "--quiet", str(self.folder.parent / "origin.git"), str(folder))
        self.git("checkout", "--quiet", "--detach", commit, folder=folder)
        return folder

    def python_calls(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []


@pytest.fixture
def github():
    """What ``gh`` asks in a job."""
    with FakeGitHub() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def repository(tmp_path, github):
    return Repository(tmp_path, github)
