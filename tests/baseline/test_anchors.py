"""An anchor beside its baseline: the same content under another name, settled and moved on its own."""

import pytest
from made_baselines import FIRST, SECOND, baseline_of, content

from pytest_ireval.baseline.files import anchor_name, is_anchor, is_baseline_file, suite_name_of
from pytest_ireval.baseline.reading import read_baseline
from pytest_ireval.baseline.record import Acceptance, describe_anchor, list_acceptances_since
from pytest_ireval.baseline.writing import write_anchor, write_baseline
from pytest_ireval.errors import BaselineError

PINNED = Acceptance("2026-12-01T09:00:00Z", "e" * 40, "main", reason="release 4.2")


def test_it_is_called_after_its_suite():
    assert anchor_name("shop") == "shop.anchor"
    assert (is_anchor("shop.anchor"), is_anchor("shop"), is_anchor("anchor")) == (True, False, False)
    assert (suite_name_of("shop.anchor"), suite_name_of("shop.de")) == ("shop", "shop.de")


def test_words_say_day_and_reason():
    assert describe_anchor(PINNED) == "the anchor of 2026-12-01 (release 4.2)"


def test_it_holds_what_the_baseline_holds_and_who_pinned_it(tmp_path):
    figures = {"nDCG@10": 0.875}
    baseline = baseline_of(acceptances=(FIRST, SECOND._replace(figures=figures)))
    write_baseline(tmp_path, baseline)

    assert write_anchor(tmp_path, baseline, PINNED).name == "shop.anchor.baseline"

    anchor = content(read_baseline(tmp_path, "shop.anchor"))
    assert anchor["acceptances"] == (*baseline.acceptances, PINNED._replace(figures=figures))
    assert {**anchor, "suite": "shop", "acceptances": baseline.acceptances} == content(baseline)
    assert content(read_baseline(tmp_path, "shop")) == content(baseline)


def test_its_file_is_not_that_of_the_baseline():
    names = ("shop.baseline", "shop.baseline.gz", "shop.anchor.baseline", "shop.de.baseline", "shop.json")
    assert [name for name in names if is_baseline_file(name, "shop")] == ["shop.baseline", "shop.baseline.gz"]
    assert [name for name in names if is_baseline_file(name, "shop.anchor")] == ["shop.anchor.baseline"]


def test_what_the_baseline_accepted_since_is_what_the_anchor_lacks():
    anchor = baseline_of(acceptances=(FIRST, SECOND, PINNED))
    third = SECOND._replace(date="2027-01-01T00:00:00Z")

    assert list_acceptances_since(anchor, baseline_of(acceptances=(FIRST, third))) == (third,)


def test_pinning_anew_replaces_the_one_before_whole(tmp_path):
    write_anchor(tmp_path, baseline_of(acceptances=(FIRST,)), PINNED)
    later = PINNED._replace(date="2027-03-01T09:00:00Z", reason="release 5")

    write_anchor(tmp_path, baseline_of({"q1": ["z"]}, acceptances=(FIRST, SECOND)), later)

    assert read_baseline(tmp_path, "shop.anchor").acceptances == (FIRST, SECOND, later)


def test_a_damaged_one_is_pinned_anew_as_accepting_would_not_mend_it(tmp_path):
    write_baseline(tmp_path, baseline_of())
    write_anchor(tmp_path, baseline_of(), PINNED)
    for name in ("shop", "shop.anchor"):
        (tmp_path / f"{name}.baseline").write_text("x")

    with pytest.raises(BaselineError, match=r"\n  pin again: ireval baseline anchor . --named shop --reason"):
        read_baseline(tmp_path, "shop.anchor")
    with pytest.raises(
        BaselineError, match=r"\n  accept again: pytest --ireval . -k shop --ireval-update --ireval-force"
    ):
        read_baseline(tmp_path, "shop")
