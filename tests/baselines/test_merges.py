"""Two branches that both accepted: nobody reads a mixture, and the error has the command that keeps one side."""

import shlex
import subprocess
from pathlib import Path

import pytest
from made_baselines import FIRST, baseline_of, content

from pytest_ireval.baselines.reading import read_baseline
from pytest_ireval.baselines.record import Acceptance
from pytest_ireval.baselines.writing import write_anchor, write_baseline
from pytest_ireval.errors import BaselineError

FOLDER = Path("suites/baselines")
OURS = Acceptance("2026-11-10T00:00:00Z", "c" * 40, "main", reason="new analyzer")
THEIRS = Acceptance("2026-11-12T00:00:00Z", "d" * 40, "synonyms", reason="synonyms", forced=True)
QUERIES = {f"q{i}": [f"d{i}", "a", "b"] for i in range(20)}
COMMAND = "git checkout HEAD -- " + " ".join(
    f"suites/baselines/shop.{ending}" for ending in ("json", "judgments.tsv", "rankings.tsv")
)


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
    assert git("ls-files", "--unmerged") == ""
    return content(read_baseline(FOLDER, "shop"))


def test_a_merge_is_a_conflict_and_the_command_takes_all_files_of_one_side(branches):
    branches("merge", "synonyms", check=False)
    merged = (FOLDER / "shop.rankings.tsv").read_text()
    assert "changed by main" in merged
    assert "changed by synonyms" in merged, "git merged what nobody measured"

    assert read_complaint()[1:] == [
        "  has the marks of a merge conflict",
        f"  {COMMAND} keeps the side of HEAD; then repeat what the other side accepted",
    ]
    assert settle(branches, COMMAND) == MAIN


def test_the_other_side_can_be_read_and_kept(branches, ireval):
    branches("merge", "synonyms", check=False)

    assert "\n  synonyms\n" in ireval("baseline", "log", "MERGE_HEAD:suites/baselines/shop.json").out
    assert settle(branches, COMMAND.replace("HEAD", "MERGE_HEAD")) == SYNONYMS


def test_files_of_two_sides_are_no_baseline(branches):
    branches("merge", "synonyms", check=False)
    branches("checkout", "--theirs", "suites/baselines/shop.json")

    assert read_complaint()[1] == "  is not what was accepted: it was edited by hand, by a tool or by a merge"


def test_a_rebase_keeps_what_is_rebased_onto(branches):
    branches("checkout", "--quiet", "synonyms")
    branches("rebase", "main", check=False)

    assert settle(branches, COMMAND) == MAIN


def test_an_anchor_has_files_of_its_own(branches):
    pinned = FIRST._replace(reason="release 6")
    for branch in ("main", "synonyms"):
        branches("checkout", "--quiet", branch)
        write_anchor(FOLDER, baseline_of({"q1": [branch]}), pinned)
        branches("commit", "--quiet", "--all", "-m", "pinned")
    branches("merge", "main", check=False)

    assert COMMAND.replace("shop.", "shop.anchor.") in read_complaint("shop.anchor")[2]
    subprocess.run(shlex.split(COMMAND.replace("shop.", "shop.anchor.")), check=True)
    assert content(read_baseline(FOLDER, "shop.anchor"))["rankings"] == [{"q1": ["synonyms"]}]
