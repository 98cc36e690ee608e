"""The red checks of a suite as one list, and their queries as one list."""

from dataclasses import replace

import pytest

from pytest_ireval.report.red_checks import format_ranges, format_suite_failures, group_red_checks, rank_red_queries
from pytest_ireval.results.outcome import Outcome, QueryChange
from pytest_ireval.results.suite_result import SuiteResult


def check(name, *queries, metric="nDCG@10", headline="", **more):
    found = tuple(QueryChange(query, f"text of {query}", 0.1, before) for query, before in queries)
    return Outcome(
        name, "no_regression", "fail", headline or name, queries=found, metric=metric, file="shop.yaml", line=7, **more
    )


FELL = check("fell", ("q1", 0.9), ("q2", 0.8), ("q3", 0.2))
LOW = check("low", ("q9", None), ("q3", None))
RECIPROCAL = check("rr", ("q3", 1.0), ("q1", 1.0), metric="RR@10")


def suite(*outcomes, **more):
    planned = tuple(each.id for each in outcomes)
    verdict = more.pop("verdict", "fail")
    return SuiteResult("shop", "shop.yaml", verdict, outcomes=outcomes, planned=planned, **more)


@pytest.mark.parametrize(("numbers", "words"), [((1, 3, 4, 5, 8), "1, 3-5, 8")])
def test_numbers_are_ranges(numbers, words):
    assert format_ranges(numbers) == words


def test_a_query_stands_once_with_all_checks_and_the_values_of_one_that_compares():
    found = rank_red_queries(group_red_checks(suite(LOW, FELL, RECIPROCAL), (LOW, FELL, RECIPROCAL)))

    assert [(each.change.query, each.checks) for each in found] == [
        ("q3", (1, 2, 3)),
        ("q1", (2, 3)),
        ("q2", (2,)),
        ("q9", (1,)),
    ]
    assert [each.change.baseline for each in found] == [0.2, 0.9, 0.8, None]
    assert {each.metric for each in found} == {"nDCG@10"}


def test_one_reason_is_one_line():
    missing = [check(f"m{n}", headline="no baseline to compare with", missing_baseline=True) for n in range(3)]
    passed = replace(FELL, id="ok", verdict="pass")
    found = group_red_checks(suite(*missing, FELL, passed), [missing[0], FELL, *missing[1:], passed])

    assert [(each.outcome.id, len(each.others)) for each in found] == [("m0", 2), ("fell", 0)]


def test_broken_inputs_are_one_line_that_has_the_whole_error():
    broken = [replace(check(f"c{n}"), verdict="error", headline="see inputs") for n in range(20)]
    inputs = replace(broken[0], id="inputs", kind="inputs")
    whole = suite(*broken, inputs, error="a.txt:3: is no ranking\n  one line", verdict="error")

    (only,) = group_red_checks(whole, whole.outcomes)
    assert (only.outcome.id, only.headline, len(only.others)) == ("inputs", "a.txt:3: is no ranking\n  one line", 20)
    assert format_suite_failures(whole.outcomes, whole, date="") == (
        "a.txt:3: is no ranking\n  one line\n\n  21 checks of this suite could not be made"
    )


def test_a_block_names_metrics_where_they_differ_and_ends_after_twenty_checks():
    many = [check(f"check {n}", (f"q{n}", 0.5), metric=f"P@{n % 2 + 1}") for n in range(25)]
    lines = format_suite_failures(many, suite(*many), date="", width=70).splitlines()

    assert lines[0] == "shop.yaml: 25 of 25 checks failed."
    assert "   1  check 0, line 7" in lines
    assert "  … and 5 more checks: -v shows all" in lines
    assert any(line.split("   ")[1:] == ["P@1 0.500 -> 0.100", "1"] for line in lines)
    assert "  … and 22 more: -v shows each check with its queries" in lines
    assert max(map(len, lines)) <= 70
