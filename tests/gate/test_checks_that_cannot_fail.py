"""A check that nothing can break is told as such, in every run and before one; so is a run that moved nothing."""

import re

import pytest


def notes(shop):
    assert shop.run().ret == 0
    return [note for note in shop.results()["suites"][0]["notes"] if "never fail" in note or "equal those of" in note]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('nDCG@10: ">= 0.5"', 'nDCG@10: ">= 0"', "threshold::nDCG_10 can never fail: every value of nDCG@10 is >= 0"),
        ('nDCG@10: ">= 0.5"', 'nDCG@10: "<= 1"', "threshold::nDCG_10 can never fail: every value of nDCG@10 is <= 1"),
        ("at_most: 2}", "at_most: 10}", "worsened::nDCG_10 can never fail: at_most allows 10 of 10 queries"),
        (
            "at_most: 2}",
            "at_most: 4, per: segment}",
            "worsened::nDCG_10.segment-tail can never fail: at_most allows 4 of 4 queries",
        ),
    ],
)
def test_one_that_nothing_breaks(shop, ireval, old, new, says):
    shop.change((old, new))
    shop.accept()

    told = notes(shop)

    (said,) = [each for each in told if "never" in each]
    assert re.fullmatch(rf"shop\.ireval\.yaml:1[25]: {re.escape(says)}", said)
    assert f"warning: {said}\n" in ireval("check", "shop.ireval.yaml").out


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("at_most: 2}", "at_most: 9}"),
        ('nDCG@10: ">= 0.5"', 'nDCG@10: "> 0"'),
        ("  - threshold: {nDCG", "  - threshold: {metric: nDCG@10, of: min, min: 0}\n  - threshold: {nDCG"),
        ("at_most: 2}", "at_most: 99%}"),
    ],
)
def test_one_that_something_breaks(shop, old, new):
    shop.change((old, new))
    shop.accept()

    assert [each for each in notes(shop) if "never" in each] == []


def test_recall_that_is_checked_alone(shop, ireval):
    alone = "rules:\n  - threshold: {R@5: '>= 0.01'}\n"
    suite = shop.suite.partition("rules:")[0]
    said = "only recall is checked (R@5), which neither ranks nor more documents can lower; add nDCG@10"

    for rules, told in ((alone, True), (alone + "  - threshold: {P@5: '>= 0.01'}\n", False)):
        shop.suite = suite + rules
        shop.write()
        shop.run()
        assert any(said in note for note in shop.results()["suites"][0]["notes"]) == told
        assert (said in ireval("check", "shop.ireval.yaml").out) == told


def test_rankings_that_are_all_those_of_the_baseline_are_told_with_their_source(shop):
    shop.accept()
    assert notes(shop) == ["all 10 rankings equal those of the baseline (source: run: rankings.txt)"]

    shop.rankings["q01"].reverse()
    shop.write()
    shop.run()

    assert [note for note in shop.results()["suites"][0]["notes"] if "equal those of" in note] == []


def test_without_a_baseline_nothing_is_told(shop):
    shop.run()

    assert [note for note in shop.results()["suites"][0]["notes"] if "equal those of" in note] == []
