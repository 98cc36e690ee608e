"""How far queries moved with an acceptance: in few digits, and absent where nothing moved."""

import math

from pytest_ireval.baseline.record import Step, round_spreads, round_steps, spread_key


def test_all_queries_are_named_by_the_metric_alone():
    assert spread_key("nDCG@10", "all") == "nDCG@10"
    assert spread_key("nDCG@10", "segment=tail") == "nDCG@10 segment=tail"


def test_six_digits_are_kept_and_what_did_not_move_is_left_out():
    found = round_spreads([("RR@10", 0.0), ("nDCG@10", 0.123456789), ("AP", math.nan), ("P@5", 1234567.0)])

    assert found == {"P@5": 1234570.0, "nDCG@10": 0.123457}


def test_steps_that_are_no_numbers_are_left_out():
    found = round_steps([("b", Step(-0.00123456789, 0.0, 0.14)), ("a", Step(math.nan, 1.0, 1.0))])

    assert found == {"b": Step(-0.00123457, 0.0, 0.14)}
