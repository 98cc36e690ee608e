"""The 21st red outcome of a suite is told in short, whichever test runs first."""

from dataclasses import replace

from runs import FAILED, PASSED, SHOP, make_suite_of_red_rules

from pytest_ireval.report.failure_text import is_shown_whole


def test_the_first_twenty_of_the_plan_are_told_whole():
    suite = make_suite_of_red_rules(22)
    ids = [each.id for each in suite.outcomes if each.verdict == "fail"]

    assert [is_shown_whole(suite, each) for each in ids] == [True] * 20 + [False] * 2


def test_what_passes_does_not_count():
    suite = replace(SHOP, outcomes=(*(replace(PASSED, id=f"p{i}") for i in range(50)), FAILED))

    assert is_shown_whole(suite, FAILED.id)
