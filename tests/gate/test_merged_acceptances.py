"""Two branches accept, and what is not committed is accepted, too: from the conflict to a green gate."""

import re
import shlex

import pytest
from branches import REASON, WORSE


@pytest.fixture
def both(branch):
    """``main`` and ``change`` have both accepted something, and the merge is a conflict; ``change`` is checked out."""
    branch.git("checkout", "--quiet", "main")
    branch.accept(q09="d1 d0 d2 d3")
    branch.git("checkout", "--quiet", "change")
    branch.rank(q09="d0 d1 d2 d3")
    branch.accept(q10="d0 d2 d1 d3")
    branch.git("merge", "main", check=False)
    assert "baselines/shop.baseline" in branch.git("ls-files", "--unmerged")
    branch.rank(q09="d1 d0 d2 d3", q10="d0 d2 d1 d3")
    return branch


def test_a_merge_in_conflict_is_said_settled_repeated_and_green(both):
    told = both.run()

    told.assert_outcomes(passed=3, errors=5)
    text = told.stdout.str()
    assert "shop.ireval.yaml:13: baselines/shop.baseline:" in text
    assert "has the marks of a merge conflict" in text
    command = re.search("git (checkout --theirs -- .*?); then accept again", " ".join(text.split()))[1]
    both.git(*shlex.split(command))
    both.git("add", "--all")
    both.git("commit", "--quiet", "--no-edit")
    assert both.shop.run("--ireval-update", "--ireval-reason", REASON).ret == 0
    assert both.shop.results()["accepted"] == ["shop"]
    both.commit("repeated")

    green = both.outcome()

    assert both.said.ret == 0
    reasons = [each.reason for each in both.shop.baseline().acceptances]
    assert reasons == ["", REASON, REASON]
    assert green["headline"].startswith("the branch lowers its baseline: nDCG@10 ")
    assert len(green["facts"]) == 1


def test_what_is_accepted_beside_uncommitted_changes_is_said_and_kept(branch):
    branch.git("checkout", "--quiet", "--detach")
    branch.rank(**WORSE)
    commit = branch.git("rev-parse", "--short=7", "HEAD")

    accepting = branch.shop.run("--ireval-update", "--ireval-reason", REASON)

    accepting.stdout.fnmatch_lines(
        [
            f"accepted with uncommitted changes on commit {commit}: commit them with the baseline, so that it can",
            "  be measured again",
        ]
    )
    run = branch.shop.results()
    assert (run["commit"][:7], run["branch"], run["dirty"]) == (commit, "", True)
    branch.rank(q09="n1")
    later = branch.shop.run()
    later.stdout.fnmatch_lines([f"  baseline: {commit} with uncommitted changes, less than a minute old*"])
    branch.commit("all of it")
    branch.rank(q10="d0 d1 d2 d3", q09="d0 d1 d2 d3")
    branch.commit("better")
    assert "accepted with uncommitted" not in branch.shop.run("--ireval-update", "--ireval-reason", REASON).stdout.str()
