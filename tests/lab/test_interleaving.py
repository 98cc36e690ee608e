"""Team-draft interleaving: lists, credit and preferences by hand, and what holds for all rankings."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval import InputError
from pytest_ireval.data.tables import Table
from pytest_ireval_lab.interleaving import (
    Credit,
    Interleaved,
    Search,
    compare_queries,
    compare_searches,
    count_credit,
    draw_lists,
    find_same_ranks,
    interleave,
    read_searches,
    sum_up_queries,
)

A, B = ["a", "b", "c", "d"], ["b", "a", "e", "c"]
rankings = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=7)


@pytest.mark.parametrize(
    ("coins", "documents", "teams"),
    [("AA", "abce", "ABAB"), ("AB", "abec", "ABBA"), ("BA", "bace", "BAAB"), ("BB", "baec", "BABA")],
)
def test_captains_pick_in_turns_and_coins_decide_who_is_first_in_a_round(coins, documents, teams):
    assert interleave(A, B, [coin == "A" for coin in coins], 4) == Interleaved(tuple(documents), teams)


@pytest.mark.parametrize(
    ("a", "b", "documents", "teams"),
    [
        ("xy", "xy", "xy", "AB"),
        ("x", "x", "x", "A"),
        ("", "xy", "xy", "--"),
        ("x", "yz", "xyz", "AB-"),
        ("x", "xy", "xy", "--"),
        ("aab", "ba", "ab", "AB"),
    ],
)
def test_documents_that_only_one_team_could_pick_belong_to_neither(a, b, documents, teams):
    assert interleave(a, b, [True] * 4) == Interleaved(tuple(documents), teams)


@given(rankings, rankings, st.integers(0, 8))
def test_each_rank_is_as_often_of_one_team_as_of_the_other(a, b, depth):
    """So a user who clicks without looking at documents gives both the same credit, whatever the chance of a rank."""
    lists = [interleave(a, b, coins, depth) for coins in product((True, False), repeat=4)]

    for rank in range(depth):
        letters = Counter(each.teams[rank : rank + 1] for each in lists)
        assert letters["A"] == letters["B"]


def test_clicks_count_for_the_team_of_a_document_unless_both_have_it_at_the_same_rank():
    one, other = "abcd", "acbe"
    found = interleave(one, other, [True, True])

    assert found == Interleaved(("a", "c", "b", "e", "d"), "ABAB-")
    assert count_credit(found, {"a", "c", "e", "d"}) == Credit(1, 2, 1)
    assert find_same_ranks(one, other) == {"a"}
    assert count_credit(found, {"a", "c", "e", "d"}, find_same_ranks(one, other)) == Credit(0, 2, 2)


def searches(*found):
    return [Search(query, Credit(a, b, 0)) for query, a, b in found]


def test_the_sign_test_counts_searches_with_a_preference():
    """3 of 12 heads or fewer: (1 + 12 + 66 + 220) / 4096 on either side."""
    found = compare_searches(searches(*[("q", 2, 1)] * 3, *[("q", 0, 1)] * 9, *[("q", 1, 1)] * 2))

    assert (found.searches, found.a, found.b, found.ties) == (14, 3, 9, 2)
    assert found.p == pytest.approx(2 * 299 / 4096)
    assert found.share == 0.75
    assert found.delta == pytest.approx((9 + 2 / 2) / 14 - 0.5)
    assert (found.low, found.high) == pytest.approx((0.4281, 0.9451), abs=1e-4)


def test_each_query_counts_once_in_the_mean():
    rows = sum_up_queries(searches(("p", 0, 1), ("q", 2, 0), ("q", 0, 1), ("r", 0, 0)))

    assert [(each.query, each.searches, each.a, each.b, each.clicks_a, each.difference) for each in rows] == [
        ("p", 1, 0, 1, 0, 1.0),
        ("q", 2, 1, 1, 2, -0.5),
        ("r", 1, 0, 0, 0, 0.0),
    ]
    found = compare_queries(rows)
    assert (found.queries, found.a, found.b, found.ties) == (3, 1, 1, 1)
    assert found.mean == pytest.approx(0.5 / 3)
    assert found.p == 1.0  # below five queries nothing is shown


def test_lists_of_an_experiment_cover_the_queries_of_both_and_follow_the_seed():
    one, other = {"q": A}, {"q": B, "r": "x"}
    found = [*draw_lists(one, other, 4, 20, 7)]

    assert [(query, draw) for query, draw, _ in found] == [(q, n) for q in "qr" for n in range(1, 21)]
    assert {each.teams for query, _, each in found if query == "q"} == {"ABAB", "ABBA", "BAAB", "BABA"}
    assert found == [*draw_lists(one, other, 4, 20, 7)] != [*draw_lists(one, other, 4, 20, 8)]


def log(*rows):
    names = ("query", "documents", "teams", "clicks")
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Table(columns, "log.tsv", lambda row: f"log.tsv:{row + 2}")


def test_a_log_may_have_lists_or_texts():
    found = read_searches(
        log(
            ("q", ["a", "b", "e"], "ABB", ["e", "e"]),
            ("q", "b a c e", "BAAB", ""),
            ("q", '["a", "b"]', ["a", "b"], None),
        ),
        {"q": A},
        {"q": B},
    )

    assert [each.credit for each in found] == [(0, 1, 0), (0, 0, 0), (0, 0, 0)]


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        (("z", "a", "A", ""), "query 'z' is in neither ranking"),
        (("q", "a b", "AX", ""), "teams are 'AX' for a list of 2"),
        (
            ("q", "a b e", "ABA", ""),
            "is not an interleaving: rank 3 is 'e' of team A; with these rankings it is 'c' of",
        ),
        (("q", "a b c e d x", "ABAB--", ""), "rank 6 is 'x' of team -, but neither ranking has more documents"),
        (("q", "a b", "AB", "e"), "clicked document 'e' was not shown for query 'q'"),
        (("q", "[" * 100_000, "AB", "e"), "which is not a JSON list"),
        (("q", 7, "AB", "e"), "documents are '7', not a list of ids"),
    ],
)
def test_a_log_that_is_not_of_these_rankings_is_refused_with_its_line(row, complaint):
    with pytest.raises(InputError) as caught:
        read_searches(log(("q", "a b", "AB", "a"), row), {"q": A}, {"q": B})

    assert caught.value.problems[0].place == "log.tsv:3"
    assert complaint in str(caught.value)


cells = st.recursive(st.none() | st.text() | st.integers() | st.booleans(), lambda each: st.lists(each, max_size=3))


@given(cells, cells, cells, cells)
def test_whatever_a_log_contains_is_read_or_refused(query, documents, teams, clicks):
    try:
        found = read_searches(log((query, documents, teams, clicks)), {"q": A, "0": A}, {"q": B})
    except InputError as error:
        assert error.problems[0].place == "log.tsv:2"
    else:
        assert [each.query for each in found] == [str(query).strip()]


def test_a_log_without_searches_or_columns_is_refused():
    with pytest.raises(InputError, match="it has no rows"):
        read_searches(log(), {"q": A}, {"q": B})
    with pytest.raises(InputError, match="there is no column teams: the columns are 'query', 'documents'"):
        read_searches(Table({"query": ["q"], "documents": ["a"]}, "log", str), {"q": A}, {"q": B})
