"""User models: what a reader gets, reads and spends, and what a model refuses."""

import pytest
from graded_rankings import value

from pytest_ireval import MetricError, SideData, evaluate
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval_more_metrics import continuation

MODELS = [metric for metric in installed_registry().metrics.values() if metric.parameter("measure")]
FIXED = {"INSQ", "NPV", "SDCG", "SET", "TBG", "U"}
each_model = pytest.mark.parametrize(
    "model", [m(cutoff=4) if "cutoff" in m.missing else m for m in MODELS], ids=lambda model: model.name
)
UNEVEN = [2, None, 0, 1, -1, 2, None]


@each_model
def test_measures_of_a_model_fit_together(model):
    def measured(measure, *rows, **arguments):
        return value(str(model(measure=measure, **arguments)), *rows)

    utility, depth = measured("EU", UNEVEN, [2]), measured("ED", UNEVEN, [2])
    assert utility > 0
    assert measured("ETU", UNEVEN, [2]) == pytest.approx(utility * depth)
    assert measured("EC", UNEVEN) == pytest.approx(1), "every document costs 1 unless the cost is given"
    assert measured("ETC", UNEVEN) == pytest.approx(measured("ED", UNEVEN))
    assert measured("EU", [0, -1, None], [1]) == measured("EU", [], [1]) == 0
    assert measured("EU", [3] * 4, cutoff=4) == pytest.approx(1)
    assert measured("residual", [3] * 4, cutoff=4) == pytest.approx(0, abs=1e-12)
    both = sum(measured(each, [0, None, 1], cutoff=5) for each in ("EU", "residual"))
    assert both == pytest.approx(measured("EU", [0, 1, 1, 1, 1], cutoff=5)), "the unjudged and what follows are good"


@each_model
def test_only_utility_has_a_better_and_a_worse_and_only_a_given_cost_needs_fields(model):
    assert model(measure="ED")(measure="EU").direction == "higher"
    assert model(measure="ETU").direction == ("higher" if model.name in FIXED else "neither")
    assert {model(measure=each).direction for each in ("ED", "EC", "ETC", "residual")} == {"neither"}
    assert model.needs == model(cost="price")(cost=None).needs == frozenset()
    assert model(cost="price").needs == {"fields", "documents"}


@each_model
def test_queries_are_the_same_in_blocks(model, monkeypatch):
    judgments = {f"q{i}": {"a": i % 3, "b": 1, "c": 2} for i in range(7)}
    rankings = {f"q{i}": ["a", "x", "c", "b"][: i + 1] for i in range(7)}
    whole = evaluate(judgments, rankings, [model]).metrics[0].values
    monkeypatch.setattr(continuation, "CELLS", 1)

    assert evaluate(judgments, rankings, [model]).metrics[0].values == pytest.approx(whole, rel=1e-12)


def test_the_highest_gains_come_first_in_the_best_order():
    assert value("INST(min_grade=1)@3", [3, 1, 2]) == pytest.approx((1 + 1 / 4 * 4 / 9 * 0.5) / (1 + 1 / 4 + 1 / 9))


def test_a_dear_document_ends_the_search():
    prices = {"a": {"price": 1}, "b": {"price": 5}, "c": {"price": 1}}
    model = "BPMD(K=5, T=9, cost='price', hb=0, hc=0, measure='{}')"
    names = [model.format(each) for each in ("ED", "ETC", "EC", "EU")]

    found = evaluate({"q": {"c": 1}}, {"q": ["a", "b", "c"]}, names, side_data=SideData(fields=prices))

    assert [each.mean for each in found.metrics] == [2, 6, 3, 0]


@pytest.mark.parametrize("cost", [0, "two", float("nan")])
def test_a_cost_is_a_number_above_0(cost):
    with pytest.raises(MetricError, match=r"the field 'p' of document 'a' is .*; a cost is a number above 0"):
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, "TBG(cost='p')", side_data=SideData(fields={"a": {"p": cost}}))


def test_the_lowest_gain_is_below_the_highest():
    with pytest.raises(MetricError, match="min_grade=2 is not below max_grade=2"):
        value("INSQ(max_grade=2, min_grade=2)", [1])
    assert value("INSQ(min_grade=2)", [1, 2]) == 0


def test_names_of_ir_measures_are_understood():
    (theirs,) = installed_registry().parse_metrics(["INST(T=2.0, max_rel=4, min_rel=0)"])

    assert str(theirs) == "INST(T=2, max_grade=4)"
