"""Only suites that are affected by what changed take part; nobody takes the others for suites that passed."""

import os

import pytest
from monorepo import SUITE

pytestmark = pytest.mark.ci

IN_ANY_CASE = "takes part whatever changed: "


def test_a_change_concerns_the_suites_that_watch_it(monorepo):
    monorepo.write("search/analyzer.py", "STEMS = False\n")
    monorepo.commit("no stems")
    base = monorepo.git("rev-parse", "--short=7", "main")
    result = monorepo.run()

    assert result.ret == 0
    result.assert_outcomes(passed=2, deselected=1)
    result.stdout.fnmatch_lines(
        [
            f"ireval: only suites affected by a change: 1 file changed since {base}, the merge base with main",
            "not affected by what changed since main: ads (1 suite)",
        ]
    )
    assert monorepo.affected() == {"shop": "search/analyzer.py changed (watches ../search/**)"}
    assert (monorepo.results()["unaffected"], monorepo.results()["changed_since"]) == (["ads"], "main")
    assert monorepo.results()["verdict"] == "pass"

    monorepo.run(since=None).assert_outcomes(passed=4)
    assert monorepo.affected() == {"ads": "", "shop": ""}


def test_a_run_that_concerns_nobody_is_a_pass_that_says_so(monorepo):
    monorepo.write("unrelated.md", "text\n")
    monorepo.commit("docs")
    result = monorepo.run()

    assert result.ret == 0
    result.assert_outcomes(deselected=2)
    result.stdout.fnmatch_lines(
        ["not affected by what changed since main: ads, shop (2 suites)", "ireval: pass, no suite is affected"]
    )
    result.stdout.no_fnmatch_line("*does not count as a pass*")
    assert (monorepo.results()["verdict"], monorepo.results()["suites"]) == ("pass", [])


def test_a_python_test_counts_where_no_suite_is_affected(monorepo):
    for name, code, ret in (("test_passing", "pass", 0), ("test_failing", "assert False", 1)):
        monorepo.write(f"suites/{name}.py", f"def test_it():\n    {code}\n")

        assert monorepo.run().ret == ret


def test_an_affected_suite_that_is_deselected_is_no_pass(monorepo):
    monorepo.write("search/analyzer.py", "STEMS = False\n")

    assert monorepo.run("-k", "nothing_is_called_so").ret == 5


def test_no_suite_at_all_is_no_pass(monorepo):
    for path in (monorepo.path / "suites").glob("*.yaml"):
        path.unlink()

    assert monorepo.run().ret == 5


def test_a_change_counts_wherever_it_is_and_one_that_was_taken_back_does_not(monorepo):
    def find_affected():
        monorepo.run()
        return monorepo.affected()

    concerns = {"shop": "search/analyzer.py changed (watches ../search/**)"}
    monorepo.write("search/analyzer.py", "2\n")
    assert find_affected() == concerns
    monorepo.git("add", "search/analyzer.py")
    assert find_affected() == concerns
    monorepo.commit("second")
    assert find_affected() == concerns
    monorepo.write("search/analyzer.py", "STEMS = True\n")
    assert find_affected() == {}
    (monorepo.path / "search/analyzer.py").unlink()
    assert find_affected() == concerns


def test_an_untracked_file_counts_and_an_ignored_or_compiled_one_does_not(monorepo):
    monorepo.write(".gitignore", "ireval-report/\n")
    monorepo.write(".git/info/exclude", "*.log\n")
    monorepo.write("ads/run.log", "")
    monorepo.write("search/__pycache__/analyzer.cpython-312.pyc", "")
    monorepo.run()
    assert monorepo.affected() == {}

    monorepo.write("search/new.py", "")
    monorepo.run()
    assert monorepo.affected() == {"shop": "search/new.py changed (watches ../search/**)"}


@pytest.mark.parametrize(
    ("name", "shown"),
    [('naïve "検索".py', 'naïve "検索".py'), ("two\nlines.py", "two\\nlines.py"), (os.fsdecode(b"\xff.py"), "?.py")],
)
def test_files_may_be_called_anything(monorepo, name, shown):
    (monorepo.path / "search" / name).write_text("")
    monorepo.run()

    assert monorepo.affected() == {"shop": f"search/{shown} changed (watches ../search/**)"}


def test_both_names_of_a_file_that_moved_count(monorepo):
    monorepo.write("keep/analyzer.py", "x\n" * 50)
    monorepo.write("search/moving.py", "y\n" * 50)
    monorepo.commit("both")
    monorepo.git("branch", "--force", "main")
    monorepo.git("mv", "search/moving.py", "keep/moving.py")
    monorepo.commit("out")
    monorepo.run()
    assert monorepo.affected() == {"shop": "search/moving.py changed (watches ../search/**)"}

    monorepo.git("branch", "--force", "main")
    monorepo.git("mv", "keep/analyzer.py", "ads/analyzer.py")
    monorepo.run()
    assert monorepo.affected() == {"ads": "ads/analyzer.py changed (watches /ads/**)"}


def test_what_happened_on_the_other_branch_is_no_change_of_this_one(monorepo):
    monorepo.git("checkout", "--quiet", "main")
    monorepo.write("ads/bids.py", "FLOOR = 2\n")
    monorepo.commit("of somebody else")
    monorepo.git("checkout", "--quiet", "branch")
    monorepo.write("search/analyzer.py", "2\n")
    monorepo.run()

    assert list(monorepo.affected()) == ["shop"]


def test_a_glob_that_fits_nothing_is_a_mistake(monorepo, ireval):
    monorepo.suite("shop", "watches: [../search/**, ../serach/**, '!../docs']\n")
    told = ireval("check", "suites")
    assert told.code == 1
    assert told.out == (
        "suites/ads.ireval.yaml: ads: 1 metric, 1 rule\n"
        "suites/shop.ireval.yaml: shop: 1 metric, 1 rule\n"
        "suites/shop.ireval.yaml:9:25: watches\n"
        "  '../serach/**' matches no file that git knows, so the suite takes part whatever changed\n"
        "  a glob is relative to the file it is written in; / at its beginning is the top of the repository\n"
        "1 mistake\n"
    )


def test_with_v_everybody_is_told_why(monorepo):
    monorepo.suite("careful", "")
    monorepo.write("search/analyzer.py", "2\n")
    monorepo.git("add", "suites")
    monorepo.git("commit", "--quiet", "-m", "one more")
    result = monorepo.run("-v")

    result.stdout.fnmatch_lines(
        [
            "affected by what changed since main:",
            f"careful: {IN_ANY_CASE}it has no watches",
            "shop: search/analyzer.py changed (watches ../search/[*][*])",
            "not affected by what changed since main: ads (1 suite)",
        ]
    )


def test_no_file_of_a_suite_that_takes_no_part_is_read(monorepo):
    rules = "  - threshold: {metric: nDCG@10, per: segment, min: 0.1}\n"
    monorepo.suite("shop", f"{rules}queries: data/broken.tsv\nwatches: ../search/**\n")
    monorepo.write("suites/data/broken.tsv", "no queries at all\n")
    monorepo.commit("broken")
    monorepo.git("branch", "--force", "main")

    assert monorepo.run().ret == 0
    monorepo.write("search/analyzer.py", "2\n")
    assert monorepo.run().ret == 2


def test_a_broken_suite_is_an_error_whatever_changed(monorepo):
    monorepo.suite("shop", "watches: ''\n")
    monorepo.commit("broken")
    monorepo.git("branch", "--force", "main")

    assert monorepo.run().ret == 2
    assert monorepo.results()["verdict"] == "error"


def test_an_update_leaves_others_as_they_are(monorepo):
    monorepo.write("search/analyzer.py", "2\n")
    result = monorepo.run("--ireval-update-new")

    assert result.ret == 0
    result.stdout.fnmatch_lines(["ads: not part of this run, left as it is"])
    assert sorted(path.name for path in (monorepo.path / "suites/baselines").glob("*.baseline")) == ["shop.baseline"]


def test_a_submodule_that_moved_on_is_a_change_of_all_that_is_in_it(monorepo, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    monorepo.git("init", "--quiet", str(other))
    (other / "model.py").write_text("1\n")
    monorepo.git("-C", str(other), "add", ".")
    monorepo.git("-C", str(other), "commit", "--quiet", "-m", "model")
    monorepo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "vendor/search")
    monorepo.suite("shop", "watches: /vendor/search/*.py\n")
    monorepo.commit("vendor")
    monorepo.git("branch", "--force", "main")
    assert monorepo.run().ret == 0
    assert monorepo.affected() == {}

    (monorepo.path / "vendor/search/model.py").write_text("2\n")
    monorepo.run()
    assert monorepo.affected() == {"shop": "vendor/search changed (watches /vendor/search/*.py)"}


def test_suites_of_a_matrix_of_which_a_change_concerns_some(monorepo):
    for path in (monorepo.path / "suites").glob("*.yaml"):
        path.unlink()
    common = SUITE.partition("rules:")[0].replace("suite: {name}\n", "").replace("ireval: 1\n", "")
    monorepo.write("suites/_common.yaml", common.format(owner="@search-team"))
    for team in range(3):
        locales = [f"l{number}" for number in range(5)]
        for locale in locales:
            monorepo.write(f"team{team}/{locale}/rank.py", "1\n")
        monorepo.write(
            f"suites/team{team}.ireval.yaml",
            f"ireval: 1\nsuite: team{team}\nextends: _common.yaml\nmatrix: {{locale: [{', '.join(locales)}]}}\n"
            f"watches: '../team{team}/{{locale}}/**'\nrules: [{{threshold: {{nDCG@10: '>= 0.5'}}}}]\n",
        )
    monorepo.commit("fifteen")
    monorepo.git("branch", "--force", "main")
    monorepo.write("team1/l2/rank.py", "2\n")
    monorepo.write("team1/l4/new.py", "")
    result = monorepo.run()

    assert result.ret == 0
    result.assert_outcomes(passed=4, deselected=13)
    assert monorepo.affected() == {
        "team1.l2": "team1/l2/rank.py changed (watches ../team1/l2/**)",
        "team1.l4": "team1/l4/new.py changed (watches ../team1/l4/**)",
    }
    assert len(monorepo.results()["unaffected"]) == 13


def in_parallel(monorepo, *arguments):
    pytest.importorskip("xdist")
    return monorepo.pytester.runpytest_subprocess(
        "--ireval", "suites", "--ireval-changed-since", "main", "-n", "2", *arguments
    )


def test_workers_choose_the_same_suites(monorepo):
    monorepo.suite("careful", "")
    monorepo.commit("one more")
    monorepo.git("branch", "--force", "main")
    monorepo.write("search/analyzer.py", "2\n")
    result = in_parallel(monorepo)

    assert result.ret == 0
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["not affected by what changed since main: ads (1 suite)"])
    assert monorepo.affected() == {
        "careful": f"{IN_ANY_CASE}it has no watches",
        "shop": "search/analyzer.py changed (watches ../search/**)",
    }
    assert monorepo.results()["unaffected"] == ["ads"]


def test_a_parallel_run_from_an_unknown_ref_ends(monorepo):
    result = in_parallel(monorepo, "--ireval-changed-since=nowhere")

    assert result.ret == 4
    assert result.stderr.str().count("git does not know the commit 'nowhere' here") == 1
