"""Causes speak of the loss of a metric only if it got worse."""

import pytest
from suite_files import accept_suites, write_suite

WITHIN = "no_regression: {metric: nDCG@10, tolerance: 50%}"
LATENCY = "no_regression: {metric: Latency, tolerance: 5%, on_fail: fail}"


@pytest.fixture
def make_timed_shop(shop):
    """A shop with times; half of its queries are 1 ms slower now, and the others take the ``others`` times."""

    def write_timed_suite(rule, rankings):
        keys = {"depth": 10, "queries": "queries.tsv", "metrics": "[Latency, nDCG@10]"}
        return write_suite(shop.path, rule, suite="timed", source=f"{{run: {rankings}, timings: times.tsv}}", **keys)

    def make(rule, others=10, rankings="new.txt"):
        (shop.path / "shop.ireval.yaml").unlink()
        path = write_timed_suite(rule, "rankings.txt")
        (shop.path / "times.tsv").write_text("query\tms\n" + "".join(f"{query}\t20\n" for query in shop.rankings))
        accept_suites(path)
        write_timed_suite(rule, rankings)
        (shop.path / "new.txt").write_bytes((shop.path / "rankings.txt").read_bytes())
        rows = (f"{query}\t{others if number % 2 else 21}\n" for number, query in enumerate(shop.rankings))
        (shop.path / "times.tsv").write_text("query\tms\n" + "".join(rows))
        shop.result = shop.run()
        return shop

    return make


def test_where_latency_fell_nothing_speaks_of_its_loss(make_timed_shop):
    shop = make_timed_shop(WITHIN)

    assert shop.result.ret == 0
    shop.result.stdout.fnmatch_lines(["look at this: timed: the source changed, but all 10 rankings equal those of *"])
    assert "loss of Latency" not in shop.result.stdout.str()
    (suite,) = shop.results()["suites"]
    assert suite["diagnoses"][0]["explained"] is None


def test_no_document_is_the_evidence_of_a_longer_time(make_timed_shop):
    shop = make_timed_shop(LATENCY, others=90, rankings="rankings.txt")

    assert shop.result.ret == 1
    (outcome,) = [each for each in shop.results()["suites"][0]["outcomes"] if each["metric"] == "Latency"]
    assert [query["best"] for query in outcome["queries"]] == [None] * 10


def test_what_a_red_rule_says_was_lost_is_explained(shop):
    shop.accept()
    for query in ("q07", "q08", "q09", "q10"):
        shop.rankings[query] = shop.rankings[query][::-1]
    shop.write()

    shop.gate()
    first, *_ = shop.results()["suites"][0]["diagnoses"]
    assert (first["kind"], first["metric"], first["explained"]) == ("reversed_order", "nDCG@10", 1.0)
