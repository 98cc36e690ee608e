"""What git says; and that nothing fails where it says nothing."""

from pathlib import Path

import pytest
from made_baselines import FIRST, LISTS, SECOND, baseline_of, content

from pytest_ireval.baseline.reading import read_baseline, read_baseline_at_ref
from pytest_ireval.baseline.writing import write_baseline
from pytest_ireval.errors import BaselineError
from pytest_ireval.repositories import git as git_module
from pytest_ireval.repositories.git import CommitState, read_at_ref, read_commit_state


def test_commit_branch_and_whether_files_differ(git):
    head = git("rev-parse", "HEAD")
    assert read_commit_state(Path()) == CommitState(head, "main", dirty=False)

    Path("new.py").write_text("not tracked\n")
    assert read_commit_state(Path()) == CommitState(head, "main", dirty=False)

    Path("code.py").write_text("2\n")
    assert read_commit_state(Path()) == CommitState(head, "main", dirty=True)


def test_a_file_that_took_part_and_that_git_does_not_know_makes_the_tree_dirty(git, tmp_path):
    Path("data").mkdir()
    Path("data/qrels.txt").write_text("q1 0 d1 1\n")
    Path(".git/info").mkdir(exist_ok=True)
    Path(".git/info/exclude").write_text("*.trec\n")
    Path("run.trec").write_text("")
    Path("linked").symlink_to("data")
    head = git("rev-parse", "HEAD")

    def dirty(*names):
        return read_commit_state(Path(), [tmp_path / name for name in names]).dirty

    assert read_commit_state(Path(), [tmp_path / "data/qrels.txt"]) == CommitState(head, "main", dirty=True)
    assert dirty("linked/qrels.txt")
    assert not dirty("code.py", "run.trec", "none.txt", "../elsewhere.txt")
    git("add", "data")
    git("commit", "--quiet", "-m", "data")
    assert not dirty("data/qrels.txt", "linked/qrels.txt")


def test_names_of_files_that_took_part_are_no_patterns(git, tmp_path):
    Path("other.txt").write_text("")

    assert not read_commit_state(Path(), [tmp_path / "*.txt", tmp_path / ":(top)"]).dirty


def test_many_files_that_took_part_are_asked_for_in_parts(git, tmp_path, monkeypatch):
    monkeypatch.setattr(git_module, "AT_ONCE", 2)
    Path("x5").write_text("")

    assert read_commit_state(Path(), [tmp_path / f"x{number}" for number in range(7)]).dirty


def test_a_changed_baseline_makes_nothing_dirty(git):
    write_baseline(Path("suites/baselines"), baseline_of())
    git("add", ".")
    git("commit", "--quiet", "-m", "baseline")

    write_baseline(Path("suites/baselines"), baseline_of(acceptances=(FIRST, SECOND)))

    assert not read_commit_state(Path("suites")).dirty
    assert not read_commit_state(Path("suites/baselines")).dirty


def test_a_folder_that_does_not_exist_yet_belongs_to_the_repository_around_it(git):
    assert read_commit_state(Path("to/come/baselines")).branch == "main"


def test_a_detached_head_has_no_branch(git):
    git("checkout", "--quiet", "--detach")

    assert read_commit_state(Path()) == CommitState(git("rev-parse", "HEAD"), "", dirty=False)


def test_in_a_hook_git_is_asked_all_the_same(git, monkeypatch):
    Path("suites").mkdir()
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", "elsewhere")

    assert read_commit_state(Path("suites")) == CommitState(git("rev-parse", "HEAD"), "main", dirty=False)


def test_a_repository_without_commits_has_a_branch_only(git, tmp_path):
    git("init", "--quiet", "--initial-branch=main", "new")

    assert read_commit_state(tmp_path / "new") == CommitState("", "main", dirty=False)


def test_outside_a_repository_and_without_git_there_is_nothing_to_say(tmp_path, monkeypatch):
    assert read_commit_state(tmp_path) == CommitState()
    monkeypatch.setenv("PATH", "")
    assert read_commit_state(tmp_path) == CommitState()


def test_a_git_that_does_not_answer_is_not_waited_for(tmp_path, monkeypatch):
    (tmp_path / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(git_module, "TIMEOUT", 0.05)

    assert read_commit_state(tmp_path) == CommitState()


def test_git_shows_the_line_of_a_query_that_changed(git):
    write_baseline(Path("baselines"), baseline_of())
    git("add", ".")
    git("commit", "--quiet", "-m", "baseline")
    write_baseline(Path("baselines"), baseline_of({**LISTS, "q1": ["z", "a"]}, acceptances=(FIRST, SECOND)))

    assert git("status", "--porcelain") == "M baselines/shop.baseline"
    changed = [line for line in git("diff", "--unified=0").splitlines() if line.startswith(("+{", "-{"))]
    assert [line[:9] for line in changed] == ['-{"format', '+{"format', '-{"query"', '+{"accept', '+{"query"']
    assert '"documents": ["z", "a"]' in changed[-1]


def test_a_baseline_is_read_at_a_ref_without_checking_it_out(git):
    old, new = baseline_of(), baseline_of({"q1": ["z"]}, acceptances=(FIRST, SECOND))
    write_baseline(Path("baselines"), old)
    git("add", ".")
    git("commit", "--quiet", "-m", "old")
    write_baseline(Path("baselines"), new)

    assert content(read_baseline_at_ref("HEAD", Path("baselines"), "shop")) == content(old)
    assert content(read_baseline(Path("baselines"), "shop")) == content(new)
    assert read_baseline_at_ref("HEAD~1", Path("baselines"), "shop") is None
    git("mv", "baselines", "elsewhere")
    assert content(read_baseline_at_ref("main", Path("baselines"), "shop")) == content(old)


def test_a_file_at_a_ref(git):
    assert read_at_ref("HEAD", Path("code.py")) == b"1\n"
    assert read_at_ref("HEAD", Path("none.py")) is None


@pytest.mark.parametrize("ref", ["nowhere", "--help", ""])
def test_a_ref_that_git_does_not_know(git, ref):
    with pytest.raises(BaselineError) as error:
        read_at_ref(ref, Path("code.py"))

    assert str(error.value) == (
        f"git does not know the commit {ref!r} here\n  a shallow clone may not have it: run git fetch --unshallow"
    )


def test_a_ref_outside_a_repository(tmp_path):
    with pytest.raises(BaselineError) as error:
        read_at_ref("HEAD", tmp_path / "code.py")

    assert str(error.value) == f"{tmp_path}\n  is not in a git repository, or git is not installed"
