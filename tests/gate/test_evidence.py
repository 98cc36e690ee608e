"""``decide_by: evidence``: what so many queries show, what they cannot tell, and what follows from that."""

import numpy as np
import pytest
from town import Town

from pytest_ireval.errors import SuiteError
from pytest_ireval.gate.verdicts import _checked
from pytest_ireval.plugins.kinds import MeanTest

BY_EVIDENCE = "no_regression: {metric: RR@10, tolerance: 2%, decide_by: evidence}"
SAME = (2, 2)
LOSS = (1, 2)
GAIN = (2, 1)
SMALL_LOSS = (3, 4)
SMALL_GAIN = (4, 3)


def rule(text, more):
    return f"{text[:-1]}, {more}}}"


@pytest.fixture
def town(tmp_path):
    """Makes one of so many queries of each kind."""

    def make(*kinds, **more):
        return Town(tmp_path / "town", [kind for kind, count in kinds for _ in range(count)], **more)

    return make


def test_nothing_changed_is_a_pass(town):
    outcome = town((SAME, 30)).only(BY_EVIDENCE)

    assert (outcome.verdict, outcome.headline) == ("pass", "RR@10 did not change: nothing changed")


def test_a_harmless_change_of_many_queries_rules_the_drop_out(town):
    outcome = town((SAME, 1900), (SMALL_LOSS, 50), (SMALL_GAIN, 50)).only(BY_EVIDENCE)

    assert outcome.verdict == "pass"
    assert outcome.headline == ("RR@10 did not change (90% interval -0.001 to +0.001): a 2% drop is ruled out")


def test_what_got_worse_by_less_than_the_tolerance_passes_and_says_so(town):
    outcome = town((SAME, 2400), (SMALL_LOSS, 100)).only(BY_EVIDENCE)

    assert outcome.verdict == "pass"
    assert outcome.headline.endswith("): worse, but by less than a 2% drop")


def test_a_fall_that_is_no_chance_fails_whatever_was_observed_of_the_tolerance(town):
    outcome = town((SAME, 170), (SMALL_LOSS, 30)).only(rule(BY_EVIDENCE, "name: x").replace("2%", "3%"))

    assert outcome.verdict == "fail"
    assert abs(outcome.figures[0].relative) < 0.03
    assert outcome.headline.endswith("): worse, and a 3% drop is not ruled out")


def test_a_great_fall_is_worse_by_more_than_the_tolerance(town):
    outcome = town((SAME, 60), (LOSS, 40)).only(BY_EVIDENCE)

    assert outcome.verdict == "fail"
    assert outcome.headline.endswith("): worse, by more than a 2% drop")
    assert outcome.figures[0].over


def test_queries_that_cannot_tell_say_how_many_could(town):
    outcome = town((SAME, 170), (LOSS, 16), (GAIN, 14)).only(BY_EVIDENCE)

    assert outcome.verdict == "inconclusive"
    assert outcome.headline == (
        "RR@10 fell by 0.0050 (90% interval -0.028 to +0.018): 200 queries cannot tell a harmless change from a 2% "
        "drop; 2,000 would"
    )
    (figures,) = outcome.figures
    assert (figures.needed, figures.worse, figures.better, figures.same) == (1998, 16, 14, 170)


def test_where_queries_cannot_tell_the_observed_change_decides(town):
    outcome = town((SAME, 170), (LOSS, 18), (GAIN, 12)).only(rule(BY_EVIDENCE, "on_inconclusive: observed"))

    assert outcome.verdict == "fail"
    assert outcome.headline.endswith("; the observed change decides, and it is more than a 2% drop")


def test_where_queries_cannot_tell_there_is_a_warning_whatever_was_observed(town):
    worse = town((SAME, 170), (LOSS, 18), (GAIN, 12)).only(BY_EVIDENCE)
    better = town((SAME, 170), (LOSS, 12), (GAIN, 15)).only(BY_EVIDENCE)

    assert worse.figures[0].relative < -0.02
    assert (worse.verdict, worse.warning) == (better.verdict, better.warning) == ("inconclusive", True)


def test_a_hard_limit_fails_whatever_these_queries_can_tell(town):
    some = town((SAME, 170), (LOSS, 30), (GAIN, 5))

    beyond, within = (some.only(rule(BY_EVIDENCE, f"alpha: 0.000001, hard_limit: {limit}%")) for limit in (8, 12))

    assert -0.12 < beyond.figures[0].relative < -0.08
    assert (beyond.verdict, beyond.warning) == ("fail", False)
    assert beyond.headline.endswith("; it fell by more than the hard limit of 8%")
    assert (within.verdict, within.warning) == ("inconclusive", True)


def test_a_hard_limit_holds_on_a_slice_with_too_few_queries_to_be_evidence(town):
    found = town((LOSS, 4), (SAME, 26)).gate(rule(BY_EVIDENCE, "per: segment, hard_limit: 10%"))

    assert {name: outcome.verdict for name, outcome in found.items() if name != "inputs"} == {
        "no_regression::RR_10.segment-head": "fail",
        "no_regression::RR_10.segment-tail": "fail",
    }


def test_a_hard_limit_that_holds_judges_a_small_slice_by_nothing_else(town):
    more = "per: segment, on_inconclusive: observed, hard_limit: 90%"
    found = town((LOSS, 4), (SAME, 26)).gate(rule(BY_EVIDENCE, more))

    assert {each.verdict for name, each in found.items() if name != "inputs"} == {"inconclusive"}


@pytest.mark.parametrize("p", [float("nan"), -0.1, 1.5, MeanTest(0.5, None, np.arange(3))])
def test_what_a_plugin_says_of_its_p_is_checked(p):
    with pytest.raises(ValueError, match=r"its p is|one gain for each unit"):
        _checked(p)


@pytest.mark.parametrize(
    "kinds",
    [
        ((SAME, 60),),
        ((SAME, 40), (GAIN, 20)),
        ((SAME, 56), (LOSS, 2), (GAIN, 2)),
        ((SAME, 55), (LOSS, 3), (GAIN, 2)),
        ((SAME, 50), (SMALL_LOSS, 5), (SMALL_GAIN, 5)),
        ((SAME, 10),),
        ((SAME, 8), (GAIN, 2)),
        ((SMALL_LOSS, 20), (SMALL_GAIN, 20)),
        ((LOSS, 20), (GAIN, 20)),
        ((SAME, 195), (LOSS, 5)),
    ],
)
def test_harmless_changes_stay_green_beside_a_hard_limit(kinds, town):
    found = town(*kinds).gate(rule(BY_EVIDENCE, "hard_limit: 10%"), rule(BY_EVIDENCE, "per: segment, hard_limit: 10%"))

    assert "fail" not in {outcome.verdict for outcome in found.values()}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("tolerance: 2%, hard_limit: 10%", "hard_limit is for rules that decide by evidence: add decide_by: evidence"),
        ("tolerance: 2%, decide_by: evidence, hard_limit: 1%", "hard_limit: 1% is less than the tolerance of 2%"),
        ("tolerance: 2%, decide_by: evidence, hard_limit: 100%", "a hard_limit of 100% lets everything pass"),
    ],
)
def test_a_hard_limit_that_makes_no_sense_is_refused(text, complaint, town):
    with pytest.raises(SuiteError) as error:
        town((SAME, 60)).only(f"no_regression: {{metric: RR@10, {text}}}")

    assert complaint in str(error.value)


@pytest.mark.parametrize(
    ("what", "verdict", "warning"),
    [("observed", "fail", False), ("warn", "inconclusive", True), ("fail", "fail", False)],
)
def test_a_suite_says_what_follows_where_queries_cannot_tell(what, verdict, warning, town):
    shown = town((SAME, 170), (LOSS, 18), (GAIN, 12)).only(rule(BY_EVIDENCE, f"on_inconclusive: {what}"))

    assert (shown.verdict, shown.warning) == (verdict, warning)


def test_on_inconclusive_fail_fails_even_what_got_better(town):
    shown = town((SAME, 170), (LOSS, 12), (GAIN, 15)).only(rule(BY_EVIDENCE, "on_inconclusive: fail"))

    assert shown.figures[0].change > 0
    assert shown.verdict == "fail"


def test_four_changed_queries_cannot_fail_by_evidence(town):
    shown = town((SAME, 196), (LOSS, 4)).only(rule(BY_EVIDENCE, "on_inconclusive: warn"))

    assert shown.verdict == "inconclusive"
    assert "cannot tell a harmless change from a 2% drop: only 4 of them changed" in shown.headline
    assert shown.figures[0].p == pytest.approx(1 / 16)


def test_five_queries_that_all_fell_can(town):
    shown = town((SAME, 45), (LOSS, 5)).only(BY_EVIDENCE)

    assert shown.figures[0].p == pytest.approx(1 / 32)
    assert shown.verdict == "fail"


def test_fewer_than_twenty_queries_are_no_evidence_and_what_follows_is_asked(town):
    observed = rule(BY_EVIDENCE, "on_inconclusive: observed")
    worse = town((SAME, 9), (LOSS, 10)).only(observed)
    better = town((SAME, 9), (GAIN, 10)).only(observed)
    undecided = town((SAME, 9), (LOSS, 10)).only(BY_EVIDENCE)

    assert (undecided.verdict, undecided.warning) == ("inconclusive", True)
    assert undecided.headline.endswith("19 queries are fewer than the 20 that evidence needs")

    assert worse.verdict == "fail"
    assert "19 queries are fewer than the 20 that evidence needs; the observed change decides" in worse.headline
    assert better.verdict == "inconclusive"


def test_a_slice_of_fewer_than_twenty_fails_where_what_is_undecided_fails(town):
    found = town((SAME, 2), (LOSS, 36)).gate(rule(BY_EVIDENCE, "per: segment, on_inconclusive: fail"))
    same = town((SAME, 38)).gate(rule(BY_EVIDENCE, "per: segment, on_inconclusive: fail"))

    assert {each.verdict for name, each in found.items() if name != "inputs"} == {"fail"}
    assert {each.verdict for each in same.values()} == {"pass"}


def test_a_slice_of_fewer_than_twenty_is_reported_and_not_judged(town):
    found = town((LOSS, 38)).gate(rule(BY_EVIDENCE, "per: segment"))

    headlines = {name: outcome.headline for name, outcome in found.items() if name != "inputs"}
    few = "has 19 queries, fewer than min_queries: 20; not judged"
    assert headlines == {
        "no_regression::RR_10.segment-head": f"segment=head {few}",
        "no_regression::RR_10.segment-tail": f"segment=tail {few}",
    }
    assert {found[name].verdict for name in headlines} == {"inconclusive"}


def test_min_queries_that_is_written_counts(town):
    found = town((LOSS, 38)).gate(rule(BY_EVIDENCE, "per: segment, min_queries: 19"))

    assert {outcome.verdict for name, outcome in found.items() if name != "inputs"} == {"fail"}


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


def test_metrics_of_one_slice_that_move_together_are_corrected_less(town):
    kinds = (SAME, 470), (LOSS, 20), (GAIN, 8)
    alone = town(*kinds).only(BY_EVIDENCE)
    same = town(*kinds).gate(*(rule(BY_EVIDENCE, f"name: n{i}") for i in range(10)))
    others = [BY_EVIDENCE.replace("RR@10", metric) for metric in ("P@1", "nDCG@10", "RR@10")]
    alike = town(*kinds).gate(*others)

    assert {each.verdict for name, each in same.items() if name != "inputs"} == {"fail"}
    (ten_times,) = {each.figures[0].adjusted for name, each in same.items() if name != "inputs"}
    assert ten_times == pytest.approx(alone.figures[0].p, rel=0.1)
    found = alike["no_regression::RR_10.all"].figures[0]
    assert found.adjusted == pytest.approx(found.p)  # one relevant document at most: these are one metric


def test_rules_that_observation_decides_are_none_of_the_family(town):
    observed = [f"no_regression: {{metric: RR@10, tolerance: 2%, name: n{i}}}" for i in range(5)]
    found = town((SAME, 470), (LOSS, 20), (GAIN, 8)).gate(BY_EVIDENCE, *observed)

    assert found["no_regression::RR_10.all"].verdict == "fail"
    assert found["no_regression::RR_10.all.n0"].figures[0].adjusted is None


def test_a_relative_tolerance_counts_the_noise_of_the_baseline(tmp_path):
    """The margin of a query is a share of its own value: baselines that differ much make a share uncertain."""
    flat = Town(tmp_path / "flat", [(2, 2)] * 60 + [LOSS, GAIN] * 4).only(rule(BY_EVIDENCE, "on_inconclusive: warn"))
    wild = Town(tmp_path / "wild", [(1, 1), (5, 5)] * 30 + [LOSS, GAIN] * 4).only(
        rule(BY_EVIDENCE, "on_inconclusive: warn")
    )

    assert flat.numbers["p_safe"] != pytest.approx(wild.numbers["p_safe"], abs=1e-3)


def test_weights_count_queries_as_often_as_they_are_asked(town):
    kinds = (SAME, 60), (LOSS, 10), (GAIN, 30)
    weights = [1] * 60 + [50] * 10 + [1] * 30
    plain = town(*kinds, weights=weights).only(BY_EVIDENCE)
    weighted = town(*kinds, weights=weights).only(rule(BY_EVIDENCE, "weighted: true"))

    assert plain.figures[0].change > 0 > weighted.figures[0].change
    assert (plain.verdict, weighted.verdict) == ("pass", "inconclusive")
    assert weighted.figures[0].baseline == pytest.approx((60 * 0.5 + 500 * 1 + 30 * 0.5) / 590)
    assert weighted.figures[0].effective == pytest.approx(590**2 / (90 + 10 * 2500))
    assert "weighted by searches: equivalent to 14 queries of equal weight" in weighted.statistics


@pytest.mark.parametrize(
    "kinds", [((SAME, 8), (LOSS, 4)), ((SAME, 8), (LOSS, 3), (GAIN, 1)), ((LOSS, 20),), ((SAME, 8), (GAIN, 4))]
)
def test_no_interval_is_shown_where_a_t_test_is_not_trusted(kinds, town):
    """Four changes, of which chance alone makes as many; and twenty queries that all lost the same."""
    (figures,) = town(*kinds).only(rule(BY_EVIDENCE, "min_queries: 5")).figures

    assert (figures.low, figures.high) == (None, None)


def test_an_interval_never_excludes_what_the_exact_test_does_not(town):
    (figures,) = town((SAME, 7), (LOSS, 4), ((4, 5), 1)).only(rule(BY_EVIDENCE, "min_queries: 5")).figures
    (more,) = town((SAME, 60), (LOSS, 8), (GAIN, 3)).only(BY_EVIDENCE).figures

    assert figures.low is None or figures.high >= 0 or figures.p < 0.05
    assert more.low < 0 < more.high


def test_equal_weights_are_no_weights(town):
    kinds = (SAME, 170), (LOSS, 18), (GAIN, 12)
    plain = town(*kinds).only(BY_EVIDENCE)
    weighted = town(*kinds, weights=[7] * 200).only(rule(BY_EVIDENCE, "weighted: true"))

    assert weighted.headline == f"weighted {plain.headline}"
    assert weighted.figures[0].p == pytest.approx(plain.figures[0].p, abs=1e-12)


@pytest.mark.parametrize("change", [{"order": 3}, {"names": "x-{:04}"}])
def test_neither_the_order_of_rows_nor_names_of_queries_change_a_digit(change, town):
    kinds = (SAME, 170), (LOSS, 18), (GAIN, 12), (SMALL_LOSS, 7)
    found, other = (town(*kinds, **more).only(BY_EVIDENCE) for more in ({}, change))

    assert other.headline == found.headline
    for name, number in found.numbers.items():
        assert other.numbers[name] == pytest.approx(number, abs=1e-12)


def test_a_greater_tolerance_never_makes_a_verdict_worse(town):
    order = ("pass", "inconclusive", "fail")
    some = town((SAME, 170), (LOSS, 22), (GAIN, 8))
    rules = [rule(BY_EVIDENCE, f"on_inconclusive: warn, name: t{t:02}").replace("2%", f"{t}%") for t in range(1, 25)]
    found = some.gate(*rules)

    verdicts = [order.index(found[f"no_regression::RR_10.all.t{t:02}"].verdict) for t in range(1, 25)]
    assert verdicts == sorted(verdicts, reverse=True)
    assert (verdicts[0], verdicts[-1]) == (2, 0)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("no_regression: {metric: RR@10, tolerance: 2%, alpha: 0.1}", "alpha is for rules that decide by evidence"),
        ("no_regression: {metric: RR@10, tolerance: 2%, on_inconclusive: warn}", "on_inconclusive is for rules that"),
        (BY_EVIDENCE.replace("}", ", alpha: 0.5}"), "alpha"),
        (BY_EVIDENCE.replace("}", ", looks: 5}"), "looks is for rules that compare with the anchor"),
        ("worsened: {metric: RR@10, by_more_than: 0.3}", "does not limit the number of queries"),
        ("equivalent: {metric: RR@10, tolerance: 0%}", "a tolerance of 0 can never be confirmed"),
    ],
)
def test_what_makes_no_sense_is_a_mistake(text, complaint, town):
    with pytest.raises(SuiteError, match=complaint):
        town((SAME, 3)).gate(text)


def test_evidence_is_about_means(town):
    with pytest.raises(SuiteError, match="the figure of GMAP is not a mean, but evidence is about means"):
        town((SAME, 3)).gate("no_regression: {metric: GMAP, tolerance: 2%, decide_by: evidence}")


def test_a_weighted_rule_needs_weights(town):
    with pytest.raises(SuiteError, match="does not say how much traffic each query has"):
        town((SAME, 3)).gate(rule(BY_EVIDENCE, "weighted: true"), weight="")


def test_a_slice_that_nobody_asks_for_has_no_weighted_mean_and_leaves_the_others_theirs(town):
    some = town((LOSS, 60), weights=[1, 0] * 30)

    found = some.gate(rule(BY_EVIDENCE, "weighted: true, per: segment"))

    assert found["no_regression::RR_10.segment-head"].verdict == "fail"
    tail = found["no_regression::RR_10.segment-tail"]
    assert (tail.verdict, tail.headline) == (
        "error",
        "RR@10 has no figure to compare on segment=tail: all of its queries have weight 0",
    )


@pytest.mark.parametrize(("alpha", "level"), [("0.001", "99.8%"), ("0.0125", "97.5%"), ("0.05", "90%")])
def test_the_interval_says_its_level_as_it_is(alpha, level, town):
    shown = town((SAME, 170), (LOSS, 18), (GAIN, 12)).only(rule(BY_EVIDENCE, f"alpha: {alpha}"))

    assert f"({level} interval " in shown.headline


def test_one_query_with_nearly_all_weight_is_no_evidence(town):
    some = town((LOSS, 1), (SMALL_LOSS, 20), (SMALL_GAIN, 20), (SAME, 100), weights=[100_000, *[1] * 140])

    shown = some.only(rule(BY_EVIDENCE, "weighted: true, on_inconclusive: warn"))

    assert (shown.verdict, shown.figures[0].p) == ("inconclusive", 1.0)
    assert "141 queries, weighted equivalent to 1, are fewer than the 20 that evidence needs" in shown.headline


def test_queries_without_weight_show_nothing_and_are_counted_where_more_are_needed(town):
    kinds = (SAME, 170), (LOSS, 16), (GAIN, 14)
    plain = town(*kinds).only(BY_EVIDENCE).figures[0]
    half = town(*kinds, (SAME, 200), weights=[1] * 200 + [0] * 200).only(rule(BY_EVIDENCE, "weighted: true")).figures[0]

    assert (half.resolution, half.false_alarm) == (pytest.approx(plain.resolution), pytest.approx(plain.false_alarm))
    assert half.needed == 2 * plain.needed


def test_a_stricter_level_needs_more_queries(town):
    some = town((SAME, 170), (LOSS, 16), (GAIN, 14))
    usual, strict = (some.only(rule(BY_EVIDENCE, f"alpha: {alpha}")).figures[0].needed for alpha in ("0.05", "0.01"))

    # (z of 1 - alpha, plus that of 80%) squared: 6.18 and 10.04
    assert strict / usual == pytest.approx(10.04 / 6.18, rel=0.01)


def test_what_other_verdicts_make_inconclusive_says_so(town):
    worsened = "worsened: {metric: RR@10, by_more_than: 0.3, decide_by: evidence}"
    found = town((SAME, 45), (LOSS, 5)).gate(rule(BY_EVIDENCE, "on_inconclusive: warn"), worsened)

    said = found["no_regression::RR_10.all"].headline
    assert said.endswith(
        "50 queries cannot tell a harmless change from a 2% drop: one of 2 verdicts moves as much by chance"
    )
