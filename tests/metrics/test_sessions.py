"""Metrics of sessions against plain definitions."""

import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval import MetricError, Policies, SideData, evaluate

GRADES = st.dictionaries(st.sampled_from("abcde"), st.integers(-1, 3), min_size=1, max_size=5)
RANKING = st.lists(st.sampled_from("abcdefg"), unique=True, max_size=5)
SESSION = st.lists(st.tuples(GRADES, RANKING), min_size=1, max_size=3)
K = 3


def score_session(name, session, positions=None):
    """The value of a session of (grades, ranking)."""
    queries = [f"q{number}" for number in range(len(session))]
    places = {q: ("s", p) for q, p in zip(queries, positions or range(1, len(session) + 1), strict=True)}
    judgments = {q: grades for q, (grades, _) in zip(queries, session, strict=True)}
    rankings = {q: ranking for q, (_, ranking) in zip(queries, session, strict=True)}
    return (
        evaluate(judgments, rankings, name, policies=Policies(scale=3), side_data=SideData(sessions=places))
        .metrics[0]
        .values["s"]
    )


def gains(session, once, depth=None):
    """(position, rank, gain) of every document that gains."""
    seen = set()
    for position, (grades, ranking) in enumerate(session, 1):
        for rank, document in enumerate(ranking[:depth], 1):
            if grades.get(document, 0) > 0 and not (once and document in seen):
                yield position, rank, grades[document]
        seen |= {document for document in ranking[:depth] if grades.get(document, 0) > 0}


def dcg(session, once, base=4, discount=lambda rank: math.log2(rank + 1)):
    found = gains(session, once, K)
    return sum(g / discount(rank) / (1 + math.log(q, base)) for q, rank, g in found)


@pytest.mark.parametrize(("repeats", "once"), [("ignore", True), ("count", False)])
@given(session=SESSION)
def test_session_dcg_and_rbp_are_their_definitions(repeats, once, session):
    p, b = 0.8, 0.5
    rbp = (1 - p) * sum(
        ((p - b * p) / (1 - b * p)) ** (q - 1) * (b * p) ** (rank - 1) * g / 3 for q, rank, g in gains(session, once)
    )

    assert score_session(f"SessionDCG(repeats='{repeats}')@{K}", session) == pytest.approx(dcg(session, once))
    assert score_session(f"SessionDCG(repeats='{repeats}', bq=2)@{K}", session) == pytest.approx(dcg(session, once, 2))
    jarvelin = score_session(f"SessionDCG(repeats='{repeats}', discount='jarvelin')@{K}", session)
    assert jarvelin == pytest.approx(dcg(session, once, discount=lambda rank: max(math.log2(rank), 1)))
    assert score_session(f"sRBP(repeats='{repeats}')", session) == pytest.approx(rbp)


@pytest.mark.parametrize(
    ("discount", "divide"),
    [("log2", lambda rank: math.log2(rank + 1)), ("jarvelin", lambda rank: max(1, math.log2(rank)))],
)
@given(grades=GRADES, lists=st.lists(RANKING, min_size=1, max_size=2))
def test_with_one_need_in_all_queries_the_best_session_is_the_best_of_all_lists(discount, divide, grades, lists):
    session = [(grades, ranking) for ranking in lists]
    good = [document for document, grade in grades.items() if grade > 0]
    best = max(
        dcg([(grades, [*order[:cut]]), (grades, [*order[cut:]])][: len(lists)], True, discount=divide)
        for order in permutations(good)
        for cut in range(len(good) + 1)
    )

    found = score_session(f"nsDCG(discount='{discount}')@{K}", session)

    assert found == pytest.approx(dcg(session, True, discount=divide) / best if best else 0)


@given(session=SESSION)
def test_one_query_is_the_metric_of_queries_and_no_session_is_above_1(session):
    grades, ranking = session[0]
    single = evaluate({"q": grades}, {"q": ranking}, ["nDCG@3", "RBP(p=0.4)"], policies=Policies(scale=3))
    expected = [metric.values["q"] for metric in single.metrics]

    assert score_session("nsDCG@3", session[:1]) == pytest.approx(expected[0])
    assert score_session("SessionRBP(p=0.4, b=1)", session[:1]) == pytest.approx(expected[1])
    assert score_session("nsDCG@3", session) <= 1 + 1e-12
    assert score_session("nsDCG(repeats='count')@3", [(g, sorted(g, key=lambda d: -g[d])) for g, _ in session]) in (
        pytest.approx(1),
        0,
    )


def test_the_position_decides_and_not_the_order_in_the_file():
    session = [({"a": 1}, ["a"]), ({"a": 1, "b": 1}, ["b"])]

    assert score_session("SessionDCG@1", session, [2, 1]) == score_session("SessionDCG@1", session[::-1])
    assert score_session("SessionDCG@1", session, [1, 4]) == pytest.approx(1 + 1 / 2)


def test_queries_without_a_session_do_not_count():
    judgments, rankings = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": ["a"], "q2": ["x", "a"]}

    found = evaluate(judgments, rankings, "SessionDCG@2", side_data=SideData(sessions={"q1": ("s", 1)})).metrics[0]

    assert found.values == {"s": 1}


def test_without_sessions_it_says_what_it_needs():
    with pytest.raises(MetricError, match="needs sessions"):
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, "nsDCG@10")
