"""Metrics that compare two lists, metrics of sessions, and those of other columns of judgments, in a suite."""

import pytest

from pytest_ireval import load_suite, run_gate
from pytest_ireval.errors import SuiteError

COMPARING = """\
  - threshold: {RPP: ">= -0.1", LexiPrecision: ">= -0.1"}
  - churn: {overlap: KendallTau@3, below: 0.5, at_most: 2}
"""
SESSIONS = """\
  - threshold: {nsDCG@3: ">= 0.6"}
  - no_regression: {metric: nsDCG@3, tolerance: 5%, decide_by: observed}
  - no_regression: {metric: SessionRBP, tolerance: 5%, decide_by: observed}
"""


def with_rules(shop, rules):
    shop.suite = shop.suite.partition("rules:\n")[0] + "rules:\n" + rules
    shop.write()


def outcomes(shop):
    found = run_gate(load_suite(shop.path / "shop.ireval.yaml")).outcomes
    return {each.id: each for each in found}


def verdicts(shop):
    return [each.verdict for name, each in outcomes(shop).items() if name != "inputs"]


def turn_round(shop, *queries):
    for query in queries:
        shop.rankings[query].reverse()
    shop.write()


def test_two_lists_are_compared_by_the_judgments(shop):
    with_rules(shop, COMPARING)
    shop.accept()
    assert verdicts(shop) == ["pass"] * 3

    turn_round(shop, "q01", "q02", "q03")

    found = outcomes(shop)
    assert [found[f"threshold::{name}"].verdict for name in ("RPP", "LexiPrecision")] == ["fail", "fail"]
    assert found["threshold::RPP"].headline == "RPP is -0.3000 (must be >= -0.1)"
    assert [each.query for each in found["threshold::LexiPrecision"].queries[:3]] == ["q01", "q02", "q03"]
    assert found["threshold::LexiPrecision"].headline == "LexiPrecision is -0.3000 (must be >= -0.1)"
    assert found["churn::KendallTau_3"].verdict == "fail"


def test_a_query_that_lost_its_list_is_the_worst_that_can_be(shop):
    with_rules(shop, COMPARING)
    shop.change(("depth: 10", "depth: 10\nmissing_queries: zero"))
    shop.accept()
    del shop.rankings["q09"], shop.rankings["q10"]
    shop.write()

    assert outcomes(shop)["threshold::RPP"].headline == "RPP is -0.2000 (must be >= -0.1)"


def test_a_threshold_of_such_a_metric_needs_a_baseline_first(shop):
    with_rules(shop, COMPARING)

    found = outcomes(shop)

    assert {each.headline for name, each in found.items() if name != "inputs"} == {"no baseline to compare with"}
    assert verdicts(shop) == ["fail"] * 3
    assert found["threshold::RPP"].acceptable


@pytest.mark.parametrize(
    ("rules", "complaint"),
    [
        (
            '  - threshold: {RPP: ">= 0", nDCG@10: ">= 0"}\n',
            "RPP compares two lists; threshold takes metrics that score",
        ),
        ("  - no_regression: {metric: RPP, tolerance: 1%}\n", "use churn, or a threshold of its own"),
    ],
)
def test_where_such_a_metric_makes_no_sense_it_is_a_mistake(shop, rules, complaint):
    with_rules(shop, rules)

    with pytest.raises(SuiteError, match=complaint):
        outcomes(shop)


def test_lists_can_be_compared_without_judgments_but_not_by_them(shop):
    with_rules(shop, '  - threshold: {KendallTau@3: ">= 0.9"}\n')
    shop.change(("judgments: judgments.txt\nmetrics: [nDCG@10, P@3]\n", ""))
    shop.accept()
    assert verdicts(shop) == ["pass"]

    with_rules(shop, '  - threshold: {RPP: ">= 0"}\n')
    with pytest.raises(SuiteError, match="this rule needs judgments, but the suite names none"):
        outcomes(shop)


def in_sessions(shop):
    """Two queries make a session."""
    shop.write()
    rows = (shop.path / "queries.tsv").read_text().splitlines()
    added = [f"{row}\ts{number // 2}\t{number % 2 + 1}" for number, row in enumerate(rows[1:])]
    (shop.path / "queries.tsv").write_text("\n".join([f"{rows[0]}\tsession\tposition", *added]) + "\n")


def test_sessions_come_from_columns_of_the_queries(shop):
    with_rules(shop, SESSIONS)
    in_sessions(shop)
    shop.accept()
    assert verdicts(shop) == ["pass"] * 3

    for query in ("q03", "q04"):
        shop.rankings[query] = shop.rankings[query][2:]
    in_sessions(shop)

    found = outcomes(shop)
    assert [each.query for each in found["no_regression::nSessionDCG_3.all"].queries if each.now < each.baseline] == [
        "s1"
    ]
    assert found["no_regression::nSessionDCG_3.all"].figures[0].queries == 5
    assert verdicts(shop) == ["pass", "fail", "fail"]


def test_without_these_columns_a_metric_of_sessions_is_an_error(shop):
    with_rules(shop, SESSIONS)

    with pytest.raises(SuiteError, match=r"nSessionDCG@3 needs sessions, and queries.tsv lacks the column session"):
        outcomes(shop)


def test_what_users_knew_comes_from_a_column_of_the_judgments(shop):
    with_rules(shop, '  - threshold: {NoveltyRatio@2: ">= 0.4", CoverageRatio: ">= 0.9"}\n')
    shop.suite = shop.suite.replace("judgments.txt", "judgments.tsv")
    shop.write()
    rows = [
        f"{q}\t{d}\t{grade}\t{'yes' if d.endswith('d0') else 'no'}"
        for q, all_ in shop.judgments.items()
        for d, grade in all_.items()
    ]
    (shop.path / "judgments.tsv").write_text("\n".join(["query\tdocument\tgrade\tknown", *rows]) + "\n")

    assert verdicts(shop) == ["pass", "pass"]
