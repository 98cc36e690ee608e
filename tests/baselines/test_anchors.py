"""An anchor beside its baseline: the same content under another name, settled and moved on its own."""

import pytest
from made_baselines import FIRST, SECOND, baseline_of, content

from pytest_ireval.baselines.files import baseline_files, is_file_of
from pytest_ireval.baselines.reading import read_baseline
from pytest_ireval.baselines.record import Acceptance
from pytest_ireval.baselines.writing import anchor_name, anchor_words, is_anchor, suite_of, write_anchor, write_baseline
from pytest_ireval.errors import BaselineError

PINNED = Acceptance("2026-12-01T09:00:00Z", "e" * 40, "main", reason="release 4.2")


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


def test_a_damaged_one_is_pinned_anew_as_accepting_would_not_mend_it(tmp_path):
    write_baseline(tmp_path, baseline_of())
    write_anchor(tmp_path, baseline_of(), PINNED)
    for name in ("shop", "shop.anchor"):
        (tmp_path / f"{name}.rankings.tsv").write_text("x")

    with pytest.raises(BaselineError, match=r"or pin again: ireval baseline anchor SUITE --reason"):
        read_baseline(tmp_path, "shop.anchor")
    with pytest.raises(BaselineError, match=r"or accept again: pytest --ireval SUITE"):
        read_baseline(tmp_path, "shop")
