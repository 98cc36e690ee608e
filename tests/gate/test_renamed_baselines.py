"""A baseline that has another name or place than at the base is found there all the same."""

import pytest
from branches import FAILS, LOWERING, REASON, WORSE

pytestmark = pytest.mark.ci


def rename(branch, *, history):
    """The suite is called store, with the baseline of the shop or with one of its own."""
    branch.shop.change(("suite: shop", "suite: store"))
    if history:
        branch.git("mv", "baselines/shop.baseline", "baselines/store.baseline")
        branch.accept(force=True, **WORSE)
        return
    branch.rank(**WORSE)
    result = branch.shop.run("--ireval-update-new")
    assert (result.ret, branch.shop.results()["accepted"]) == (1, ["store"])
    result.stdout.fnmatch_lines(["problem: baselines/shop.baseline: no suite uses this baseline*"])
    branch.commit("renamed")


@pytest.mark.parametrize(
    ("history", "deleted", "moved"), [(True, False, False), (False, True, False), (False, False, True)]
)
def test_renaming_the_suite_is_no_way_around(branch, history, deleted, moved):
    rename(branch, history=history)
    if moved:
        branch.git("mv", "shop.ireval.yaml", "store.ireval.yaml")
        branch.commit("moved")
    if deleted:
        branch.git("rm", "-q", "--ignore-unmatch", "baselines/shop.*")
        branch.commit("tidied up")

    found = branch.outcome(*FAILS)

    assert found["verdict"] == "fail"
    assert "the baseline was called baselines/shop.baseline then" in found["facts"]


def test_moving_the_suite_with_its_baseline_is_no_way_around(branch):
    (branch.path / "suites").mkdir()
    for name in ("queries.tsv", "judgments.txt", "rankings.txt", "shop.ireval.yaml", "baselines"):
        branch.git("mv", name, f"suites/{name}")
    branch.commit("moved")

    same = branch.outcome(*FAILS)
    branch.rank(**WORSE)
    (branch.path / "rankings.txt").replace(branch.path / "suites/rankings.txt")
    (branch.path / "shop.ireval.yaml").unlink()
    branch.shop.run("suites", "--ireval-update", "--ireval-force", "--ireval-reason", REASON)
    worse = branch.outcome("suites", *FAILS)

    assert (same["verdict"], worse["verdict"]) == ("pass", "fail")
    assert "the baseline was called baselines/shop.baseline then" in worse["facts"]


@pytest.mark.parametrize("moves", ["renamed", "reordered"])
def test_a_suite_of_a_matrix_is_held_against_its_own_baseline(branch, moves):
    branch.git("checkout", "--quiet", "main")
    branch.shop.change(("suite: shop\n", "suite: shop\nmatrix: {locale: [de, fr]}\n"), ("@search-team", "@{locale}"))
    branch.accept()
    branch.git("checkout", "--quiet", "-B", "change")
    name = "store" if moves == "renamed" else "shop"
    branch.shop.change(("suite: shop\n", f"suite: {name}\n"), ("[de, fr]", "[fr, de]"))
    branch.rank(**WORSE)
    branch.shop.run("--ireval-update", "--ireval-reason", REASON)
    branch.commit("accepted")

    branch.run(*FAILS).assert_outcomes(passed=14, failed=2)

    for suite in branch.shop.results()["suites"]:
        (found,) = (each for each in suite["outcomes"] if each["id"] == LOWERING)
        called = f"the baseline was called baselines/shop.{suite['matrix']['locale']}.baseline then"
        assert (called in found["facts"]) is (moves == "renamed")


def to_matrix(branch):
    branch.shop.change(("suite: shop\n", "suite: shop\nmatrix: {locale: [de, fr]}\n"), ("@search-team", "@{locale}"))


def from_matrix(branch):
    branch.shop.change(("matrix: {locale: [de, fr]}\n", ""), ("@{locale}", "@search-team"))


@pytest.mark.parametrize(
    ("begins", "change", "called"), [(None, to_matrix, "shop"), (to_matrix, from_matrix, "shop.fr")]
)
def test_a_matrix_that_names_suites_otherwise_is_no_way_around(branch, begins, change, called):
    if begins is not None:
        branch.git("checkout", "--quiet", "main")
        begins(branch)
        branch.git("rm", "-q", "baselines/shop.*")
        branch.accept(force=True)
        branch.git("checkout", "--quiet", "-B", "change")
    change(branch)
    branch.rank(**WORSE)
    branch.shop.run("--ireval-update-new")
    branch.commit("accepted; the baselines of before are left where they are")

    assert branch.run(*FAILS).ret == 1
    for suite in branch.shop.results()["suites"]:
        (found,) = (each for each in suite["outcomes"] if each["id"] == LOWERING)
        assert (found["verdict"], f"the baseline was called baselines/{called}.baseline then" in found["facts"]) == (
            "fail",
            True,
        )


def test_a_link_in_the_place_of_the_folder_of_baselines_is_no_way_around(branch):
    branch.git("mv", "baselines", "elsewhere")
    (branch.path / "baselines").symlink_to("elsewhere")
    branch.accept(**WORSE)

    found = branch.outcome(*FAILS)

    assert found["verdict"] == "error"
    assert found["headline"].startswith("baselines: is a link")
