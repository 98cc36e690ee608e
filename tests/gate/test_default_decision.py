"""How ``no_regression`` and ``worsened`` decide by default: pass within the limit, fail beyond chance, else warn.

A town has one relevant document a query; a query that fell from the first to the second rank lost 0.5 of RR.
"""

import pytest
from suite_files import write_suite

from pytest_ireval.errors import SuiteError

DEFAULT = "no_regression: {metric: RR@10, tolerance: 2%}"
SAME, LOSS, GAIN = (2, 2), (1, 2), (2, 1)
GONE, FOUND = (1, 0), (0, 1)
BELOW_NEW = (1, -2)
"""From the first rank to the second, below a document that nobody has judged."""


def rule(text, more):
    return f"{text[:-1]}, {more}}}"


def test_a_fall_within_the_tolerance_passes_without_a_word_on_evidence(town):
    """Of the second kind a hundred queries lost a little and none gained: it is no chance, and within the tolerance."""
    outcome = town((SAME, 170), (LOSS, 16), (GAIN, 14)).only(DEFAULT)
    certain = town((SAME, 480), ((3, 4), 20)).only(DEFAULT)

    assert (outcome.verdict, outcome.warning) == ("pass", False)
    assert outcome.headline == "RR@10 fell 0.9% (tolerance 2%)"
    assert outcome.sentence == "16 of 200 queries got worse."
    assert outcome.facts == ()
    assert (certain.verdict, certain.headline) == ("pass", "RR@10 fell 0.7% (tolerance 2%)")
    assert certain.numbers["p"] < 0.0001


def test_a_fall_beyond_the_tolerance_that_is_no_chance_fails(town):
    outcome = town((SAME, 170), ((3, 4), 30)).only(DEFAULT)

    assert (outcome.verdict, outcome.warning) == ("fail", False)
    assert outcome.headline == "RR@10 fell 2.6% (tolerance 2%, statistically significant)"
    assert outcome.figures[0].over


def test_a_fall_that_may_be_chance_warns_in_one_line_with_the_number_that_would_be_enough(town):
    outcome = town((SAME, 170), (LOSS, 18), (GAIN, 12)).only(DEFAULT)

    assert (outcome.verdict, outcome.warning) == ("inconclusive", True)
    assert outcome.headline == (
        "RR@10 fell 2.8% (tolerance 2%): 200 queries are too few to rule out chance; about 2,000 would be enough"
    )


def test_on_inconclusive_fail_and_decide_by_observed_make_it_red_and_no_more(town):
    strict = rule(DEFAULT, "on_inconclusive: fail")
    observed = town((SAME, 170), (LOSS, 18), (GAIN, 12)).only(rule(DEFAULT, "decide_by: observed"))
    beyond = town((SAME, 170), (LOSS, 18), (GAIN, 12)).only(strict)
    within = town((SAME, 170), (LOSS, 12), (GAIN, 15)).only(strict)

    assert beyond.verdict == "fail"
    assert beyond.headline.endswith("to rule out chance; about 2,000 would be enough; on_inconclusive: fail")
    assert within.verdict == "pass"
    assert observed.verdict == "fail"


def test_a_tail_that_fell_by_less_warns_and_one_within_the_tolerance_passes(town):
    segments = ["head"] * 60 + ["tail"] * 12
    fell = town((SAME, 60), (SAME, 9), (LOSS, 3), segments=segments).gate(rule(DEFAULT, "per: segment"))
    same = town((SAME, 72), segments=segments).gate(rule(DEFAULT, "per: segment"))

    tail = fell["no_regression::RR_10.segment-tail"]
    assert (tail.verdict, tail.warning) == ("inconclusive", True)
    assert tail.headline == (
        "RR@10 fell 20.0% on segment=tail (tolerance 2%): only 3 of 12 queries changed, too few to rule out chance; "
        "about 2,600 would be enough"
    )
    assert {outcome.verdict for outcome in same.values()} == {"pass"}


@pytest.mark.parametrize(
    ("queries", "lost", "fell", "verdict"),
    [
        (12, 5, "29.4%", "fail"),  # 25% below 20 queries
        (12, 4, "25.0%", "inconclusive"),
        (60, 20, "25.0%", "fail"),  # 20% below 100
    ],
)
def test_the_hard_limit_is_wider_where_queries_are_few(queries, lost, fell, verdict, town):
    outcome = town((SAME, queries - lost), (LOSS, lost)).only(DEFAULT)

    assert (outcome.verdict, outcome.headline.split()[2]) == (verdict, fell)
    assert ("hard limit" in outcome.headline) == (verdict == "fail")


@pytest.mark.parametrize(
    ("tolerance", "limit"),
    [
        ("1%", "10%"),
        ("3%", "15%"),
        ("{absolute: 0.01}", "0.06"),  # a tenth of the baseline of 0.6
        ("40%", "70%"),  # halfway to the loss of everything, where five tolerances would be more than there is
    ],
)
def test_the_hard_limit_is_five_tolerances_and_a_tenth_of_the_baseline_at_least(tolerance, limit, town):
    outcome = town((GONE, 100), (SAME, 400)).only(f"no_regression: {{metric: RR@10, tolerance: {tolerance}}}")

    baseline = outcome.figures[0].baseline
    assert baseline == pytest.approx(0.6)
    wanted = float(limit.rstrip("%")) / 100 * baseline if "%" in limit else float(limit)
    assert outcome.numbers["hard_limit"] == pytest.approx(wanted)


def test_of_a_baseline_of_zero_no_share_is_a_hard_limit(town):
    """Of 60 costs of 0 one rose: a share of nothing allows nothing, and chance is not ruled out."""
    some = town((SAME, 59), ((1, 1), 1))
    path = some.folder / "now.txt"
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if line < "q0059"))
    outcome = some.only("no_regression: {metric: Empty, tolerance: 2%}", missing_queries="zero")

    assert outcome.figures[0].baseline == 0
    assert outcome.verdict == "inconclusive"


def test_a_hard_limit_that_is_written_counts(town):
    some = town((SAME, 26), (LOSS, 4))
    beyond, within = (some.only(rule(DEFAULT, f"hard_limit: {limit}%")) for limit in (8, 12))

    assert (beyond.verdict, beyond.headline) == ("fail", "RR@10 fell 11.8% (hard limit 8%)")
    assert (within.verdict, within.warning) == ("inconclusive", True)


def test_beyond_the_hard_limit_it_fails_whatever_is_unjudged(town):
    some = town((SAME, 60), (BELOW_NEW, 40))
    beyond = some.only(DEFAULT)
    statistical = some.only(rule(DEFAULT, "hard_limit: 50%"))

    assert (beyond.verdict, beyond.headline) == ("fail", "RR@10 fell 28.6% (hard limit 10%)")
    assert (statistical.verdict, statistical.warning) == ("inconclusive", True)
    assert statistical.headline == (
        "RR@10 fell 28.6% (tolerance 2%, statistically significant): grades for 40 unjudged documents could change "
        "this verdict"
    )


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ("decide_by: observed, hard_limit: 10%", "hard_limit is for rules that decide by evidence: remove decide_by"),
        ("decide_by: observed, on_inconclusive: warn", "on_inconclusive is for rules that decide by evidence: remove"),
        ("hard_limit: 1%", "hard_limit: 1% is less than the tolerance of 2%"),
        ("hard_limit: 100%", "a hard_limit of 100% lets everything pass"),
    ],
)
def test_options_that_contradict_each_other_are_refused(more, complaint, town):
    with pytest.raises(SuiteError) as error:
        town((SAME, 60)).only(rule(DEFAULT, more))

    assert complaint in str(error.value)


def test_a_figure_that_is_not_a_mean_is_decided_by_what_is_observed(town):
    some = town((SAME, 60), (LOSS, 40))

    outcome = some.only("no_regression: {metric: GMAP, tolerance: 2%}")
    assert (outcome.verdict, outcome.headline) == ("fail", "GMAP fell 24.2% (tolerance 2%)")
    with pytest.raises(
        SuiteError, match="on_inconclusive is for rules that decide by evidence: remove it, as evidence compares means"
    ):
        some.only("no_regression: {metric: GMAP, tolerance: 2%, on_inconclusive: fail}")


WORSENED = "worsened: {metric: RR@10, by_more_than: 0.3, at_most: 5%}"


def test_losses_within_at_most_pass_those_beyond_fail_and_those_that_gains_make_up_for_warn(town):
    within = town((SAME, 116), (GONE, 4)).only(WORSENED)
    beyond = town((SAME, 90), (GONE, 10)).only(WORSENED)
    undecided = town((SAME, 85), (GONE, 8), (FOUND, 7)).only(WORSENED)

    assert (within.verdict, within.warning) == ("pass", False)
    assert within.headline == "4 of 120 queries (3.3%) lose more than 0.3 of RR@10 (at most 5%)"
    assert beyond.verdict == "fail"
    assert beyond.headline == (
        "10 of 100 queries (10.0%) lose more than 0.3 of RR@10 (at most 5%, 0 gain as much, statistically significant)"
    )
    assert (undecided.verdict, undecided.warning) == ("inconclusive", True)
    assert undecided.headline.startswith(
        "8 of 100 queries (8.0%) lose more than 0.3 of RR@10 (at most 5%, 7 gain as much): 100 queries are too "
        "few to rule out chance; "
    )


def test_worsened_fails_if_fewer_than_one_of_twenty_such_changes_is_chance(town):
    enough = town((SAME, 92), (GONE, 7), (FOUND, 1))  # by chance, one of 28 such changes is as bad
    assert enough.only(WORSENED).verdict == "fail"
    some = town((SAME, 91), (GONE, 7), (FOUND, 2))  # by chance, one of 11 such changes is as bad
    assert some.only(WORSENED).verdict == "inconclusive"
    assert some.only(rule(WORSENED, "on_inconclusive: fail")).verdict == "fail"
    assert some.only(rule(WORSENED, "decide_by: observed")).verdict == "fail"
    with pytest.raises(SuiteError, match="add at_most: 2, or remove decide_by: observed"):
        some.only("worsened: {metric: RR@10, by_more_than: 0.3, decide_by: observed}")


def test_without_at_most_as_many_may_be_lost_as_are_found(town):
    some = "worsened: {metric: RR@10, by_more_than: 0.3}"

    assert town((SAME, 80), (GONE, 10), (FOUND, 10)).only(some).verdict == "pass"
    assert town((SAME, 80), (GONE, 12), (FOUND, 8)).only(some).verdict == "inconclusive"
    assert town((SAME, 80), (GONE, 10)).only(some).verdict == "fail"


def test_worsened_needs_five_queries_for_it_is_exact(town):
    """Ten queries of which five lost everything and none gained: chance does that once in 32 times."""
    assert town((SAME, 5), (GONE, 5)).only(WORSENED).verdict == "fail"
    few = town((SAME, 1), (GONE, 3)).gate(WORSENED)
    assert few["worsened::RR_10"].verdict == "inconclusive"
    assert "4 queries are too few: evidence needs 5" in few["worsened::RR_10"].headline
    assert few["inputs"].verdict == "fail"  # a suite that can never be red judges nothing


@pytest.mark.parametrize(
    ("text", "kinds", "headline"),
    [
        ("no_regression: {metric: RR@10, tolerance: 2%}", ((SAME, 194), (LOSS, 4)), "RR@10 fell 1.98% (tolerance 2%)"),
        (
            "no_regression: {metric: RR@10, tolerance: 2%, decide_by: observed}",
            ((SAME, 192), (LOSS, 4)),
            "RR@10 fell 2.0% (tolerance 2%)",  # exactly
        ),
        (
            "no_regression: {metric: RR@10, tolerance: {absolute: 0.0101}, decide_by: observed}",
            ((SAME, 190), (LOSS, 4)),
            "RR@10 fell by 0.0103 (tolerance 0.0101)",
        ),
        (
            "worsened: {metric: RR@10, by_more_than: 0.3, at_most: 5%, decide_by: observed}",
            ((SAME, 113), (GONE, 6)),
            "6 of 119 queries (5.04%) lose more than 0.3 of RR@10 (at most 5%)",
        ),
    ],
)
def test_a_figure_beside_its_limit_has_as_many_digits_as_tell_the_two_apart(text, kinds, headline, town):
    assert town(*kinds).only(text).headline == headline


def test_a_run_with_a_broken_tail_of_twelve_queries_exits_with_1_and_one_that_may_be_chance_warns(town, pytester):
    """The terminal has one line of what is inconclusive."""
    rule = "no_regression: {metric: RR@10, per: segment, tolerance: 5%, against: {run: before.txt}}"
    for lost, code in ((8, pytest.ExitCode.TESTS_FAILED), (3, pytest.ExitCode.OK)):
        segments = ["head"] * 60 + ["tail"] * 12
        folder = town((SAME, 72 - lost), (LOSS, lost), segments=segments).folder
        write_suite(folder, rule, suite="town", source="{run: now.txt}", queries="queries.tsv")
        result = pytester.runpytest("--ireval", str(folder), "-p", "no:cacheprovider")
        assert result.ret == code
        text = " ".join(result.stdout.str().split())
        assert ("RR@10 fell 40.0% on segment=tail (hard limit 25%)" in text) == (code == 1)
        assert ("RR@10 fell 20.0% on segment=tail (tolerance 5%): only 3 of 12 queries changed" in text) == (code == 0)


WEIGHTED = "no_regression: {metric: RR@10, tolerance: 2%, weighted: true}"


def test_weights_that_leave_few_queries_are_said(town, ireval):
    some = town((SAME, 100), weights=[50] * 10 + [1] * 90)
    some.gate(WEIGHTED, rule(WEIGHTED, "per: segment"))
    said = [note for note in some.result.notes if "is weighted" in note]

    assert [note.partition(": ")[2] for note in said] == [
        "no_regression RR@10 is weighted, and few queries decide it: 100 queries count like 14 of equal weight",
        "no_regression RR@10 is weighted, and few queries decide it: 50 queries of segment=head count like 7 of equal "
        "weight; 50 queries of segment=tail count like 7 of equal weight",
    ]

    printed = ireval("check", str(some.folder / "town.ireval.yaml"))
    assert printed.code == 0
    assert "is weighted, and few queries decide it: 100 queries count like 14 of equal weight\n" in printed.out


def test_a_weighted_equivalence_that_few_queries_decide_says_how_often_it_passes_too_much(town):
    equivalent = "equivalent: {metric: RR@10, tolerance: 50%, weighted: true}"
    few = town((SAME, 100), (LOSS, 5), weights=[50] * 10 + [1] * 95).only(equivalent)
    all_alike = town((SAME, 100), (LOSS, 5), weights=[3] * 105).only(equivalent)

    warning = "few queries hold most of the weight: up to 10% of changes as large as the tolerance pass, not 5%"
    assert warning in few.statistics
    assert warning not in all_alike.statistics
