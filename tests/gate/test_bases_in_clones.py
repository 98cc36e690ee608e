"""The base in clones that lack history or contents, and one that is no sound baseline: never a pass."""

import json
import subprocess

import pytest
from branches import FAILS, WORSE


def clone_of(branch, pytester, *arguments):
    """The repository as CI checks it out."""
    folder = pytester.mkdir("clone")
    subprocess.run(["git", "clone", "-q", *arguments, branch.path.as_uri(), str(folder)], check=True)
    return folder


def test_a_shallow_clone_is_an_error_that_names_what_ci_has_to_say(branch, pytester, monkeypatch):
    branch.accept(**WORSE)
    monkeypatch.chdir(clone_of(branch, pytester, "--depth=1", "--branch", "change"))

    result = branch.run(base="origin/main")

    result.assert_outcomes(passed=7, errors=1)
    result.stdout.fnmatch_lines(
        [
            "shop.ireval.yaml:1: git does not know the commit 'origin/main' here, and the clone is shallow",
            "Owner @search-team.",
            "",
            "  fetch-depth: 0 of actions/checkout, GIT_DEPTH: 0 of GitLab, or git fetch --unshallow origin",
            "    +refs/heads/main:refs/remotes/origin/main fetches the history",
        ]
    )


def test_a_clone_with_a_detached_head(branch, pytester, monkeypatch):
    branch.accept(**WORSE)
    folder = clone_of(branch, pytester, "--branch", "change")
    monkeypatch.chdir(folder)
    subprocess.run(["git", "checkout", "-q", "--detach"], cwd=folder, check=True)

    result = branch.run(*FAILS)

    result.assert_outcomes(passed=7, failed=1)
    result.stdout.fnmatch_lines(["  there is no main here, so origin/main is used"])
    run = json.loads((folder / "ireval-report/results.json").read_text())
    assert (run["branch"], run["base"]) == ("", "main")


def test_a_partial_clone_brings_what_it_lacks_or_says_that_it_cannot(branch, pytester, monkeypatch):
    branch.git("config", "uploadpack.allowFilter", "true")
    branch.accept(**WORSE)
    folder = clone_of(branch, pytester, "--filter=blob:none", "--branch", "change")
    monkeypatch.chdir(folder)
    hidden = branch.path / ".git-elsewhere"
    (branch.path / ".git").rename(hidden)
    offline = branch.run()
    hidden.rename(branch.path / ".git")
    online = branch.run(*FAILS)

    offline.assert_outcomes(passed=7, errors=1)
    said = offline.stdout.str()
    assert f"shop.ireval.yaml:1: {branch.base}:baselines/shop.baseline: git cannot read it: " in said
    assert "a partial clone fetches file contents from its remote; check that the remote can be reached" in said
    online.assert_outcomes(passed=7, failed=1)


@pytest.mark.parametrize(
    ("file", "damage", "said"),
    [
        ("shop.baseline", lambda data: data.replace(b'"format": 1', b'"format": 2'), ": has format 2; this version of"),
        ("shop.baseline", lambda data: data.replace(b"d3", b"d9"), ": is not what was accepted"),
    ],
    ids=["another format", "edited"],
)
def test_a_damaged_baseline_of_the_base_is_an_error(branch, file, damage, said):
    path = branch.path / "baselines" / file
    good = path.read_bytes()
    branch.git("checkout", "--quiet", "main")
    path.write_bytes(damage(good))
    branch.commit("damage")
    base = branch.read_main()
    branch.git("checkout", "--quiet", "-B", "change")
    path.write_bytes(good)
    branch.accept(**WORSE)

    found = branch.gate()

    assert found["verdict"] == "error"
    assert found["headline"].startswith(f"{base}:baselines/{file}")
    assert said in found["headline"]


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"


def test_a_pointer_of_git_lfs_is_no_content_unless_git_lfs_brings_it(branch, monkeypatch):
    branch.git("checkout", "--quiet", "main")
    good = (branch.path / "baselines/shop.baseline").read_bytes()
    (branch.path / "baselines/shop.baseline").write_text(POINTER)
    branch.commit("lfs")
    base = branch.read_main()
    branch.git("checkout", "--quiet", "-B", "change")
    here = branch.run()
    (branch.path / "baselines/shop.baseline").write_bytes(good)
    branch.accept(**WORSE)

    found = branch.gate()

    here.stdout.fnmatch_lines(
        ["*baselines/shop.baseline: is a pointer of Git LFS, and not the content*", "*run git lfs pull to download it"]
    )
    assert found["verdict"] == "error"
    assert found["headline"] == (
        f"{base}:baselines/shop.baseline: is a Git LFS pointer there, and git lfs cannot fetch the content"
    )
    assert found["facts"] == [f"git lfs install, then git lfs pull; git lfs fetch origin {base} fetches older content"]

    programs = branch.path / "programs"
    programs.mkdir()
    (programs / "kept").write_bytes(good)
    (programs / "git-lfs").write_text(f'#!/bin/sh\n[ "$1" = smudge ] && cat > /dev/null && cat {programs}/kept\n')
    (programs / "git-lfs").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    assert branch.gate(lowering_fails=True)["verdict"] == "fail"


def test_a_baseline_that_held_too_little_is_an_error_that_says_what_differs(branch):
    branch.git("checkout", "--quiet", "main")
    branch.shop.change(("depth: 10", "depth: 3"), ("nDCG@10", "nDCG@3"))
    text = branch.shop.suite.replace("nDCG@10", "nDCG@3")
    branch.shop.suite = text
    branch.accept(force=True)
    base = branch.git("rev-parse", "--short=7", "HEAD")
    branch.git("checkout", "--quiet", "-B", "change")
    branch.shop.suite = text.replace("depth: 3", "depth: 10")
    branch.accept(**WORSE)
    deep_enough = branch.gate(lowering_fails=True)
    branch.shop.suite = branch.shop.suite.replace("nDCG@3", "nDCG@10")
    branch.shop.write()

    found = branch.gate()

    assert deep_enough["verdict"] == "fail"
    assert found["verdict"] == "error"
    assert found["headline"] == (
        f"the baseline at {base}, the merge base with main holds 3 documents of each query, and nDCG@10 looks at 10"
    )
