"""Rank correlations against SciPy and against their definitions, documents of one list only included."""

import math
from itertools import permutations

import numpy as np
import pytest
from graded_rankings import compare_lists
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pytest_ireval.statistics.orders import compare_orders

DOCUMENTS = st.lists(st.sampled_from([f"d{i}" for i in range(9)]), unique=True, max_size=7)
METRICS = ("KendallTau", "KendallTau(ties='a')", "TauAP", "TauAP(ties='b')", "SpearmanRho", "WeightedTau")


def ranks(one, other, missing):
    """The ranks of all documents in both lists; those that a list lacks share the rank below it."""
    if missing == "ignore":
        one, other = [d for d in one if d in other], [d for d in other if d in one]
    documents = dict.fromkeys([*one, *other])
    places = [{d: rank for rank, d in enumerate(each, 1)} for each in (one, other)]
    return [[place.get(d, len(place) + 1) for d in documents] for place in places]


def tau_a(x, y):
    pairs = [(i, j) for i in range(len(x)) for j in range(i)]
    return sum(np.sign((x[i] - x[j]) * (y[i] - y[j])) for i, j in pairs) / len(pairs) if pairs else math.nan


def ap_one_way(x, y):
    """Down the list y; documents of equal rank count from the first of them on."""
    below = [i for i in range(len(y)) if y[i] > 1]
    good = [sum(y[j] < y[i] and x[j] < x[i] for j in range(len(x))) / (y[i] - 1) for i in below]
    return 2 * sum(good) / len(below) - 1 if below else math.nan


DEFINITIONS = {
    "KendallTau": lambda x, y: stats.kendalltau(x, y).statistic,
    "KendallTau(ties='a')": tau_a,
    "SpearmanRho": lambda x, y: stats.spearmanr(x, y).statistic if len(x) > 1 else math.nan,
    "WeightedTau": lambda x, y: stats.weightedtau([-r for r in x], [-r for r in y]).statistic,
    "TauAP(ties='b')": lambda x, y: (ap_one_way(x, y) + ap_one_way(y, x)) / 2,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("missing", ["last", "ignore"])
@pytest.mark.parametrize("name", DEFINITIONS)
@given(one=DOCUMENTS, other=DOCUMENTS)
def test_it_is_that_of_scipy_or_of_its_definition(name, missing, one, other):
    x, y = ranks(one, other, missing)
    value = DEFINITIONS[name](x, y) if len(x) > 1 else math.nan
    without = 1.0 if one == other else 0.0
    expected = without if one == other or math.isnan(value) else value

    assert compare_lists(argument(name, f"missing='{missing}'"), one, other) == pytest.approx(expected, abs=1e-9)


def argument(name, text):
    return name.replace(")", f", {text})") if "(" in name else f"{name}({text})"


@given(one=DOCUMENTS, other=DOCUMENTS)
def test_tau_ap_is_the_mean_over_all_orders_of_what_the_list_lacks(one, other):
    kept = [document for document in one if document in other]
    lists = [[*kept, *rest] for rest in permutations([d for d in other if d not in one])]
    size = len(other)
    good = [
        sum(sum(other.index(a) < other.index(d) for a in each[:i]) / i for i, d in enumerate(each) if i)
        for each in lists
    ]
    expected = 2 * np.mean(good) / (size - 1) - 1 if size > 1 else 0.0

    assert compare_lists("TauAP", one, other) == pytest.approx(1.0 if one == other else expected, abs=1e-9)


@given(one=DOCUMENTS, other=DOCUMENTS)
def test_equal_lists_are_1_and_both_lists_count_alike(one, other):
    for name in METRICS:
        assert compare_lists(name, one, one) == 1
        if name != "TauAP":
            assert compare_lists(name, one, other) == pytest.approx(compare_lists(name, other, one), abs=1e-9), name


@pytest.mark.parametrize("name", METRICS)
def test_the_opposite_order_is_minus_1_and_a_swap_on_top_counts_most_where_the_top_does(name):
    documents = list("abcdefgh")
    top, bottom = [*"ba", *documents[2:]], [*documents[:6], *"hg"]

    assert compare_lists(name, documents, documents[::-1]) == pytest.approx(-1)
    assert (compare_lists(name, top, documents) < compare_lists(name, bottom, documents) - 1e-9) == name.startswith(
        ("TauAP", "Weighted")
    )


@given(order=st.permutations(range(6)))
def test_tau_ap_of_documents_is_that_of_systems_which_stress_and_reliability_print(order):
    systems = compare_orders([-order.index(i) for i in range(6)], [-i for i in range(6)])

    assert compare_lists("TauAP", [str(i) for i in order], [str(i) for i in range(6)]) == pytest.approx(systems.tau_ap)


def test_long_lists_are_counted_in_order():
    source = np.random.default_rng(5)
    lists = [[f"d{i}" for i in source.permutation(1500)[:1000]] for _ in range(2)]

    x, y = ranks(*lists, "last")

    assert compare_lists("KendallTau", *lists) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-9)
    assert compare_lists("WeightedTau", *lists) == pytest.approx(DEFINITIONS["WeightedTau"](x, y), abs=1e-9)
