"""What ``pytest --ireval`` says of a change: green, red, and why."""

import json

import pytest

ALL = {
    "inputs",
    "threshold::nDCG_10",
    "no_regression::nDCG_10.all",
    "no_regression::nDCG_10.segment-head",
    "no_regression::nDCG_10.segment-tail",
    "worsened::nDCG_10",
    "expect::q01.q01-d0",
}


def test_the_same_rankings_as_the_baseline_are_green_and_change_no_file(shop):
    shop.accept()
    before = shop.baseline_files()
    results = []
    for _ in range(2):
        assert shop.run().ret == 0
        results.append((shop.path / "ireval-report/results.json").read_bytes())

    assert shop.verdicts() == dict.fromkeys(ALL, "pass")
    assert shop.baseline_files() == before
    assert results[0] == results[1]


def test_a_broken_tail_behind_a_better_head_is_exactly_one_red_rule(shop):
    for query in ("q01", "q02", "q03", "q04", "q05", "q06"):  # a head that has room to get better
        shop.rankings[query] = [f"{query}-{d}" for d in ("d1", "d0", "d2", "d3")]
    shop.write()
    shop.accept()
    for query in ("q01", "q02", "q03", "q04", "q05", "q06"):
        shop.rankings[query] = [f"{query}-{d}" for d in ("d0", "d1", "d2", "d3")]
    shop.rankings["q10"] = ["q10-n1", "q10-n2", "q10-n3", "q10-d1"]
    shop.write()

    result = shop.run()

    red = {outcome for outcome, verdict in shop.verdicts().items() if verdict != "pass"}
    assert red == {"no_regression::nDCG_10.segment-tail"}
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    text = result.stdout.str()
    start = text.index("_ shop :: no_regression :: nDCG_10.segment-tail _")
    told = text[text.index("\n", start) + 1 : text.index("=== ireval ===")]
    assert "Traceback" not in told
    assert told.splitlines()[:2] == [
        "shop.ireval.yaml:14: nDCG@10 fell 20.5% on segment=tail (tolerance 5%)",
        "1 of 4 tail queries (0.3% of all searches) lost its best document. Owner @search-team.",
    ]
    for line in (
        "  segment=tail     1.0000  0.7952   -0.2048  -20.5%",
        "<- over tolerance",
        '  q10 "words 10"',
        "inputs: rankings changed;",
        "baseline: ",
        "why:      ireval why nDCG@10 --suite shop.ireval.yaml --query q10",
        'accept:   pytest --ireval shop.ireval.yaml --ireval-update --ireval-reason "..."',
    ):
        assert line in told
    (suite,) = shop.results()["suites"]
    (outcome,) = (each for each in suite["outcomes"] if each["id"] in red)
    tail, *_ = outcome["figures"]
    assert (tail["baseline"], tail["room"]) == (1.0, 1.0)  # a mean can fall to 0
    assert tail["needed"] > tail["queries"]


def test_the_first_run_is_red_and_holds_the_command_that_accepts(shop):
    result = shop.run()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert {i for i, verdict in shop.verdicts().items() if verdict == "fail"} == {
        i for i in ALL if i.startswith(("no_regression", "worsened"))
    }
    result.stdout.fnmatch_lines(
        [
            "shop.ireval.yaml:13: no baseline to compare with",
            "  accept:   pytest --ireval shop.ireval.yaml --ireval-update-new",
        ]
    )
    accepted = shop.pytester.runpytest("--ireval", "shop.ireval.yaml", "--ireval-update-new")
    assert accepted.ret == 0
    assert shop.gate().verdict == "pass"


def test_an_edited_judgment_is_no_regression_and_is_named(shop):
    shop.accept()
    shop.judgments["q03"]["q03-d0"] = 0
    shop.write()

    result = shop.run()

    assert result.ret == 0
    (suite,) = shop.results()["suites"]
    assert suite["cause"]["edits"] == [{"query": "q03", "document": "q03-d0", "before": 3.0, "now": 0.0}]
    assert suite["cause"]["rankings"] == 0
    assert suite["cause"]["restated"]["nDCG@10"]["then"] == 1.0
    assert round(suite["cause"]["restated"]["nDCG@10"]["now"], 4) == 0.967
    result.stdout.fnmatch_lines(["*judgments changed: 1 in 1 query (q03 q03-d0: 3 -> 0)*"])


def test_locked_judgments_that_were_edited_are_an_error(shop):
    shop.change(("judgments: judgments.txt", "judgments: {file: judgments.txt, lock: true}"))
    shop.accept()
    shop.judgments["q03"]["q03-d0"] = 0
    shop.write()

    result = shop.run()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    verdicts = shop.verdicts()
    assert verdicts["inputs"] == "error"
    assert verdicts["no_regression::nDCG_10.all"] == "error"
    assert verdicts["threshold::nDCG_10"] == "pass"
    result.stdout.fnmatch_lines(
        [
            "*judgments are locked, and those of 1 query are not what they were when the baseline was accepted: "
            "q03 q03-d0: 3 -> 0"
        ]
    )
    result.assert_outcomes(errors=5, passed=2)


WARNING_RULES = (("tolerance: 5%}\n", "tolerance: 5%, on_fail: warn}\n"), ("at_most: 2}", "at_most: 2, on_fail: warn}"))
COMPARING = ("no_regression::nDCG_10.all", "worsened::nDCG_10")


def only_warning(shop, *more):
    """The shop's rules about the whole compare and only warn; those by segment are gone."""
    segments = (
        "  - no_regression: {decide_by: observed, metric: nDCG@10, per: segment, tolerance: {head: 10%, default: 5%}}\n"
    )
    shop.change((segments, ""), *WARNING_RULES, *more)


def test_without_a_baseline_rules_that_only_warn_warn_and_the_others_are_red(shop):
    only_warning(shop)

    result = shop.run()

    assert result.ret == 0
    assert {shop.verdicts()[name] for name in COMPARING} == {"pass"}
    result.stdout.fnmatch_lines(["*warning: shop.ireval.yaml:13: no baseline to compare with*"])
    outcomes = {each["id"]: each for each in shop.results()["suites"][0]["outcomes"]}
    assert all(outcomes[name]["warning"] and outcomes[name]["missing_baseline"] for name in COMPARING)

    shop.change((", at_most: 2, on_fail: warn}", ", at_most: 2}"))
    shop.gate()
    assert [shop.verdicts()[name] for name in COMPARING] == ["pass", "fail"]

    accepted = shop.run("--ireval-update-new")
    assert accepted.ret == 0
    accepted.stdout.fnmatch_lines(["*shop: first baseline*"])
    assert shop.gate().verdict == "pass"
    assert not any(each["warning"] for each in shop.results()["suites"][0]["outcomes"])


def test_a_waived_query_does_not_count_until_its_day_and_is_red_from_then_on(shop):
    shop.accept()
    shop.change(("rules:", 'waive:\n  - {query: q10, until: 2027-04-01, reason: "SEARCH-9: feed"}\nrules:'))
    shop.rankings["q10"] = ["q10-n1"]
    shop.write()
    assert shop.gate().verdict == "pass"
    assert shop.verdicts()["waive::q10"] == "pass"

    shop.change(("2027-04-01", "2026-01-01"))
    result = shop.run()

    verdicts = shop.verdicts()
    assert verdicts["waive::q10"] == "fail"
    assert verdicts["no_regression::nDCG_10.segment-tail"] == "fail"
    result.stdout.fnmatch_lines(["  3  the waiver of q10 ended on 2026-01-01, line 12"])


def test_removed_queries_beyond_a_twentieth_are_an_error_and_new_ones_a_note(shop):
    shop.accept()
    del shop.judgments["q10"], shop.rankings["q10"]
    (shop.path / "queries.tsv").write_text("")
    shop.write()
    lines = (shop.path / "queries.tsv").read_text().splitlines()
    (shop.path / "queries.tsv").write_text("\n".join(lines[:-1]) + "\n")

    shop.gate()

    outcome = shop.outcome("no_regression::nDCG_10.all")
    assert outcome["verdict"] == "error"
    assert "1 of 10 queries of the baseline are gone: 'q10'" in outcome["headline"]


def test_an_explicitly_empty_ranking_scores_0(shop):
    shop.change(("rankings.txt", "rankings.json"))
    shop.rankings["q10"] = []
    (shop.path / "rankings.json").write_text(json.dumps(shop.rankings))
    shop.gate()

    (suite,) = shop.results()["suites"]
    assert suite["counts"]["empty"] == ["q10"]
    assert suite["queries"]["now"]["nDCG@10"][9] == 0.0


def test_a_dialect_is_in_the_report_and_its_change_is_a_change_of_the_baseline(shop):
    shop.change(("depth: 10", "depth: 10\ndialect: ir_measures"), ("nDCG@10", "ERR@3"), (">= 0.5", ">= 0.4"))
    shop.accept()

    assert shop.run().ret == 0
    (suite,) = shop.results()["suites"]
    assert suite["policies"]["dialect"] == "ir_measures"
    assert [metric["name"] for metric in suite["metrics"]] == ["ERR(max_grade=4)@3", "P@3"]
    assert "<dt>dialect of metrics</dt>" in (shop.path / "ireval-report/index.html").read_text()

    shop.change(("dialect: ir_measures\n", ""))
    result = shop.run()

    assert "since the baseline: queries are evaluated under different policies" in result.stdout.str()
    assert [metric["name"] for metric in shop.results()["suites"][0]["metrics"]] == ["ERR@3", "P@3"]
