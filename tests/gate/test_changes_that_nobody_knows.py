"""Where git cannot tell what changed, the run ends: silence would be a pass."""

import re
import shutil

import pytest
from git_repository import isolate_git
from monorepo import Monorepo, set_environment


def read_refusal(result):
    assert result.ret == 4
    return result.stderr.str().strip().removeprefix("ERROR: ")


@pytest.mark.parametrize(
    ("ref", "complaint"),
    [
        (
            "origin/release",
            "--ireval-changed-since\n  git does not know the commit 'origin/release' here\n"
            "  git fetch origin +refs/heads/release:refs/remotes/origin/release fetches a branch that is missing here",
        ),
        ("--all", "--ireval-changed-since\n  git does not know the commit '--all' here"),
        ("", "--ireval-changed-since is empty: give a git ref, such as origin/main"),
    ],
)
def test_an_unknown_ref_ends_the_run(monorepo, ref, complaint):
    result = monorepo.pytester.runpytest("--ireval", "suites", f"--ireval-changed-since={ref}")

    assert read_refusal(result) == complaint
    assert monorepo.results()["verdict"] == "error"


def test_a_shallow_clone_ends_the_run(pytester, monkeypatch, tmp_path_factory):
    isolate_git(monkeypatch, pytester.path)
    set_environment(monkeypatch)
    monorepo = Monorepo(pytester)
    monorepo.write("search/analyzer.py", "2\n")
    monorepo.commit("second")
    clone = str(tmp_path_factory.mktemp("clone") / "shop")
    monorepo.git("clone", "--quiet", "--depth=1", "--branch=branch", f"file://{monorepo.path}", clone)
    monkeypatch.chdir(clone)
    unknown = read_refusal(pytester.runpytest("--ireval", "suites", "--ireval-changed-since", "origin/main"))
    assert unknown.startswith(
        "--ireval-changed-since\n  git does not know the commit 'origin/main' here, and the clone is shallow\n"
    )
    assert "fetch-depth: 0 of actions/checkout" in unknown

    monorepo.git("-C", clone, "fetch", "--quiet", "--depth=1", "origin", "main:refs/remotes/origin/main")
    unrelated = read_refusal(pytester.runpytest("--ireval", "suites", "--ireval-changed-since", "origin/main"))
    assert re.match(
        r"--ireval-changed-since\n"
        r"  HEAD and origin/main \(\w{7}\) have no common commit in this clone, which is shallow\n",
        unrelated,
    )
    assert "fetch-depth: 0 of actions/checkout" in unrelated


def test_a_branch_that_is_here_only_as_that_of_origin_is_taken_and_said(monorepo):
    monorepo.git("update-ref", "refs/remotes/origin/release", "main")
    result = monorepo.run(since="release")

    assert result.ret == 0
    result.stdout.fnmatch_lines(["  there is no release here, so origin/release is used"])


def test_outside_of_a_repository_the_run_ends(monorepo):
    shutil.rmtree(monorepo.path / ".git")

    assert read_refusal(monorepo.run()) == (
        f"{monorepo.path / 'suites'}\n  is not in a git repository, so the changed files are unknown\n"
        "  run it in a clone, or without --ireval-changed-since"
    )


def test_without_git_the_run_ends(monorepo, monkeypatch):
    monkeypatch.setenv("PATH", "")

    assert read_refusal(monorepo.run()) == (
        f"{monorepo.path / 'suites'}\n  git failed: git is not installed; install it where the gate runs"
    )


def test_a_git_that_fails_ends_the_run(monorepo, monkeypatch):
    (monorepo.path / ".git/index").write_bytes(b"no index")

    assert read_refusal(monorepo.run()).startswith(
        f"{monorepo.path}\n  git diff failed, so the changed files are unknown: "
    )


def test_without_the_flag_the_option_is_refused(monorepo):
    result = monorepo.pytester.runpytest("--ireval-changed-since", "main")

    assert read_refusal(result) == "--ireval-changed-since needs --ireval"
