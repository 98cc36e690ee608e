"""A suite of which no rule judged anything is red: it finds nothing, whatever a change does."""

import pytest

pytestmark = pytest.mark.ci

ALL_WAIVED = "waive:\n" + "".join(f"  - {{query: q{i:02}, until: 2027-01-01, reason: feed}}\n" for i in range(1, 11))
NO_REGRESSION = "no_regression: {metric: nDCG@10, tolerance: 5%}"
EVIDENCE = "equivalent: {metric: nDCG@10, tolerance: 5%}"
FEW = "no_regression: {metric: nDCG@10, tolerance: 5%, decide_by: observed, min_queries: 11}"


@pytest.fixture
def run_with_rules(shop):
    """Gives the suite these rules, accepts it, and runs it again."""

    def run(*rules, more="", change=lambda: None):
        rules = "rules:\n" + "".join(f"  - {rule}\n" for rule in rules)
        start = shop.suite[: shop.suite.index("rules:")]
        shop.suite = start + rules
        shop.write()
        shop.run("--ireval-update-new")
        shop.suite = start + more + rules
        shop.write()
        change()
        return shop.run()

    return run


@pytest.mark.parametrize(
    ("rules", "more", "way"),
    [
        ([NO_REGRESSION], ALL_WAIVED, "end a waiver"),
        ([FEW, 'threshold: {nDCG@10: ">= 0.5", min_queries: 11}'], "", "give it more queries, or lower min_queries"),
        ([EVIDENCE], "", "give it more queries, or lower min_queries"),
        (
            ["no_regression: {metric: nDCG@10, per: segment, tolerance: 5%, decide_by: observed, min_queries: 7}"],
            "",
            "give it more queries",
        ),
    ],
    ids=["all waived", "too few", "too few for evidence", "slices"],
)
def test_it_is_red_and_says_what_to_do(shop, run_with_rules, rules, more, way):
    def worse():
        shop.rankings = {query: documents[::-1] for query, documents in shop.rankings.items()}
        shop.write()

    result = run_with_rules(*rules, more=more, change=worse)

    assert result.ret == 1
    verdicts = shop.verdicts()
    assert verdicts.pop("inputs") == "fail"
    assert set(verdicts.values()) <= {"inconclusive", "pass"}  # a waiver passes
    inputs = shop.results()["suites"][0]["outcomes"][0]
    assert inputs["headline"].startswith("no rule of this suite judged anything")
    assert inputs["facts"][0].startswith(way)


def test_a_new_document_everywhere_does_not_hide_it(shop, run_with_rules):
    """Such a document alone makes the inputs inconclusive, which is no red."""

    def promoted():
        shop.rankings = {query: ["promoted", *documents] for query, documents in shop.rankings.items()}
        shop.write()

    result = run_with_rules(FEW, change=promoted)

    assert (result.ret, shop.verdicts()["inputs"]) == (1, "fail")
    assert "promoted" in str(shop.results()["suites"][0]["outcomes"][0]["facts"])


def test_a_slice_of_new_queries_alone_is_red_until_it_is_accepted(shop, run_with_rules):
    def added():
        for what in (shop.rankings, shop.judgments):
            what["q11"] = what["q01"]
        shop.write()
        path = shop.path / "queries.tsv"
        path.write_text(path.read_text().replace("\ttail\t", "\thead\t") + "q11\twords\ttail\t2\n")

    result = run_with_rules("no_regression: {metric: nDCG@10, tolerance: 5%, where: {segment: tail}}", change=added)

    assert (result.ret, shop.verdicts()["inputs"]) == (1, "fail")
    assert shop.results()["suites"][0]["outcomes"][0]["facts"][0].startswith("accept the current rankings")
    accepted = shop.run("--ireval-update", "--ireval-reason", "other queries")
    assert accepted.ret == 0, accepted.stdout.str()
    assert shop.run().ret == 0


@pytest.mark.parametrize(
    ("rules", "more"),
    [
        ([FEW, "expect: [{query: q01, document: q01-d0, top: 3}]"], ""),
        ([EVIDENCE.replace("}", ", on_inconclusive: fail}")], ""),
        ([NO_REGRESSION.replace("}", ", on_fail: warn}")], ""),
        (["no_regression: {metric: nDCG@10, per: segment, tolerance: 5%, min_queries: 5}"], ""),
        ([NO_REGRESSION], ALL_WAIVED.rpartition("  - ")[0]),
    ],
    ids=["another rule", "one that counts as red", "one that warns", "one slice", "one query"],
)
def test_one_rule_that_judges_something_is_enough(shop, run_with_rules, rules, more):
    assert run_with_rules(*rules, more=more).ret == 0
    assert shop.verdicts()["inputs"] == "pass"
