"""Preferences from clicks: the policies, support, click deviation, and policies of plugins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_searches import make_searches

from pytest_ireval import SideData, evaluate
from pytest_ireval.errors import PluginError
from pytest_ireval_judgments.click_policies import ClickedSearch, click_policy
from pytest_ireval_judgments.clicks import POLICIES, collect_preferences, compute_deviations

SHOWN = ("d1", "d2", "d3", "d4")
BY_NAME = {policy.name: policy for policy in POLICIES}


def name_pairs(searches, policy, **limits):
    found = collect_preferences(searches, BY_NAME.get(policy, policy), **limits)
    names = [searches.documents[i] for i in searches.pairs.document]
    return {
        (names[better], names[worse]): support
        for better, worse, support in zip(*(each.tolist() for each in found[:3]), strict=True)
    }


@pytest.mark.parametrize(
    ("policy", "clicks", "wanted"),
    [
        ("skip-above-and-skip-next", [3], {("d3", "d2"), ("d3", "d1"), ("d3", "d4")}),
        ("skip-above", [3, 2], {("d3", "d1"), ("d2", "d1")}),
        ("skip-above-and-skip-next", [1, 2], {("d2", "d3")}),
        ("last-click", [2, 4], {("d4", "d3"), ("d4", "d1")}),
        ("last-click", [], set()),
        ("skip-above-and-skip-next", [1, 2, 3, 4], set()),
    ],
)
def test_a_policy_prefers_what_was_clicked_to_what_was_skipped(policy, clicks, wanted):
    assert set(name_pairs(make_searches([(SHOWN, clicks, 1)]), policy)) == wanted


def test_support_is_what_backs_a_preference_less_what_contradicts_it():
    searches = make_searches([(("a", "b"), [2], 5), (("a", "b"), [1], 2), (("b", "a"), [2], 1), (("b", "c"), [2], 1)])

    assert name_pairs(searches, "skip-above-and-skip-next") == {("b", "a"): 2, ("c", "b"): 1}
    assert name_pairs(searches, "skip-above-and-skip-next", min_support=2) == {("b", "a"): 2}
    assert name_pairs(searches, "skip-above-and-skip-next", min_shown=2) == {("b", "a"): 2}
    found = collect_preferences(searches, BY_NAME["skip-above-and-skip-next"], min_support=3, min_shown=2)
    assert (found.found, found.weak, found.rare, found.undecided) == (2, 1, 1, 0)


def test_a_draw_is_no_preference():
    searches = make_searches([(("a", "b"), [2], 3), (("a", "b"), [1], 3)])
    found = collect_preferences(searches, BY_NAME["skip-above-and-skip-next"])

    assert (found.found, found.undecided, found.support.size) == (1, 1, 0)


LOG = [(("a", "b"), [1], 6), (("a", "b"), [2], 1), (("c", "b"), [1], 2), (("c", "b"), [], 1)]
"""At rank 1, 8 of 10 were clicked, at rank 2, 1 of 10."""


def test_click_deviation_is_the_click_rate_less_that_of_the_ranks():
    assert compute_deviations(make_searches(LOG)) == pytest.approx([6 / 7 - 0.8, 1 / 10 - 0.1, 2 / 3 - 0.8])


def test_clicks_below_a_deviation_do_not_count_on_either_side():
    assert name_pairs(make_searches(LOG), "skip-above-and-skip-next") == {("a", "b"): 5, ("c", "b"): 2}
    assert name_pairs(make_searches(LOG), "skip-above-and-skip-next", min_deviation=0.01) == {("a", "b"): 6}
    assert name_pairs(make_searches(LOG), "skip-above-and-skip-next", min_deviation=0.5) == {}


ROWS = st.lists(
    st.tuples(st.permutations("abcd"), st.lists(st.integers(1, 4), unique=True), st.integers(1, 3)),
    min_size=1,
    max_size=8,
)


@given(rows=ROWS, policy=st.sampled_from(POLICIES))
def test_support_is_a_plain_count(rows, policy):
    votes = {}
    for shown, clicks, count in rows:
        for better, worse in policy.prefer(ClickedSearch(tuple(shown), tuple(clicks))):
            pair = shown[better - 1], shown[worse - 1]
            votes[pair] = votes.get(pair, 0) + count
    wanted = {pair: n - votes.get(pair[::-1], 0) for pair, n in votes.items() if n > votes.get(pair[::-1], 0)}

    assert name_pairs(make_searches(rows), policy) == wanted


@pytest.mark.parametrize(
    ("result", "complaint"),
    [([(1, 1)], "policy 'odd' returned (1, 1), not two ranks from 1 to 4"), (None, "policy 'odd' raised TypeError")],
)
def test_a_broken_policy_is_an_error_that_names_it(result, complaint):
    odd = click_policy(name="odd")(lambda search: result)
    with pytest.raises(PluginError) as caught:
        collect_preferences(make_searches([(SHOWN, [3], 1)]), odd)

    assert str(caught.value).startswith(complaint)
    assert "it comes from test_preferences_from_clicks (not registered)" in str(caught.value)


def test_a_policy_needs_a_plain_name():
    with pytest.raises(PluginError, match="'Skip It' cannot be the name of a policy"):
        click_policy(name="Skip It")(list)


SEED = [("d3", "d1"), ("d3", "d2"), ("d3", "d4"), ("d1", "d2")]


@pytest.mark.parametrize(("ranking", "share", "tau"), [("d1 d2 d3 d4", 2 / 4, 0.0)])
def test_rankings_are_scored_by_the_preferences_they_follow(ranking, share, tau):
    found = evaluate(
        {"q": {"d1": 1}},
        {"q": ranking.split()},
        ["PPref", "RPref", "TauPref"],
        side_data=SideData(preferences={"q": SEED}),
    )

    assert [metric.values["q"] for metric in found.metrics] == [share, share, tau]


def test_the_support_of_a_file_weighs_preferences(tmp_path):
    (tmp_path / "p.tsv").write_text("query\tbetter\tworse\tsupport\nq\td3\td1\t6\nq\td1\td2\t2\n")
    names = ["PPref", "PPref(weighted=True)", "RPref(weighted=True)", "TauPref(weighted=True)"]
    found = evaluate(
        {"q": {"d1": 1}}, {"q": ["d1", "d3", "d2"]}, names, side_data=SideData(preferences=tmp_path / "p.tsv")
    )

    assert [metric.values["q"] for metric in found.metrics] == [0.5, 0.25, 0.25, -0.5]
    assert np.isclose(found.metrics[3].values["q"], (2 - 6) / 8)
