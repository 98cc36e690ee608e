"""A metric's behaviour is measured: how much a rank counts, and which changes of a list it notices."""

import pytest

from pytest_ireval import load_registry
from pytest_ireval.explaining import RANKS, measure_behaviour


def metric(name):
    return load_registry().vocabulary.parse(name)[0]


@pytest.mark.parametrize("name", ["AP", "nDCG"])
def test_a_rank_counts_less_where_more_is_relevant(name):
    few, many = measure_behaviour(metric(name)).curves.values()

    assert (few > 2 * many).all()
    assert (few[1:] < few[:-1]).all()


@pytest.mark.parametrize("name", ["RBP(p=0.5)", "P@10"])
def test_a_rank_counts_the_same_however_much_is_relevant(name):
    few, many = measure_behaviour(metric(name)).curves.values()

    assert few.tolist() == many.tolist()


def test_the_values_of_the_drawing():
    curve = measure_behaviour(metric("RBP(p=0.5)")).curves[10]

    assert curve.tolist() == pytest.approx([0.5**rank for rank in range(1, RANKS + 1)])


@pytest.mark.parametrize(
    ("name", "rises", "falls"),
    [
        ("P@10", "from rank 20 to rank 4", ""),
        ("RR", "from rank 5 to rank 1", ""),
        ("SetP", "", "added at the end"),
        ("Bpref", "is unjudged instead", "ten more relevant documents exist"),
        ("ERR", "gets the top grade", ""),
    ],
)
def test_what_raises_and_what_lowers_it(name, rises, falls):
    found = measure_behaviour(metric(name))

    assert [rises in each for each in found.rises].count(True) == (1 if rises else len(found.rises))
    assert [falls in each for each in found.falls].count(True) == (1 if falls else len(found.falls))
    assert len(found.rises) + len(found.falls) + len(found.ignores) == 7


@pytest.mark.more_metrics
def test_made_up_lists_cannot_show_it():
    assert measure_behaviour(metric("alpha_nDCG@10")) is None


def test_a_name_without_its_cutoff_is_drawn_with_a_usual_one(ireval):
    out = ireval("metrics", "precision", "P_5").out

    assert "P@10 of a list with one relevant document, by its rank" in out
    assert "10 relevant   █████···············  0.2000  0.2000  0.2000  0.0000  0.0000\n" in out
