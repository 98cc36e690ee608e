"""Only suites that are affected by what changed take part; nobody takes the others for suites that passed."""

import os
import re
import shutil

import pytest
from monorepo import SUITE, Monorepo, hermetic

IN_ANY_CASE = "takes part whatever changed: "


def test_a_change_concerns_the_suites_that_watch_it(monorepo):
    monorepo.write("search/analyzer.py", "STEMS = False\n")
    monorepo.commit("no stems")
    result = monorepo.run()

    assert result.ret == 0
    result.assert_outcomes(passed=2, deselected=1)
    result.stdout.fnmatch_lines(["not affected by what changed since main: ads (1 suite)"])
    assert monorepo.affected() == {"shop": "search/analyzer.py changed (watches ../search/**)"}
    assert (monorepo.results()["unaffected"], monorepo.results()["changed_since"]) == (["ads"], "main")
    assert monorepo.results()["verdict"] == "pass"


def test_without_the_option_all_take_part(monorepo):
    result = monorepo.run(since=None)

    result.assert_outcomes(passed=4)
    assert monorepo.affected() == {"ads": "", "shop": ""}


def test_a_run_that_concerns_nobody_is_a_pass_that_says_so(monorepo):
    monorepo.write("unrelated.md", "text\n")
    monorepo.commit("docs")
    result = monorepo.run()

    assert result.ret == 0
    result.assert_outcomes(deselected=2)
    result.stdout.fnmatch_lines(
        [
            "not affected by what changed since main: ads, shop (2 suites)",
            "ireval: pass, no suite is affected",
        ]
    )
    result.stdout.no_fnmatch_line("*that is no pass*")
    assert (monorepo.results()["verdict"], monorepo.results()["suites"]) == ("pass", [])


def test_a_failing_python_test_counts_where_no_suite_is_affected(monorepo):
    monorepo.write("suites/test_it.py", "def test_it():\n    assert False\n")

    assert monorepo.run().ret == 1


def test_a_passing_python_test_is_green_where_no_suite_is_affected(monorepo):
    monorepo.write("suites/test_it.py", "def test_it():\n    pass\n")

    assert monorepo.run().ret == 0


def test_an_affected_suite_that_is_deselected_is_no_pass(monorepo):
    monorepo.write("search/analyzer.py", "STEMS = False\n")

    assert monorepo.run("-k", "nothing_is_called_so").ret == 5


def test_a_red_suite_is_red(monorepo):
    monorepo.write("suites/data/run.trec", "q1 Q0 d9 1 9 x\nq2 Q0 d2 1 9 x\nq1 Q0 d8 2 8 x\n")
    monorepo.suite("shop", "watches: ../search/**\n", owner="@search-team", text=SUITE.replace("0.5", "0.9"))
    result = monorepo.run()

    assert result.ret == 1
    result.stdout.fnmatch_lines(["red: @search-team (shop)"])


def test_no_suite_at_all_is_no_pass(monorepo):
    for path in (monorepo.path / "suites").glob("*.yaml"):
        path.unlink()

    assert monorepo.run().ret == 5


def committed(monorepo):
    monorepo.write("search/analyzer.py", "2\n")
    monorepo.commit("second")


def staged(monorepo):
    monorepo.write("search/analyzer.py", "2\n")
    monorepo.git("add", "search/analyzer.py")


def unstaged(monorepo):
    monorepo.write("search/analyzer.py", "2\n")


def deleted(monorepo):
    (monorepo.path / "search/analyzer.py").unlink()
    monorepo.write("search/other.txt", "")
    monorepo.git("add", "--all")
    monorepo.git("reset", "--quiet", "search/other.txt")


@pytest.mark.parametrize("change", [committed, staged, unstaged, deleted])
def test_a_change_counts_wherever_it_is(monorepo, change):
    change(monorepo)
    monorepo.run()

    assert monorepo.affected() == {"shop": "search/analyzer.py changed (watches ../search/**)"}


def test_an_untracked_file_counts_and_an_ignored_one_does_not(monorepo):
    monorepo.write(".git/info/exclude", "*.log\n")
    monorepo.write("ads/run.log", "")
    monorepo.write("search/new.py", "")
    monorepo.run()

    assert monorepo.affected() == {"shop": "search/new.py changed (watches ../search/**)"}


def test_what_python_compiled_is_nobodys_change(monorepo):
    monorepo.write(".gitignore", "ireval-report/\n")
    monorepo.write("search/__pycache__/analyzer.cpython-312.pyc", "")
    result = monorepo.run()

    assert result.ret == 0
    assert monorepo.affected() == {}


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


def test_a_change_that_was_taken_back_is_none(monorepo):
    monorepo.write("search/analyzer.py", "2\n")
    monorepo.commit("second")
    monorepo.write("search/analyzer.py", "STEMS = True\n")
    monorepo.run()

    assert monorepo.affected() == {}


def test_what_happened_on_the_other_branch_is_no_change_of_this_one(monorepo):
    monorepo.git("checkout", "--quiet", "main")
    monorepo.write("ads/bids.py", "FLOOR = 2\n")
    monorepo.commit("of somebody else")
    monorepo.git("checkout", "--quiet", "branch")
    monorepo.write("search/analyzer.py", "2\n")
    monorepo.run()

    assert list(monorepo.affected()) == ["shop"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("with blank.py", "with blank.py"),
        ('with "quotes".py', 'with "quotes".py'),
        ("naïve 検索.py", "naïve 検索.py"),
        ("two\nlines.py", "two\\nlines.py"),
    ],
)
def test_files_may_be_called_anything(monorepo, name, told):
    monorepo.write(f"search/{name}", "")
    monorepo.run()

    assert monorepo.affected() == {"shop": f"search/{told} changed (watches ../search/**)"}


def test_names_that_are_no_text(monorepo):
    (monorepo.path / os.fsdecode(b"search/\xff.py")).write_text("")
    result = monorepo.run("-v")

    assert result.ret == 0
    assert monorepo.affected() == {"shop": "search/?.py changed (watches ../search/**)"}


OWN = {
    "suites/shop.ireval.yaml": "the suite itself",
    "suites/common/all.yaml": "a file that it extends",
    "suites/data/queries.tsv": "its queries",
    "suites/data/judgments.txt": "its judgments",
    "suites/data/aliases.tsv": "its aliases",
    "suites/data/groups.tsv": "its groups of variants",
    "suites/data/run.trec": "its source",
    "suites/data/older.trec": "what it is compared with",
    "suites/conftest.py": "a conftest.py that serves it",
    "conftest.py": "a conftest.py that serves it",
    "suites/baselines/shop.json": "its baseline",
    "suites/baselines/shop.rankings.tsv": "its baseline",
}


@pytest.mark.parametrize(("file", "what"), OWN.items(), ids=OWN)
def test_what_a_suite_is_made_of_needs_no_watching(monorepo, file, what):
    monorepo.write("suites/common/all.yaml", "partial: true\ntags: [shared]\n")
    monorepo.write("suites/data/queries.tsv", "id\ttext\nq1\tone\nq2\ttwo\n")
    monorepo.write("suites/data/aliases.tsv", "from\tto\nd7\td8\n")
    monorepo.write("suites/data/groups.tsv", "document\tgroup\nd7\tg\n")
    shutil.copy(monorepo.path / "suites/data/run.trec", monorepo.path / "suites/data/older.trec")
    monorepo.suite(
        "shop",
        "  - no_regression: {metric: nDCG@10, tolerance: 5%, against: {run: data/older.trec}}\n"
        "extends: common/all.yaml\n"
        "queries: data/queries.tsv\n"
        "documents: {aliases: data/aliases.tsv, collapse: data/groups.tsv}\n"
        "watches: ../search/**\n",
    )
    monorepo.commit("more")
    monorepo.git("branch", "--force", "main")
    path = monorepo.path / file
    monorepo.write(file, path.read_text() + "\n" if path.exists() else "")
    monorepo.run()

    assert monorepo.affected()["shop"] == f"{file} changed ({what})"


def test_the_baseline_of_another_suite_is_none_of_its_own(monorepo):
    monorepo.write("suites/baselines/shop.de.json", "{}")
    monorepo.run()

    assert monorepo.affected() == {}


def test_the_module_of_a_python_source(monorepo):
    source = 'source: {python: "engine.find:search", path: ../search}\n'
    monorepo.suite(
        "shop",
        "watches: /docs/**\n",
        text=SUITE.replace("source: {{run: data/run.trec}}\n", source.replace("{", "{{").replace("}", "}}")),
    )
    monorepo.write("search/engine/find.py", "def search(query_id):\n    return []\n")
    monorepo.write("docs/x.md", "")
    monorepo.commit("python")
    monorepo.git("branch", "--force", "main")
    assert monorepo.run("--collect-only", "-q").ret == 0

    monorepo.write("search/engine/find.py", "def search(query_id):\n    return ['d' + query_id[1:]]\n")
    monorepo.run()
    assert monorepo.affected() == {"shop": "search/engine/find.py changed (its source)"}


@pytest.mark.parametrize(
    "command",
    ["[python3, ../search/find.py]", "[python3, -u, --script=../search/find.py]", "'python3 ../search/find.py | sort'"],
)
def test_files_in_the_command_of_a_source(monorepo, command):
    shell = ", shell: true" if "|" in command else ""
    source = f"source: {{{{command: {command}{shell}}}}}\n"
    monorepo.suite("shop", "watches: /docs/**\n", text=SUITE.replace("source: {{run: data/run.trec}}\n", source))
    monorepo.write("docs/x.md", "")
    monorepo.commit("command")
    monorepo.git("branch", "--force", "main")
    monorepo.write("search/find.py", "raise SystemExit('not written yet')\n")
    monorepo.run()

    assert monorepo.affected() == {"shop": "search/find.py changed (its source)"}


def test_a_file_that_comes_to_fit_the_pattern_of_a_source(monorepo):
    monorepo.suite("shop", "watches: /search/**\n", text=SUITE.replace("data/run.trec", '"data/*.trec"'))
    monorepo.commit("pattern")
    monorepo.git("branch", "--force", "main")
    monorepo.write("suites/data/other.trec", "q3 Q0 d1 1 9 x\n")
    monorepo.run()

    assert monorepo.affected() == {"shop": "suites/data/other.trec changed (its source)"}


def test_a_suite_that_says_not_what_it_watches_takes_part_in_every_run(monorepo):
    monorepo.suite("careful", "")
    monorepo.commit("one more")
    monorepo.git("branch", "--force", "main")
    result = monorepo.run()

    assert monorepo.affected() == {"careful": f"{IN_ANY_CASE}it has no watches"}
    result.stdout.fnmatch_lines([f"{IN_ANY_CASE}it has no watches"])
    assert monorepo.results()["unaffected"] == ["ads", "shop"]


@pytest.mark.parametrize(
    ("watches", "dead"),
    [
        ("[../search/**, ../serach/**]", "../serach/**"),
        ("[../search/**, '!../search']", "../search/**"),
        ("[/search/**, /ireval-report/**]", "/ireval-report/**"),
    ],
)
def test_a_suite_whose_glob_fits_nothing_takes_part_in_every_run(monorepo, watches, dead):
    monorepo.suite("shop", f"watches: {watches}\n")
    monorepo.commit("misspelt")
    monorepo.git("branch", "--force", "main")
    result = monorepo.run()

    reason = f"{IN_ANY_CASE}it watches {dead}, which fits no file that git knows"
    assert monorepo.affected() == {"shop": reason}
    result.stdout.fnmatch_lines([reason.replace("[", "[[]")])


def test_a_glob_that_fits_nothing_is_a_mistake(monorepo, ireval):
    monorepo.suite("shop", "watches: [../search/**, ../serach/**, '!../docs']\n")
    told = ireval("check", "suites")
    assert told.code == 1
    assert told.out == (
        "suites/ads.ireval.yaml: ads: 1 metric, 1 rule\n"
        "suites/shop.ireval.yaml: shop: 1 metric, 1 rule\n"
        "suites/shop.ireval.yaml:9:25: watches\n"
        "  '../serach/**' fits no file that git knows, so the suite takes part whatever changed\n"
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


def test_the_header_says_what_was_held_against(monorepo):
    monorepo.write("search/analyzer.py", "2\n")
    base = monorepo.git("rev-parse", "--short=7", "HEAD")

    monorepo.run().stdout.fnmatch_lines(
        [f"ireval: only suites that a change concerns: 1 file changed since {base}, the merge base with main"]
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


def test_one_verdict_of_a_suite_that_is_not_affected_can_be_named(monorepo):
    result = monorepo.pytester.runpytest(
        "--ireval", "suites/shop.ireval.yaml::threshold::nDCG_10", "--ireval-changed-since", "main"
    )

    assert result.ret == 0
    result.assert_outcomes(deselected=1)


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
    assert sorted(path.name for path in (monorepo.path / "suites/baselines").glob("*.json")) == ["shop.json"]


def refusal(result):
    assert result.ret == 4
    return result.stderr.str().strip().removeprefix("ERROR: ")


@pytest.mark.parametrize(
    ("ref", "hint"),
    [
        (
            "origin/release",
            "\n  git fetch origin +refs/heads/release:refs/remotes/origin/release brings a branch that is not here yet",
        ),
        ("--all", ""),
    ],
)
def test_an_unknown_ref_ends_the_run(monorepo, ref, hint):
    result = monorepo.pytester.runpytest("--ireval", "suites", f"--ireval-changed-since={ref}")

    assert refusal(result) == f"--ireval-changed-since\n  git knows no commit {ref!r} here{hint}"
    assert monorepo.results()["verdict"] == "error"


def test_an_empty_ref_ends_the_run(monorepo):
    result = monorepo.pytester.runpytest("--ireval", "suites", "--ireval-changed-since=")

    assert refusal(result) == "--ireval-changed-since is empty: it names a git ref, such as origin/main"


def test_a_shallow_clone_ends_the_run(pytester, monkeypatch, tmp_path_factory):
    hermetic(monkeypatch, pytester.path)
    monorepo = Monorepo(pytester)
    monorepo.write("search/analyzer.py", "2\n")
    monorepo.commit("second")
    clone = str(tmp_path_factory.mktemp("clone") / "shop")
    monorepo.git("clone", "--quiet", "--depth=1", "--branch=branch", f"file://{monorepo.path}", clone)
    monkeypatch.chdir(clone)
    unknown = refusal(pytester.runpytest("--ireval", "suites", "--ireval-changed-since", "origin/main"))
    assert unknown.startswith(
        "--ireval-changed-since\n  git knows no commit 'origin/main' here, and the clone is shallow\n"
    )
    assert "fetch-depth: 0 of actions/checkout" in unknown

    monorepo.git("-C", clone, "fetch", "--quiet", "--depth=1", "origin", "main:refs/remotes/origin/main")
    unrelated = refusal(pytester.runpytest("--ireval", "suites", "--ireval-changed-since", "origin/main"))
    assert re.match(
        r"--ireval-changed-since\n"
        r"  HEAD and origin/main \(\w{7}\) have no common commit in this clone, which is shallow\n",
        unrelated,
    )
    assert "fetch-depth: 0 of actions/checkout" in unrelated


def test_a_branch_that_is_here_only_as_that_of_origin_is_taken_and_said(monorepo):
    monorepo.git("update-ref", "refs/remotes/origin/release", "main")
    result = monorepo.run(since="release")

    assert result.ret == 0
    result.stdout.fnmatch_lines(["  there is no release here, so origin/release was taken"])


def test_outside_of_a_repository_the_run_ends(monorepo):
    shutil.rmtree(monorepo.path / ".git")

    assert refusal(monorepo.run()) == (
        f"{monorepo.path / 'suites'}\n  lies in no git repository, so nobody knows what changed\n"
        "  run it in a clone, or without --ireval-changed-since"
    )


def test_without_git_the_run_ends(monorepo, monkeypatch):
    monkeypatch.setenv("PATH", "")

    assert refusal(monorepo.run()) == (
        f"{monorepo.path / 'suites'}\n  git cannot be asked: there is no git here: install it where the gate runs"
    )


def test_a_git_that_fails_ends_the_run(monorepo, monkeypatch):
    (monorepo.path / ".git/index").write_bytes(b"no index")

    assert refusal(monorepo.run()).startswith(f"{monorepo.path}\n  git diff failed, so nobody knows what changed: ")


def test_without_the_flag_the_option_is_refused(monorepo):
    result = monorepo.pytester.runpytest("--ireval-changed-since", "main")

    assert refusal(result) == "--ireval-changed-since chooses among suites: say --ireval, too"


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


def test_looking_at_nothing_is_no_failure(monorepo):
    assert monorepo.run("--collect-only").ret == 0
    assert monorepo.run("--collect-only", since=None).ret == 0


def test_suites_behind_a_link(monorepo):
    (monorepo.path / "linked").symlink_to("suites")
    monorepo.commit("link")
    monorepo.git("branch", "--force", "main")
    monorepo.write("suites/data/run.trec", "q1 Q0 d1 1 8 x\nq2 Q0 d2 1 8 x\n")
    monorepo.pytester.runpytest("--ireval", "linked", "--ireval-changed-since", "main")

    assert monorepo.affected() == dict.fromkeys(("ads", "shop"), "suites/data/run.trec changed (its source)")


def test_forty_suites_of_which_a_change_concerns_three(monorepo):
    for path in (monorepo.path / "suites").glob("*.yaml"):
        path.unlink()
    common = SUITE.partition("rules:")[0].replace("suite: {name}\n", "").replace("ireval: 1\n", "partial: true\n")
    monorepo.write("suites/common.yaml", common.format(owner="@search-team").replace("data/", "data/"))
    for team in range(8):
        locales = [f"l{number}" for number in range(5)]
        for locale in locales:
            monorepo.write(f"team{team}/{locale}/rank.py", "1\n")
        monorepo.write(
            f"suites/team{team}.ireval.yaml",
            f"ireval: 1\nsuite: team{team}\nextends: common.yaml\nmatrix: {{locale: [{', '.join(locales)}]}}\n"
            f"watches: '../team{team}/{{locale}}/**'\nrules: [{{threshold: {{nDCG@10: '>= 0.5'}}}}]\n",
        )
    monorepo.commit("forty")
    monorepo.git("branch", "--force", "main")
    monorepo.write("team1/l2/rank.py", "2\n")
    monorepo.write("team1/l4/new.py", "")
    monorepo.write("team7/l0/rank.py", "2\n")
    result = monorepo.run()

    assert result.ret == 0
    result.assert_outcomes(passed=6, deselected=37)
    assert monorepo.affected() == {
        "team1.l2": "team1/l2/rank.py changed (watches ../team1/l2/**)",
        "team1.l4": "team1/l4/new.py changed (watches ../team1/l4/**)",
        "team7.l0": "team7/l0/rank.py changed (watches ../team7/l0/**)",
    }
    assert len(monorepo.results()["unaffected"]) == 37


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


def test_a_parallel_run_that_concerns_nobody_is_a_pass(monorepo):
    result = in_parallel(monorepo)

    assert result.ret == 0
    result.stdout.fnmatch_lines(["ireval: pass, no suite is affected"])


def test_a_parallel_run_from_an_unknown_ref_ends(monorepo):
    result = in_parallel(monorepo, "--ireval-changed-since=nowhere")

    assert result.ret == 4
    assert result.stderr.str().count("git knows no commit 'nowhere' here") == 1


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_that_git_was_told_not_to_look_at_counts(monorepo, bit):
    monorepo.git("update-index", bit, "ads/bids.py")
    monorepo.write("ads/bids.py", "FLOOR = 2\n")

    monorepo.run()

    assert monorepo.affected() == {"ads": "ads/bids.py changed (watches /ads/**)"}


def test_a_file_that_is_not_checked_out_is_no_change(monorepo):
    monorepo.git("update-index", "--skip-worktree", "ads/bids.py")
    (monorepo.path / "ads/bids.py").unlink()

    assert monorepo.run().ret == 0
    assert monorepo.affected() == {}


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("ads/weights.json", "../models/ads.json"),
        ("ads/models", "../models"),
        ("ads/models", "../latest"),
        ("ads/all", ".."),
    ],
)
def test_a_change_is_seen_through_links_in_what_is_watched(monorepo, link, target):
    monorepo.write("models/ads.json", "1\n")
    (monorepo.path / "latest").symlink_to("models")
    (monorepo.path / link).symlink_to(target)
    monorepo.commit("links")
    monorepo.git("branch", "--force", "main")
    monorepo.write("models/ads.json", "2\n")

    monorepo.run()

    assert monorepo.affected() == {"ads": "models/ads.json changed (watches /ads/**)"}


def test_a_link_on_the_way_that_leads_elsewhere_now_is_a_change(monorepo):
    monorepo.write("runs/1.trec", "q1 Q0 d1 1 9 x\nq2 Q0 d2 1 9 x\n")
    monorepo.write("runs/2.trec", "q1 Q0 d1 1 8 x\nq2 Q0 d2 1 8 x\n")
    (monorepo.path / "runs/newest").symlink_to("1.trec")
    (monorepo.path / "suites/data/run.trec").unlink()
    (monorepo.path / "suites/data/run.trec").symlink_to("../../runs/newest")
    monorepo.commit("links")
    monorepo.git("branch", "--force", "main")
    (monorepo.path / "runs/newest").unlink()
    (monorepo.path / "runs/newest").symlink_to("2.trec")

    monorepo.run()

    assert set(monorepo.affected()) == {"shop", "ads"}


def test_a_change_beside_what_a_suite_names_through_a_link_does_not_concern_it(monorepo):
    (monorepo.path / "suites/data").rename(monorepo.path / "shared")
    (monorepo.path / "suites/data").symlink_to("../shared")
    monorepo.commit("link")
    monorepo.git("branch", "--force", "main")
    monorepo.write("shared/other.txt", "1\n")

    assert monorepo.run().ret == 0
    assert monorepo.affected() == {}


def test_links_that_lead_in_circles_are_followed_for_a_while(monorepo):
    monorepo.write("models/ads.json", "1\n")
    (monorepo.path / "models/self").symlink_to(".")
    (monorepo.path / "models/top").symlink_to("..")
    (monorepo.path / "ads/models").symlink_to("../models/self/top/models/self")
    monorepo.commit("links")
    monorepo.git("branch", "--force", "main")
    monorepo.write("models/ads.json", "2\n")

    monorepo.run()

    assert set(monorepo.affected()) == {"ads"}


@pytest.mark.parametrize("place", ["acme_search_plugin.py", "acme_search_plugin/scores.py"])
def test_a_plugin_that_lies_in_the_repository_concerns_all(monorepo, monkeypatch, place):
    plugin = "from pytest_ireval import hookimpl\n\n\n@hookimpl\ndef ireval_metrics():\n    return []\n"
    monorepo.write(place, "")
    monorepo.write("acme_search_plugin/__init__.py" if "/" in place else place, plugin)
    monorepo.commit("plugin")
    monorepo.git("branch", "--force", "main")
    monkeypatch.syspath_prepend(monorepo.path)
    assert monorepo.run("-p", "acme_search_plugin").ret == 0
    assert monorepo.affected() == {}

    monorepo.write(place, f"{plugin}# other\n")
    monorepo.run("-p", "acme_search_plugin")

    assert monorepo.affected() == dict.fromkeys(("ads", "shop"), f"{place} changed (a plugin of the run)")
