"""What stands at a limit, beyond one of two limits, in a later answer, or is waived: the verdict of each."""

import pytest

from pytest_ireval import load_suite, run_gate

ALL_RULES = """\
  - threshold: {nDCG@10: ">= 0.5"}
  - no_regression: {decide_by: observed, metric: nDCG@10, tolerance: 5%}
  - no_regression: {decide_by: observed, metric: nDCG@10, per: segment, tolerance: {head: 10%, default: 5%}}
  - worsened: {decide_by: observed, metric: nDCG@10, by_more_than: 0.9, at_most: 2}
  - expect:
      - {query: q01, document: q01-d0, top: 3}
"""
SOURCE = """\
import itertools

asked = itertools.count()

def search(text, *, query_id):
    ids = [f"{query_id}-d{place}" for place in range(4)]
    return ids if next(asked) < 10 else ids[::-1]
"""


@pytest.fixture
def verdict_of(shop):
    """The verdict of one rule in place of all; ``more`` is text before the rules."""

    def gate(rule, more=""):
        shop.change((ALL_RULES, f"  - {rule}\n"), ("rules:\n", f"{more}rules:\n"))
        outcomes = {each.id: each for each in run_gate(load_suite(shop.path / "shop.ireval.yaml")).outcomes}
        (other,) = [each for each in outcomes.values() if each.kind in rule]
        return outcomes["inputs"].verdict, other.verdict

    return gate


@pytest.mark.parametrize(
    ("limits", "verdict"),
    [("min: 0.1, max: 0.9", "fail"), ("min: 0.9, max: 1", "pass"), ("min: 1.0, max: 1.0", "pass")],
)
def test_a_threshold_with_two_limits_needs_both(verdict_of, limits, verdict):
    assert verdict_of(f"threshold: {{metric: nDCG@10, {limits}}}") == ("pass", verdict)


@pytest.mark.parametrize(("at_most", "verdict"), [(2, "pass"), (1, "fail")])
def test_as_many_queries_as_allowed_may_get_worse_and_not_one_more(shop, verdict_of, at_most, verdict):
    before = "".join((shop.path / "rankings.txt").read_text())
    (shop.path / "before.txt").write_text(before)
    for query in ("q01", "q02"):
        shop.rankings[query] = [f"{query}-x"]
    shop.write()
    rule = f"worsened: {{metric: nDCG@10, by_more_than: 0.9, at_most: {at_most}, decide_by: observed, "
    assert verdict_of(f"{rule}against: {{run: before.txt}}}}") == ("pass", verdict)


@pytest.mark.parametrize(("top", "verdict"), [(4, "pass"), (1, "fail")])
def test_an_expectation_holds_in_every_answer_of_a_source(shop, verdict_of, top, verdict):
    (shop.path / "search_twice.py").write_text(SOURCE)
    shop.change(("source: {run: rankings.txt}", "source: {python: search_twice:search, repeat: 2}"))
    assert verdict_of(f"expect: [{{query: q01, document: q01-d0, top: {top}}}]") == ("pass", verdict)


@pytest.mark.parametrize(("waived", "verdict"), [("q07", "pass"), ("q06", "fail")])
def test_a_waived_query_does_not_count_in_its_slice(shop, verdict_of, waived, verdict):
    shop.rankings["q07"] = ["q07-x"]
    shop.write()
    waivers = f"waive: [{{query: {waived}, until: 2099-01-01, reason: a sale}}]\n"
    rule = 'threshold: {nDCG@10: ">= 1", where: {segment: tail}}'
    assert verdict_of(rule, waivers) == ("pass", verdict)


def test_rankings_without_any_judged_document_are_an_error_beside_any_reference(shop, verdict_of):
    """Their ids are other ones, so every metric says 0, and a reference of the same ids says so, too."""
    shop.rankings = {query: [f"{query}-other{place}" for place in range(4)] for query in shop.rankings}
    shop.write()
    (shop.path / "before.txt").write_text((shop.path / "rankings.txt").read_text())
    (shop.path / "rankings.txt").write_text((shop.path / "rankings.txt").read_text().replace(" x\n", " y\n"))
    rule = "no_regression: {metric: nDCG@10, tolerance: {absolute: 0.01}, against: {run: before.txt}}"
    assert verdict_of(rule)[0] == "error"


@pytest.mark.parametrize(
    ("expectation", "verdict"),
    [
        ("document: q01-c, top: 3", "pass"),
        ("document: q01-c, top: 2", "fail"),
        ("document: q01-z, top: 3", "fail"),
        ("never: [q01-c], top: 2", "pass"),
        ("never: [q01-c], top: 3", "fail"),
        ("never: [q01-a], top: 3", "fail"),
    ],
)
def test_an_expectation_looks_at_the_ranks_up_to_its_last_one(shop, verdict_of, expectation, verdict):
    shop.rankings["q01"] = ["q01-a", "q01-b", "q01-c", "q01-d0"]
    shop.write()
    assert verdict_of(f"expect: [{{query: q01, {expectation}}}]") == ("pass", verdict)


@pytest.mark.parametrize(("limit", "verdict"), [(">= 1", "pass"), ("> 1", "fail")])
def test_a_mean_at_the_limit_is_not_beyond_it(verdict_of, limit, verdict):
    assert verdict_of(f'threshold: {{P@1: "{limit}"}}') == ("pass", verdict)


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        ('{NumRelRet: ">= 25"}', ""),
        ('{NumRelRet: ">= 30"}', ""),
        ("{metric: NumRelRet, of: mean, min: 2.5}", "1 of 10 queries is outside >= 2.5."),
        ('{P@3: ">= 0.5"}', "1 of 10 queries is outside >= 0.5."),
    ],
)
def test_single_queries_are_held_against_a_bound_unless_it_is_one_of_their_sum(shop, limit, sentence):
    shop.rankings["q01"] = ["q01-x"]
    shop.change((ALL_RULES, f"  - threshold: {limit}\n"))
    (outcome,) = (each for each in run_gate(load_suite(shop.path / "shop.ireval.yaml")).outcomes if each.id != "inputs")
    assert outcome.sentence == sentence


@pytest.mark.parametrize(("tolerance", "verdict"), [("10%", "pass"), ("9%", "fail")])
def test_a_tolerance_is_a_share_of_the_figure_where_that_is_a_sum(shop, verdict_of, tolerance, verdict):
    (shop.path / "before.txt").write_text((shop.path / "rankings.txt").read_text())
    shop.rankings["q01"] = ["q01-x"]
    shop.write()
    rule = f"no_regression: {{metric: NumRelRet, tolerance: {tolerance}, against: {{run: before.txt}}}}"
    assert verdict_of(rule) == ("pass", verdict)  # one of ten queries, which have as many relevant documents each


@pytest.mark.parametrize(("depth", "verdict"), [(3, "pass"), (2, "fail")])
def test_a_document_below_the_depth_does_not_count(verdict_of, shop, depth, verdict):
    shop.change(("depth: 10", f"depth: {depth}"), ("metrics: [nDCG@10, P@3]", "metrics: [SetR]"))
    assert verdict_of('threshold: {SetR: ">= 1"}') == ("pass", verdict)  # the third document is relevant


def test_the_figure_of_a_metric_leaves_waived_queries_out(shop):
    shop.rankings["q07"] = ["q07-x"]
    shop.change(("rules:\n", "waive: [{query: q07, until: 2099-01-01, reason: a sale}]\nrules:\n"))
    suite = run_gate(load_suite(shop.path / "shop.ireval.yaml"))
    assert {figures.name: figures.now for figures in suite.metrics}["nDCG@10"] == 1.0


@pytest.mark.parametrize(("segment", "verdict"), [("head", "pass"), ("tail", "fail")])
def test_values_belong_to_their_queries_in_whatever_order_these_are_listed(shop, verdict_of, segment, verdict):
    shop.rankings["q07"] = ["q07-x"]
    rule = f'threshold: {{nDCG@10: ">= 1", where: {{segment: {segment}}}}}'
    shop.change(("queries: queries.tsv", "queries: reversed.tsv"))
    head, *rows = (shop.path / "queries.tsv").read_text().splitlines()
    (shop.path / "reversed.tsv").write_text("\n".join([head, *reversed(rows)]) + "\n")
    assert verdict_of(rule) == ("pass", verdict)
