"""What a rule compares with must not be the suite itself; with a base, a branch that moves it is found."""

import pytest
from branches import LOWERING
from suite_files import write_rankings

from pytest_ireval import SuiteError, load_suite, run_gate

RULE = "  - no_regression: {metric: nDCG@10, tolerance: 5%, against: {run: accepted.txt}}\n"
ANCHORED = "  - no_regression: {metric: nDCG@10, tolerance: 50%, against: anchor}\n"
NAME = "no_regression::nDCG_10.all"


def write_lists(branch, name, broken=()):
    """Write the rankings of the shop; those of broken queries are turned round."""
    rankings = {query: ids[::-1] if query in broken else ids for query, ids in branch.shop.rankings.items()}
    write_rankings(branch.path / name, rankings)


@pytest.fixture
def comparing_branch(branch):
    """On ``main`` a rule compares with ``accepted.txt``, which lists every document at its best place."""
    write_lists(branch, "accepted.txt")
    branch.begin_with((branch.shop.suite.partition("rules:\n")[2], RULE))
    return branch


def gate(branch, *, fails=True):
    suite = load_suite(branch.path / "shop.ireval.yaml")
    (lowering,) = [each for each in run_gate(suite, base="main", lowering_fails=fails).outcomes if each.id == LOWERING]
    return lowering


def say(branch, *, fails=True):
    lowering = gate(branch, fails=fails)
    return lowering.verdict, lowering.warning, lowering.headline


def test_a_replaced_file_is_compared_with_that_of_the_base(comparing_branch):
    write_lists(comparing_branch, "accepted.txt", ["q01", "q02"])
    write_lists(comparing_branch, "rankings.txt", ["q01", "q02"])
    comparing_branch.commit("both are worse")

    red = comparing_branch.gate(lowering_fails=True)
    warned = comparing_branch.outcome()

    said = f"the branch lowers what {NAME} compares with (run: accepted.txt): nDCG@10 1.0000 -> 0.9228 on all"
    assert (red["verdict"], red["headline"]) == ("fail", said)
    assert red["numbers"]["baseline"] == 1
    assert [query["query"] for query in red["queries"]] == ["q01", "q02"]
    assert red["sentence"] == (
        f"Baseline is the reference at {comparing_branch.base}, the merge base with main; now is that of this branch."
    )
    assert comparing_branch.shop.verdicts()[NAME] == "pass"
    assert (comparing_branch.said.ret, warned["verdict"], warned["warning"]) == (0, "pass", True)
    summary = (comparing_branch.path / "ireval-report/summary.md").read_text().replace("\u200b", "")
    assert f"**Safe to land, with 1 warning**: all 3 checks passed; but {said}" in summary


def test_another_file_is_compared_with_the_one_that_was_named(comparing_branch):
    write_lists(comparing_branch, "broken.txt", ["q01"])
    comparing_branch.shop.change(("accepted.txt", "broken.txt"))

    assert say(comparing_branch) == (
        "fail",
        False,
        f"the branch lowers what {NAME} compares with (run: broken.txt; at the base: run: accepted.txt): "
        "nDCG@10 1.0000 -> 0.9614 on all",
    )


FUNCTION = """\
def search(text):
    return [f"q{text.split()[1]:0>2}-d0"]
"""


def test_what_cannot_be_compared_is_named_and_counts_as_lower(comparing_branch):
    (comparing_branch.path / "lists.py").write_text(FUNCTION)
    (comparing_branch.path / ".gitignore").write_text("ireval-report/\n__pycache__/\nnightly.txt\n")
    write_lists(comparing_branch, "nightly.txt")
    comparing_branch.begin_with(("accepted.txt", "nightly.txt"))
    comparing_branch.shop.change(("{run: nightly.txt}", "{python: 'lists:search'}"))

    found = gate(comparing_branch)

    assert (found.verdict, found.headline) == (
        "fail",
        f"{NAME} compares with another reference than at {comparing_branch.base}, the merge base with main: "
        "python: lists:search; at the base: run: nightly.txt",
    )
    assert found.facts[0].endswith("which cannot be compared: run: nightly.txt git has no such file")


def test_a_file_behind_a_link_is_compared_as_well(comparing_branch):
    write_lists(comparing_branch, "released.txt")
    (comparing_branch.path / "accepted.txt").unlink()
    (comparing_branch.path / "accepted.txt").symlink_to("released.txt")
    comparing_branch.begin_with()
    write_lists(comparing_branch, "released.txt", ["q01"])

    assert say(comparing_branch)[2].endswith("compares with (run: accepted.txt): nDCG@10 1.0000 -> 0.9614 on all")


def test_lists_that_are_compared_as_lists_are_only_named(comparing_branch):
    churn = "  - churn: {overlap: RBO(p=0.9), below: 0.5, at_most: 9, against: {run: accepted.txt}}\n"
    comparing_branch.begin_with((RULE, churn))
    write_lists(comparing_branch, "accepted.txt", ["q01", "q02"])

    found = gate(comparing_branch)

    assert (found.verdict, found.warning) == ("pass", False)
    assert list(found.facts) == ["also changed: what churn::RBO compares with (run: accepted.txt)"]


def rename(comparing_branch):
    comparing_branch.git("mv", "accepted.txt", "released.txt")
    comparing_branch.shop.change(("accepted.txt", "released.txt"))


def improve(comparing_branch):
    path = comparing_branch.path / "accepted.txt"
    path.write_text(path.read_text().replace("q01-d3", "q01-d9"))


def change_other_lines(comparing_branch):
    comparing_branch.shop.change(("depth: 10", "depth: 10\n# a comment"))
    write_lists(comparing_branch, "rankings.txt", ["q01"])


@pytest.mark.parametrize("change", [improve, change_other_lines, rename])
def test_a_reference_that_is_as_good_lowers_nothing(comparing_branch, change):
    change(comparing_branch)
    comparing_branch.commit("something")

    assert say(comparing_branch)[:2] == ("pass", False)


def test_a_file_that_git_does_not_have_is_nobody_s_change(comparing_branch):
    (comparing_branch.path / ".gitignore").write_text("ireval-report/\n__pycache__/\nnightly.txt\n")
    write_lists(comparing_branch, "nightly.txt")
    comparing_branch.begin_with(("accepted.txt", "nightly.txt"))
    write_lists(comparing_branch, "nightly.txt", ["q01"])

    outcome = gate(comparing_branch)

    assert (outcome.verdict, outcome.warning, outcome.facts) == ("pass", False, ())


@pytest.fixture
def anchored_branch(branch, ireval, monkeypatch):
    """On ``main`` a rule compares with an anchor; ``pin`` moves it to what is accepted."""
    monkeypatch.chdir(branch.path)

    def pin():
        assert ireval("baseline", "anchor", "shop.ireval.yaml", "--reason", "release").code == 0

    branch.pin = pin
    branch.git("checkout", "--quiet", "main")
    pin()
    branch.begin_with(("  - worsened", f"{ANCHORED}  - worsened".replace("50%", "50%, name: release")))
    return branch


def test_an_anchor_that_a_branch_moves_down_is_as_a_lowered_baseline(anchored_branch):
    kept = {
        path: path.read_bytes() for path in (anchored_branch.path / "baselines").iterdir() if "anchor" not in path.name
    }
    anchored_branch.accept(force=True, q10="n1 n2 n3")
    anchored_branch.pin()
    anchored_branch.commit("both")
    both = say(anchored_branch)
    for path, content in kept.items():  # the baseline itself is that of the base again
        path.write_bytes(content)
    anchored_branch.commit("only the anchor")
    anchor = say(anchored_branch)
    warned = say(anchored_branch, fails=False)

    lowered = (
        "the branch lowers what no_regression::nDCG_10.all.release compares with (the anchor): "
        "nDCG@10 1.0000 -> 0.9000 on all"
    )
    assert both[0] == "fail"
    assert both[2].startswith("the branch lowers its baseline: nDCG@10 1.0000 -> 0.7500 on segment=tail, and 1 more; ")
    assert both[2].endswith("compares with (the anchor): nDCG@10 1.0000 -> 0.9000 on all")
    assert anchor == ("fail", False, lowered)
    assert warned[:2] == ("pass", True)


def test_an_anchor_that_stays_is_not_named_and_one_that_moves_to_something_as_good_is_and_no_more(anchored_branch):
    anchored_branch.accept(q10="d0 d1 d2 n1")
    stays = gate(anchored_branch)
    anchored_branch.pin()
    anchored_branch.commit("the next release")
    moves = gate(anchored_branch)

    assert (stays.verdict, "anchor" in str(stays.facts)) == ("pass", False)
    assert (moves.verdict, moves.warning) == ("pass", False)
    assert moves.facts[-1] == (
        "also changed: what no_regression::nDCG_10.all.release compares with (the anchor): nDCG@10 1.0000 on all"
    )


def test_a_rule_that_leaves_the_baseline_for_a_lower_anchor(anchored_branch):
    """The anchor of ``main`` is lower than its baseline, and the branch makes a rule compare with it."""
    anchored_branch.git("checkout", "--quiet", "main")
    anchored_branch.accept(force=True, q10="n1 n2 n3")
    anchored_branch.pin()
    anchored_branch.accept(force=True, q10="d0 d1 d2 d3")
    anchored_branch.git("checkout", "--quiet", "-B", "change")
    anchored_branch.shop.change(("tolerance: 5%}\n", "tolerance: 5%, against: anchor}\n"))

    verdict, _, headline = say(anchored_branch)

    assert verdict == "fail"
    assert headline == (
        f"the branch lowers what {NAME} compares with (the anchor; at the base: the baseline): "
        "nDCG@10 1.0000 -> 0.9000 on all"
    )


@pytest.mark.parametrize(
    ("source", "against"),
    [
        ("{run: rankings.txt}", "{run: ./rankings.txt}"),
        ("{run: rankings.txt}", "{run: rank*.txt}"),
        ("{run: rankings.txt}", "{run: link.txt}"),
        ("{python: 'lists:search'}", "{python: 'lists:search'}"),
    ],
    ids=["a file", "a pattern", "a link", "a function"],
)
def test_the_suite_s_own_rankings_are_no_reference(shop, ireval, source, against):
    (shop.path / "link.txt").symlink_to("rankings.txt")
    (shop.path / "lists.py").write_text(FUNCTION)
    shop.change(
        ("{run: rankings.txt}", source),
        (shop.suite.partition("rules:\n")[2], RULE.replace("{run: accepted.txt}", against)),
    )

    with pytest.raises(SuiteError) as error:
        run_gate(load_suite(shop.path / "shop.ireval.yaml"))

    assert str(error.value).partition("\n  ")[2] == (
        "against names the rankings of this suite itself: a comparison with itself cannot fail\n"
        "  name rankings of another version of the search, or compare with the baseline"
    )
    checked = ireval("check", shop.path / "shop.ireval.yaml")
    assert checked.code == 1
    assert "a comparison with itself cannot fail" in checked.out
