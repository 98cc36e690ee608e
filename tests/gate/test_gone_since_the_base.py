"""With a base, suites that are gone are named; a submodule that is absent always is."""

import pytest
from git_repository import commit_all, run_git

pytestmark = pytest.mark.ci

ADS = "suites/ads.ireval.yaml"


def collect_warnings(repo, *arguments):
    """Run all suites, which is green."""
    result = repo.run(*arguments, since=None)
    assert result.ret == 0, result.stdout.str()
    assert repo.results()["verdict"] == "pass"
    said = " ".join(result.stdout.str().split())
    assert all(f"warning: {warning}" in said for warning in repo.results()["warnings"])
    return repo.results()["warnings"]


def name_missing(repo, suite="ads"):
    base = repo.git("merge-base", "HEAD", "main")[:7]
    return f"suite {suite} ({ADS}) is missing; it existed at {base}, the merge base with main"


def delete(repo):
    (repo.path / ADS).unlink()


def move(target):
    def move_suite(repo):
        (repo.path / target).parent.mkdir(exist_ok=True)
        repo.git("mv", ADS, target)

    return move_suite


@pytest.mark.parametrize(
    ("change", "option"),
    [
        (delete, "--ireval-changed-since=main"),
        (move("suites/ads.ireval.YAML"), "--ireval-base=main"),
        (move("suites/build/ads.ireval.yaml"), "--ireval-base=main"),
        (move("suites/_ads.ireval.yaml"), "--ireval-base=main"),
    ],
    ids=["deleted", "in capitals", "in a folder that pytest passes over", "a file of shared keys"],
)
def test_a_suite_that_is_gone_is_named(monorepo, change, option):
    change(monorepo)

    assert collect_warnings(monorepo, option) == [name_missing(monorepo)]
    summary = (monorepo.path / "ireval-report/summary.md").read_text()
    assert "is missing; it existed at" in summary.splitlines()[1]  # beside the verdict


def test_it_is_red_where_a_lowered_baseline_is_and_missed_only_where_it_was_asked_for(monorepo):
    monorepo.git("rm", "-q", ADS)

    assert collect_warnings(monorepo, "--ireval-base=main", "-k", "shop") == [name_missing(monorepo)]
    elsewhere = monorepo.pytester.runpytest("--ireval", "suites/shop.ireval.yaml", "--ireval-base=main")
    assert (elsewhere.ret, monorepo.results()["warnings"]) == (0, [])
    red = monorepo.run("--ireval-base=main", "-o", "ireval_baseline_lowering=fail", since=None)
    assert red.ret == pytest.ExitCode.TESTS_FAILED
    assert monorepo.results()["problems"] == [name_missing(monorepo)]


def test_a_value_of_a_matrix_that_is_gone(monorepo):
    monorepo.git("checkout", "--quiet", "main")
    monorepo.suite("ads", "matrix: {locale: [de, fr]}\n", owner="@{locale}")
    monorepo.commit("two locales")
    monorepo.git("checkout", "--quiet", "-B", "branch")
    text = (monorepo.path / ADS).read_text()
    monorepo.write(ADS, text.replace("[de, fr]", "[de]"))

    assert collect_warnings(monorepo, "--ireval-base=main") == [name_missing(monorepo, "ads.fr")]


def move_with_its_paths(repo):
    move("suites/ads/ads.ireval.yaml")(repo)
    text = (repo.path / "suites/ads/ads.ireval.yaml").read_text()
    repo.write("suites/ads/ads.ireval.yaml", text.replace("data/", "../data/"))


def rename(repo):
    repo.write(ADS, (repo.path / ADS).read_text().replace("suite: ads", "suite: adverts"))


def change_and_add(repo):
    """A suite is changed, another one is new, and a file that is no suite is gone."""
    repo.suite("blog")
    repo.write(ADS, (repo.path / ADS).read_text().replace("depth: 10", "depth: 50"))
    repo.git("rm", "-q", "ads/bids.py")


@pytest.mark.parametrize("change", [move_with_its_paths, rename, change_and_add])
def test_a_suite_that_moved_or_changed_is_not_gone(monorepo, change):
    change(monorepo)

    assert collect_warnings(monorepo, "--ireval-base=main") == []
    assert collect_warnings(monorepo, "--ireval-changed-since=main") == []


@pytest.fixture
def submodule(monorepo, tmp_path_factory):
    """A repository of suites inside of the other one, that is not checked out."""
    other = tmp_path_factory.mktemp("others")
    run_git(other, "init", "--quiet")
    (other / "readme").write_text("suites of others")
    commit_all(other, "first")
    monorepo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "suites/others")
    monorepo.commit("a submodule")
    monorepo.git("submodule", "deinit", "--quiet", "--force", "suites/others")
    return monorepo


ABSENT = (
    "suites/others: this submodule is not checked out, and it may contain suites: git submodule update "
    "--init suites/others"
)


def test_a_submodule_that_is_not_there_is_no_pass_and_in_a_run_of_the_whole_repository_a_warning(submodule):
    red = submodule.run(since=None)

    assert (red.ret, submodule.results()["problems"]) == (pytest.ExitCode.TESTS_FAILED, [ABSENT])
    whole = submodule.pytester.runpytest("--ireval", "-p", "no:cacheprovider")
    assert (whole.ret, submodule.results()["warnings"]) == (0, [ABSENT])


def test_a_submodule_that_is_there_or_elsewhere_is_fine(submodule):
    submodule.git("mv", "suites/others", "others")
    submodule.commit("elsewhere")
    assert collect_warnings(submodule) == []

    submodule.git("mv", "others", "suites/others")
    submodule.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
    assert collect_warnings(submodule) == []
