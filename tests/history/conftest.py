"""A repository in which baselines were accepted."""

import shutil
import subprocess
from pathlib import Path

import pytest

from pytest_ireval.baselines.record import Acceptance, Baseline, StoredMetric
from pytest_ireval.baselines.writing import write_baseline
from pytest_ireval.retrieval.from_objects import rankings_from


class Repository:
    """Accepts and commits in the current folder."""

    def __init__(self):
        self.path = Path.cwd()
        self.acceptances = {}
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments):
        done = subprocess.run(["git", *arguments], cwd=self.path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, message="more"):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)

    def accept(self, day, value, reason, name="shop", folder="suites/baselines", commit=True):
        """The suite is ``value`` everywhere from now on."""
        accepted = Acceptance(f"2026-01-{day:02}T10:00:00Z", f"{day:040x}", "main", reason=reason)
        before = self.acceptances.setdefault(name, ())
        self.acceptances[name] = (*before, accepted)
        metrics = {"nDCG@10": StoredMetric(1, "pytest-ireval", value, {"q1": value, "q2": value})}
        lists = (rankings_from({"q1": [f"d{day}"], "q2": ["b"]}),)
        write_baseline(Path(folder), Baseline(name, 10, lists, metrics=metrics, acceptances=self.acceptances[name]))
        if commit:
            self.commit(reason)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    if shutil.which("git") is None:
        pytest.skip("needs git")
    for name, value in {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": "2026-11-01T00:00:00Z"}.items():
        monkeypatch.setenv(f"GIT_AUTHOR_{name}", value)
        monkeypatch.setenv(f"GIT_COMMITTER_{name}", value)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "none"))
    home = tmp_path / "repository"
    home.mkdir()
    monkeypatch.chdir(home)
    return Repository()
