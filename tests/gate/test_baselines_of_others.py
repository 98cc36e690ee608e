"""The baseline of another folder or of another suite never takes the place of a suite's own."""

import os
import shutil

import pytest
from branches import FAILS, LOWERING, WORSE

pytestmark = pytest.mark.ci

posix = pytest.mark.skipif(os.name != "posix", reason="needs links")


def move_into(branch, folder):
    """The shop of ``main`` in a folder of its own; the branch begins there."""
    branch.git("checkout", "--quiet", "main")
    (branch.path / folder).mkdir(parents=True)
    for name in ("queries.tsv", "judgments.txt", "rankings.txt", "shop.ireval.yaml", "baselines"):
        branch.git("mv", name, f"{folder}/{name}")
    branch.commit("moved")


@pytest.fixture
def easy(branch):
    """``main`` has the shop in suites/shop, and one with a worse baseline, of the same name, in old/shop."""
    move_into(branch, "suites/shop")
    shutil.copytree(branch.path / "suites/shop", branch.path / "old/shop")
    rankings = branch.path / "old/shop/rankings.txt"
    rankings.write_text(rankings.read_text().replace("q10-d", "q10-n"))
    told = branch.shop.run("old", "--ireval-update", "--ireval-force", "--ireval-reason", "the easy one")
    assert branch.shop.results()["accepted"] == ["shop"], told.stdout.str()
    branch.commit("an easy one")
    branch.git("checkout", "--quiet", "-B", "change")
    shutil.copy(rankings, branch.path / "suites/shop/rankings.txt")
    return branch


@posix
def test_a_folder_of_baselines_that_is_a_link_is_refused_where_a_base_is_named(easy):
    shutil.rmtree(easy.path / "suites/shop/baselines")
    (easy.path / "suites/shop/baselines").symlink_to("../../old/shop/baselines")
    easy.commit("a link")

    found = easy.outcome("suites", *FAILS)

    assert found["verdict"] == "error"
    assert found["headline"].startswith("suites/shop/baselines: is a link, so the baseline of another folder may take")
    assert easy.said.ret == 1
    assert easy.shop.run("suites").ret == 0  # without a base a link is read as any folder


@posix
def test_links_of_files_are_compared_by_what_they_hold(easy):
    for path in (easy.path / "suites/shop/baselines").glob("shop.*"):
        path.unlink()
        path.symlink_to(f"../../../old/shop/baselines/{path.name}")
    easy.commit("links")

    found = easy.outcome("suites", *FAILS)

    assert found["verdict"] == "fail"
    assert "the branch lowers its baseline: nDCG@10 1.0000 -> 0.7500 on segment=tail" in found["headline"]


@posix
def test_a_link_to_the_whole_repository_is_fine(easy, tmp_path, monkeypatch):
    shutil.copy(easy.path / "suites/shop/queries.tsv", easy.path / "old")  # a change that lowers nothing
    easy.git("checkout", "--quiet", "--", "suites")
    (tmp_path / "link").symlink_to(easy.path)
    monkeypatch.chdir(tmp_path / "link")

    told = easy.shop.pytester.runpytest("--ireval", "suites", "--ireval-base=main", *FAILS)

    assert told.ret == 0, told.stdout.str()


@pytest.fixture
def two(shop):
    """The shop, and a blog whose accepted rankings are worse."""
    shop.accept()
    shop.rankings["q10"] = ["q10-n1", "q10-n2"]
    shop.write()
    (shop.path / "blog.ireval.yaml").write_text(shop.suite.replace("suite: shop", "suite: blog"))
    shop.run("blog.ireval.yaml", "--ireval-update-new")
    assert shop.results()["accepted"] == ["blog"]
    return shop


def copy_baseline(shop, old, new):
    for path in (shop.path / "baselines").glob(f"{old}.*"):
        shutil.copy(path, path.with_name(path.name.replace(f"{old}.", f"{new}.", 1)))


SAID = "*baselines/shop.baseline: is the baseline of suite 'blog'"


def test_the_baseline_of_another_suite_is_an_error_until_its_own_is_restored_or_accepted_again(two):
    own = two.baseline_files()
    assert two.run("shop.ireval.yaml").ret == 1  # it fell
    copy_baseline(two, "blog", "shop")

    result = two.run("shop.ireval.yaml")

    assert result.ret == 1
    assert set(two.verdicts().values()) == {"pass", "error"}
    result.stdout.fnmatch_lines([SAID, "*git checkout HEAD -- baselines/shop.baseline restores what was committed; *"])

    for name, content in own.items():
        (two.path / "baselines" / name).write_bytes(content)
    assert two.run("shop.ireval.yaml", "-k", "inputs or P_3").ret == 0

    copy_baseline(two, "blog", "shop")
    two.run("shop.ireval.yaml", "--ireval-update", "--ireval-force", "--ireval-reason", "renamed")
    assert two.results()["accepted"] == ["shop"]
    assert two.run("shop.ireval.yaml").ret == 0


def test_it_is_an_error_of_the_comparison_with_the_base_as_well(branch):
    branch.git("checkout", "--quiet", "main")
    branch.rank(**WORSE)
    (branch.path / "blog.ireval.yaml").write_text(branch.shop.suite.replace("suite: shop", "suite: blog"))
    branch.shop.run("blog.ireval.yaml", "--ireval-update-new")
    branch.commit("a blog")
    branch.git("checkout", "--quiet", "-B", "change")
    copy_baseline(branch.shop, "blog", "shop")
    branch.commit("copied")

    told = branch.run("shop.ireval.yaml", *FAILS)

    assert told.ret == 1
    assert branch.shop.verdicts()[LOWERING] == "error"
    told.stdout.fnmatch_lines([SAID])


def test_so_is_an_anchor_of_another_suite(two, ireval):
    rule = "  - no_regression: {metric: nDCG@10, tolerance: 5%, against: anchor, name: release}\n"
    two.suite += rule
    two.write()
    assert ireval("baseline", "anchor", "blog.ireval.yaml", "--reason", "1.0").code == 0
    copy_baseline(two, "blog.anchor", "shop.anchor")

    result = two.run("shop.ireval.yaml")

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*baselines/shop.anchor.baseline: is the baseline of suite 'blog.anchor'",
            '*pin again: ireval baseline anchor shop.ireval.yaml --reason "…"',
        ]
    )
