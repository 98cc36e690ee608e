"""An anchor beside its baseline: the same content under another name, settled and moved on its own."""

from pathlib import Path

import pytest
from made_baselines import FIRST, SECOND, baseline_of, content
from test_baseline_commands import SUITE

from pytest_ireval.baselines.files import baseline_files, is_file_of
from pytest_ireval.baselines.reading import read_baseline
from pytest_ireval.baselines.record import Acceptance
from pytest_ireval.baselines.writing import anchor_name, anchor_words, is_anchor, suite_of, write_anchor, write_baseline
from pytest_ireval.errors import BaselineError

PINNED = Acceptance("2026-12-01T09:00:00Z", "e" * 40, "main", reason="release 4.2")
FOLDER = Path("suites/baselines")


def test_it_is_called_after_its_suite():
    assert anchor_name("shop") == "shop.anchor"
    assert (is_anchor("shop.anchor"), is_anchor("shop"), is_anchor("anchor")) == (True, False, False)
    assert (suite_of("shop.anchor"), suite_of("shop.de")) == ("shop", "shop.de")


def test_words_say_day_and_reason():
    assert anchor_words(PINNED) == "the anchor of 2026-12-01 (release 4.2)"


def test_it_holds_what_the_baseline_holds_and_who_pinned_it(tmp_path):
    baseline = baseline_of(acceptances=(FIRST, SECOND))
    write_baseline(tmp_path, baseline)

    write_anchor(tmp_path, baseline, PINNED)

    anchor = content(read_baseline(tmp_path, "shop.anchor"))
    assert anchor["acceptances"] == (FIRST, SECOND, PINNED)
    assert {**anchor, "suite": "shop", "acceptances": (FIRST, SECOND)} == content(baseline)
    assert content(read_baseline(tmp_path, "shop")) == content(baseline)
    rankings, judgments = "rankings.tsv", "judgments.tsv"
    for ending in (rankings, judgments):
        assert (tmp_path / f"shop.anchor.{ending}").read_bytes() == (tmp_path / f"shop.{ending}").read_bytes()


def test_its_files_are_not_those_of_the_baseline(tmp_path):
    write_baseline(tmp_path, baseline_of())
    write_anchor(tmp_path, baseline_of(), PINNED)

    assert not any("anchor" in path.name for path in baseline_files(tmp_path, "shop"))
    assert not is_file_of("shop.anchor.json", "shop")
    assert len(baseline_files(tmp_path, "shop.anchor")) == 3


def test_pinning_anew_replaces_the_one_before_whole(tmp_path):
    write_anchor(tmp_path, baseline_of(acceptances=(FIRST,)), PINNED)
    later = PINNED._replace(date="2027-03-01T09:00:00Z", reason="release 5")

    write_anchor(tmp_path, baseline_of({"q1": ["z"]}, acceptances=(FIRST, SECOND)), later)

    assert read_baseline(tmp_path, "shop.anchor").acceptances == (FIRST, SECOND, later)


@pytest.fixture
def branches(git):
    """Two branches that pinned different releases; ``main`` is checked out."""
    Path("suites").mkdir()
    Path("suites/shop.ireval.yaml").write_text(SUITE)
    Path("suites/judgments.txt").write_text("q1 0 a 1\n")
    Path("suites/rankings.txt").write_text("q1 Q0 a 1 1 system\n")
    write_baseline(FOLDER, baseline_of())
    pin(git, {}, PINNED)
    git("checkout", "--quiet", "-b", "release-5")
    pin(git, {"q1": ["five"]}, PINNED._replace(reason="release 5"))
    git("checkout", "--quiet", "main")
    pin(git, {"q1": ["six"]}, PINNED._replace(reason="release 6"))
    return git


def pin(git, lists, anchoring):
    write_anchor(FOLDER, baseline_of({"q1": ["a"], **lists}), anchoring)
    git("add", ".")
    git("commit", "--quiet", "-m", anchoring.reason)


def test_a_conflict_keeps_one_side_and_names_what_pins_the_other_again(branches, ireval):
    branches("merge", "--quiet", "release-5", check=False)

    printed = ireval("baseline", "resolve")

    assert printed.code == 0
    assert "suites/baselines/shop.anchor.json: kept the side of main" in printed.out
    assert "it lacks 1 acceptance of release-5" in printed.out
    assert "    ireval baseline anchor suites/shop.ireval.yaml --reason 'release 5'\n" in printed.out
    assert read_baseline(FOLDER, "shop.anchor").accepted.reason == "release 6"


def test_in_a_matrix_it_is_named_lest_the_others_be_pinned_as_well(branches, ireval):
    matrix = SUITE.replace("suite: shop", "suite: '{name}'\nmatrix: {name: [shop, blog]}")
    Path("suites/shop.ireval.yaml").write_text(matrix.replace("rankings.txt", "'{name}.txt'"))
    for name in ("shop", "blog"):
        Path(f"suites/{name}.txt").write_text("q1 Q0 a 1 1 system\n")
    branches("merge", "--quiet", "release-5", check=False)

    printed = ireval("baseline", "resolve")

    assert "    ireval baseline anchor suites/shop.ireval.yaml --named shop --reason 'release 5'\n" in printed.out


def test_a_damaged_one_is_pinned_anew_as_accepting_would_not_mend_it(tmp_path):
    write_baseline(tmp_path, baseline_of())
    write_anchor(tmp_path, baseline_of(), PINNED)
    for name in ("shop", "shop.anchor"):
        (tmp_path / f"{name}.rankings.tsv").write_text("x")

    with pytest.raises(BaselineError, match=r"or pin again: ireval baseline anchor SUITE --reason"):
        read_baseline(tmp_path, "shop.anchor")
    with pytest.raises(BaselineError, match=r"or accept again: pytest --ireval SUITE"):
        read_baseline(tmp_path, "shop")
