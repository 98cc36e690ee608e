"""Where a branch began, in every kind of clone; and what is said where nobody knows."""

import subprocess
from pathlib import Path

import pytest
from git_repository import run_git

from pytest_ireval.errors import BaselineError
from pytest_ireval.repositories import merge_base
from pytest_ireval.repositories.merge_base import find_merge_base
from pytest_ireval.repositories.tree import BaseRef


def commit(git, name):
    git("commit", "--quiet", "--allow-empty", "-m", name)
    return git("rev-parse", "HEAD")


def in_folder(folder):
    """A way to call git in another folder."""

    return lambda *arguments: run_git(folder, *arguments)


@pytest.fixture
def fork_git(git, tmp_path):
    """``main`` went on after ``change`` began; ``change`` is checked out."""
    git.fork = commit(git, "fork")
    git("checkout", "--quiet", "-b", "change")
    commit(git, "change")
    git("checkout", "--quiet", "main")
    commit(git, "main goes on")
    git("checkout", "--quiet", "change")
    git.top = tmp_path.resolve()
    return git


@pytest.fixture
def clone_fork(fork_git, tmp_path_factory):
    """Clones the repository, which needs a server to be shallow."""

    def clone(*arguments):
        folder = tmp_path_factory.mktemp("clones") / "clone"
        subprocess.run(
            ["git", "clone", "--quiet", *arguments, fork_git.top.as_uri(), str(folder)], check=True, capture_output=True
        )
        return folder.resolve()

    return clone


def complaint(ref, folder):
    with pytest.raises(BaselineError) as error:
        BaseRef(ref).find_tree(folder)
    return str(error.value)


def test_the_branch_began_where_both_were_one(fork_git):
    found = find_merge_base("main", fork_git.top)

    assert (found.commit, found.ref, found.notes) == (fork_git.fork, "main", ())
    assert str(found) == f"{fork_git.fork[:7]}, the merge base with main"


@pytest.mark.parametrize("ref", ["main", "HEAD~1", "v1"])
def test_a_detached_head_and_refs_of_any_kind(fork_git, ref):
    fork_git("tag", "v1", "main")
    fork_git("checkout", "--quiet", "--detach")

    assert find_merge_base(ref, fork_git.top).commit == fork_git.fork


def test_a_branch_that_only_origin_has_is_taken_from_there_and_this_is_said(clone_fork, fork_git):
    folder = clone_fork("--branch", "change")

    found = find_merge_base("main", folder)

    assert (found.commit, found.ref) == (fork_git.fork, "origin/main")
    assert found.notes == ("there is no main here, so origin/main is used",)


def test_of_several_merge_bases_one_is_taken_and_this_is_said(fork_git):
    one, two = fork_git("rev-parse", "change"), fork_git("rev-parse", "main")
    fork_git("merge", "--quiet", "--no-edit", "main")
    fork_git("checkout", "--quiet", "main")
    fork_git("merge", "--quiet", "--no-edit", one)
    commit(fork_git, "main again")
    fork_git("checkout", "--quiet", "change")
    commit(fork_git, "change again")

    found = find_merge_base("main", fork_git.top)

    other = ({one, two} - {found.commit}).pop()
    assert found.commit == fork_git("merge-base", "main", "HEAD")
    assert found.notes == (f"HEAD and main have 2 merge bases: the first that git lists is used, not {other[:7]}",)


@pytest.mark.parametrize(
    ("ref", "meant"),
    [("mian", "\n  did you mean 'main'?"), ("origin/chnge", "\n  did you mean 'change'?"), ("xyz", "")],
)
def test_a_misspelt_ref(fork_git, ref, meant):
    branch = ref.removeprefix("origin/")
    assert complaint(ref, fork_git.top) == (
        f"git does not know the commit {ref!r} here{meant}\n"
        f"  git fetch origin +refs/heads/{branch}:refs/remotes/origin/{branch} fetches a branch that is missing here"
    )


@pytest.mark.parametrize("ref", ["HEAD~99", "--help", "", "0123456789abcdef"])
def test_what_is_no_branch_is_not_to_be_fetched(fork_git, ref):
    assert complaint(ref, fork_git.top) == f"git does not know the commit {ref!r} here"


def test_a_shallow_clone_of_one_branch_says_what_brings_the_other(clone_fork, fork_git):
    folder = clone_fork("--depth=1", "--branch", "change")
    fetch = "git fetch --unshallow origin +refs/heads/main:refs/remotes/origin/main"

    assert complaint("origin/main", folder) == (
        "git does not know the commit 'origin/main' here, and the clone is shallow\n"
        f"  fetch-depth: 0 of actions/checkout, GIT_DEPTH: 0 of GitLab, or {fetch} fetches the history"
    )
    in_folder(folder)(*fetch.split()[1:])
    assert find_merge_base("main", folder).commit == fork_git.fork


def test_a_shallow_clone_that_is_deep_enough_is_enough(clone_fork, fork_git):
    folder = clone_fork("--depth=2", "--no-single-branch", "--branch", "change")

    assert find_merge_base("main", folder).commit == fork_git.fork


def test_a_merge_commit_as_ci_checks_it_out_is_enough_for_its_first_parent(clone_fork, fork_git):
    fork_git("checkout", "--quiet", "-b", "pull", "main")
    fork_git("merge", "--quiet", "--no-edit", "change")
    folder = clone_fork("--depth=2", "--branch", "pull")

    assert find_merge_base("HEAD^1", folder).commit == fork_git("rev-parse", "main")


def test_a_common_commit_is_not_believed_where_a_later_one_may_be_cut_off(git, tmp_path, tmp_path_factory):
    old = commit(git, "old")
    git("checkout", "--quiet", "-b", "release", old)
    commit(git, "release")
    git("checkout", "--quiet", "main")
    later = commit(git, "later")
    git("checkout", "--quiet", "-b", "change")
    for number in range(6):
        commit(git, f"change {number}")
    git("merge", "--quiet", "--no-edit", "release")
    whole = find_merge_base("main", tmp_path)
    folder = tmp_path_factory.mktemp("clones") / "clone"
    address = tmp_path.resolve().as_uri()
    git("clone", "--quiet", "--depth=4", "--no-single-branch", "--branch", "change", address, str(folder))
    assert in_folder(folder)("merge-base", "origin/main", "HEAD") == old

    said = complaint("origin/main", folder)

    assert whole.commit == later
    assert said.splitlines()[0] == (
        f"HEAD and origin/main have {old[:7]} in common, but this clone is shallow: a later common commit may be "
        "missing from it"
    )
    assert "fetch-depth: 0 of actions/checkout" in said


def test_unrelated_histories(fork_git):
    fork_git("checkout", "--quiet", "--orphan", "alone")
    commit(fork_git, "alone")
    main = fork_git("rev-parse", "main")

    assert complaint("main", fork_git.top) == (
        f"HEAD and main ({main[:7]}) have no common commit: their histories are unrelated\n"
        "  name the branch that this branch started from"
    )


def test_a_repository_without_commits(git, tmp_path):
    git("init", "--quiet", "new")

    assert complaint("main", tmp_path / "new") == (
        f"{tmp_path.resolve() / 'new'}\n  has no commit yet, so there are no baselines to compare with"
    )


def test_outside_of_a_repository(tmp_path):
    assert complaint("main", tmp_path) == (
        f"{tmp_path}\n  is not in a git repository, so there is no base to compare with\n"
        "  run it in a clone, or without --ireval-base"
    )


def test_without_git(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")

    assert complaint("main", tmp_path) == (
        f"{tmp_path}\n  git failed: git is not installed; install it where the gate runs"
    )


def test_a_repository_that_git_refuses_to_open_is_told_in_its_words(fork_git, monkeypatch):
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")

    said = complaint("main", fork_git.top)

    assert said.splitlines()[1].startswith("  git failed: fatal: detected dubious ownership in repository")
    assert "git config --global --add safe.directory" in said


def test_a_worktree(fork_git, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trees") / "tree"
    fork_git("worktree", "add", "--quiet", "--detach", str(folder), "change")

    assert find_merge_base("main", folder).commit == fork_git.fork


def test_of_a_submodule_it_is_the_submodule_s_own(fork_git, clone_fork, tmp_path_factory):
    above = tmp_path_factory.mktemp("above")
    call = in_folder(above)
    call("init", "--quiet", "--initial-branch=main")
    call("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "-b", "change", str(fork_git.top), "search")
    call("commit", "--quiet", "-m", "a submodule")
    base = BaseRef("main")

    tree = base.find_tree(above / "search" / "suites" / "baselines")

    assert base.find_tree(above).base.top == above.resolve()
    assert tree.base.commit == fork_git.fork
    assert tree.base.top == (above / "search").resolve()


def test_git_is_asked_once_for_each_repository(fork_git, monkeypatch):
    calls = []
    run_git = merge_base.run_git
    monkeypatch.setattr(merge_base, "run_git", lambda *words: calls.append(words[1]) or run_git(*words))
    base = BaseRef("main")

    trees = {id(base.find_tree(Path(folder))) for folder in (".", "suites", "suites/baselines", ".")}

    assert len(trees) == 1
    assert calls == ["rev-parse", "merge-base"]
