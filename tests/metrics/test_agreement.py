"""RBO and Overlap against their definitions, written down as slowly and plainly as can be."""

import math

import numpy as np
import pytest
from graded_rankings import compare_lists
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval import InputError, MetricError, Policies, SideData, evaluate, load_registry
from pytest_ireval.data.ids import Ids
from pytest_ireval.data.join import leave_unjudged
from pytest_ireval.data.rankings import rank_lists
from pytest_ireval.data.side_data import join_side_data
from pytest_ireval.metrics.score import score

DOCUMENTS = st.lists(st.sampled_from([f"d{i}" for i in range(12)]), unique=True, max_size=10)


def rbo_ext(one, other, p):
    """Equation 32 of Webber, Moffat, Zobel 2010, sum by sum."""
    if one == other:
        return 1.0
    if not one or not other:
        return 0.0
    short, long = sorted((one, other), key=len)
    s, l = len(short), len(long)  # noqa: E741 - as in the paper

    def x(depth):
        return len(set(short[:depth]) & set(long[:depth]))

    first = sum(x(d) / d * p**d for d in range(1, l + 1))
    second = sum(x(s) * (d - s) / (s * d) * p**d for d in range(s + 1, l + 1))
    return (1 - p) / p * (first + second) + ((x(l) - x(s)) / l + x(s) / s) * p**l


@given(one=DOCUMENTS, other=DOCUMENTS, p=st.sampled_from([0.1, 0.5, 0.9, 0.98]))
def test_rbo_is_the_extrapolated_one_of_the_paper(one, other, p):
    found = compare_lists(f"RBO(p={p})", one, other)

    assert found == pytest.approx(rbo_ext(one, other, p), abs=1e-12)
    assert compare_lists(f"RBO(p={p})", other, one) == pytest.approx(found, abs=1e-12)


@given(one=DOCUMENTS, other=DOCUMENTS, k=st.integers(1, 12))
def test_overlap_is_about_sets(one, other, k):
    first, second = set(one[:k]), set(other[:k])
    longer = max(len(first), len(second))

    assert compare_lists(f"Overlap@{k}", one, other) == (len(first & second) / longer if longer else 1)


@pytest.mark.parametrize(
    ("one", "other", "p", "value"),
    [("a b c d e", "a b c d e", 0.9, 1), ("", "", 0.9, 1), ("a b", "b a", 0, 0), ("a", "a b c", 0.9, 1)],
)
def test_rbo_at_the_ends(one, other, p, value):
    assert compare_lists(f"RBO(p={p})", one.split(), other.split()) == pytest.approx(value, abs=1e-12)


def test_a_document_of_another_query_is_another_document():
    rankings = {"q1": ["a", "b"], "q2": ["c", "d"]}
    swapped = {"q1": ["c", "d"], "q2": ["a", "b"]}

    (rbo,) = evaluate({q: {"j": 1} for q in rankings}, rankings, ["RBO"], side_data=SideData(reference=swapped)).metrics

    assert rbo.values == {"q1": 0, "q2": 0}


def residual(one, other, p):
    """Equation 30 of the paper."""
    s, l, x = len(one), len(other), len(set(one) & set(other))  # noqa: E741 - as in the paper
    f = s + l - x

    def terms(first, last):
        return sum(p**d / d for d in range(first, last + 1))

    unseen = s * terms(s + 1, f) + l * terms(l + 1, f) + x * (math.log(1 / (1 - p)) - terms(1, f))
    return p**s + p**l - p**f - (1 - p) / p * unseen


@given(one=DOCUMENTS, other=DOCUMENTS, p=st.sampled_from([0.1, 0.5, 0.9]))
def test_the_bounds_of_rbo_are_those_of_the_paper(one, other, p):
    least, most, rest, so_far = (
        compare_lists(f"RBO(p={p}, bound='{bound}')", one, other)
        for bound in ("min", "max", "residual", "extrapolated")
    )
    common = [len(set(one[:d]) & set(other[:d])) for d in range(1, 400)]

    assert least == pytest.approx((1 - p) * sum(p**d * x / (d + 1) for d, x in enumerate(common)), abs=1e-12)
    assert rest == pytest.approx(residual(one, other, p), abs=1e-12)
    assert most == pytest.approx(least + rest, abs=1e-12)
    assert least - 1e-12 <= so_far <= most + 1e-12


def test_depth_cuts_both_lists():
    one, other = ["a", "b", "c"], ["a", "b", "d"]
    (found,) = evaluate(
        {"q": {"j": 1}},
        {"q": one},
        ["Overlap@3"],
        policies=Policies(depth=2),
        side_data=SideData(reference={"q": other}),
    ).metrics

    assert found.values == {"q": 1}


def test_ids_whose_keys_collide_are_told_apart(monkeypatch):
    judged = join_lists({"q1": "a b", "q2": "c d"}, {"q1": "b a", "q2": "d e"})
    keys = Ids.hash
    monkeypatch.setattr(
        Ids, "hash", lambda ids, seed=0: keys(ids, seed) if seed > 2 else keys(ids, seed) & np.uint64(1)
    )

    assert judged.rank_in_reference.tolist() == [2, 1, 0, 1]


def test_ids_that_always_collide_are_an_error_and_never_a_wrong_figure(monkeypatch):
    judged = join_lists({"q1": "a b"}, {"q1": "b a"})
    monkeypatch.setattr(Ids, "hash", lambda ids, seed=0: np.zeros(len(ids), np.uint64))

    with pytest.raises(InputError, match=r"^the reference: its ids collide under all hash functions"):
        _ = judged.rank_in_reference


def test_rankings_without_any_judgments_can_be_compared():
    judged = join_lists({"q1": "a b", "q3": "x"}, {"q1": "a b", "q2": "c", "q3": "y"}, ["q1", "q2", "q3"])
    scores = score(load_registry().parse_metrics(["RBO"])[0], judged)

    assert scores.values.tolist() == [1, 0, 0]
    assert judged.present.tolist() == [True, False, True]
    assert judged.documents.ids.texts() == ["a", "b", "x"]
    assert np.isnan(judged.documents.grade).all()


def test_a_reference_of_other_queries_is_refused():
    judged = leave_unjudged(lists_of({"q1": "a"}), ["q1"])
    other = leave_unjudged(lists_of({"q2": "a"}), ["q2"])

    with pytest.raises(MetricError, match="the reference has other queries"):
        _ = join_side_data(judged, reference=other).rank_in_reference


def lists_of(rankings):
    lists = {q: [(name, -i) for i, name in enumerate(names.split())] for q, names in rankings.items()}
    return rank_lists(lists, "lists")


def join_lists(rankings, reference, queries=None):
    queries = queries or list(rankings)
    judged, other = (leave_unjudged(lists_of(each), queries) for each in (rankings, reference))
    return join_side_data(judged, reference=other)
