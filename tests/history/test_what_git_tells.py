"""From the git history of baselines come acceptances: when, at which commit, why, and with which figures."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pytest_ireval.baselines.reading import read_baseline
from pytest_ireval.baselines.record import Acceptance
from pytest_ireval.baselines.writing import write_anchor
from pytest_ireval.errors import HistoryError
from pytest_ireval.history.kept import acceptances_in_git


def told(folder="."):
    """Day, suite, figure and reason of each, the oldest first."""
    found = [
        (run.date[8:10], suite.name, suite.figures[0].now if suite.figures else None, suite.reason)
        for run in acceptances_in_git(Path(folder)).runs
        for suite in run.suites
    ]
    return sorted(found)


def test_every_acceptance_comes_with_its_figures(repository):
    repository.accept(1, 0.5, "the first")
    repository.accept(2, 0.6, "synonyms")
    repository.accept(3, 0.7, "weights")

    assert told() == [("01", "shop", 0.5, "the first"), ("02", "shop", 0.6, "synonyms"), ("03", "shop", 0.7, "weights")]
    (run, *_) = acceptances_in_git(Path()).runs
    assert (run.date, run.commit, run.branch, run.origin) == ("2026-01-03T10:00:00Z", f"{3:040x}", "main", "git")
    assert (run.suites[0].figures[0].metric, run.suites[0].figures[0].queries) == ("nDCG@10", 2)


def test_an_acceptance_that_was_never_committed_on_its_own_is_a_date_and_a_reason(repository):
    repository.accept(1, 0.5, "the first", commit=False)
    repository.accept(2, 0.6, "synonyms")

    assert told() == [("01", "shop", None, "the first"), ("02", "shop", 0.6, "synonyms")]


def test_baselines_of_several_folders_and_those_that_are_gone_are_told(repository):
    repository.accept(1, 0.5, "the first")
    repository.accept(2, 0.4, "another", "blog", "blog/search/baselines")
    shutil.rmtree("suites")
    repository.commit("gone")

    assert told() == [("01", "shop", 0.5, "the first"), ("02", "blog", 0.4, "another")]


def test_only_what_is_below_the_folder_is_told(repository):
    repository.accept(1, 0.5, "the first")
    repository.accept(2, 0.4, "another", "blog", "blog/baselines")

    assert told("blog") == [("02", "blog", 0.4, "another")]


def test_what_came_through_a_merge_is_told(repository):
    repository.accept(1, 0.5, "the first")
    repository.git("checkout", "--quiet", "-b", "change")
    repository.accept(2, 0.6, "on a branch")
    repository.git("checkout", "--quiet", "main")
    repository.commit("meanwhile")
    repository.git("merge", "--quiet", "--no-ff", "-m", "merged", "change")

    assert told() == [("01", "shop", 0.5, "the first"), ("02", "shop", 0.6, "on a branch")]


def test_what_cannot_be_read_is_named_and_the_rest_is_told(repository):
    repository.accept(1, 0.5, "the first")
    file = Path("suites/baselines/shop.json")
    file.write_bytes(file.read_bytes().replace(b"the first", b"the worst"))
    repository.commit()

    found = acceptances_in_git(Path())

    assert [run.suites[0].reason for run in found.runs] == ["the first"]
    (unread,) = found.unread
    assert re.fullmatch(
        r"suites/baselines/shop.json \([0-9a-f]{7}\): is not as it was written: it was edited.*", unread
    )


def test_json_that_is_no_baseline_is_left_alone(repository):
    repository.accept(1, 0.5, "the first")
    Path("suites/baselines/mine.json").write_text('{"my": "own"}\n')
    repository.commit()

    found = acceptances_in_git(Path())

    assert (len(found.runs), found.versions, found.unread) == (1, 1, ())


def test_of_a_shallow_clone_it_is_said_that_it_is_one(repository, tmp_path):
    for day in (1, 2, 3):
        repository.accept(day, 0.5 + day / 10, f"reason {day}")
    clone = tmp_path / "clone"
    command = ["git", "clone", "--quiet", "--depth=1", f"file://{repository.path}", str(clone)]
    subprocess.run(command, check=True, capture_output=True)

    found = acceptances_in_git(clone)

    assert found.shallow
    assert told(clone) == [
        ("01", "shop", None, "reason 1"),
        ("02", "shop", None, "reason 2"),
        ("03", "shop", 0.8, "reason 3"),
    ]
    assert not acceptances_in_git(repository.path).shallow


def test_without_a_repository_it_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

    with pytest.raises(HistoryError, match="git cannot list earlier baselines: fatal: not a git repository"):
        acceptances_in_git(tmp_path)


def test_a_repository_without_a_baseline_tells_nothing(repository):
    repository.commit()

    assert acceptances_in_git(Path()) == ((), 0, (), False)


def test_an_anchor_is_no_suite_of_its_own(repository):
    repository.accept(1, 0.5, "the first")
    repository.accept(2, 0.5, "release 4.2", "shop.anchor")

    assert told() == [("01", "shop", 0.5, "the first")]
    assert acceptances_in_git(Path()).versions == 1


def test_what_was_pinned_is_no_suite(repository):
    repository.accept(1, 0.5, "the first")
    anchoring = Acceptance("2026-01-02T10:00:00Z", "2" * 40, "main", reason="release 1")
    write_anchor(Path("suites/baselines"), read_baseline(Path("suites/baselines"), "shop"), anchoring)
    repository.commit("pinned")

    assert told() == [("01", "shop", 0.5, "the first")]
