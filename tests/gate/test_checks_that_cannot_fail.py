"""A check that nothing can break is told as such, in every run and before one; so is a run that moved nothing."""

import pytest


def find_notes(shop):
    shop.gate()
    return [note for note in shop.results()["suites"][0]["notes"] if "never fail" in note or "equal those of" in note]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            'nDCG@10: ">= 0.5"',
            'nDCG@10: ">= 0"',
            "12: threshold::nDCG_10 can never fail: every value of nDCG@10 is >= 0",
        ),
        ("at_most: 2}", "at_most: 10}", "15: worsened::nDCG_10 can never fail: at_most allows 10 of 10 queries"),
        (
            "at_most: 2}",
            "at_most: 4, per: segment}",
            "15: worsened::nDCG_10.segment-tail can never fail: at_most allows 4 of 4 queries",
        ),
        ("at_most: 2}", "at_most: 9}", None),
        ('nDCG@10: ">= 0.5"', 'nDCG@10: "> 0"', None),
        ("  - threshold: {nDCG", "  - threshold: {metric: nDCG@10, of: min, min: 0}\n  - threshold: {nDCG", None),
    ],
)
def test_one_that_nothing_breaks_is_said(shop, ireval, old, new, says):
    shop.change((old, new))
    shop.accept()

    said = [each for each in find_notes(shop) if "never" in each]

    assert said == ([f"shop.ireval.yaml:{says}"] if says else [])
    printed = ireval("check", "shop.ireval.yaml").out
    assert all(f"warning: {each}\n" in printed for each in said)


def test_rankings_that_are_all_those_of_the_baseline_are_told_with_their_source(shop):
    shop.accept()
    assert find_notes(shop) == ["all 10 rankings equal those of the baseline (source: run: rankings.txt)"]

    shop.rankings["q01"].reverse()
    shop.write()
    shop.gate()

    assert [note for note in shop.results()["suites"][0]["notes"] if "equal those of" in note] == []


@pytest.mark.parametrize(
    ("never", "said"),
    [
        ("q01-d9", ["no judgment, ranking or baseline has 'q01-d9': check the id"]),
        ("q02-d3", []),  # judged for another query
        ("old", []),  # in the baseline alone
    ],
)
def test_a_document_that_must_never_show_but_that_nobody_knows_is_a_warning(shop, never, said):
    shop.change(("document: q01-d0, top: 3", f"never: [{never}], top: 3"))
    shop.rankings["q01"].append("old")
    shop.write()
    shop.accept()
    shop.rankings["q01"].remove("old")
    shop.write()

    shop.gate()

    found = shop.outcome("expect::q01.never")
    assert (found["verdict"], found["warning"], found["facts"]) == ("pass", bool(said), said)
