"""A branch that accepts, loosens or leaves alone what its base has, recorded as the suites are."""

import shutil
import subprocess

import pytest
from recording import BRANCHES, compare_with_recorded, copy_suite, pick_facts, run_copied, set_environment, write_json

IDENTITY = ("-c", "user.name=shop", "-c", "user.email=shop@example.org", "-c", "commit.gpgsign=false")


def run_git(pytester, *arguments):
    subprocess.run(["git", *IDENTITY, *arguments], cwd=pytester.path, check=True, capture_output=True)


def change_nothing(pytester):
    """The files of the base."""


def accept_a_fall(pytester):
    worse = pytester.path / "data/worse.trec"
    shutil.copy(worse, pytester.path / "data/slightly.trec")
    accepted = run_copied("green", pytester, "--ireval-update", "--ireval-force", "--ireval-reason", "cheaper")[0]
    assert accepted == 0


def loosen_rules_and_judgments(pytester):
    suite = pytester.path / "green/suite.ireval.yaml"
    suite.write_text(
        suite.read_text().replace("tolerance: 2%", "tolerance: 20%").replace("at_most: 2}", "at_most: 20}")
    )
    judgments = pytester.path / "data/judgments.txt"
    shutil.copy(pytester.path / "data/judgments_regraded.txt", judgments)


@pytest.mark.parametrize(
    ("change", "lowering"),
    [
        (change_nothing, "fail"),
        (accept_a_fall, "report"),
        (accept_a_fall, "fail"),
        (loosen_rules_and_judgments, "fail"),
    ],
)
def test_a_branch_gives_what_was_recorded(change, lowering, pytester, monkeypatch, request):
    set_environment(monkeypatch)
    run_git(pytester, "init", "-b", "main")
    pytester.path.joinpath(".gitignore").write_text("report/\n__pycache__/\n")
    copy_suite("green", pytester)
    run_git(pytester, "add", ".")
    run_git(pytester, "commit", "-m", "the shop as it was")
    run_git(pytester, "checkout", "-b", "branch")
    change(pytester)
    run_git(pytester, "add", ".")
    run_git(pytester, "commit", "--allow-empty", "-m", "a change")

    options = ("--ireval-base", "main", "-o", f"ireval_baseline_lowering={lowering}")
    exit_code, results, _, _ = run_copied("green", pytester, *options)
    facts = write_json(pick_facts(exit_code, results)) + "\n"
    compare_with_recorded({BRANCHES / f"{change.__name__}.{lowering}.json": facts}, request.config)
