"""How far queries moved with an acceptance: kept with it, in little text, and absent where nothing moved."""

import json
import math
import pickle
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_baselines import FIRST, SECOND, baseline_of

from pytest_ireval.baselines.reading import read_baseline
from pytest_ireval.baselines.record import (
    NO_SPREADS,
    NO_STEPS,
    Spreads,
    Step,
    decoded_record,
    encoded_record,
    spread_key,
    spreads_of,
    spreads_said,
    steps_of_metrics,
    steps_said,
)
from pytest_ireval.baselines.writing import write_baseline
from pytest_ireval.retrieval.queries import composed


def test_all_queries_are_named_by_the_metric_alone():
    assert spread_key("nDCG@10", "all") == "nDCG@10"
    assert spread_key("nDCG@10", "segment=tail") == "nDCG@10 segment=tail"


def test_six_digits_are_kept_and_what_did_not_move_is_left_out():
    found = spreads_of([("RR@10", 0.0), ("nDCG@10", 0.123456789), ("AP", math.nan), ("P@5", 1234567.0)])

    assert dict(found) == {"P@5": 1234570.0, "nDCG@10": 0.123457}
    assert list(found) == ["P@5", "nDCG@10"]


def test_slices_that_were_stored_in_decomposed_letters_have_the_names_of_now():
    now, then = ("nDCG@10 구간=긴꼬리", unicodedata.normalize("NFD", "nDCG@10 구간=긴꼬리"))

    assert dict(spreads_said({then: 0.5})) == {now: 0.5}
    assert dict(spreads_said({now: 0.25, then: 0.5})) == {now: 0.25}
    assert dict(steps_said({then: [0.1, 0.2, 0.3]})) == {now: (0.1, 0.2, 0.3)}


def test_a_mapping_of_spreads_is_a_value():
    one, other = spreads_of([("a", 0.5), ("b", 1.0)]), spreads_of([("b", 1.0), ("a", 0.5)])

    assert one == other
    assert {one: 1}[other] == 1
    assert pickle.loads(pickle.dumps(one)) == one
    assert len(one) == 2
    with pytest.raises(KeyError):
        one["c"]


def test_an_acceptance_keeps_them(tmp_path):
    moved = SECOND._replace(spreads=spreads_of([("nDCG@10", 0.25), ("nDCG@10 segment=tail", 0.5)]))

    write_baseline(tmp_path, baseline_of(acceptances=(FIRST, moved)))

    stored = read_baseline(tmp_path, "shop")
    assert stored.acceptances == (FIRST, moved)
    assert dict(stored.accepted.spreads) == {"nDCG@10": 0.25, "nDCG@10 segment=tail": 0.5}
    last = (tmp_path / "shop.json").read_text().splitlines()[-3]
    assert json.loads(last)["spreads"] == {"nDCG@10": 0.25, "nDCG@10 segment=tail": 0.5}


def test_one_without_any_is_the_text_that_earlier_versions_wrote():
    text = encoded_record(baseline_of(acceptances=(FIRST,)), {})

    assert b"spreads" not in text
    assert decoded_record(text).baseline.accepted.spreads == NO_SPREADS


@given(st.dictionaries(st.text(max_size=8).map(composed), st.floats(1e-9, 1e9)))
def test_what_was_written_is_read(said):  # names of slices are composed before they come here
    spreads = spreads_of(said.items())

    assert spreads_said(json.loads(json.dumps(dict(spreads)))) == spreads


@pytest.mark.parametrize("wrong", [[], "x", {"a": 0}, {"a": -1.0}, {"a": "1"}, {"a": True}, {"a": 10**400}])
def test_what_is_no_spread_is_refused(wrong):
    with pytest.raises((TypeError, ValueError)):
        spreads_said(wrong)


def test_nothing_is_no_spreads():
    assert Spreads() == NO_SPREADS == spreads_said({})


def test_an_acceptance_keeps_its_steps_away_from_the_anchor(tmp_path):
    steps = steps_of_metrics([("nDCG@10", Step(-0.00123456789, 0.09, 0.14)), ("RR@10", Step(0.0, 0.0, 0.5))])

    write_baseline(tmp_path, baseline_of(acceptances=(FIRST, SECOND._replace(steps=steps))))

    stored = read_baseline(tmp_path, "shop")
    assert stored.acceptances == (FIRST, SECOND._replace(steps=steps))
    last = json.loads((tmp_path / "shop.json").read_text().splitlines()[-3])
    assert last["steps"] == {"RR@10": [0.0, 0.0, 0.5], "nDCG@10": [-0.00123457, 0.09, 0.14]}


def test_an_acceptance_without_steps_is_the_text_that_earlier_versions_wrote():
    text = encoded_record(baseline_of(acceptances=(FIRST,)), {})

    assert b"steps" not in text
    assert decoded_record(text).baseline.accepted.steps == NO_STEPS


def test_a_mapping_of_steps_is_a_value():
    one = steps_of_metrics([("a", Step(1.0, 2.0, 3.0)), ("b", Step(math.nan, 1.0, 1.0))])

    assert dict(one) == {"a": Step(1.0, 2.0, 3.0)}
    assert pickle.loads(pickle.dumps(one)) == one
    assert {one: 1}[steps_said({"a": [1, 2, 3]})] == 1
    with pytest.raises(KeyError):
        one["b"]


@pytest.mark.parametrize(
    "said",
    [[], {"a": 1}, {"a": [1, 2]}, {"a": [1, 2, "3"]}, {"a": [1, -2, 3]}, {"a": [1, 2, True]}, {"a": [1, 2, 1e301]}],
)
def test_what_says_no_steps_is_refused(said):
    with pytest.raises((TypeError, ValueError)):
        steps_said(said)
