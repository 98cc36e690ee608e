"""What so many queries show and cannot tell: the numbers behind a verdict by evidence."""

import pytest

from pytest_ireval.errors import SuiteError
from pytest_ireval.gate.apply import _validate_p

BY_EVIDENCE = "no_regression: {metric: RR@10, tolerance: 2%}"
SAME = (2, 2)
LOSS = (1, 2)
GAIN = (2, 1)
SMALL_LOSS = (3, 4)
SMALL_GAIN = (4, 3)


def rule(text, more):
    return f"{text[:-1]}, {more}}}"


def test_queries_that_cannot_tell_have_the_numbers_beside_the_verdict(town):
    outcome = town((SAME, 170), (LOSS, 18), (GAIN, 12)).only(BY_EVIDENCE)

    assert outcome.verdict == "inconclusive"
    (figures,) = outcome.figures
    assert (figures.worse, figures.better, figures.same) == (18, 12, 170)
    assert (figures.needed, round(figures.low, 3), round(figures.high, 3)) == (1951, -0.038, 0.008)


@pytest.mark.parametrize("p", [float("nan"), -0.1, 1.5])
def test_what_a_plugin_says_of_its_p_is_checked(p):
    with pytest.raises(ValueError, match="its p is"):
        _validate_p(p)


def test_four_changed_queries_cannot_fail_by_evidence_and_five_that_all_fell_can(town):
    four = town((SAME, 96), (LOSS, 4)).only(BY_EVIDENCE)
    five = town((SAME, 45), (LOSS, 5)).only(BY_EVIDENCE)

    assert four.verdict == "inconclusive"
    assert "only 4 of 100 queries changed, too few to rule out chance; " in four.headline
    assert (four.figures[0].p, five.figures[0].p) == (pytest.approx(1 / 16), pytest.approx(1 / 32))
    assert five.verdict == "fail"


def test_a_slice_of_fewer_than_twenty_fails_where_what_is_undecided_fails(town):
    found = town((SAME, 2), (LOSS, 36)).gate(rule(BY_EVIDENCE, "per: segment, on_inconclusive: fail"))
    same = town((SAME, 38)).gate(rule(BY_EVIDENCE, "per: segment, on_inconclusive: fail"))

    assert {each.verdict for name, each in found.items() if name != "inputs"} == {"fail"}
    assert {each.verdict for each in same.values()} == {"pass"}


def test_one_level_is_shared_by_all_rules_of_a_suite(town):
    kinds = (SAME, 470), (LOSS, 20), (GAIN, 8)
    alone = town(*kinds).only(BY_EVIDENCE)
    sliced = town(*kinds).gate(rule(BY_EVIDENCE, "per: segment"))

    assert alone.verdict == "fail"
    assert alone.figures[0].p == alone.figures[0].adjusted == pytest.approx(0.0116, abs=1e-4)
    low, high = sorted((each.figures[0] for name, each in sliced.items() if name != "inputs"), key=lambda f: f.p)
    assert low.adjusted == pytest.approx(2 * low.p)
    assert high.adjusted == max(high.p, low.adjusted)
    assert any("corrected for 2 verdicts" in fact for name, each in sliced.items() for fact in each.statistics)


def test_rules_that_observation_decides_are_none_of_the_family(town):
    observed = [f"no_regression: {{metric: RR@10, tolerance: 2%, decide_by: observed, name: n{i}}}" for i in range(5)]
    found = town((SAME, 470), (LOSS, 20), (GAIN, 8)).gate(BY_EVIDENCE, *observed)

    assert found["no_regression::RR_10.all"].verdict == "fail"
    assert found["no_regression::RR_10.all.n0"].figures[0].adjusted is None


def test_weights_count_queries_as_often_as_they_are_asked(town):
    kinds = (SAME, 60), (LOSS, 10), (GAIN, 30)
    weights = [1] * 60 + [50] * 10 + [1] * 30
    plain = town(*kinds, weights=weights).only(BY_EVIDENCE)
    weighted = town(*kinds, weights=weights).only(rule(BY_EVIDENCE, "weighted: true, hard_limit: 90%, min_queries: 20"))

    assert plain.figures[0].change > 0 > weighted.figures[0].change
    assert (plain.verdict, weighted.verdict) == ("pass", "inconclusive")
    assert weighted.figures[0].baseline == pytest.approx((60 * 0.5 + 500 * 1 + 30 * 0.5) / 590)
    assert weighted.figures[0].effective == pytest.approx(590**2 / (90 + 10 * 2500))
    assert "weighted by searches: equivalent to 14 queries of equal weight" in weighted.statistics


@pytest.mark.parametrize("kinds", [((SAME, 8), (LOSS, 3), (GAIN, 1)), ((LOSS, 20),)])
def test_no_interval_is_shown_where_a_t_test_is_not_trusted(kinds, town):
    """Four changes, of which chance alone makes as many; and twenty queries that all lost the same."""
    (figures,) = town(*kinds).only(rule(BY_EVIDENCE, "min_queries: 5")).figures

    assert (figures.low, figures.high) == (None, None)


def test_neither_the_order_of_rows_nor_names_of_queries_change_a_digit(town):
    kinds = (SAME, 170), (LOSS, 18), (GAIN, 12), (SMALL_LOSS, 7)
    found, other = (town(*kinds, **more).only(BY_EVIDENCE) for more in ({}, {"order": 3, "names": "x-{:04}"}))

    assert other.headline.partition("; worst queries")[0] == found.headline.partition("; worst queries")[0]
    for name, number in found.numbers.items():
        assert other.numbers[name] == pytest.approx(number, abs=1e-12)


def test_a_greater_tolerance_never_makes_a_verdict_worse(town):
    order = ("pass", "inconclusive", "fail")
    some = town((SAME, 170), (LOSS, 28), (GAIN, 4))
    rules = [rule(BY_EVIDENCE, f"name: t{t:02}").replace("2%", f"{t}%") for t in range(1, 25)]
    found = some.gate(*rules)

    verdicts = [order.index(found[f"no_regression::RR_10.all.t{t:02}"].verdict) for t in range(1, 25)]
    assert verdicts == sorted(verdicts, reverse=True)
    assert (verdicts[0], verdicts[-1]) == (2, 0)


def test_what_makes_no_sense_is_a_mistake(town):
    for text, weight, complaint in (
        ("equivalent: {metric: RR@10, tolerance: 0%}", "", "a tolerance of 0 can never be confirmed"),
        (rule(BY_EVIDENCE, "weighted: true"), "", "does not say how much traffic each query has"),
        (
            "no_regression: {metric: GMAP, tolerance: 2%, decide_by: evidence}",
            "",
            "the figure of GMAP is not a mean, but evidence is about means",
        ),
    ):
        with pytest.raises(SuiteError, match=complaint):
            town((SAME, 3)).gate(text, weight=weight)


def test_a_slice_that_nobody_asks_for_has_no_weighted_mean_and_leaves_the_others_theirs(town):
    some = town((LOSS, 60), weights=[1, 0] * 30)

    found = some.gate(rule(BY_EVIDENCE, "weighted: true, per: segment"))

    assert found["no_regression::RR_10.segment-head"].verdict == "fail"
    tail = found["no_regression::RR_10.segment-tail"]
    assert (tail.verdict, tail.headline) == (
        "error",
        "RR@10 has no figure to compare on segment=tail: all of its queries have weight 0",
    )


def test_one_query_with_nearly_all_weight_is_no_evidence(town):
    some = town((LOSS, 1), (SMALL_LOSS, 20), (SMALL_GAIN, 20), (SAME, 100), weights=[100_000, *[1] * 140])

    shown = some.only(rule(BY_EVIDENCE, "weighted: true, hard_limit: 90%"))

    assert (shown.verdict, shown.figures[0].p) == ("inconclusive", 1.0)
    assert "141 queries count like 1 of equal weight, which are too few: evidence needs 5" in shown.headline


def test_what_other_verdicts_make_inconclusive_says_so(town):
    worsened = "worsened: {metric: RR@10, by_more_than: 0.3}"
    found = town((SAME, 45), (LOSS, 5)).gate(BY_EVIDENCE, worsened)

    said = found["no_regression::RR_10.all"].headline
    assert "among 2 checks of this suite, chance alone can move one this much; " in said
