"""A green run says what it does not guard: rules that only warn, and queries that are waived."""

import pytest

OK = pytest.ExitCode.OK
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


def read_headline(shop, ireval, monkeypatch):
    """The headline, which is the same on every face of a run that is green."""
    result = shop.run()
    assert result.ret == OK, result.stdout.str()
    monkeypatch.chdir(shop.path)
    said = ireval("verdict", "ireval-report/results.json").out
    headline = next(line for line in said.splitlines() if line.startswith("Safe to land"))
    first, _, reason = headline.partition(": ")
    summary = (shop.path / "ireval-report/summary.md").read_text().replace("\u200b", "")
    assert f"**{first}**: {reason}" in summary
    page = (shop.path / "ireval-report/index.html").read_text().replace("&gt;", ">").replace("&#39;", "'")
    assert reason.rstrip(".") in page
    shown = " ".join(result.stdout.str().split())
    return headline, shown


def test_rules_that_are_broken_and_only_warn_have_not_passed(shop, ireval, monkeypatch):
    begin(shop, WARNS)
    break_first(shop, 3)

    headline, shown = read_headline(shop, ireval, monkeypatch)

    assert headline == ("Safe to land, with 3 warnings: 3 of 6 checks passed; 3 of 6 rules are broken, they only warn.")
    assert "ireval: pass: 1 suite passed; 6 verdicts: 6 pass; 3 of 6 rules are broken, they only warn" in shown
    (suite,) = shop.results()["suites"]
    assert [each["id"] for each in suite["outcomes"] if each["broken"]] == [
        "threshold::nDCG_10",
        "no_regression::nDCG_10.all",
        "no_regression::P_1.all",
    ]


def test_rules_that_could_only_warn_and_hold_have_passed(shop, ireval, monkeypatch):
    begin(shop, WARNS)

    headline, shown = read_headline(shop, ireval, monkeypatch)

    assert headline == "Safe to land: all 6 checks passed."
    assert "broken" not in shown


def test_a_known_failure_is_a_broken_rule_and_one_that_holds_again_is_none(shop, ireval, monkeypatch):
    begin(shop, LENIENT.replace("top: 1}", "top: 1, known_failure: S-1}"))
    assert (
        read_headline(shop, ireval, monkeypatch)[0] == "Safe to land, with 1 warning: all 3 checks passed; 1 warning."
    )

    break_first(shop, 1)

    assert read_headline(shop, ireval, monkeypatch)[0] == (
        "Safe to land, with 1 warning: 2 of 3 checks passed; 1 of 3 rules is broken, it only warns."
    )


def test_a_waived_query_that_got_worse_is_named_with_what_it_lost(shop, ireval, monkeypatch):
    begin(shop, LENIENT)
    shop.change(("rules:\n", WAIVED))
    break_first(shop, 1)

    headline, shown = read_headline(shop, ireval, monkeypatch)

    assert headline == (
        "Safe to land, with 2 warnings: 3 of 4 checks passed; 1 of 4 rules is broken, it only warns; 1 of 10 queries "
        "is waived; the waived query q01 got worse: nDCG@10 1.000 -> 0.580."
    )
    assert "query 'q01' is waived, and fails: q01-d0 is at #3 for query 'q01' (expected in the top 1)" in shown
    assert "1 of 10 queries is waived; the waived query q01 got worse: nDCG@10 1.000 -> 0.580" in shown


def test_a_waived_query_that_is_as_good_as_before_is_only_counted(shop, ireval, monkeypatch):
    begin(shop, LENIENT)
    shop.change(("rules:\n", WAIVED))

    headline, shown = read_headline(shop, ireval, monkeypatch)

    assert headline == "Safe to land: all 4 checks passed; 1 of 10 queries is waived."
    assert "got worse" not in shown


def test_a_waived_query_without_a_ranking_lost_everything(shop, ireval, monkeypatch):
    begin(shop, LENIENT)
    shop.change(("rules:\n", WAIVED))
    del shop.rankings["q01"]
    shop.write()

    assert "the waived query q01 got worse: nDCG@10 1.000 -> 0.000" in read_headline(shop, ireval, monkeypatch)[0]


def test_a_waiver_in_a_suite_that_compares_with_nothing_is_counted(shop, ireval, monkeypatch):
    begin(shop, '  - threshold: {nDCG@10: ">= 0.1"}\n')
    shop.change(("rules:\n", WAIVED))

    assert (
        read_headline(shop, ireval, monkeypatch)[0] == "Safe to land: all 3 checks passed; 1 of 10 queries is waived."
    )
