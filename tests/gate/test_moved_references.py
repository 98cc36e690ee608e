"""What a rule compares with must not be the suite itself; with a base, a branch that moves it is found."""

import pytest
from branches import FAILS

from pytest_ireval import SuiteError, load_suite, run_gate

RULE = "  - no_regression: {metric: nDCG@10, tolerance: 5%, against: {run: accepted.txt}}\n"
ANCHORED = "  - no_regression: {metric: nDCG@10, tolerance: 50%, against: anchor}\n"
NAME = "no_regression::nDCG_10.all"


def lists_of(shop, broken=()):
    return "".join(
        f"{query} Q0 {each} {rank} {100 - rank} x\n"
        for query, ids in shop.rankings.items()
        for rank, each in enumerate(reversed(ids) if query in broken else ids, 1)
    )


@pytest.fixture
def referred(branch):
    """On ``main`` a rule compares with ``accepted.txt``, which lists every document at its best place."""
    (branch.path / "accepted.txt").write_text(lists_of(branch.shop))
    branch.begin_with((branch.shop.suite.partition("rules:\n")[2], RULE))
    return branch


def say(branch, *arguments):
    found = branch.outcome(*arguments)
    return found["verdict"], found["warning"], found["headline"]


# A file of rankings


def test_a_replaced_file_is_compared_with_that_of_the_base(referred):
    (referred.path / "accepted.txt").write_text(lists_of(referred.shop, ["q01", "q02"]))
    (referred.path / "rankings.txt").write_text(lists_of(referred.shop, ["q01", "q02"]))
    referred.commit("both are worse")

    found = referred.outcome(*FAILS)

    assert referred.said.ret == pytest.ExitCode.TESTS_FAILED
    assert referred.shop.verdicts()[NAME] == "pass"
    assert (found["verdict"], found["headline"]) == (
        "fail",
        f"the branch lowers what {NAME} compares with (run: accepted.txt): nDCG@10 1.0000 -> 0.9228 on all",
    )
    assert found["numbers"]["baseline"] == 1
    assert [each["query"] for each in found["queries"]] == ["q01", "q02"]
    assert found["sentence"] == (
        f"Baseline is the reference at {referred.base}, the merge base with main; now is that of this branch."
    )


def test_without_lowering_that_fails_the_headline_says_it(referred):
    (referred.path / "accepted.txt").write_text(lists_of(referred.shop, ["q01", "q02"]))

    assert say(referred)[:2] == ("pass", True)
    assert referred.said.ret == 0
    assert (
        f"**Safe to land, with 1 warning**: all 3 checks passed; but the branch lowers what {NAME} compares with "
        "(run: accepted.txt): nDCG@10 1.0000 -> 0.9228 on all"
    ) in (referred.path / "ireval-report/summary.md").read_text().replace("\u200b", "")


def test_another_file_is_compared_with_the_one_that_was_named(referred):
    (referred.path / "broken.txt").write_text(lists_of(referred.shop, ["q01"]))
    referred.shop.change(("accepted.txt", "broken.txt"))

    assert say(referred, *FAILS) == (
        "fail",
        False,
        f"the branch lowers what {NAME} compares with (run: broken.txt; at the base: run: accepted.txt): "
        "nDCG@10 1.0000 -> 0.9614 on all",
    )


FUNCTION = """\
def search(text):
    return [f"q{text.split()[1]:0>2}-d0"]
"""


def test_what_cannot_be_compared_is_named_and_counts_as_lower(referred):
    (referred.path / "lists.py").write_text(FUNCTION)
    (referred.path / ".gitignore").write_text("ireval-report/\n__pycache__/\nnightly.txt\n")
    (referred.path / "nightly.txt").write_text(lists_of(referred.shop))
    referred.begin_with(("accepted.txt", "nightly.txt"))
    referred.shop.change(("{run: nightly.txt}", "{source: {python: 'lists:search'}}"))

    found = referred.outcome(*FAILS)

    assert (found["verdict"], found["headline"]) == (
        "fail",
        f"{NAME} compares with another reference than at {referred.base}, the merge base with main: "
        "python: lists:search; at the base: run: nightly.txt",
    )
    assert found["facts"][0].endswith("which cannot be compared: run: nightly.txt git has no such file")


def test_a_file_behind_a_link_is_compared_as_well(referred):
    (referred.path / "released.txt").write_text(lists_of(referred.shop))
    (referred.path / "accepted.txt").unlink()
    (referred.path / "accepted.txt").symlink_to("released.txt")
    referred.begin_with()
    (referred.path / "released.txt").write_text(lists_of(referred.shop, ["q01"]))

    assert say(referred, *FAILS)[2].endswith("compares with (run: accepted.txt): nDCG@10 1.0000 -> 0.9614 on all")


def test_lists_that_are_compared_as_lists_are_only_named(referred):
    churn = "  - churn: {overlap: RBO(p=0.9), below: 0.5, at_most: 9, against: {run: accepted.txt}}\n"
    referred.begin_with((RULE, churn))
    (referred.path / "accepted.txt").write_text(lists_of(referred.shop, ["q01", "q02"]))

    found = referred.outcome(*FAILS)

    assert (found["verdict"], found["warning"]) == ("pass", False)
    assert found["facts"] == ["also changed: what churn::RBO compares with (run: accepted.txt)"]


def better(referred):
    (referred.path / "accepted.txt").write_text(lists_of(referred.shop).replace("q01-d3", "q01-d9"))


def moved_in_the_file(referred):
    referred.shop.change(("depth: 10", "depth: 10\n# a comment"))


def renamed(referred):
    referred.git("mv", "accepted.txt", "released.txt")
    referred.shop.change(("accepted.txt", "released.txt"))


def untouched(referred):
    (referred.path / "rankings.txt").write_text(lists_of(referred.shop, ["q01"]))


@pytest.mark.parametrize("change", [better, moved_in_the_file, renamed, untouched])
def test_a_reference_that_is_as_good_lowers_nothing(referred, change):
    change(referred)
    referred.commit("something")

    assert say(referred, *FAILS)[:2] == ("pass", False)


def test_a_file_that_git_does_not_have_is_nobody_s_change(referred):
    (referred.path / ".gitignore").write_text("ireval-report/\n__pycache__/\nnightly.txt\n")
    (referred.path / "nightly.txt").write_text(lists_of(referred.shop))
    referred.begin_with(("accepted.txt", "nightly.txt"))
    (referred.path / "nightly.txt").write_text(lists_of(referred.shop, ["q01"]))

    found = referred.outcome(*FAILS)

    assert (found["verdict"], found["warning"], found["facts"]) == ("pass", False, [])


# The anchor


@pytest.fixture
def anchored(branch, ireval, monkeypatch):
    """On ``main`` a rule compares with an anchor; ``pin`` moves it to what is accepted."""
    monkeypatch.chdir(branch.path)

    def pin():
        assert ireval("baseline", "anchor", "shop.ireval.yaml", "--reason", "release").code == 0

    branch.pin = pin
    branch.git("checkout", "--quiet", "main")
    pin()
    branch.begin_with(("  - worsened", f"{ANCHORED}  - worsened".replace("50%", "50%, name: release")))
    return branch


def test_an_anchor_that_a_branch_moves_down_is_as_a_lowered_baseline(anchored):
    kept = {
        path.name: path.read_bytes()
        for path in (anchored.path / "baselines").glob("shop.*")
        if "anchor" not in path.name
    }
    anchored.accept("--ireval-force", q10="n1 n2 n3")
    anchored.pin()
    for name, content in kept.items():  # the baseline itself is that of the base again
        (anchored.path / "baselines" / name).write_bytes(content)
    anchored.commit("only the anchor")

    assert say(anchored, *FAILS) == (
        "fail",
        False,
        "the branch lowers what no_regression::nDCG_10.all.release compares with (the anchor): "
        "nDCG@10 1.0000 -> 0.9000 on all",
    )
    assert say(anchored)[:2] == ("pass", True)


def test_both_are_named_where_the_baseline_goes_down_as_well(anchored):
    anchored.accept("--ireval-force", q10="n1 n2 n3")
    anchored.pin()
    anchored.commit("both")

    verdict, _, headline = say(anchored, *FAILS)

    assert verdict == "fail"
    assert headline.startswith("the branch lowers its baseline: nDCG@10 1.0000 -> 0.7500 on segment=tail, and 1 more; ")
    assert headline.endswith("compares with (the anchor): nDCG@10 1.0000 -> 0.9000 on all")


def test_an_anchor_that_moves_to_something_as_good_is_named_and_no_more(anchored):
    anchored.accept(q10="d0 d1 d2 n1")
    anchored.pin()
    anchored.commit("the next release")

    found = anchored.outcome(*FAILS)

    assert (found["verdict"], found["warning"]) == ("pass", False)
    assert found["facts"][-1] == (
        "also changed: what no_regression::nDCG_10.all.release compares with (the anchor): nDCG@10 1.0000 on all"
    )


def test_an_anchor_that_stays_is_not_named(anchored):
    anchored.accept(q10="d0 d1 d2 n1")

    found = anchored.outcome(*FAILS)

    assert (found["verdict"], "anchor" in str(found["facts"])) == ("pass", False)


def test_a_rule_that_leaves_the_baseline_for_a_lower_anchor(anchored):
    """The anchor of ``main`` is lower than its baseline, and the branch makes a rule compare with it."""
    anchored.git("checkout", "--quiet", "main")
    anchored.accept("--ireval-force", q10="n1 n2 n3")
    anchored.pin()
    anchored.accept("--ireval-force", q10="d0 d1 d2 d3")
    anchored.git("checkout", "--quiet", "-B", "change")
    anchored.shop.change(("tolerance: 5%}\n", "tolerance: 5%, against: anchor}\n"))

    verdict, _, headline = say(anchored, *FAILS)

    assert verdict == "fail"
    assert headline == (
        f"the branch lowers what {NAME} compares with (the anchor; at the base: the baseline): "
        "nDCG@10 1.0000 -> 0.9000 on all"
    )


# The suite itself


@pytest.mark.parametrize(
    "against", ["{run: rankings.txt}", "{source: {run: ./rankings.txt}}", "{run: rank*.txt}", "{run: link.txt}"]
)
def test_the_suite_s_own_rankings_are_no_reference(shop, against):
    (shop.path / "link.txt").symlink_to("rankings.txt")
    shop.change((shop.suite.partition("rules:\n")[2], RULE.replace("{run: accepted.txt}", against)))

    with pytest.raises(SuiteError) as error:
        run_gate(load_suite(shop.path / "shop.ireval.yaml"))

    assert str(error.value).partition("\n  ")[2] == (
        "against names the rankings of this suite itself: a comparison with itself cannot fail\n"
        "  name rankings of another version of the search, or compare with the baseline"
    )
    assert shop.run().ret == pytest.ExitCode.INTERRUPTED


def test_neither_is_the_suite_s_own_function(shop):
    (shop.path / "lists.py").write_text(FUNCTION)
    rule = RULE.replace("{run: accepted.txt}", "{source: {python: 'lists:search'}}")
    shop.change(("{run: rankings.txt}", "{python: 'lists:search'}"), (shop.suite.partition("rules:\n")[2], rule))

    with pytest.raises(SuiteError, match="against names the rankings of this suite itself"):
        run_gate(load_suite(shop.path / "shop.ireval.yaml"))


def test_equal_rankings_of_another_file_are_a_reference(shop):
    (shop.path / "accepted.txt").write_text(lists_of(shop))
    shop.change((shop.suite.partition("rules:\n")[2], RULE))

    assert run_gate(load_suite(shop.path / "shop.ireval.yaml")).verdict == "pass"


def test_ireval_check_says_it_too(shop, ireval, monkeypatch):
    monkeypatch.chdir(shop.path)
    shop.change((shop.suite.partition("rules:\n")[2], RULE.replace("accepted.txt", "rankings.txt")))

    checked = ireval("check", "shop.ireval.yaml")

    assert checked.code == 1
    assert "a comparison with itself cannot fail" in checked.out
