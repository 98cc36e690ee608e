"""What a result draws of recall and precision: means over slices on both sides, of the same queries."""

import pytest

METRICS = ("metrics: [nDCG@10, P@3]", "metrics: [nDCG@10, P@3, Rprec, IPrecAvg]")


@pytest.fixture
def accepted_shop(shop):
    shop.change(METRICS)
    shop.accept()
    return shop


def curves(shop):
    (suite,) = shop.results()["suites"]
    return {each["slice"]: each for each in suite["curves"]}


def figures(shop):
    (suite,) = shop.results()["suites"]
    return {each["name"]: each for each in suite["metrics"]}


def test_they_are_the_means_of_the_metrics_over_all_queries_and_over_the_slices_that_rules_name(accepted_shop):
    accepted_shop.rankings["q10"] = ["q10-n1", "q10-d2"]
    accepted_shop.rankings["q09"] = ["q09-d2", "q09-d3", "q09-d1", "q09-d0"]
    accepted_shop.write()
    accepted_shop.gate()

    found = curves(accepted_shop)
    assert [(each, found[each]["queries"]) for each in found] == [("all", 10), ("segment=head", 6), ("segment=tail", 4)]
    assert found["segment=head"]["now"] == {"levels": [1.0] * 11, "r_precision": 1.0}
    whole, tail = found["all"], found["segment=tail"]
    assert whole["now"]["r_precision"] == pytest.approx(figures(accepted_shop)["Rprec"]["now"])
    average = figures(accepted_shop)["IPrecAvg"]["now"]
    assert sum(whole["now"]["levels"]) / 11 == pytest.approx(average)
    q09, q10 = [1.0] * 4 + [3 / 4] * 7, [1 / 2] * 4 + [0.0] * 7
    assert tail["now"]["levels"] == pytest.approx([(2 + a + b) / 4 for a, b in zip(q09, q10, strict=True)])
    assert tail["baseline"]["levels"] == [1.0] * 11


def test_a_query_that_is_missing_now_counts_as_nothing_found(accepted_shop):
    accepted_shop.change(("depth: 10", "depth: 10\nmissing_queries: zero"))
    accepted_shop.update("zero")
    del accepted_shop.rankings["q10"]
    accepted_shop.write()
    accepted_shop.gate()

    assert curves(accepted_shop)["segment=tail"]["now"] == {"levels": [0.75] * 11, "r_precision": 0.75}


def test_waived_queries_and_those_without_relevant_documents_are_left_out(accepted_shop):
    accepted_shop.change(("metrics:", "waive:\n  - {query: q01, until: 2099-01-01, reason: broken feed}\nmetrics:"))
    accepted_shop.judgments["q02"] = {"q02-d0": 0}
    accepted_shop.write()
    accepted_shop.gate()

    assert {name: each["queries"] for name, each in curves(accepted_shop).items()} == {
        "all": 8,
        "segment=head": 4,
        "segment=tail": 4,
    }


def test_the_suite_says_what_is_relevant(accepted_shop):
    accepted_shop.change(("judgments: judgments.txt", "judgments: {file: judgments.txt, relevant_from: 3}"))
    accepted_shop.rankings |= {f"q{i:02}": [f"q{i:02}-d1", f"q{i:02}-d0"] for i in range(1, 11)}
    accepted_shop.write()
    accepted_shop.gate()

    assert curves(accepted_shop)["all"]["now"] == {"levels": [0.5] * 11, "r_precision": 0.0}
    assert accepted_shop.results()["suites"][0]["relevant_from"] == 3.0


def test_without_a_baseline_there_is_one_side(shop):
    shop.gate()

    assert [(each["slice"], each["baseline"]) for each in curves(shop).values()] == [
        ("all", None),
        ("segment=head", None),
        ("segment=tail", None),
    ]
