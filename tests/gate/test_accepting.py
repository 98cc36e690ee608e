"""Accepting a change: what is written, what stands in the way, and what is left alone."""

import shutil

import pytest
from git_repository import commit_all, isolate_git, run_git

RED = "1 verdict red: make it pass, change its rule, or add --ireval-force: "
ALL, TAIL = "no_regression::nDCG_10.all", "no_regression::nDCG_10.segment-tail"
NEEDS_REASON = 'shop: a regression was found: give a reason with --ireval-reason "…"'


@pytest.fixture
def changed_shop(shop):
    """A shop whose rankings got worse on one query."""
    shop.accept()
    shop.rankings["q10"] = ["q10-n1", "q10-n2", "q10-n3"]
    shop.write()
    return shop


def find_problems(result):
    """The lines that say why nothing was written."""
    return [line for line in result.outlines if line.startswith(("not accepted:", "problem:"))]


def read_acceptable(shop):
    """Verdict, acceptable and accepted of every outcome that was not simply a pass."""
    (suite,) = shop.results()["suites"]
    return {
        each["id"]: (each["verdict"], each["acceptable"], each["accepted"])
        for each in suite["outcomes"]
        if each["verdict"] != "pass" or each["acceptable"]
    }


def test_a_red_comparison_is_accepted_with_a_reason_and_only_then_called_accepted(changed_shop):
    before = changed_shop.baseline_files()

    result = changed_shop.run("--ireval-update")

    result.assert_outcomes(passed=5, failed=2)
    assert (result.ret, changed_shop.baseline_files()) == (pytest.ExitCode.TESTS_FAILED, before)
    assert find_problems(result) == [f"not accepted: {NEEDS_REASON}"]
    assert read_acceptable(changed_shop) == {ALL: ("fail", True, False), TAIL: ("fail", True, False)}
    assert changed_shop.results()["suites"][0]["verdict"] == "fail"
    assert changed_shop.results()["suites"][0]["metrics"][0]["verdict"] == "fail"

    assert changed_shop.run("--ireval-update", "--ireval-reason", "synonyms v2").ret == 0

    assert changed_shop.baseline_files() != before
    assert b"synonyms v2" in changed_shop.baseline_files()["shop.baseline"]
    assert read_acceptable(changed_shop) == {ALL: ("pass", True, True), TAIL: ("pass", True, True)}
    found = changed_shop.results()
    assert (found["accepted"], found["verdict"], found["suites"][0]["metrics"][0]["verdict"]) == (
        ["shop"],
        "pass",
        "pass",
    )
    assert changed_shop.gate().verdict == "pass"


def test_a_red_threshold_stands_in_the_way_unless_forced(changed_shop):
    changed_shop.change(('nDCG@10: ">= 0.5"', 'nDCG@10: ">= 0.95"'))
    before = changed_shop.baseline_files()

    result = changed_shop.run("--ireval-update", "--ireval-reason", "x")

    assert (result.ret, changed_shop.baseline_files()) == (pytest.ExitCode.TESTS_FAILED, before)
    result.stdout.fnmatch_lines([f"not accepted: shop: {RED}threshold::nDCG_10: nDCG@10 is 0.9000 (must be >= 0.95)"])
    both = changed_shop.try_to_accept().problems
    assert [each.partition(": nDCG")[0] for each in both] == [f"shop: {RED}threshold::nDCG_10", NEEDS_REASON]
    assert changed_shop.baseline_files() == before
    changed_shop.update("x", force=True)
    assert b'"forced": true' in changed_shop.baseline_files()["shop.baseline"]


def test_a_suite_with_a_baseline_is_not_new_and_its_verdicts_stay_red(changed_shop):
    before = changed_shop.baseline_files()

    result = changed_shop.run("--ireval-update-new")

    assert (result.ret, changed_shop.baseline_files()) == (pytest.ExitCode.TESTS_FAILED, before)
    assert changed_shop.verdicts()[TAIL] == "fail"
    assert (
        "shop: not accepted, it has a baseline: --ireval-update replaces it, --ireval-update-new only writes first ones"
    ) in result.outlines


def test_a_suite_that_was_not_evaluated_whole_is_left_alone(changed_shop):
    before = changed_shop.baseline_files()

    for selection in (("-k", "tail"), ("shop.ireval.yaml::threshold",), ("--maxfail=1", "-k", "not inputs")):
        result = changed_shop.run("--ireval-update", "--ireval-reason", "x", *selection)

        assert (result.ret, changed_shop.baseline_files()) == (pytest.ExitCode.TESTS_FAILED, before)
        result.stdout.fnmatch_lines(
            ["not accepted: shop: * of its 7 verdicts were not part of this run; left as it is"]
        )


def test_nothing_is_accepted_by_ci(changed_shop, monkeypatch):
    monkeypatch.setenv("CI", "true")

    result = changed_shop.run("--ireval-update", "--ireval-reason", "x")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*refusing to update baselines in CI; --ireval-allow-ci allows it"])
    assert changed_shop.run("--ireval-update", "--ireval-reason", "x", "--ireval-allow-ci").ret == 0


def test_options_that_make_no_sense_are_refused(shop):
    for arguments, complaint in (
        (("--ireval-update", "--ireval-update-new"), "only new ones: choose one"),
        (("--ireval-reason", "x"), "need --ireval-update or --ireval-update-new"),
    ):
        result = shop.run(*arguments)

        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert complaint in result.stderr.str()


def test_what_is_as_it_was_is_not_accepted_again(shop):
    shop.accept()
    before = shop.baseline_files()

    result = shop.run("--ireval-update", "--ireval-reason", "again")

    assert result.ret == 0
    assert shop.baseline_files() == before
    result.stdout.fnmatch_lines(["shop: nothing to accept, unchanged since the baseline"])


def test_a_failed_write_is_red_and_said(changed_shop):
    before = changed_shop.baseline_files()
    (changed_shop.path / "baselines" / "shop.baseline").unlink()
    (changed_shop.path / "baselines" / "shop.baseline").mkdir()

    result = changed_shop.run("--ireval-update", "--ireval-reason", "x", "--ireval-force")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "not accepted: shop:" in result.stdout.str()
    assert {name: data for name, data in before.items() if name != "shop.baseline"} == {
        path.name: path.read_bytes() for path in (changed_shop.path / "baselines").glob("shop.*") if path.is_file()
    }


def test_a_rule_that_compares_with_something_else_is_not_settled_by_accepting(changed_shop):
    lines = [f"q{i:02} Q0 q{i:02}-d{n} {n + 1} {9 - n} x\n" for i in range(1, 11) for n in range(4)]
    (changed_shop.path / "other.txt").write_text("".join(lines))
    changed_shop.change(("tolerance: 5%}\n", "tolerance: 5%, against: {run: other.txt}}\n"))
    before = changed_shop.baseline_files()
    changed_shop.rankings["q09"] = changed_shop.rankings["q08"] = ["n1"]
    changed_shop.write()

    result = changed_shop.run("--ireval-update", "--ireval-reason", "x")

    assert changed_shop.baseline_files() == before
    result.assert_outcomes(passed=6, failed=1)
    (problem,) = find_problems(result)
    assert problem.startswith(f"not accepted: shop: {RED}no_regression::nDCG_10.all: nDCG@10 fell")


COMPARING = """
from pytest_ireval import hookimpl, rule
from pytest_ireval.options import ComparingOptions
from pytest_ireval.errors import BaselineError, BaselineMisfitError

@rule(name="odd", options=ComparingOptions)
def odd(options, seen):
    '''Raises.'''
    raise {raises}

@hookimpl
def ireval_rules():
    return [odd]
"""


@pytest.mark.parametrize(
    ("raises", "accepted"), [("BaselineMisfitError('other')", True), ("BaselineError('damaged')", False)]
)
def test_only_an_error_that_accepting_mends_is_settled_by_it(changed_shop, raises, accepted):
    changed_shop.path.joinpath("conftest.py").write_text(COMPARING.format(raises=raises))
    changed_shop.change(("rules:\n", "rules:\n  - odd: {name: one}\n"))
    before = changed_shop.baseline_files()

    result = changed_shop.run("--ireval-update", "--ireval-reason", "x")

    assert (result.ret == 0) is accepted
    assert (changed_shop.baseline_files() != before) is accepted
    assert read_acceptable(changed_shop)["odd::one"] == (("pass", True, True) if accepted else ("error", False, False))


@pytest.mark.parametrize(
    ("rules", "finding"),
    [
        (("metric: nDCG@10, tolerance: 5%, hard_limit: 90%}", ", min_queries: 7"), "comparison was inconclusive"),
        (
            ("decide_by: observed, metric: nDCG@10, tolerance: 5%, on_fail: warn}", ", on_fail: warn"),
            "regression was found",
        ),
    ],
    ids=["inconclusive", "warns"],
)
def test_a_comparison_that_is_not_red_needs_a_reason_too(changed_shop, rules, finding):
    whole, per_segment = rules
    changed_shop.change(
        ("{decide_by: observed, metric: nDCG@10, tolerance: 5%}", f"{{{whole}"),
        ("default: 5%}}", f"default: 5%}}{per_segment}}}"),
    )
    before = changed_shop.baseline_files()

    problems = changed_shop.try_to_accept().problems

    assert changed_shop.baseline_files() == before
    assert problems == [f'shop: a {finding}: give a reason with --ireval-reason "…"']
    changed_shop.update("x")


@pytest.mark.parametrize("reason", ["...", "…", "reason", "TODO:"])
def test_the_placeholder_of_a_command_is_no_reason(changed_shop, reason):
    before = changed_shop.baseline_files()

    result = changed_shop.run("--ireval-update", "--ireval-reason", reason)

    assert (result.ret, changed_shop.baseline_files()) == (pytest.ExitCode.USAGE_ERROR, before)
    assert f"--ireval-reason {reason!r} is no reason: say why the change is fine" in result.stderr.str()


def test_force_needs_a_reason(shop):
    shop.accept()
    shop.change(('nDCG@10: ">= 0.5"', 'P@3: "<= 0.9"'))
    before = shop.baseline_files()

    problems = shop.try_to_accept(force=True).problems

    assert shop.baseline_files() == before
    assert problems == ['shop: 1 verdict red, to be accepted by force: give a reason with --ireval-reason "…"']


LOST = "shop: its history is lost: the new baseline does not know the acceptances before this one"


@pytest.mark.parametrize(("kept", "known"), [(1000, 2), (20, 1)], ids=["acceptances are readable", "nothing is"])
def test_a_damaged_baseline_is_an_error_of_comparisons_and_overwritten_by_force_with_a_reason(shop, kept, known):
    shop.accept()
    path = shop.path / "baselines/shop.baseline"
    path.write_bytes(path.read_bytes()[:kept])
    before = shop.baseline_files()

    shop.gate()
    verdicts = shop.verdicts()
    unforced = shop.try_to_accept("x")
    silent = shop.try_to_accept(force=True)

    assert shop.baseline_files() == before
    assert (verdicts["threshold::nDCG_10"], verdicts[ALL]) == ("pass", "error")
    (problem,) = unforced.problems
    assert problem.startswith("shop: its baseline cannot be read, and --ireval-force was not given: ")
    assert "shop.baseline" in problem
    assert silent.problems == [
        'shop: its baseline cannot be read, to be accepted by force: give a reason with --ireval-reason "…"'
    ]
    forced = shop.try_to_accept("disk broke", force=True)
    assert b'"forced": true' in shop.baseline_files()["shop.baseline"]
    assert (LOST in forced.messages) is (known == 1)
    assert len(shop.baseline().acceptances) == known
    assert shop.gate().verdict == "pass"


@pytest.fixture
def committed_shop(shop, monkeypatch):
    """A shop whose baseline is in git."""
    shop.accept()
    isolate_git(monkeypatch, shop.path)
    run_git(shop.path, "init", "--quiet")
    commit_all(shop.path, "all")
    return shop


FILES = "baselines/shop.baseline"


def test_deleting_a_baseline_bypasses_neither_reason_nor_history(committed_shop):
    before = committed_shop.baseline_files()
    shutil.rmtree(committed_shop.path / "baselines")

    told = committed_shop.run()
    unforced = committed_shop.try_to_accept("x", only_new=True)
    silent = committed_shop.try_to_accept(force=True)

    assert committed_shop.baseline_files() == {}
    told.stdout.fnmatch_lines(
        [
            "shop.ireval.yaml:13: no baseline to compare with, but the last commit has one",
            f"  git checkout HEAD -- {FILES} restores it",
            "The baseline of this suite was deleted. Owner @search-team.",
        ]
    )
    assert "No rankings of this suite" not in told.stdout.str()
    assert "  accept:" not in told.stdout.str()
    assert unforced.problems == [
        "shop: the last commit has a baseline of this suite, but this folder does not, and "
        f"--ireval-force was not given: git checkout HEAD -- {FILES} restores it"
    ]
    assert silent.problems == [
        "shop: the last commit has a baseline of this suite, but this folder does not, "
        'to be accepted by force: give a reason with --ireval-reason "…"'
    ]
    run_git(committed_shop.path, "checkout", "-q", "HEAD", "--", *FILES.split())
    assert committed_shop.baseline_files() == before
    for path in (committed_shop.path / "baselines").glob("shop.*"):  # the files alone, and not their folder
        path.unlink()
    forced = committed_shop.run("--ireval-update", "--ireval-force", "--ireval-reason", "anew")
    assert LOST in forced.outlines
    assert b'"forced": true' in committed_shop.baseline_files()["shop.baseline"]


def test_a_suite_that_git_never_had_a_baseline_of_is_new(committed_shop):
    (committed_shop.path / "other.ireval.yaml").write_text(
        committed_shop.suite.replace("suite: shop", "suite: shop.de")
    )

    assert committed_shop.run("--ireval-update-new").ret == 0


@pytest.fixture
def two(shop):
    """Two suites of a matrix, without baselines."""
    shop.change(("suite: shop\n", "suite: shop\nmatrix: {locale: [de, fr]}\n"), ("@search-team", "@{locale}"))
    return shop


def test_a_suite_of_which_nothing_was_selected_is_named_and_no_problem(two):
    result = two.run("--ireval-update", "shop.ireval.yaml::fr")

    assert result.ret == 0
    result.stdout.fnmatch_lines(["shop.de: not part of this run, left as it is"])
    assert find_problems(result) == []
    assert two.results()["accepted"] == ["shop.fr"]
    assert [path.name for path in sorted((two.path / "baselines").glob("*.baseline"))] == ["shop.fr.baseline"]


def test_commands_of_a_matrix_name_the_suite(two):
    new = two.run("-k", "fr and all").stdout.str()
    two.update("")
    two.rankings["q10"] = ["q10-n1"]
    two.write()
    red = two.run("-k", "fr and all").stdout.str()

    assert "  accept:   pytest --ireval shop.ireval.yaml::fr --ireval-update-new\n" in new
    assert "  why:      ireval why nDCG@10 --suite shop.ireval.yaml --named shop.fr --query q10\n" in red
    assert '  accept:   pytest --ireval shop.ireval.yaml::fr --ireval-update --ireval-reason "..."\n' in red


def test_a_baseline_is_packed_where_the_suite_asks_for_it(shop, ireval, monkeypatch):
    monkeypatch.chdir(shop.path)
    shop.accept()
    shop.change(("suite: shop\n", "suite: shop\nbaseline: {compress: true}\n"))
    shop.rankings["q10"] = ["q10-d1", "q10-d0"]
    shop.write()

    shop.update("packed")
    assert ireval("baseline", "anchor", "shop.ireval.yaml", "--reason", "release 1").code == 0

    assert sorted(shop.baseline_files()) == ["shop.anchor.baseline.gz", "shop.baseline.gz"]
    assert [each.reason for each in shop.baseline().acceptances] == ["", "packed"]
    assert shop.gate().verdict == "pass"


def test_the_commands_of_a_red_run_have_its_variables_but_no_secret(changed_shop, monkeypatch):
    (changed_shop.path / "rankings.txt").rename(changed_shop.path / "new rankings.txt")
    changed_shop.change(
        ("{run: rankings.txt}", "{run: '${RANKINGS}', format: '${FORMAT:-trec}'}"),
        ('owner: "@search-team"', "owner: '${SEARCH_KEY}${MOUNT}'"),
    )
    for name, value in {
        "RANKINGS": "new rankings.txt",
        "SEARCH_KEY": "the-key-of-the-shop",
        "MOUNT": "https://me:the-password@shop.example",
        "OTHER": "of no suite",
    }.items():
        monkeypatch.setenv(name, value)

    text = changed_shop.run().stdout.str()

    variables = "SEARCH_KEY=… MOUNT=… RANKINGS='new rankings.txt' "
    accept = 'pytest --ireval shop.ireval.yaml --ireval-update --ireval-reason "..."'
    assert f"  accept:   {variables}{accept}\n" in text
    assert f"  why:      {variables}ireval why nDCG@10 --suite shop.ireval.yaml" in text
