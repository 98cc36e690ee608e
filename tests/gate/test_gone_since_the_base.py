"""With a base, suites that are gone are named; a submodule that is absent always is."""

import subprocess

import pytest
from monorepo import Monorepo, hermetic

pytestmark = pytest.mark.ci

FAILS = ("-o", "ireval_baseline_lowering=fail")
BOTH = pytest.mark.parametrize("option", ["--ireval-base=main", "--ireval-changed-since=main"])


@pytest.fixture
def repo(pytester, monkeypatch):
    hermetic(monkeypatch, pytester.path)
    return Monorepo(pytester)


def warnings(repo, *arguments):
    """What is said of the run, which is green."""
    result = repo.run(*arguments, since=None)
    assert result.ret == 0, result.stdout.str()
    assert repo.results()["verdict"] == "pass"
    said = " ".join(result.stdout.str().split())
    for each in repo.results()["warnings"]:
        assert f"warning: {each}" in said
    return repo.results()["warnings"]


def gone(repo, what):
    base = repo.git("merge-base", "HEAD", "main")[:7]
    return f"{what} is missing; it existed at {base}, the merge base with main"


def removed(repo):
    repo.git("rm", "-q", "suites/ads.ireval.yaml")


def deleted(repo):
    (repo.path / "suites/ads.ireval.yaml").unlink()


def in_capitals(repo):
    repo.git("mv", "suites/ads.ireval.yaml", "suites/ads.ireval.YAML")


def in_build(repo):
    (repo.path / "suites/build").mkdir()
    repo.git("mv", "suites/ads.ireval.yaml", "suites/build/ads.ireval.yaml")


def shared(repo):
    repo.git("mv", "suites/ads.ireval.yaml", "suites/_ads.ireval.yaml")


@BOTH
@pytest.mark.parametrize("way", [removed, deleted, in_capitals, in_build, shared], ids=lambda way: way.__name__)
def test_a_suite_that_is_gone_is_named(repo, way, option):
    way(repo)

    assert warnings(repo, option) == [gone(repo, "suite ads (suites/ads.ireval.yaml)")]
    summary = (repo.path / "ireval-report/summary.md").read_text()
    assert "is missing; it existed at" in summary.splitlines()[1]  # beside the verdict
    assert "is missing; it existed at" in (repo.path / "ireval-report/index.html").read_text()


def test_it_fails_where_a_lowered_baseline_does(repo):
    removed(repo)

    result = repo.run("--ireval-base=main", *FAILS, since=None)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert repo.results()["problems"] == [gone(repo, "suite ads (suites/ads.ireval.yaml)")]


def test_a_value_of_a_matrix_that_is_gone(repo):
    repo.git("checkout", "--quiet", "main")
    repo.suite("ads", 'matrix: {locale: [de, fr]}\nowner: "@{locale}"\n')
    repo.write("suites/ads.ireval.yaml", (repo.path / "suites/ads.ireval.yaml").read_text().replace('owner: ""\n', ""))
    repo.commit("two locales")
    repo.git("checkout", "--quiet", "-B", "branch")
    text = (repo.path / "suites/ads.ireval.yaml").read_text()
    repo.write("suites/ads.ireval.yaml", text.replace("[de, fr]", "[de]"))

    assert warnings(repo, "--ireval-base=main") == [gone(repo, "suite ads.fr (suites/ads.ireval.yaml)")]


def moved(repo):
    (repo.path / "suites/ads").mkdir()
    repo.git("mv", "suites/ads.ireval.yaml", "suites/ads/ads.ireval.yaml")
    text = (repo.path / "suites/ads/ads.ireval.yaml").read_text()
    repo.write("suites/ads/ads.ireval.yaml", text.replace("data/", "../data/"))


def renamed(repo):
    text = (repo.path / "suites/ads.ireval.yaml").read_text()
    repo.write("suites/ads.ireval.yaml", text.replace("suite: ads", "suite: adverts"))


def more(repo):
    repo.suite("blog")


def changed(repo):
    repo.write(
        "suites/ads.ireval.yaml", (repo.path / "suites/ads.ireval.yaml").read_text().replace("depth: 10", "depth: 50")
    )


def another_file(repo):
    repo.git("rm", "-q", "ads/bids.py")
    repo.write("suites/notes.yaml", "a: 1\n")
    repo.commit("notes")
    repo.git("rm", "-q", "suites/notes.yaml")


@pytest.mark.ci
@BOTH
@pytest.mark.parametrize("way", [moved, renamed, more, changed, another_file], ids=lambda way: way.__name__)
def test_nothing_is_gone(repo, way, option):
    way(repo)

    assert warnings(repo, option) == []


def test_outside_of_what_was_asked_for_nothing_is_missed(repo):
    removed(repo)

    result = repo.pytester.runpytest("--ireval", "suites/shop.ireval.yaml", "--ireval-base=main")
    assert result.ret == 0
    assert repo.results()["warnings"] == []


def test_a_selection_does_not_hide_what_is_gone(repo):
    removed(repo)

    assert warnings(repo, "--ireval-base=main", "-k", "shop") == [gone(repo, "suite ads (suites/ads.ireval.yaml)")]


@pytest.fixture
def submodule(repo, tmp_path_factory):
    """A repository of suites inside of the other one, that is not checked out."""
    other = tmp_path_factory.mktemp("others")
    subprocess.run(["git", "init", "--quiet", str(other)], check=True)
    (other / "readme").write_text("suites of others")
    subprocess.run(["git", "-C", str(other), "add", "--all"], check=True)
    subprocess.run(["git", "-C", str(other), "commit", "--quiet", "-m", "first"], check=True)
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "suites/others")
    repo.commit("a submodule")
    repo.git("submodule", "deinit", "--quiet", "--force", "suites/others")
    return repo


ABSENT = (
    "suites/others: this submodule is not checked out, and it may contain suites: git submodule update "
    "--init suites/others"
)


def test_a_submodule_that_is_not_there_is_no_pass(submodule):
    result = submodule.run(since=None)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert submodule.results()["problems"] == [ABSENT]


def test_who_runs_the_whole_repository_is_told_of_it(submodule):
    result = submodule.pytester.runpytest("--ireval", "-p", "no:cacheprovider")

    assert result.ret == 0
    assert submodule.results()["warnings"] == [ABSENT]


def test_a_submodule_that_is_there_or_elsewhere_is_fine(submodule):
    submodule.git("mv", "suites/others", "others")
    submodule.commit("elsewhere")
    assert warnings(submodule) == []

    submodule.git("mv", "others", "suites/others")
    submodule.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
    assert warnings(submodule) == []
