"""The 21st red outcome of a suite is told in short, whichever test runs first."""

from dataclasses import replace

from runs import FAILED, PASSED, SHOP, red_rules

from pytest_ireval.reports.failure_text import short_text, told_whole


def test_the_first_twenty_of_the_plan_are_told_whole():
    suite = red_rules(22)
    ids = [each.id for each in suite.outcomes if each.verdict == "fail"]

    assert [told_whole(suite, each) for each in ids] == [True] * 20 + [False] * 2


def test_what_passes_does_not_count():
    suite = replace(SHOP, outcomes=(*(replace(PASSED, id=f"p{i}") for i in range(50)), FAILED))

    assert told_whole(suite, FAILED.id)


def test_in_short_it_is_headline_sentence_and_where_the_rest_is():
    assert short_text(FAILED, SHOP, 80, "ireval-report/results.json") == (
        "suites/product-search.ireval.yaml:17: nDCG@10 fell 34.8% on segment=tail (tolerance 3%)\n"
        "4 of 12 tail queries lost their best document; they carry 1.0% of searches.\n"
        "Owner @acme/search-team.\n"
        "  one of more than 20 red verdicts of this suite: ireval-report/results.json and -vv show the rest"
    )
    assert short_text(FAILED, SHOP, 80).endswith("-vv shows the rest")
