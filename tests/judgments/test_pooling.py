"""Pools: every first document once, whatever the order of the rankings; and what a ranking alone contributed."""

from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.data.from_objects import convert_judgments, convert_rankings
from pytest_ireval.data.views import keep_first_documents
from pytest_ireval_judgments.collection import leave_one_out, make_pool

LISTS = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]), st.lists(st.sampled_from("abcdefg"), unique=True, min_size=1), min_size=1
)


def cut(systems, depth):
    return {name: keep_first_documents(convert_rankings(lists), depth) for name, lists in systems.items()}


@given(
    st.lists(LISTS, min_size=1, max_size=4),
    st.integers(1, 4),
    LISTS,
    st.integers(0, 9),
    st.randoms(use_true_random=False),
)
def test_a_pool_is_the_union_without_what_is_judged_in_any_order_of_the_rankings(systems, depth, judged, seed, random):
    named = {f"s{i}": lists for i, lists in enumerate(systems)}
    shuffled = dict(random.sample(sorted(named.items()), len(named)))
    known = convert_judgments({query: dict.fromkeys(documents, 1) for query, documents in judged.items()})
    pool = make_pool(cut(named, depth), known, seed)

    union = {(q, d) for lists in systems for q, documents in lists.items() for d in documents[:depth]}
    done = {(q, d) for q, documents in judged.items() for d in documents}
    assert set(pool.pairs) == union - done
    assert len(pool.pairs) == len(set(pool.pairs))
    assert pool.judged == len(union & done)
    again = make_pool(cut(shuffled, depth), known, seed)
    assert again.pairs == pool.pairs
    assert set(again.contributions) == set(pool.contributions)


def test_the_order_tells_nothing_and_another_seed_gives_another_one():
    documents = [f"d{i}" for i in range(50)]
    systems = {"one": {"q": documents}}
    orders = [[document for _, document in make_pool(cut(systems, 50), None, seed).pairs] for seed in (1, 2)]

    assert orders[0] != orders[1]
    assert orders[0] not in (documents, sorted(documents))
    assert {each for order in orders for each in order} == set(documents)


def test_what_a_ranking_alone_contributed_is_left_out_and_nothing_else():
    """``c`` is below the depth of two, ``e`` in no ranking: both stay."""
    systems = {"one": {"q": ["a", "b", "c"]}, "two": {"q": ["b", "d"]}}
    judgments = convert_judgments({"q": {"a": 1, "b": 1, "c": 1, "d": 0, "e": 1}})
    one, two = leave_one_out(cut(systems, 2), judgments, rel=1)

    assert (one.unique, one.relevant, one.judgments.documents.texts()) == (1, 1, ["b", "c", "d", "e"])
    assert (two.unique, two.relevant, two.judgments.documents.texts()) == (1, 0, ["a", "b", "c", "e"])


def test_a_query_stays_even_without_a_judgment():
    systems = {"one": {"q": ["a"], "r": ["a"]}, "two": {"q": ["b"], "r": ["a"]}}
    one, _ = leave_one_out(cut(systems, 1), convert_judgments({"q": {"a": 1}, "r": {"a": 1}}), rel=1)

    assert one.judgments.queries == ("q", "r")
    assert len(one.judgments) == 1
