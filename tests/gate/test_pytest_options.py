"""pytest's own options work on suites as they do on tests."""

import os

import pytest

IDS = [
    "shop.ireval.yaml::inputs",
    "shop.ireval.yaml::threshold::nDCG_10",
    "shop.ireval.yaml::no_regression::nDCG_10.all",
    "shop.ireval.yaml::no_regression::nDCG_10.segment-head",
    "shop.ireval.yaml::no_regression::nDCG_10.segment-tail",
    "shop.ireval.yaml::worsened::nDCG_10",
    "shop.ireval.yaml::expect::q01.q01-d0",
]


def ids_of(result):
    return [line for line in result.outlines if line.startswith("shop.ireval.yaml::")]


def test_collecting_alone_lists_every_id_and_evaluates_nothing(accepted_shop):
    (accepted_shop.path / "judgments.txt").unlink()
    (accepted_shop.path / "judgments.txt").write_text("nothing of use\n")

    result = accepted_shop.run("--co", "-q")

    assert ids_of(result) == IDS
    assert result.ret == 0
    assert not (accepted_shop.path / "ireval-report/results.json").exists()


@pytest.mark.parametrize("node", [IDS[4], "shop.ireval.yaml::no_regression"])
def test_a_printed_id_pasted_back_runs_alone(accepted_shop, node):
    result = accepted_shop.run(node)

    result.assert_outcomes(passed=sum(each.startswith(node) for each in IDS))
    assert result.ret == 0


@pytest.mark.parametrize(
    ("arguments", "passed"),
    [
        (("-k", "nDCG_10 and tail"), 1),
        (("-m", "products", "--strict-markers", "--strict-config", "-W", "error"), 7),
        (("-p", "no:junitxml", "-p", "no:warnings", "-p", "no:python"), 7),
    ],
)
def test_selecting(accepted_shop, arguments, passed):
    found = accepted_shop.run(*arguments).parseoutcomes()

    assert found.get("passed", 0) == passed
    assert not {"failed", "errors"} & {*found}


def test_without_the_terminal_of_pytest_the_run_is_the_same(accepted_shop):
    assert accepted_shop.run("-p", "no:terminalreporter").ret == 0


def test_a_tag_of_a_rule_is_a_mark_of_its_items(accepted_shop):
    accepted_shop.change(("at_most: 2}", "at_most: 2, tags: [nightly]}"))

    accepted_shop.run("-m", "nightly", "--strict-markers").assert_outcomes(passed=1, deselected=6)


def test_stopping_at_the_first_failure_says_what_was_not_reported(accepted_shop):
    accepted_shop.rankings["q10"] = ["q10-n1"]
    accepted_shop.write()

    result = accepted_shop.run("-x")

    result.assert_outcomes(passed=2, failed=1)
    (suite,) = accepted_shop.results()["suites"]
    assert suite["verdict"] == "error"
    assert suite["notes"][-1] == "the run ended before 4 of its verdicts were reported"
    assert len(suite["planned"]) == 7
    assert len(suite["outcomes"]) == 3


def test_last_failed_and_stepwise_find_their_way_back(accepted_shop):
    accepted_shop.rankings["q10"] = ["q10-n1"]
    accepted_shop.write()
    run = accepted_shop.pytester.runpytest
    run("--ireval", "--sw").assert_outcomes(passed=2, failed=1)

    run("--ireval", "--sw").assert_outcomes(failed=1, deselected=2)
    run("--ireval", "--lf").assert_outcomes(failed=1)


def test_a_part_that_is_named_beside_the_whole_makes_no_false_pass(accepted_shop):
    """Some versions of pytest collect the part alone then."""
    result = accepted_shop.run("shop.ireval.yaml", "shop.ireval.yaml::inputs")

    passed = result.parseoutcomes()["passed"]
    assert accepted_shop.results()["verdict"] == ("pass" if passed == 7 else "error")
    assert result.ret == (0 if passed == 7 else 1)


@pytest.mark.parametrize(("flags", "passed"), [((), 1), (("--ireval",), 8)])
def test_the_fixture_evaluates_and_gates_beside_suites_and_without_them(accepted_shop, flags, passed):
    accepted_shop.pytester.makepyfile(
        """
def test_it(ireval):
    assert ireval.evaluate("judgments.txt", "rankings.txt", ["P@3"])["P@3"].mean == 1.0
    result = ireval.gate("shop.ireval.yaml")
    assert result.verdict == "pass"
    assert len(result.outcomes) == 7
"""
    )

    accepted_shop.pytester.runpytest(*flags).assert_outcomes(passed=passed)


def test_with_q_a_run_that_nobody_knows_about_still_says_so(accepted_shop):
    accepted_shop.change(("metric: nDCG@10, tolerance: 5%}", "metric: nDCG@10, tolerance: 5%, min_queries: 20}"))

    result = accepted_shop.run("-q")

    assert result.ret == 0
    result.stdout.fnmatch_lines(["ireval: inconclusive: * checks of shop inconclusive*"])
    assert "== ireval" not in result.stdout.str()


def test_offline_asks_no_live_system(shop, monkeypatch):
    monkeypatch.delenv("IREVAL_OFFLINE", raising=False)
    pytest.importorskip("urllib3", reason="needs pytest-ireval[live]")
    live = "{http: 'http://127.0.0.1:9/x?q={text}', hits: hits, attempts: 1}"
    shop.change(("source: {run: rankings.txt}", f"source: {live}"))

    result = shop.run("--ireval-offline", "-p", "no:xdist")

    assert result.ret == 1
    result.stdout.fnmatch_lines(["*the run is offline, but this source has no recording*"])

    (shop.path / "test_shop.py").write_text("def test_shop(ireval):\n    ireval.check('shop.ireval.yaml')\n")
    without_the_flag = shop.pytester.runpytest("--ireval-offline", "-p", "no:xdist", "test_shop.py")

    assert without_the_flag.ret == 1
    without_the_flag.stdout.fnmatch_lines(["*the run is offline, but this source has no recording*"])
    assert "IREVAL_OFFLINE" not in os.environ


@pytest.mark.parametrize("arguments", [("--ireval-reason", "x"), ("--ireval-allow-ci",), ("--ireval-update",)])
def test_options_for_accepting_are_refused_without_the_flag(shop, arguments):
    result = shop.pytester.runpytest(*arguments)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*the other options for accepting need --ireval"])
