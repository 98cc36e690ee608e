"""Two branches that both accepted: nobody reads a mixture, and the error has the command that keeps one side."""

import shlex
import subprocess
from pathlib import Path

import pytest
from made_baselines import FIRST, baseline_of, content

from pytest_ireval.baseline.reading import read_baseline
from pytest_ireval.baseline.record import Acceptance
from pytest_ireval.baseline.writing import write_anchor, write_baseline
from pytest_ireval.errors import BaselineError

FOLDER = Path("suites/baselines")
OURS = Acceptance("2026-11-10T00:00:00Z", "c" * 40, "main", reason="new analyzer")
THEIRS = Acceptance("2026-11-12T00:00:00Z", "d" * 40, "synonyms", reason="synonyms", forced=True)
QUERIES = {f"q{i}": [f"d{i}", "a", "b"] for i in range(20)}
OURS_AGAIN = "git checkout --ours -- suites/baselines/shop.baseline"
THEIRS_AGAIN = "git checkout --theirs -- suites/baselines/shop.baseline"


def accept(git, lists, *acceptances):
    write_baseline(FOLDER, baseline_of({**QUERIES, **lists}, acceptances=(FIRST, *acceptances)))
    git("add", ".")
    git("commit", "--quiet", "-m", acceptances[-1].reason if acceptances else "the first one")


@pytest.fixture
def branches(git):
    """Both branches accepted something; ``main`` is checked out."""
    write_baseline(FOLDER, baseline_of(suite="shop.de"))
    write_anchor(FOLDER, baseline_of(), FIRST)
    accept(git, {})
    git("checkout", "--quiet", "-b", "synonyms")
    accept(git, {"q15": ["changed by synonyms"]}, THEIRS)
    git("checkout", "--quiet", "main")
    accept(git, {"q2": ["changed by main"]}, OURS)
    return git


MAIN = content(baseline_of({**QUERIES, "q2": ["changed by main"]}, acceptances=(FIRST, OURS)))
SYNONYMS = content(baseline_of({**QUERIES, "q15": ["changed by synonyms"]}, acceptances=(FIRST, THEIRS)))


def read_complaint(name="shop"):
    with pytest.raises(BaselineError) as error:
        read_baseline(FOLDER, name)
    return str(error.value).splitlines()


def settle(git, command):
    subprocess.run(shlex.split(command), check=True)
    git("add", ".")
    return content(read_baseline(FOLDER, "shop"))


@pytest.mark.parametrize(("command", "side"), [(OURS_AGAIN, MAIN), (THEIRS_AGAIN, SYNONYMS)])
def test_a_merge_is_a_conflict_and_each_command_takes_one_side(branches, command, side):
    branches("merge", "synonyms", check=False)

    assert read_complaint() == [
        "suites/baselines/shop.baseline:1",
        "  has the marks of a merge conflict",
        f"  take either side: {OURS_AGAIN} or {THEIRS_AGAIN}; then accept again: pytest --ireval . "
        '-k shop --ireval-update --ireval-reason "…"',
    ]
    assert settle(branches, command) == side


def test_a_merge_without_a_conflict_is_no_baseline_either(branches):
    branches("merge", "--quiet", "-X", "ours", "synonyms")
    merged = (FOLDER / "shop.baseline").read_text()
    assert "changed by main" in merged
    assert "changed by synonyms" in merged, "git merged what nobody measured"

    commit = branches("rev-parse", "--short", "HEAD")
    take = f"git checkout {commit}^ -- suites/baselines/shop.baseline"
    assert read_complaint()[1:] == [
        "  is not what was accepted: it was merged by git or edited by hand",
        f"  it was committed like this: take what was before: {take}; then accept again: pytest --ireval . "
        '-k shop --ireval-update --ireval-reason "…"',
    ]
    assert settle(branches, take) == MAIN


def test_marks_that_somebody_removed_leave_no_baseline(branches):
    branches("merge", "synonyms", check=False)
    path = FOLDER / "shop.baseline"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith(("<<<<<<<", "=======", ">>>>>>>"))))

    assert read_complaint()[1] == "  is not what was accepted: it was merged by git or edited by hand"
    assert OURS_AGAIN in read_complaint()[2]


def test_the_other_side_can_be_looked_at(branches, ireval):
    branches("merge", "synonyms", check=False)

    assert "\n  synonyms\n" in ireval("baseline", "log", "MERGE_HEAD:suites/baselines/shop.baseline").out


def test_an_anchor_has_a_file_of_its_own(branches):
    pinned = FIRST._replace(reason="release 6")
    for branch in ("main", "synonyms"):
        branches("checkout", "--quiet", branch)
        write_anchor(FOLDER, baseline_of({"q1": [branch]}), pinned)
        branches("commit", "--quiet", "--all", "-m", "pinned")
    branches("merge", "main", check=False)

    command = OURS_AGAIN.replace("shop.", "shop.anchor.")
    assert f"  take either side: {command} or " in read_complaint("shop.anchor")[2]
    assert "then pin again: ireval baseline anchor . --named shop" in read_complaint("shop.anchor")[2]
    subprocess.run(shlex.split(command), check=True)
    assert content(read_baseline(FOLDER, "shop.anchor"))["rankings"] == [{"q1": ["synonyms"]}]
