"""The metrics and the rule keep what every one promises; the section shows what its function was given."""

import acme_ireval_metrics
from acme_ireval_metrics.rules import none_bad_first

from pytest_ireval.testing import check_rule, metric_contract

test_contract = metric_contract(acme_ireval_metrics.ireval_metrics())

QUERIES = {"weights": [90.0, 9.0, 1.0], "now": {"AP": [0.5, 1.0, None]}, "baseline": {"AP": [0.6, 0.5, 1.0]}}
RUN = {"suites": [{"name": "shop", "queries": QUERIES, "metrics": [{"name": "AP", "direction": "higher"}]}]}


def test_the_rule_keeps_what_every_rule_promises():
    assert check_rule(none_bad_first, {"at_most": 0})  # it raises PluginError with what is broken


def test_a_query_counts_as_often_as_it_is_asked():
    (row,) = acme_ireval_metrics.traffic.data(RUN)["rows"]

    assert row == {"suite": "shop", "metric": "AP", "worse": 90 / 99, "better": 9 / 99}
