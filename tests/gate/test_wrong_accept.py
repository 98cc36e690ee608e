"""What must not be accepted in passing, and what must not stand in the way for ever."""

import pytest

pytestmark = pytest.mark.ci

WAIVE = ("rules:", 'waive:\n  - {query: q03, until: 2027-04-01, reason: "SEARCH-9: feed"}\nrules:')


@pytest.mark.parametrize("broken", [["q03-n1", "q03-n2"], None], ids=["rubbish", "no ranking"])
def test_what_is_accepted_during_a_waiver_says_nothing_of_the_waived_query(accepted_shop, broken):
    accepted_shop.change(WAIVE)
    good = accepted_shop.rankings["q03"]
    if broken:
        accepted_shop.rankings["q03"] = broken
    else:
        del accepted_shop.rankings["q03"]
    accepted_shop.rankings["q05"] = accepted_shop.rankings["q05"][::-1]
    accepted_shop.write()
    assert accepted_shop.run("--ireval-update", "--ireval-reason", "x").ret == 0
    accepted_shop.change(WAIVE[::-1])
    accepted_shop.rankings["q03"] = ["q03-n1"]
    accepted_shop.write()

    assert accepted_shop.run().ret == pytest.ExitCode.TESTS_FAILED

    accepted_shop.rankings["q03"] = good
    accepted_shop.write()
    assert accepted_shop.run().ret == 0


def test_a_new_value_of_a_column_is_no_error_and_can_be_accepted(accepted_shop):
    queries = accepted_shop.path / "queries.tsv"
    queries.write_text(queries.read_text() + "q11\twords\tnew\t1\n")
    with (accepted_shop.path / "judgments.txt").open("a") as file:
        file.write("q11 0 q11-d0 1\n")
    with (accepted_shop.path / "rankings.txt").open("a") as file:
        file.write("q11 Q0 q11-d0 1 1 x\n")

    assert accepted_shop.run().ret == 0
    found = accepted_shop.outcome("no_regression::nDCG_10.segment-new")
    assert (found["verdict"], found["headline"]) == (
        "inconclusive",
        "no query of segment=new is in the baseline yet; not checked",
    )
    assert accepted_shop.run("--ireval-update", "--ireval-reason", "a new segment").ret == 0
    accepted_shop.run()
    assert accepted_shop.outcome("no_regression::nDCG_10.segment-new")["verdict"] == "pass"


@pytest.mark.parametrize("arguments", [(), ("--ireval-reason", "x", "-k", "worsened or no_regression")])
def test_what_is_not_accepted_is_red_in_pytest_too(accepted_shop, arguments):
    accepted_shop.rankings["q10"] = ["q10-n1"]
    accepted_shop.write()

    result = accepted_shop.run("--ireval-update", *arguments)

    assert result.parseoutcomes()["failed"] == 2
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_locked_judgments_under_other_names_are_the_same_judgments(shop):
    shop.change(("judgments: judgments.txt", "judgments: {file: judgments.txt, lock: true}"))
    shop.accept()
    (shop.path / "names.tsv").write_text("from\tto\nq01-d3\tother\n")
    shop.change(("depth: 10", "depth: 10\ndocuments: {aliases: names.tsv}"))

    assert shop.run().ret == 0
    assert shop.results()["suites"][0]["cause"]["edits"] == []


def test_a_comparison_that_could_not_be_judged_is_accepted_for_a_reason_only(accepted_shop):
    accepted_shop.change(("by_more_than: 0.9, at_most: 2", "by_more_than: 0.9, at_most: 2, min_queries: 50"))
    accepted_shop.rankings["q01"] = ["q01-d1", "q01-d0", "q01-d2"]
    accepted_shop.change(("tolerance: 5%}\n", "tolerance: 50%}\n"), ("head: 10%, default: 5%", "default: 50%"))

    result = accepted_shop.run("--ireval-update")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "give a reason with --ireval-reason" in result.stdout.str()
