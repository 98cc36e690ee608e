"""What an acceptance remembers of how far queries moved."""

import statistics

import pytest


def list_acceptances(shop):
    return shop.baseline().acceptances


def values(shop):
    return shop.baseline().metrics["nDCG@10"].values


def test_a_second_acceptance_has_those_of_every_mean_that_a_rule_compares_and_the_first_has_none(shop):
    shop.accept()
    before = values(shop)
    shop.rankings["q10"] = ["q10-n1", "q10-d0", "q10-d1"]
    shop.rankings["q09"] = ["q09-n1", "q09-d0", "q09-d1"]
    shop.write()
    shop.update("reranker")

    moved = [values(shop)[query] - before[query] for query in sorted(before)]
    first, spreads = (each.spreads for each in list_acceptances(shop))
    assert dict(first) == {}
    assert list(spreads) == ["nDCG@10", "nDCG@10 segment=tail"]  # nothing moved in the head, and no rule is about P@3
    assert spreads["nDCG@10"] == pytest.approx(statistics.stdev(moved), rel=1e-5)
    assert spreads["nDCG@10 segment=tail"] == pytest.approx(statistics.stdev(moved[6:]), rel=1e-5)


def test_where_only_judgments_changed_nothing_moved(shop):
    shop.accept()
    shop.judgments["q10"]["q10-d3"] = 3
    shop.write()
    shop.update("judged again")

    assert [dict(each.spreads) for each in list_acceptances(shop)] == [{}, {}]
