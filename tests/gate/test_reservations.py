"""A green run says what it does not guard: rules that only warn, and queries that are waived."""

from pytest_ireval import RunResult
from pytest_ireval.report.markdown_summary import format_markdown_summary
from pytest_ireval.report.terminal_summary import format_summary

WARNS = """\
  - threshold: {nDCG@10: ">= 0.999", on_fail: warn}
  - no_regression: {metric: nDCG@10, tolerance: 1%, decide_by: observed, on_fail: warn}
  - no_regression: {metric: P@1, tolerance: 1%, decide_by: observed, on_fail: warn}
  - no_regression: {metric: P@3, tolerance: 99%}
  - worsened: {metric: nDCG@10, by_more_than: 0.9, at_most: 9}
"""
LENIENT = """\
  - no_regression: {metric: nDCG@10, tolerance: 50%}
  - expect:
      - {query: q01, document: q01-d0, top: 1}
"""
WAIVED = "waive:\n  - {query: q01, until: 2099-01-01, reason: feed}\nrules:\n"


def begin(shop, rules):
    shop.change((shop.suite.partition("rules:\n")[2], rules))
    shop.accept()


def break_first(shop, count):
    for query in list(shop.rankings)[:count]:
        shop.rankings[query] = [f"{query}-d3", f"{query}-d1", f"{query}-d0"]
    shop.write()


def read_headline(shop):
    """The headline of a green run, and what its terminal shows in one line."""
    result = shop.gate()
    assert result.verdict == "pass"
    run = RunResult("0.1.0", "2026-11-18T00:00:00Z", "pass", (result,))
    summary = format_markdown_summary(run).replace("\u200b", "")
    return summary.splitlines()[1].replace("**", ""), " ".join(" ".join(format_summary(run, limit=100)).split())


def test_rules_that_only_warn_have_passed_if_they_hold_and_not_if_they_are_broken(shop):
    begin(shop, WARNS)
    assert read_headline(shop)[0] == "Safe to land: all 6 checks passed."

    break_first(shop, 3)

    headline, shown = read_headline(shop)
    assert headline == "Safe to land, with 3 warnings: 3 of 6 checks passed; 3 of 6 rules are broken and only warn."
    assert "ireval: pass: all 6 checks of shop passed; 3 of 6 rules are broken and only warn" in shown
    (suite,) = shop.results()["suites"]
    assert [each["id"] for each in suite["outcomes"] if each["broken"]] == [
        "threshold::nDCG_10",
        "no_regression::nDCG_10.all",
        "no_regression::P_1.all",
    ]


def test_a_known_failure_is_a_broken_rule_and_one_that_holds_again_is_none(shop):
    begin(shop, LENIENT.replace("top: 1}", "top: 1, known_failure: S-1}"))
    assert read_headline(shop)[0] == "Safe to land, with 1 warning: all 3 checks passed; 1 warning."

    break_first(shop, 1)

    assert read_headline(shop)[0] == (
        "Safe to land, with 1 warning: 2 of 3 checks passed; 1 of 3 rules is broken and only warns."
    )


def test_a_waived_query_is_counted_and_named_with_what_it_lost_if_it_got_worse(shop):
    begin(shop, LENIENT)
    shop.change(("rules:\n", WAIVED))
    headline, shown = read_headline(shop)
    assert headline == "Safe to land: all 4 checks passed; 1 of 10 queries is waived."
    assert "got worse" not in shown

    break_first(shop, 1)

    headline, shown = read_headline(shop)
    assert headline == (
        "Safe to land, with 2 warnings: 3 of 4 checks passed; 1 of 4 rules is broken and only warns; 1 of 10 queries "
        "is waived; the waived query q01 got worse: nDCG@10 1.000 -> 0.580."
    )
    assert "query 'q01' is waived, and fails: q01-d0 is at #3 for query 'q01' (expected in the top 1)" in shown
    assert "1 of 10 queries is waived; the waived query q01 got worse: nDCG@10 1.000 -> 0.580" in shown

    del shop.rankings["q01"]
    shop.write()
    assert "the waived query q01 got worse: nDCG@10 1.000 -> 0.000" in read_headline(shop)[0]


def test_a_waiver_in_a_suite_that_compares_with_nothing_is_counted(shop):
    begin(shop, '  - threshold: {nDCG@10: ">= 0.1"}\n')
    shop.change(("rules:\n", WAIVED))

    assert read_headline(shop)[0] == "Safe to land: all 3 checks passed; 1 of 10 queries is waived."
