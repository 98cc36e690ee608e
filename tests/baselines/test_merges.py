"""Merges that git cannot settle: one side is kept whole, and what the other accepted is named with its command."""

from pathlib import Path

import pytest
from made_baselines import FIRST, baseline_of, content
from test_baseline_commands import SUITE

from pytest_ireval.baselines import writing
from pytest_ireval.baselines.reading import read_baseline
from pytest_ireval.baselines.record import Acceptance
from pytest_ireval.baselines.writing import write_baseline

FOLDER = Path("suites/baselines")
OURS = Acceptance("2026-11-10T00:00:00Z", "c" * 40, "main", reason="new analyzer")
THEIRS = Acceptance("2026-11-12T00:00:00Z", "d" * 40, "synonyms", reason="it's synonyms", forced=True)
QUERIES = {f"q{i}": [f"d{i}", "a", "b"] for i in range(20)}


def accept(git, lists, *acceptances, **more):
    write_baseline(FOLDER, baseline_of({**QUERIES, **lists}, acceptances=(FIRST, *acceptances), **more))
    git("add", ".")
    git("commit", "--quiet", "-m", acceptances[-1].reason if acceptances else "the first one")


@pytest.fixture
def branches(git):
    """Both branches accepted something; ``main`` is checked out."""
    Path("suites").mkdir()
    Path("suites/shop.ireval.yaml").write_text(SUITE)
    Path("suites/judgments.txt").write_text("q1 0 a 1\n")
    Path("suites/rankings.txt").write_text("q1 Q0 a 1 1 system\n")
    accept(git, {})
    git("checkout", "--quiet", "-b", "synonyms")
    accept(git, {"q15": ["changed by synonyms"]}, THEIRS)
    git("checkout", "--quiet", "main")
    accept(git, {"q2": ["changed by main"]}, OURS)
    return git


MAIN = content(baseline_of({**QUERIES, "q2": ["changed by main"]}, acceptances=(FIRST, OURS)))
SYNONYMS = content(baseline_of({**QUERIES, "q15": ["changed by synonyms"]}, acceptances=(FIRST, THEIRS)))
REPEAT_THEIRS = (
    "    accepted 2026-11-12T00:00:00Z, commit ddddddddd on synonyms, forced: it's synonyms\n"
    "    pytest --ireval suites/shop.ireval.yaml --ireval-update --ireval-force --ireval-reason "
    "'it'\"'\"'s synonyms'\n"
)
REPEAT_OURS = (
    "    accepted 2026-11-10T00:00:00Z, commit ccccccccc on main: new analyzer\n"
    "    pytest --ireval suites/shop.ireval.yaml --ireval-update --ireval-reason 'new analyzer'\n"
)


def short(git, ref):
    return git("rev-parse", "--short", ref)


def settled(git):
    assert git("ls-files", "--unmerged") == ""
    assert git("diff", "--name-only") == ""
    return content(read_baseline(FOLDER, "shop"))


def test_the_branch_that_is_merged_into_is_kept(branches, ireval):
    branches("merge", "synonyms", check=False)
    assert "suites/baselines/shop.json" in branches("ls-files", "--unmerged")
    assert ireval("baseline", "show", "suites/shop.ireval.yaml").err.endswith(
        "has the marks of a merge conflict\n  run ireval baseline resolve to settle it\n"
    )

    main, synonyms = short(branches, "main"), short(branches, "synonyms")
    assert ireval("baseline", "resolve") == (
        0,
        f"suites/baselines/shop.json: kept the side of main ({main}), which is merged into\n"
        "  accepted 2026-11-10T00:00:00Z, commit ccccccccc on main: new analyzer\n"
        f"  it lacks 1 acceptance of synonyms ({synonyms}); check the figures, and repeat:\n{REPEAT_THEIRS}",
        "",
    )
    assert settled(branches) == MAIN
    branches("commit", "--quiet", "--no-edit")
    assert ireval("baseline", "resolve").out == "no baseline is in conflict\n"


def test_a_file_that_git_merged_without_a_conflict_is_of_the_same_side(branches, ireval):
    branches("merge", "synonyms", check=False)
    merged = (FOLDER / "shop.rankings.tsv").read_text()
    assert "changed by main" in merged
    assert "changed by synonyms" in merged  # which nobody measured

    ireval("baseline", "resolve")

    assert settled(branches) == MAIN


def test_the_other_side_can_be_kept(branches, ireval):
    branches("merge", "synonyms", check=False)

    out = ireval("baseline", "resolve", "--take", "theirs").out

    assert out.startswith(f"suites/baselines/shop.json: kept the side of synonyms ({short(branches, 'synonyms')})\n")
    assert out.endswith(REPEAT_OURS)
    assert settled(branches) == SYNONYMS


def test_the_other_side_has_the_name_it_is_merged_by_whatever_else_stands_there(branches, ireval):
    branches("branch", "a-branch-that-was-cut-from-main", "main")
    main = short(branches, "main")
    branches("checkout", "--quiet", "synonyms")
    branches("merge", "main", check=False)

    out = ireval("baseline", "resolve", "--take", "theirs").out

    assert out.startswith(f"suites/baselines/shop.json: kept the side of main ({main})\n")
    assert settled(branches) == MAIN


def test_a_merge_that_does_not_say_what_is_merged_has_a_commit(branches, ireval):
    branches("merge", "-m", "both", "synonyms", check=False)

    out = ireval("baseline", "resolve", "--take", "theirs").out

    assert out.startswith(f"suites/baselines/shop.json: kept the side of commit {short(branches, 'synonyms')}\n")


def test_a_rebase_keeps_what_is_rebased_onto(branches, ireval):
    branches("checkout", "--quiet", "synonyms")
    main, mine = short(branches, "main"), short(branches, "synonyms")
    branches("rebase", "main", check=False)

    assert ireval("baseline", "resolve").out == (
        f"suites/baselines/shop.json: kept the side of what is rebased onto (main, {main})\n"
        "  accepted 2026-11-10T00:00:00Z, commit ccccccccc on main: new analyzer\n"
        f"  it lacks 1 acceptance of the commit that is rebased ({mine}); check the figures, and repeat:\n"
        f"{REPEAT_THEIRS}"
    )
    assert settled(branches) == MAIN
    branches("rebase", "--skip")
    assert settled(branches) == MAIN


def test_a_cherry_picked_acceptance_is_not_taken_over(branches, ireval):
    branches("cherry-pick", "synonyms", check=False)

    out = ireval("baseline", "resolve").out

    assert f"it lacks 1 acceptance of synonyms ({short(branches, 'synonyms')})" in out
    assert settled(branches) == MAIN


def test_a_stash_that_does_not_apply(branches, ireval):
    changed = baseline_of({**QUERIES, "q3": ["stashed"]}, acceptances=(FIRST, OURS, THEIRS))
    write_baseline(FOLDER, changed)
    branches("stash")
    accept(branches, {"q2": ["again"]}, OURS, FIRST)
    branches("stash", "pop", check=False)

    out = ireval("baseline", "resolve").out

    assert out.startswith(f"suites/baselines/shop.json: kept the side of main ({short(branches, 'main')}), which")
    assert out.endswith(f"  it lacks 1 acceptance of the other side; check the figures, and repeat:\n{REPEAT_THEIRS}")
    assert settled(branches) == content(baseline_of({**QUERIES, "q2": ["again"]}, acceptances=(FIRST, OURS, FIRST)))


def test_what_the_other_side_is_may_not_be_known(branches, ireval):
    write_baseline(FOLDER, baseline_of({**QUERIES, "q3": ["stashed"]}, acceptances=(FIRST, OURS, THEIRS)))
    branches("stash")
    accept(branches, {"q2": ["again"]}, OURS, FIRST)
    branches("stash", "pop", check=False)

    assert ireval("baseline", "resolve", "--take", "theirs").err.endswith(
        "suites/baselines/shop.json\n  git does not say which commit the other side is\n  --take ours\n"
    )


def test_files_that_only_the_other_side_has_go(branches, ireval, monkeypatch):
    branches("checkout", "--quiet", "synonyms")
    with monkeypatch.context() as patch:
        patch.setattr(writing, "LARGEST", 1)
        accept(branches, {"q15": ["changed again"]}, THEIRS, FIRST)
    branches("checkout", "--quiet", "main")
    branches("merge", "synonyms", check=False)

    ireval("baseline", "resolve")

    assert settled(branches) == MAIN
    assert sorted(path.name for path in FOLDER.glob("shop.*")) == [
        "shop.json",
        "shop.judgments.tsv",
        "shop.rankings.tsv",
    ]


def test_a_baseline_that_this_side_has_deleted_stays_deleted(branches, ireval):
    branches("rm", "--quiet", "suites/baselines/shop.json", "suites/baselines/shop.rankings.tsv")
    branches("rm", "--quiet", "suites/baselines/shop.judgments.tsv")
    branches("commit", "--quiet", "-m", "no baseline")
    branches("merge", "synonyms", check=False)

    out = ireval("baseline", "resolve").out

    assert "\n  that side has no such baseline: its files were removed\n" in out
    assert branches("ls-files", "--unmerged") == ""
    assert list(FOLDER.glob("shop.*")) == []


def test_only_what_was_named_is_settled(branches, ireval):
    for branch in ("main", "synonyms"):
        branches("checkout", "--quiet", branch)
        write_baseline(FOLDER, baseline_of(suite="blog", acceptances=(FIRST._replace(reason=branch),)))
        branches("add", ".")
        branches("commit", "--quiet", "-m", "blog")
    branches("checkout", "--quiet", "main")
    branches("merge", "synonyms", check=False)

    assert ireval("baseline", "resolve", "suites/baselines/blog.json").out.startswith(
        "suites/baselines/blog.json: kept"
    )
    assert "suites/baselines/shop.json" in branches("ls-files", "--unmerged")
    assert "blog" not in branches("ls-files", "--unmerged")
    assert ireval("baseline", "resolve", "suites/baselines/blog.json").err == (
        "error: suites/baselines/blog.json\n  does not belong to a baseline in conflict\n"
    )
    assert ireval("baseline", "resolve", "suites/baselines").out.startswith("suites/baselines/shop.json: kept")


def test_it_works_from_a_folder_below(branches, ireval, monkeypatch):
    branches("merge", "synonyms", check=False)
    monkeypatch.chdir("suites")

    out = ireval("baseline", "resolve").out

    assert out.startswith("baselines/shop.json: kept the side of main")
    assert "pytest --ireval shop.ireval.yaml --ireval-update" in out


def test_a_side_that_is_damaged_is_an_error(branches, ireval):
    (FOLDER / "shop.json").write_text("{}\n")
    branches("commit", "--quiet", "--all", "-m", "damage")
    branches("merge", "synonyms", check=False)

    assert (
        ireval("baseline", "resolve").err.splitlines()[1]
        == "  has format 'None'; this version of pytest-ireval reads format 1"
    )


def test_an_update_that_was_interrupted_is_finished(branches, ireval, monkeypatch):
    new = baseline_of(acceptances=(FIRST, OURS, THEIRS))
    with monkeypatch.context() as patch:
        patch.setattr(writing, "put_into_place", lambda *_: False)
        write_baseline(FOLDER, new)
    assert branches("status", "--porcelain", "--untracked-files") == ""  # nobody commits it by mistake

    assert ireval("baseline", "resolve").out == "suites/baselines/shop.json: finished an interrupted update\n"

    assert content(read_baseline(FOLDER, "shop")) == content(new)
    assert not (FOLDER / ".shop.commit").exists()


def test_outside_a_repository(ireval, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert ireval("baseline", "resolve").err == "error: .\n  is not in a git repository, or git is not installed\n"
