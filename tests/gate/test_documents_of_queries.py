"""What a result keeps of single queries: both lists, their curves, and what each document adds to a change."""

import math

import pytest
from suite_files import write_judgments, write_queries, write_rankings, write_suite

from pytest_ireval.gate.query_documents import BEST_OF_A_METRIC, FEW, WORST_OF_A_METRIC

METRICS = ("metrics: [nDCG@10, P@3]", "metrics: [nDCG@10, P@3, AP, RR@10, RBP, YAAP]")


@pytest.fixture
def changed_shop(shop):
    """q10 has a stranger first, and its best document third."""
    shop.change(METRICS)
    shop.accept()
    shop.rankings["q10"] = ["q10-n1", "q10-d1", "q10-d0"]
    shop.write()
    shop.gate()
    return shop


def documents(shop):
    (suite,) = shop.results()["suites"]
    return {each["query"]: each for each in suite["documents"]}


def shares(shop, metric, query="q10"):
    found = documents(shop)[query]
    return {
        each["document"].removeprefix(f"{query}-"): share
        for each, share in zip(found["documents"], found["shares"][metric], strict=True)
    }


def test_both_curves_have_a_point_for_each_relevant_document_that_was_found(changed_shop):
    found = documents(changed_shop)["q10"]

    assert found["relevant"] == 3
    assert found["now"]["recall"] == pytest.approx([1 / 3, 2 / 3])
    assert found["now"]["precision"] == pytest.approx([1 / 2, 2 / 3])
    assert found["now"]["interpolated"]["levels"] == pytest.approx([2 / 3] * 7 + [0.0] * 4)
    assert found["now"]["interpolated"]["r_precision"] == pytest.approx(2 / 3)
    assert found["baseline"]["precision"] == [1.0, 1.0, 1.0]


def test_documents_add_up_to_the_change_of_the_query_where_the_metric_is_a_sum(changed_shop):
    assert sorted(documents(changed_shop)) == [f"q{i:02}" for i in range(1, 11)]
    assert set(documents(changed_shop)["q10"]["shares"]) == {"nDCG@10", "P@3", "AP", "RR@10", "RBP"}
    assert documents(changed_shop)["q01"]["shares"] == {}
    (suite,) = changed_shop.results()["suites"]
    table = suite["queries"]
    last = table["ids"].index("q10")
    for metric in ("nDCG@10", "P@3", "AP", "RR@10", "RBP"):
        change = table["now"][metric][last] - table["baseline"][metric][last]
        added = [share for share in shares(changed_shop, metric).values() if share is not None]
        assert math.fsum(added) == pytest.approx(change, abs=1e-9)


def test_a_document_adds_its_share_now_less_that_in_the_baseline(changed_shop):
    ideal = 3 + 2 / math.log2(3) + 1 / 2

    found = shares(changed_shop, "nDCG@10")

    assert found["d0"] == pytest.approx((3 / 2 - 3) / ideal)  # from rank 1 to rank 3
    assert found["d1"] == pytest.approx(0, abs=1e-12)  # second on both sides
    assert found["d2"] == pytest.approx(-1 / 2 / ideal)  # gone from rank 3
    assert (found["n1"], found["d3"]) == (None, None)  # never worth anything
    assert shares(changed_shop, "RR@10") == {"n1": None, "d1": 1 / 2, "d0": -1.0, "d2": None, "d3": None}


def test_a_ranking_that_is_gone_takes_all_of_its_value_along(shop):
    shop.change(METRICS, ("depth: 10", "depth: 10\nmissing_queries: zero"))
    shop.accept()
    del shop.rankings["q10"]
    shop.write()
    shop.gate()

    found = documents(shop)["q10"]
    assert found["now"] is None
    assert found["baseline"]["recall"] == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert shares(shop, "P@3") == {"d0": -1 / 3, "d1": -1 / 3, "d2": -1 / 3, "d3": None}
    assert shares(shop, "AP")["d0"] == pytest.approx(-1 / 3)


def test_where_the_source_is_asked_again_only_what_adds_up_is_told(shop):
    """The figure is a mean of two askings, and the documents are those of the first."""
    (shop.path / "shop_source.py").write_text(
        "asked = []\n"
        "def rank(text, *, query_id):\n"
        "    asked.append(query_id)\n"
        "    second = asked.count(query_id) == 2 and query_id == 'q10'\n"
        "    return [f'{query_id}-{d}' for d in (['n1', 'd0'] if second else ['d0', 'd1'])]\n"
    )
    shop.pytester.syspathinsert()
    shop.accept()
    shop.change(("source: {run: rankings.txt}", "source: {python: shop_source:rank, repeat: 2}"))
    shop.gate()

    found = documents(shop)
    assert "nDCG@10" in found["q01"]["shares"]  # the same list both times
    assert "nDCG@10" not in found["q10"]["shares"]


def test_a_suite_without_judgments_keeps_lists_alone(shop):
    rule = "churn: {overlap: Overlap@10, below: 0.5, at_most: 1}"
    shop.suite = write_suite(shop.path, rule, depth=10, queries="queries.tsv", judgments=None).read_text()
    shop.accept()
    shop.rankings["q10"] = ["q10-n1"]
    shop.write()
    shop.gate()

    (suite,) = shop.results()["suites"]
    assert suite["curves"] == []
    assert documents(shop)["q10"]["now"] is None
    assert documents(shop)["q10"]["shares"] == {}


def test_in_a_large_one_those_that_lost_and_gained_most(shop):
    names = [f"q{i:03}" for i in range(FEW + 1)]
    write_queries(shop.path / "queries.tsv", names)
    write_judgments(shop.path / "judgments.txt", {name: {"d": 1} for name in names})
    write_suite(shop.path, "threshold: {RR@10: '>= 0'}", queries="queries.tsv")

    def rank(places):
        documents = ["x", "y", "z"]
        rankings = {name: [*documents[:at], "d", *documents[at:]] for name, at in zip(names, places, strict=True)}
        write_rankings(shop.path / "rankings.txt", rankings)

    rank([1] * len(names))
    shop.accept()
    rank([2] * 60 + [0] * 30 + [1] * (len(names) - 90))
    shop.gate()

    kept = list(documents(shop))
    assert kept[:WORST_OF_A_METRIC] == names[:50]
    assert len(kept) == WORST_OF_A_METRIC + BEST_OF_A_METRIC
    assert set(kept[WORST_OF_A_METRIC:]) <= set(names[60:90])
