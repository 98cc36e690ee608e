"""``worsened`` and ``equivalent`` by evidence."""

import pytest

WORSENED = "worsened: {metric: RR@10, by_more_than: 0.3}"
EQUIVALENT = "equivalent: {metric: RR@10, tolerance: 2%}"
SAME, LOSS, GAIN, SMALL_GAIN = (2, 2), (1, 2), (2, 1), (4, 3)


def test_some_lost_queries_behind_a_better_mean_are_found(town):
    """What a rule about the mean cannot see."""
    kinds = (SAME, 100), (LOSS, 8), (SMALL_GAIN, 92)
    found = town(*kinds).gate(WORSENED, "no_regression: {metric: RR@10, tolerance: 2%}")

    assert found["no_regression::RR_10.all"].verdict == "pass"
    tail = found["worsened::RR_10"]
    assert tail.verdict == "fail"
    assert tail.headline == "8 of 200 queries lose more than 0.3 of RR@10 (0 gain as much, statistically significant)"
    assert any(
        fact.startswith("p .004, corrected for 2 verdicts .008") for fact in tail.statistics
    )  # 1/2 to the power of 8


def test_a_loss_of_exactly_the_limit_is_not_more(town):
    found = town((SAME, 40), (LOSS, 10)).gate(
        WORSENED.replace("0.3", "0.5"),
        "worsened: {metric: RR@10, by_more_than: 0.5, at_most: 0, decide_by: observed, name: observed}",
    )

    assert {outcome.verdict for outcome in found.values()} == {"pass"}
    assert found["worsened::RR_10.observed"].numbers["worsened"] == 0


def test_small_moves_of_many_queries_are_equivalent(town):
    found = town((SAME, 1900), (LOSS, 50), (GAIN, 50)).only(EQUIVALENT)

    assert found.verdict == "pass"
    assert found.headline.endswith("): it moved by less than 2% either way")


@pytest.mark.parametrize("kind", [LOSS, GAIN])
def test_a_move_in_either_direction_fails(kind, town):
    found = town((SAME, 100), (kind, 20)).only(EQUIVALENT)

    assert found.verdict == "fail"
    assert found.headline.endswith("): it moved, and 2% or more is not ruled out")


def test_what_is_not_shown_to_be_equivalent_is_no_pass(town):
    found = town((SAME, 170), (LOSS, 14), (GAIN, 14)).only(EQUIVALENT)

    assert found.verdict == "inconclusive"
    assert "198 queries are too few to tell whether it moved by less than 2% either way; " in found.headline


def test_losses_that_chance_is_not_excluded_from_are_undecided(town):
    some = town((SAME, 46), ((1, 0), 4))
    shown = some.only(WORSENED)

    assert (shown.verdict, shown.warning) == ("inconclusive", True)
    assert shown.headline == (
        "4 of 50 queries lose more than 0.3 of RR@10 (0 gain as much): 50 queries are too few to rule out chance; "
        "about 61 would be enough"
    )
    assert some.only(WORSENED.replace("}", ", on_inconclusive: fail}")).verdict == "fail"


def test_no_number_of_queries_is_enough_where_as_many_gain(town):
    shown = town((SAME, 42), ((1, 0), 4), ((0, 1), 4)).only(WORSENED.replace("}", ", at_most: 5%}"))

    assert (shown.verdict, shown.warning) == ("inconclusive", True)
    assert shown.headline.endswith("50 queries are too few to rule out chance")


@pytest.mark.parametrize("lost", [0, 3])
def test_as_many_gains_as_losses_stay_green_without_a_warning(lost, town):
    shown = town((SAME, 46), ((1, 0), lost), ((0, 1), lost)).only(WORSENED)

    assert (shown.verdict, shown.warning) == ("pass", False)
