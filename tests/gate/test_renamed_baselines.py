"""A baseline that has another name or place than at the base is found there all the same."""

import pytest
from branches import FAILS, LOWERING, REASON, WORSE

pytestmark = pytest.mark.ci


def rename(branch, *, history):
    """The suite is called store, with the baseline of the shop or with one of its own."""
    branch.shop.change(("suite: shop", "suite: store"))
    if history:
        for ending in ("json", "judgments.tsv", "rankings.tsv"):
            branch.git("mv", f"baselines/shop.{ending}", f"baselines/store.{ending}")
        branch.accept("--ireval-force", **WORSE)
        return
    branch.rank(**WORSE)
    result = branch.shop.run("--ireval-update-new")
    assert (result.ret, branch.shop.results()["accepted"]) == (1, ["store"])
    result.stdout.fnmatch_lines(["problem: baselines/shop.json: no suite uses this baseline*"])
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
    assert "the baseline was called baselines/shop.json then" in found["facts"]


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
    assert "the baseline was called baselines/shop.json then" in worse["facts"]


def test_a_suite_that_replaces_another_one_is_named_beside_what_is_gone(branch):
    branch.git("rm", "-q", "shop.ireval.yaml", "baselines/shop.*")
    branch.shop.judgments = {query: {f"{query}-x": 1} for query in branch.shop.judgments}
    branch.shop.write()
    (branch.path / "shop.ireval.yaml").rename(branch.path / "blog.ireval.yaml")
    text = branch.shop.suite.replace("suite: shop", "suite: blog").replace("q01-d0, top: 3", "q01-x, top: 9")
    (branch.path / "blog.ireval.yaml").write_text(text)
    (branch.path / "rankings.txt").write_text("".join(f"q{i:02} Q0 q{i:02}-x 1 1 x\n" for i in range(1, 11)))
    assert branch.shop.run("--ireval-update-new").ret == 0

    found = branch.outcome()

    assert (found["verdict"], found["warning"]) == ("pass", True)
    assert found["facts"] == ["removed since then, and not continued by a baseline of this branch: baselines/shop.json"]


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
        called = f"the baseline was called baselines/shop.{suite['matrix']['locale']}.json then"
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
        branch.accept("--ireval-force")
        branch.git("checkout", "--quiet", "-B", "change")
    change(branch)
    branch.rank(**WORSE)
    branch.shop.run("--ireval-update-new")
    branch.commit("accepted; the baselines of before are left where they are")

    assert branch.run(*FAILS).ret == 1
    for suite in branch.shop.results()["suites"]:
        (found,) = (each for each in suite["outcomes"] if each["id"] == LOWERING)
        assert (found["verdict"], f"the baseline was called baselines/{called}.json then" in found["facts"]) == (
            "fail",
            True,
        )


def test_a_new_value_of_a_matrix_is_a_new_suite(branch):
    branch.git("checkout", "--quiet", "main")
    to_matrix(branch)
    (branch.path / "other.ireval.yaml").write_text(branch.shop.suite.replace("suite: shop", "suite: shop.old"))
    branch.accept()
    branch.git("checkout", "--quiet", "-B", "change")
    branch.shop.change(("[de, fr]", "[de, fr, it]"))
    branch.rank(**WORSE)
    branch.shop.run("shop.ireval.yaml", "--ireval-update-new", "-k", "shop.it")
    branch.run()

    (suite,) = (each for each in branch.shop.results()["suites"] if each["name"] == "shop.it")
    (found,) = (each for each in suite["outcomes"] if each["id"] == LOWERING)
    assert found["headline"].startswith("the suite had no baseline at ")


def test_a_link_in_the_place_of_the_folder_of_baselines_is_no_way_around(branch):
    branch.git("mv", "baselines", "elsewhere")
    (branch.path / "baselines").symlink_to("elsewhere")
    branch.accept(**WORSE)

    found = branch.outcome(*FAILS)

    assert found["verdict"] == "error"
    assert found["headline"].startswith("baselines: is a link")
