"""A branch that lowers its own baseline: held against the one where the branch began, reported or failed."""

import pytest
from branches import FAILS, LOWERING, REASON, WORSE

from pytest_ireval import load_suite, run_gate
from pytest_ireval.plugins.conftests import Conftests

pytestmark = pytest.mark.ci


def test_a_lowered_baseline_is_reported_or_fails_with_figures_and_who_accepted_it(branch):
    branch.accept(**WORSE)

    found = branch.outcome()

    assert branch.said.ret == 0
    assert (found["verdict"], found["warning"]) == ("pass", True)
    assert found["headline"] == ("the branch lowers its baseline: nDCG@10 1.0000 -> 0.7500 on segment=tail, and 1 more")
    assert [(each["slice"], each["baseline"], each["now"], each["over"]) for each in found["figures"]] == [
        ("segment=tail", 1.0, 0.75, True),
        ("all", 1.0, 0.9, True),
    ]
    assert [(each["query"], each["baseline"], each["now"]) for each in found["queries"]] == [("q10", 1.0, 0.0)]
    assert found["facts"] == [f"accepted 2026-11-18 {branch.accepted}: {REASON}"]
    assert branch.shop.results()["base"] == "main"
    shown = " ".join(branch.said.stdout.str().split())
    assert "lowers its baseline: nDCG@10 1.0000 -> 0.7500 on segment=tail, and 1 more (accepted 2026-11-18" in shown

    failed = branch.outcome(*FAILS)

    assert branch.said.ret == pytest.ExitCode.TESTS_FAILED
    assert (failed["verdict"], failed["warning"]) == ("fail", False)
    branch.said.stdout.fnmatch_lines(
        [
            "shop.ireval.yaml:1: the branch lowers its baseline: nDCG@10 1.0000 -> 0.7500 on segment=tail, and 1 more",
            f"Baseline is what was accepted at {branch.base}, the merge base with main; now is what this branch has",
            "accepted. Owner @search-team.",
            "  segment=tail     1.0000  0.7500 * -0.2500 * -25.0% *  4   1 / 0 / 3 * <- breaks the rule",
            f"  accepted 2026-11-18 {branch.accepted}: {REASON}",
            '  q10 "words 10" * 1.000 -> 0.000 * q10-d0 (grade 3) #1 *',
        ]
    )
    assert "  accept: " not in branch.said.stdout.str()


def test_a_branch_that_accepts_something_better_lowers_nothing(branch):
    branch.git("checkout", "--quiet", "main")
    branch.accept(q10="d3 d1 d0", q09="d1 d0")
    base = branch.git("rev-parse", "--short=7", "HEAD")
    branch.git("checkout", "--quiet", "-B", "change")
    branch.accept(q10="d0 d1 d2", q09="d1 d0")

    found = branch.outcome(*FAILS)

    assert (found["verdict"], found["warning"]) == ("pass", False)
    assert found["headline"] == (
        f"the branch lowers nothing of the baseline at {base}, the merge base with main: "
        "nDCG@10 0.9397 -> 0.9817 on all"
    )


def test_a_branch_that_accepts_nothing_has_the_baseline_of_the_base_whatever_the_source_ranks(branch):
    found = branch.outcome(*FAILS)

    assert (found["verdict"], found["warning"], found["facts"]) == ("pass", False, [])
    assert found["headline"] == (
        f"the baseline is the one of {branch.base}, the merge base with main: nDCG@10 1.0000 on all"
    )
    branch.rank(**WORSE)
    assert branch.outcome(*FAILS)["verdict"] == "pass"
    assert branch.shop.verdicts()["no_regression::nDCG_10.all"] == "fail"


def test_a_slice_that_falls_while_the_whole_rises(branch):
    branch.git("checkout", "--quiet", "main")
    branch.accept(q02="d3 n1 n2 d0", q03="d3 n1 n2 d0")
    branch.git("checkout", "--quiet", "-B", "change")
    branch.accept(q02="d0 d1 d2 d3", q03="d0 d1 d2 d3", q10="d1 d0 d2 d3")

    found = branch.outcome()

    assert found["headline"].startswith("the branch lowers its baseline: nDCG@10 1.0000 -> 0.9")
    assert found["headline"].endswith(" on segment=tail")
    assert [(each["slice"], each["over"]) for each in found["figures"]] == [("segment=tail", True), ("all", False)]


LOWER = """
from pytest_ireval import hookimpl, per_query_metric

@per_query_metric(name="Wait", range=(0, 10), direction="lower", empty=10.0, no_relevant=0.0)
def wait(ranking):
    '''The place of the first relevant document.'''
    return float(next((i for i, grade in enumerate(ranking.grades) if grade > 0), 10))

@hookimpl
def ireval_metrics():
    return [wait]
"""


def test_a_metric_of_which_less_is_better(branch):
    branch.git("checkout", "--quiet", "main")
    (branch.path / "conftest.py").write_text(LOWER)
    branch.shop.change(("metrics: [nDCG@10, P@3]", "metrics: [Wait]"))
    branch.shop.change(
        (branch.shop.suite.partition("rules:\n")[2], "  - no_regression: {metric: Wait, tolerance: 5%}\n")
    )
    branch.accept(q09="n1 d0")
    branch.git("checkout", "--quiet", "-B", "change")
    branch.accept(q09="n1 d0", q10="n1 d0")

    assert branch.outcome()["headline"] == "the branch lowers its baseline: Wait 0.1000 -> 0.2000 on all"


def test_both_are_scored_under_the_judgments_of_now(branch):
    """New judgments of documents that nobody had judged raise what is accepted, so nothing is lower."""
    branch.shop.judgments["q10"] |= {"q10-n1": 3, "q10-n2": 3, "q10-n3": 3}
    branch.accept(**WORSE)

    found = branch.outcome(*FAILS)

    assert (found["verdict"], found["warning"]) == ("pass", False)
    assert "nDCG@10 0.9" in found["headline"]


def test_the_check_is_one_of_the_suite_and_git_is_not_asked_where_it_was_not_selected(branch):
    assert "shop.ireval.yaml::lowering" in branch.run("--co", "-q").outlines
    branch.run("shop.ireval.yaml::lowering").assert_outcomes(passed=1)
    branch.run("shop.ireval.yaml::threshold", base="nowhere").assert_outcomes(passed=1)
    assert "shop.ireval.yaml::lowering" not in branch.shop.run("--co", "-q").outlines


@pytest.mark.parametrize(
    "rule",
    ['threshold: {nDCG@10: ">= 0.5"}', "no_regression: {metric: nDCG@10, tolerance: 5%, against: {run: other.txt}}"],
)
def test_a_suite_that_compares_with_no_stored_baseline_is_only_held_to_be_as_strict(branch, rule):
    (branch.path / "other.txt").write_text((branch.path / "rankings.txt").read_text())
    branch.begin_with((branch.shop.suite.partition("rules:\n")[2], f"  - {rule}\n"))

    found = branch.outcome(*FAILS)

    assert (found["verdict"], found["headline"]) == (
        "pass",
        f"no rule compares with the baseline; the suite is as strict as at {branch.base}, the merge base with main",
    )


def test_lists_alone_have_nothing_to_be_lowered(branch):
    churn = "  - churn: {overlap: RBO(p=0.9), below: 0.8, at_most: 50%}\n"
    branch.begin_with((branch.shop.suite.partition("rules:\n")[2], churn))
    branch.accept(**WORSE)

    assert branch.outcome(*FAILS)["headline"] == (
        f"lists have no figure to lower; the lists of 1 query differ from those at {branch.base}, the merge base with "
        "main"
    )


def test_a_ref_that_git_does_not_know_is_an_error_and_no_pass(branch):
    result = branch.run(base="mian")

    result.assert_outcomes(passed=7, errors=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "shop.ireval.yaml:1: git does not know the commit 'mian' here",
            "Owner @search-team.",
            "",
            "  did you mean 'main'?",
            "  git fetch origin +refs/heads/mian:refs/remotes/origin/mian fetches a branch that is missing here",
        ]
    )
    assert "warning: missing suites could not be determined: git does not know the commit" in result.stdout.str()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--ireval-base", " "), "ERROR: --ireval-base is empty: give a git ref, such as origin/main\n"),
        (
            ("-o", "ireval_baseline_lowering=fial"),
            "ERROR: invalid ireval_baseline_lowering: 'fial'\n  did you mean 'fail'?\n  allowed: report, fail\n",
        ),
    ],
)
def test_options_that_make_no_sense(shop, arguments, said):
    result = shop.run(*arguments)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert said in result.stderr.str()


def test_what_is_accepted_and_not_committed_is_seen_on_main_itself(branch):
    branch.git("checkout", "--quiet", "main")
    branch.rank(**WORSE)
    branch.shop.run("--ireval-update", "--ireval-reason", REASON)

    found = branch.outcome()

    assert found["warning"]
    assert found["facts"] == [
        f"accepted 2026-11-18 {branch.base} with uncommitted changes: {REASON}",
        "HEAD is already part of main: only uncommitted changes can differ",
    ]


def test_going_back_to_an_older_baseline_is_lowering_too(branch):
    branch.git("checkout", "--quiet", "main")
    branch.accept(**WORSE)
    branch.accept(q10="d0 d1 d2 d3")
    branch.git("checkout", "--quiet", "-B", "change")
    branch.git("checkout", "HEAD~1", "--", "baselines")
    branch.commit("back")

    found = branch.outcome()

    assert found["warning"]
    assert found["facts"] == ["1 acceptance of the base is not part of this baseline, the last one on 2026-11-18"]


def test_a_deleted_baseline_is_the_worst_case(branch):
    branch.git("rm", "-rq", "baselines")
    branch.commit("gone")

    reported = branch.outcome()
    failed = branch.outcome(*FAILS)

    assert (reported["verdict"], reported["warning"], failed["verdict"]) == ("pass", True, "fail")
    assert failed["headline"] == (
        f"the branch deleted the baseline that it had at {branch.base}, the merge base with main"
    )
    command = f"git checkout {branch.base} -- baselines/shop.baseline"
    assert failed["facts"] == [f"{command} restores it"]
    branch.git(*command.split()[1:])
    assert branch.outcome(*FAILS)["verdict"] == "pass"

    branch.git("rm", "-rq", "--force", "baselines")
    branch.rank(**WORSE)
    branch.shop.run("--ireval-update-new")
    branch.commit("accepted anew")
    anew = branch.outcome(*FAILS)
    assert anew["verdict"] == "fail"
    assert anew["facts"][1] == "1 acceptance of the base is not part of this baseline, the last one on 2026-11-18"


def test_a_new_suite_has_no_baseline_to_lower_and_this_is_said(branch):
    (branch.path / "shop.ireval.yaml").write_text(branch.shop.suite)
    (branch.path / "blog.ireval.yaml").write_text(branch.shop.suite.replace("suite: shop", "suite: blog"))
    branch.shop.run("blog.ireval.yaml", "--ireval-update-new")
    branch.commit("a new suite")

    found = branch.outcome("blog.ireval.yaml", *FAILS)

    assert (found["verdict"], found["warning"], found["facts"]) == ("pass", False, [])
    assert found["headline"] == (
        f"the suite had no baseline at {branch.base}, the merge base with main; it is new on this branch"
    )


def test_a_waived_query_counts_in_neither(branch):
    waiver = "waive:\n  - {query: q10, until: 2099-01-01, reason: feed}\n"
    branch.accept(**WORSE)
    branch.shop.suite += waiver
    branch.shop.write()

    found = branch.outcome()

    assert found["numbers"] == {}  # nothing is lower
    assert f"the suite is weaker than at {branch.base}" in found["headline"]
    assert "new waiver: q10 until 2099-01-01 (feed)" in found["headline"]


def test_a_lowered_baseline_does_not_stand_in_the_way_of_a_better_one(branch):
    branch.accept(**WORSE)
    branch.rank(q10="d0 d1 d2 d3")

    result = branch.run("--ireval-update", "--ireval-reason", "repaired", *FAILS)

    assert branch.shop.results()["accepted"] == ["shop"]
    result.assert_outcomes(passed=7, failed=1)
    branch.run(*FAILS).assert_outcomes(passed=8)


def test_from_python(branch):
    branch.accept(**WORSE)
    path = branch.path / "shop.ireval.yaml"
    registry = Conftests().registry_for(path)
    suite = load_suite(path, registry)

    reported = run_gate(suite, registry=registry, base="main")
    failed = run_gate(suite, registry=registry, base="main", lowering_fails=True)

    assert (reported.verdict, failed.verdict) == ("pass", "fail")
    assert LOWERING not in run_gate(suite, registry=registry).planned


def test_the_fixture_holds_against_the_base_too(branch):
    branch.accept(**WORSE)
    branch.shop.pytester.makepyfile("def test_shop(ireval):\n    ireval.check('shop.ireval.yaml')\n")

    result = branch.shop.pytester.runpytest("--ireval-base", "main", *FAILS, "-p", "no:cacheprovider")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*shop.ireval.yaml:1: the branch lowers its baseline: nDCG@10 1.0000 -> 0.7500 on*"])
    branch.shop.pytester.runpytest("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_in_parallel_runs_it_is_the_same(branch):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    branch.accept(**WORSE)

    branch.run("-n", "2", *FAILS).assert_outcomes(passed=7, failed=1)

    assert branch.shop.results()["base"] == "main"


@pytest.mark.parametrize(("command", "name"), [("tag", "main"), ("update-ref", "refs/origin/main")], ids="-".join)
def test_a_tag_that_has_the_name_of_the_base_hides_nothing(branch, command, name):
    """Git would take the tag: HEAD as its own base lowers nothing."""
    branch.git("update-ref", "refs/remotes/origin/main", "main")
    branch.accept(**WORSE)
    branch.git(command, name, "HEAD")
    base = name.removeprefix("refs/")

    result = branch.run(*FAILS, base=base)

    result.assert_outcomes(passed=7, errors=1)
    full = "refs/heads/main" if base == "main" else "refs/remotes/origin/main"
    result.stdout.fnmatch_lines([f"*2 refs are named '{base}', and they are different commits*", f"*write {full} if*"])
    branch.run(*FAILS, base=f"{base}~0").assert_outcomes(passed=7, errors=1)
    branch.run(*FAILS, base=full).assert_outcomes(passed=7, failed=1)


def test_a_name_that_is_one_commit_is_taken(branch):
    branch.git("update-ref", "refs/remotes/origin/main", "main")
    branch.git("tag", "v1", "main")
    branch.git("tag", "v1-rc", "HEAD")
    branch.git("tag", "-a", "-m", "noted", "noted", "main")
    branch.git("tag", "origin/main", "main")  # the same commit
    branch.git("branch", "main-2", "HEAD")
    branch.git("branch", "--set-upstream-to", "main", "change")
    branch.accept(**WORSE)

    names = "main", "origin/main", "refs/heads/main", "refs/tags/v1", "noted", "main~0", "HEAD~2", "@{u}", branch.base
    for base in names:
        assert branch.outcome(*FAILS, base=base)["verdict"] == "fail", base


def test_the_branch_is_shown_beside_main_whatever_it_accepted(branch):
    branch.accept(**WORSE)
    branch.rank(q09="d1 d0")

    said = branch.run().stdout.str()
    (suite,) = branch.shop.results()["suites"]
    since = suite["since_base"]
    assert (since["commit"], since["same"], since["changed"], since["compared"]) == (branch.base, False, 2, 10)
    rows = {(row["metric"], row["figures"]["slice"]): row["figures"] for row in since["rows"]}
    assert set(rows) == {
        (metric, each) for metric in ("nDCG@10", "P@3") for each in ("all", "segment=head", "segment=tail")
    }
    found = rows["nDCG@10", "all"]
    assert (found["baseline"], found["worse"], found["same"]) == (1.0, 2, 8)
    assert found["now"] == pytest.approx(suite["metrics"][0]["now"])
    assert rows["nDCG@10", "segment=head"]["now"] == 1.0
    assert [each["query"] for each in since["queries"]] == ["q10", "q09"]

    assert f"\nsince main ({branch.base}): the lists of 2 of 10 queries changed\n" in said


def test_without_a_base_or_a_baseline_there_nothing_is_said_of_main(branch):
    branch.shop.run()
    assert branch.shop.results()["suites"][0]["since_base"] is None
    branch.git("rm", "-q", "-r", "baselines")
    branch.git("commit", "-q", "-m", "none")
    branch.git("checkout", "-q", "-B", "main")
    branch.git("checkout", "-q", "-B", "change")

    assert "since main" not in branch.run().stdout.str()
    assert branch.shop.results()["suites"][0]["since_base"] is None
