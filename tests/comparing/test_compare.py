"""``compare``: figures, pairs, significance and extremes of several rankings, as plain results."""

import dataclasses
import json
import math

import numpy as np
import pytest
import scipy.stats

from pytest_ireval import (
    Comparison,
    InputError,
    IrevalError,
    Policies,
    SideData,
    compare,
    evaluate,
    metric,
    per_query_metric,
)

QUERIES = [f"q{i}" for i in range(10)]
JUDGMENTS = {query: {"good": 1, "bad": 0} for query in QUERIES}


def ranking(places):
    """For each query a ranking with the relevant document at the given place (0: not ranked)."""
    found = {}
    for query, place in zip(QUERIES, places, strict=True):
        found[query] = ["x1", "x2", "x3", "x4"][: max(place - 1, 0)] + (["good"] if place else []) + ["bad"]
    return found


FIRST = ranking([1] * 10)
MIXED = ranking([2, 2, 2, 2, 2, 2, 2, 1, 1, 4])
LAST = ranking([4, 4, 4, 4, 4, 4, 4, 4, 2, 1])
THREE = {"mixed": MIXED, "first": FIRST, "last": LAST}


def test_figures_are_those_of_evaluate():
    comparison = compare(JUDGMENTS, THREE, ["RR", "P@1"])

    assert comparison["RR"].values == {"mixed": 0.575, "first": 1.0, "last": 0.35}
    assert list(comparison.rankings) == ["mixed", "first", "last"]
    for name, evaluation in comparison.rankings.items():
        alone = evaluate(JUDGMENTS, THREE[name], ["RR", "P@1"])
        assert evaluation == dataclasses.replace(alone, rankings=name)


@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
def test_a_one_sided_test_is_that_of_scipy(side):
    found = compare(JUDGMENTS, {"mixed": MIXED, "last": LAST}, "RR", alternative=side)
    one, other = (list(found.rankings[name]["RR"].values.values()) for name in ("last", "mixed"))
    expected = scipy.stats.ttest_rel(one, other, alternative=side)

    pair = found["RR"].pair("last", "mixed")
    assert (pair.t, pair.p) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))
    assert pair.better == ("mixed" if side == "less" else "")
    assert Comparison.from_dict(found.to_dict()).alternative == found.to_dict()["alternative"] == side
    by_signs = compare(JUDGMENTS, {"mixed": MIXED, "last": LAST}, "RR", alternative=side, test="sign-flip")
    exact = scipy.stats.permutation_test(
        (np.array(one), np.array(other)), lambda x, y: (x - y).mean(), permutation_type="samples", alternative=side
    )
    assert by_signs["RR"].pair("last", "mixed").p == pytest.approx(exact.pvalue)


def test_the_example_of_ten_queries_in_the_evaluation_lectures_is_one_sided():
    a, b = [25, 43, 39, 75, 43, 15, 20, 52, 49, 50], [35, 84, 15, 75, 68, 85, 80, 50, 58, 75]
    names = [f"d{i}" for i in range(100)]
    judgments = {query: dict.fromkeys(names, 1) for query in QUERIES}
    rankings = {
        name: {query: names[:count] for query, count in zip(QUERIES, counts, strict=True)}
        for name, counts in (("A", a), ("B", b))
    }

    pair = compare(judgments, rankings, "P@100", alternative="greater")["P@100"].pair("B", "A")

    assert (round(pair.t, 2), round(pair.p, 2), pair.better) == (2.33, 0.02, "B")


def test_an_unknown_side_is_an_error():
    with pytest.raises(IrevalError, match="did you mean 'greater'"):
        compare(JUDGMENTS, THREE, "RR", alternative="great")


def test_a_pair_says_what_the_paired_t_test_says():
    comparison = compare(JUDGMENTS, THREE, "RR")
    pair = comparison["RR"].pair("last", "mixed")
    one, other = (list(comparison.rankings[name]["RR"].values.values()) for name in ("last", "mixed"))
    expected = scipy.stats.ttest_rel(one, other)
    low, high = expected.confidence_interval(0.95)

    assert pair.difference == pytest.approx(-0.225)
    assert pair.relative == pytest.approx(-0.225 / 0.575)
    assert (pair.wins, pair.ties, pair.losses) == (1, 0, 9)
    assert (pair.t, pair.df, pair.p) == (pytest.approx(expected.statistic), 9, pytest.approx(expected.pvalue))
    assert (pair.low, pair.high) == (pytest.approx(low), pytest.approx(high))
    assert pair.sd == pytest.approx(np.subtract(one, other).std(ddof=1))
    assert pair.standard_error == pytest.approx(pair.sd / math.sqrt(10))


def test_p_values_are_corrected_over_all_pairs_of_a_metric():
    metric = compare(JUDGMENTS, THREE, ["RR", "P@1"])["RR"]
    raw = sorted(pair.p for pair in metric.pairs)
    corrected = sorted(pair.p_adjusted for pair in metric.pairs)

    assert metric.family == 3
    assert corrected == pytest.approx([3 * raw[0], max(3 * raw[0], 2 * raw[1]), max(3 * raw[0], 2 * raw[1], raw[2])])


def test_who_is_significantly_better_is_said_after_correction():
    comparison = compare(JUDGMENTS, THREE, "RR")["RR"]

    assert {(pair.ranking, pair.other): pair.better for pair in comparison.pairs} == {
        ("first", "mixed"): "first",
        ("last", "mixed"): "",
        ("last", "first"): "first",
    }
    assert comparison.best == ("first",)
    assert comparison.leaders == ("first", "mixed")


@pytest.mark.parametrize("alpha", [0.001])
def test_alpha_decides(alpha):
    comparison = compare(JUDGMENTS, THREE, "RR", alpha=alpha)["RR"]

    assert all(bool(pair.better) == (pair.p_adjusted < alpha) for pair in comparison.pairs)


class TestBaseline:
    @pytest.mark.parametrize("baseline", ["mixed", "first"])
    def test_only_pairs_with_it_are_compared(self, baseline):
        comparison = compare(JUDGMENTS, {"mixed": MIXED, "new": FIRST, "old": LAST}, "RR", baseline=baseline)

        assert comparison.baseline == "mixed"
        assert [(pair.ranking, pair.other) for pair in comparison["RR"].pairs] == [("new", "mixed"), ("old", "mixed")]
        assert comparison["RR"].family == 2

    def test_an_unknown_one_is_an_error(self):
        with pytest.raises(IrevalError) as caught:
            compare(JUDGMENTS, THREE, "RR", baseline="frst")

        assert str(caught.value) == (
            "baseline='frst' is not one of the rankings\n  did you mean 'first'?\n"
            "  allowed: first (the first), mixed, first, last"
        )


class TestExtremes:
    def test_with_a_baseline_each_pair_lists_its_greatest_gains_and_drops(self):
        pair = compare(JUDGMENTS, THREE, "RR", baseline="mixed", extremes=2)["RR"].pair("last", "mixed")

        assert [(c.query, c.other, c.value, c.difference) for c in pair.gains] == [("q9", 0.25, 1.0, 0.75)]
        assert [(c.query, c.difference) for c in pair.drops] == [("q7", -0.75), ("q8", -0.5)]

    def test_without_one_only_the_best_two_list_them(self):
        pairs = compare(JUDGMENTS, THREE, "RR")["RR"].pairs

        assert [bool(pair.gains or pair.drops) for pair in pairs] == [True, False, False]


def test_the_sign_flip_test():
    pair = compare(JUDGMENTS, {"first": FIRST, "mixed": MIXED}, "RR", test="sign-flip")["RR"].pairs[0]

    assert (pair.test, pair.p, pair.p_adjusted, pair.better) == ("sign-flip", 2 / 2**8, 2 / 2**8, "first")
    assert pair.low < pair.difference < pair.high < 0


class TestCorners:
    def test_the_same_values_are_no_difference(self):
        metric = compare(JUDGMENTS, {"one": FIRST, "two": FIRST}, "RR")["RR"]
        (pair,) = metric.pairs

        assert (pair.difference, pair.t, pair.p, pair.p_adjusted, pair.better) == (0, 0, 1, 1, "")
        assert (pair.wins, pair.ties, pair.losses, pair.low, pair.high) == (0, 10, 0, 0, 0)
        assert metric.best == ()

    def test_differences_that_are_all_equal_are_tested_by_their_signs(self):
        (pair,) = compare(JUDGMENTS, {"one": ranking([2] * 10), "two": FIRST}, "RR")["RR"].pairs

        assert (pair.test, pair.t, pair.p) == ("sign-flip", None, 2 / 2**10)
        assert (pair.sd, pair.low, pair.high) == (0, 0.5, 0.5)
        assert pair.better == "two"

    def test_a_significant_t_of_few_changed_queries_is_held_against_the_exact_test(self):
        few, many = (
            compare(JUDGMENTS, {"one": ranking(places), "two": FIRST}, "RR")["RR"].pairs[0]
            for places in ([2, 2, 2, 2, 2, 1, 1, 1, 1, 1], [2, 3, 2, 3, 2, 3, 2, 3, 2, 1])
        )

        assert (few.wins, few.p < 0.05, few.better, few.sign_flip_p) == (5, True, "two", 2 / 2**5)
        assert (many.wins, many.better, many.sign_flip_p) == (9, "two", 2 / 2**9)

    def test_the_exact_test_of_few_changed_queries_is_corrected_like_t(self):
        judgments = {f"q{i}": {"good": 1} for i in range(20)}
        second, first, third = ["x", "good"], ["good"], ["x", "y", "good"]
        changed = {"A": (range(0), second), "B": (range(6), first), "C": (range(6, 11), third)}
        lists = {
            name: {query: place if i in places else second for i, query in enumerate(judgments)}
            for name, (places, place) in changed.items()
        }

        comparison = compare(judgments, lists, "RR")
        pair = comparison["RR"].pair("B", "A")

        assert (pair.better, pair.p_adjusted) == ("B", pytest.approx(0.0203, abs=5e-5))
        assert (pair.sign_flip_p, pair.sign_flip_p_adjusted) == (2 / 2**6, 2 * 2 / 2**6)
        assert comparison["RR"].pair("C", "B").sign_flip_p_adjusted == 3 * 2 / 2**11
        assert Comparison.from_dict(json.loads(json.dumps(comparison.to_dict()))) == comparison

    def test_a_single_query_is_compared_and_not_tested(self):
        metric = compare({"q": {"a": 1}}, {"one": {"q": ["a"]}, "two": {"q": ["b", "a"]}}, "RR")["RR"]
        (pair,) = metric.pairs

        assert (metric.units, metric.family, pair.difference, pair.losses) == (1, 0, -0.5, 1)
        assert (pair.sd, pair.low, pair.t, pair.df, pair.p, pair.p_adjusted) == (None,) * 6
        assert pair.better == ""

    def test_values_far_apart_in_size(self):
        @per_query_metric(name="Huge", range=(-math.inf, math.inf))
        def huge(ranking):
            """Ranks as powers."""
            return 10.0 ** (300 - 100 * len(ranking.grades))

        metric = compare(JUDGMENTS, {"one": MIXED, "two": LAST}, [huge])["Huge"]

        assert all(math.isfinite(number) for number in (metric.pairs[0].sd, metric.pairs[0].p, metric.pairs[0].low))


class TestMetricsOfOtherKinds:
    def test_where_lower_is_better_the_lowest_wins(self):
        @per_query_metric(name="Place", direction="lower", range=(0, 9), no_relevant=None)
        def place(ranking):
            """How many documents stand above the relevant one."""
            return len(ranking.grades) - 2.0

        metric = compare(JUDGMENTS, THREE, [place], baseline="mixed")["Place"]
        pair = metric.pair("first", "mixed")

        assert metric.best == ("first",)
        assert pair.difference == pytest.approx(-1.0)
        assert (pair.wins, pair.ties, pair.losses, pair.better) == (8, 2, 0, "first")
        assert [(change.query, change.difference) for change in pair.gains] == [("q9", -3), ("q0", -1), ("q1", -1)]

    def test_a_sum_is_shown_and_not_tested(self):
        metric = compare(JUDGMENTS, THREE, "NumRelRet")["NumRelRet"]

        assert metric.values == {"mixed": 10, "first": 10, "last": 10}
        assert (metric.untested, metric.pairs, metric.leaders) == ("its figure is not a mean (sum)", (), ())

    def test_one_value_for_the_whole_has_nothing_to_pair(self):
        @metric(name="Speed", unit="run", range=(0, math.inf), needs=("timings",))
        def throughput(judged):
            """Queries a second."""
            return np.array([judged.count / judged.timings.sum()])

        rankings = {"mixed": MIXED, "first": FIRST}
        seconds = {"mixed": 0.1, "first": 0.2}
        timings = {name: SideData(timings=dict.fromkeys(QUERIES, each)) for name, each in seconds.items()}
        found = compare(JUDGMENTS, rankings, [throughput], side_data=timings)["Speed"]

        assert found.values == {"mixed": pytest.approx(10), "first": pytest.approx(5)}
        assert found.best == ("mixed",)
        assert found.untested == "it has one value per ranking, so there are no pairs to test"

    def test_sessions_are_paired_with_sessions(self):
        @metric(name="Successes", unit="session", range=(0, math.inf))
        def successes(judged):
            """Queries of a session whose relevant document stands first."""
            first = judged.sum((judged.hits.rank == 1) & (judged.hits.grade > 0))
            return np.bincount(judged.sessions.session, weights=first, minlength=len(judged.sessions.names))

        sessions = {query: (f"s{i // 2}", i % 2 + 1) for i, query in enumerate(QUERIES)}
        found = compare(
            JUDGMENTS, {"mixed": MIXED, "first": FIRST}, [successes], side_data=SideData(sessions=sessions)
        )["Successes"]

        assert (found.unit, found.units, found.pairs[0].wins) == ("session", 5, 5)

    def test_timings_of_a_ranking_that_is_not_there_are_an_error(self):
        with pytest.raises(InputError) as caught:
            compare(JUDGMENTS, THREE, "RR", side_data={"frist": SideData(timings={})})

        assert str(caught.value) == (
            "side_data\n  'frist' is not one of the rankings\n  did you mean 'first'?\n  allowed: mixed, first, last"
        )

    def test_rankings_do_not_share_timings(self):
        with pytest.raises(InputError) as caught:
            compare(JUDGMENTS, THREE, "RR", side_data=SideData(timings={}))

        assert str(caught.value) == (
            "side_data\n  timings are those of one ranking, and several are compared\n"
            '  give each its own: side_data={"name": SideData(timings=…), …}'
        )


class TestMissingQueries:
    LACKING = {query: FIRST[query] for query in QUERIES[:8]}
    OTHER = {query: MIXED[query] for query in QUERIES[1:]}

    def test_all_that_is_missing_is_one_error(self):
        with pytest.raises(InputError) as caught:
            compare(JUDGMENTS, {"a": self.LACKING, "b": MIXED, "c": self.OTHER}, "RR")

        assert str(caught.value) == (
            "a\n  2 of 10 judged queries have no ranking: 'q8', 'q9'\n"
            '  missing_queries="zero" (command line: --missing zero) gives them the worst score, '
            '"ignore" leaves them out\n'
            "c\n  1 of 10 judged queries have no ranking: 'q0'\n"
            '  missing_queries="zero" (command line: --missing zero) gives them the worst score, '
            '"ignore" leaves them out'
        )

    def test_ignore_counts_those_that_all_rankings_have(self):
        comparison = compare(
            JUDGMENTS, {"a": self.LACKING, "c": self.OTHER}, "RR", policies=Policies(missing_queries="ignore")
        )

        assert comparison.queries == comparison["RR"].units == 7
        assert list(comparison.rankings["a"]["RR"].values) == QUERIES[1:8]
        assert comparison["RR"].values["c"] == pytest.approx((6 * 0.5 + 1) / 7)
        assert comparison.rankings["a"].missing == ("q8", "q9")
        assert comparison.rankings["c"].missing == ("q0",)

    def test_rankings_without_a_common_query_cannot_be_compared(self):
        one, other = {"q0": ["good"]}, {"q1": ["good"]}

        with pytest.raises(InputError) as caught:
            compare(JUDGMENTS, {"one": one, "other": other}, "RR", policies=Policies(missing_queries="ignore"))

        assert str(caught.value) == "one, other\n  no judged query is ranked by all of them"


@pytest.mark.parametrize(
    ("rankings", "options", "message"),
    [
        ([FIRST, LAST], {}, 'rankings are a list, not a mapping as {"name": rankings, …}'),
        ({"one": FIRST}, {}, "a comparison needs two rankings or more; given: one"),
        ({"": FIRST, "two": LAST}, {}, "'' is not a valid name for a ranking"),
        (THREE, {"test": "T"}, "test='T' is unknown\n  did you mean 't'?\n  allowed: t, sign-flip"),
        (THREE, {"alpha": 1}, "alpha=1 is not a number between 0 and 1"),
        (THREE, {"extremes": -1}, "extremes=-1 is not a whole number of 0 or more"),
    ],
)
def test_what_cannot_be_asked_is_an_error(rankings, options, message):
    with pytest.raises(IrevalError) as caught:
        compare(JUDGMENTS, rankings, "RR", **options)

    assert str(caught.value).startswith(message)


def test_what_is_wrong_with_any_ranking_is_one_error():
    with pytest.raises(InputError) as caught:
        compare(JUDGMENTS, {"a": "no/such/file", "b": FIRST, "c": {"zz": ["good"]}}, "RR")

    assert str(caught.value).startswith("no/such/file\n  there is no such file\n")
    assert "none of its queries (1) is judged in judgments" in str(caught.value)


def test_what_goes_wrong_in_an_evaluation_says_of_which_ranking():
    ranked = {**FIRST, "none": ["bad"]}

    with pytest.raises(InputError) as caught:
        compare(
            {**JUDGMENTS, "none": {"bad": 0}},
            {"one": ranked, "two": ranked},
            "RR",
            policies=Policies(no_relevant="error"),
        )

    assert str(caught.value) == (
        "one: RR\n  1 of 11 queries have no relevant documents: 'none'\n"
        '  no_relevant="zero" (command line: --no-relevant zero) lets them count, "ignore" leaves them out'
    )


class TestPlainResult:
    COMPARISON = compare(JUDGMENTS, THREE, ["RR", "P@1", "NumRet"], baseline="mixed")

    def test_it_survives_json(self):
        data = json.loads(json.dumps(self.COMPARISON.to_dict(), allow_nan=False))

        assert Comparison.from_dict(data) == self.COMPARISON
        assert data["format"] == "comparison-1"
        assert (data["baseline"], data["test"], data["alpha"], data["correction"]) == ("mixed", "t", 0.05, "holm")
        assert list(data["metrics"]) == ["RR", "P@1", "NumRet"]
        assert data["metrics"]["RR"]["family"] == 2

    @pytest.mark.parametrize(("data", "found"), [({"format": "comparison-2"}, "format 'comparison-2'"), ([], "list")])
    def test_another_format_is_refused(self, data, found):
        with pytest.raises(InputError) as caught:
            Comparison.from_dict(data)

        assert str(caught.value) == (
            f"{found} is not a comparison that this version can read; it reads format 'comparison-1'"
        )

    def test_a_metric_is_found_by_the_name_that_was_asked_for_and_by_its_own(self):
        comparison = compare(JUDGMENTS, THREE, ["mrr", "P.1"])

        assert comparison["mrr"] is comparison["RR"]
        assert comparison["P.1"] is comparison["P@1"]
        assert comparison.rankings["first"]["mrr"].value == 1
        assert "mrr" not in json.dumps(comparison.to_dict())

    def test_what_was_not_compared_is_a_key_error_that_says_what_was(self):
        with pytest.raises(KeyError, match="'AP'; compared: RR, P@1, NumRet"):
            self.COMPARISON["AP"]
        with pytest.raises(KeyError, match=r"\('first', 'last'\); compared: \('first', 'mixed'\), \('last', 'mixed'\)"):
            self.COMPARISON["RR"].pair("first", "last")
