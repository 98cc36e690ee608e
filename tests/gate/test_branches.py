"""A branch that lowers its own baseline: held against the one where the branch began, reported or failed."""

import json
import shlex
import shutil
import subprocess

import pytest

from pytest_ireval import load_suite, run_gate
from pytest_ireval.plugins.conftests import Conftests

LOWERING = "lowering"
REASON = "synonyms v2"


class Branch:
    """The shop in a repository: ``main`` has its first baseline, ``change`` is checked out."""

    def __init__(self, shop):
        self.shop, self.path = shop, shop.path
        self.git("init", "--quiet", "--initial-branch=main")
        (self.path / ".gitignore").write_text("ireval-report/\n__pycache__/\n")
        shop.accept()
        self.base = self.commit("the first baseline")[:7]
        self.git("checkout", "--quiet", "-b", "change")
        self.commit("begun")

    def git(self, *arguments, check=True):
        done = subprocess.run(["git", *arguments], cwd=self.path, check=False, capture_output=True, text=True)
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self, message):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def rank(self, **lists):
        """Documents of some queries, by their ends: ``q10="n1 d0"``."""
        for query, ends in lists.items():
            self.shop.rankings[query] = [f"{query}-{end}" for end in ends.split()]
        self.shop.write()

    def accept(self, *more, **lists):
        """Rank otherwise, accept and commit that."""
        self.rank(**lists)
        self.accepted = self.commit("another ranking")[:7]
        result = self.shop.run("--ireval-update", "--ireval-reason", REASON, *more)
        assert self.shop.results()["accepted"], result.stdout.str()
        self.commit("accepted")

    def run(self, *arguments, base="main"):
        return self.shop.run("--ireval-base", base, *arguments)

    def outcome(self, *arguments, base="main"):
        """Of the check, as a mapping."""
        self.said = self.run(*arguments, base=base)
        (suite,) = self.shop.results()["suites"]
        return {each["id"]: each for each in suite["outcomes"]}[LOWERING]


@pytest.fixture
def branch(shop, monkeypatch):
    if shutil.which("git") is None:
        pytest.skip("needs git")
    for name, value in {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": "2026-11-01T00:00:00Z"}.items():
        monkeypatch.setenv(f"GIT_AUTHOR_{name}", value)
        monkeypatch.setenv(f"GIT_COMMITTER_{name}", value)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(shop.path / "none"))
    monkeypatch.setenv("GIT_EDITOR", "true")
    return Branch(shop)


WORSE = {"q10": "n1 n2 n3"}
FAILS = ("-o", "ireval_baseline_lowering=fail")


def test_a_lowered_baseline_is_reported_with_figures_and_who_accepted_it(branch):
    branch.accept(**WORSE)

    found = branch.outcome()

    assert branch.said.ret == 0
    assert (found["verdict"], found["warning"]) == ("pass", True)
    assert found["headline"] == ("the branch lowers its baseline: nDCG@10 1.0000 -> 0.7500 on segment=tail, and 1 more")
    assert found["sentence"] == (
        f"Baseline is what was accepted at {branch.base}, the merge base with main; now is what this branch has "
        "accepted."
    )
    assert [(each["slice"], each["baseline"], each["now"], each["over"]) for each in found["figures"]] == [
        ("segment=tail", 1.0, 0.75, True),
        ("all", 1.0, 0.9, True),
    ]
    assert [(each["query"], each["baseline"], each["now"]) for each in found["queries"]] == [("q10", 1.0, 0.0)]
    assert found["facts"] == [f"accepted 2026-11-18 {branch.accepted}: {REASON}"]
    assert found["line"] == 1
    assert branch.shop.results()["base"] == "main"
    shown = " ".join(branch.said.stdout.str().split())
    assert "lowers its baseline: nDCG@10 1.0000 -> 0.7500 on segment=tail, and 1 more (accepted 2026-11-18" in shown


def test_a_lowered_baseline_fails_if_the_ini_file_says_so(branch):
    branch.accept(**WORSE)

    found = branch.outcome(*FAILS)

    assert branch.said.ret == pytest.ExitCode.TESTS_FAILED
    assert (found["verdict"], found["warning"]) == ("fail", False)
    branch.said.stdout.fnmatch_lines(
        [
            "shop.ireval.yaml:1: the branch lowers its baseline: nDCG@10 1.0000 -> 0.7500 on segment=tail, and 1 more",
            f"Baseline is what was accepted at {branch.base}, the merge base with main; now is what this branch has",
            "accepted. Owner @search-team.",
            "",
            "                 baseline     now * change * queries   worse / better / same",
            "  segment=tail     1.0000  0.7500 * -0.2500 * -25.0% *  4   1 / 0 / 3 * <- breaks the rule",
            "  all              1.0000  0.9000 * -0.1000 * -10.0% * 10   1 / 0 / 9 * <- breaks the rule",
            f"  accepted 2026-11-18 {branch.accepted}: {REASON}",
            "",
            "  worst by nDCG@10 *",
            '  q10 "words 10" * 1.000 -> 0.000 * q10-d0 (grade 3) #1 *',
        ]
    )
    assert "  accept: " not in branch.said.stdout.str()


def test_a_branch_that_accepts_something_better_lowers_nothing(branch):
    branch.git("checkout", "--quiet", "main")
    branch.accept(q10="d3 d1 d0", q09="d1 d0")
    base = branch.git("rev-parse", "--short=7", "HEAD")
    branch.git("checkout", "--quiet", "-B", "change")
    branch.accept(q10="d0 d1 d2", q09="d1 d0")

    found = branch.outcome(*FAILS)

    assert (found["verdict"], found["warning"]) == ("pass", False)
    assert found["headline"] == (
        f"the branch lowers nothing of the baseline at {base}, the merge base with main: "
        "nDCG@10 0.9397 -> 0.9817 on all"
    )


def test_a_branch_that_accepts_nothing_has_the_baseline_of_the_base(branch):
    found = branch.outcome(*FAILS)

    assert (found["verdict"], found["warning"], found["facts"]) == ("pass", False, [])
    assert found["headline"] == (
        f"the baseline is the one of {branch.base}, the merge base with main: nDCG@10 1.0000 on all"
    )


def test_what_the_source_ranks_now_has_nothing_to_do_with_it(branch):
    branch.rank(**WORSE)

    assert branch.outcome(*FAILS)["verdict"] == "pass"
    assert branch.shop.verdicts()["no_regression::nDCG_10.all"] == "fail"


def test_what_another_branch_accepted_since_is_not_this_branch_s(branch):
    branch.git("checkout", "--quiet", "main")
    branch.accept(**WORSE)
    branch.git("checkout", "--quiet", "change")
    branch.rank(q10="d0 d1 d2 d3")

    assert branch.outcome(*FAILS)["verdict"] == "pass"


def test_a_slice_that_falls_while_the_whole_rises(branch):
    branch.git("checkout", "--quiet", "main")
    branch.accept(q02="d3 n1 n2 d0", q03="d3 n1 n2 d0")
    branch.git("checkout", "--quiet", "-B", "change")
    branch.accept(q02="d0 d1 d2 d3", q03="d0 d1 d2 d3", q10="d1 d0 d2 d3")

    found = branch.outcome()

    assert found["headline"].startswith("the branch lowers its baseline: nDCG@10 1.0000 -> 0.9")
    assert found["headline"].endswith(" on segment=tail")
    assert [(each["slice"], each["over"]) for each in found["figures"]] == [("segment=tail", True), ("all", False)]


LOWER = """
from pytest_ireval import hookimpl, per_query_metric

@per_query_metric(name="Wait", range=(0, 10), direction="lower", empty=10.0, no_relevant=0.0)
def wait(ranking):
    '''The place of the first relevant document.'''
    return float(next((i for i, grade in enumerate(ranking.grades) if grade > 0), 10))

@hookimpl
def ireval_metrics():
    return [wait]
"""


@pytest.mark.parametrize(("lists", "moved"), [("n1 d0", "0.1000 -> 0.2000"), ("d0", "")])
def test_a_metric_of_which_less_is_better(branch, lists, moved):
    branch.git("checkout", "--quiet", "main")
    (branch.path / "conftest.py").write_text(LOWER)
    branch.shop.change(("metrics: [nDCG@10, P@3]", "metrics: [Wait]"))
    branch.shop.change(
        (branch.shop.suite.partition("rules:\n")[2], "  - no_regression: {metric: Wait, tolerance: 5%}\n")
    )
    branch.accept(q09="n1 d0")
    branch.git("checkout", "--quiet", "-B", "change")
    branch.accept(q09="n1 d0" if moved else "d0", q10=lists)

    found = branch.outcome()

    assert found["warning"] is bool(moved)
    if moved:
        assert found["headline"] == f"the branch lowers its baseline: Wait {moved} on all"


def test_both_are_scored_under_the_judgments_of_now(branch):
    branch.shop.judgments["q10"] = {"q10-n1": 3}
    branch.accept(**WORSE)

    assert branch.outcome(*FAILS)["verdict"] == "pass"


def test_several_metrics_are_told_apart(branch):
    branch.shop.change(("  - worsened", "  - no_regression: {metric: P@3, tolerance: 5%}\n  - worsened"))
    branch.commit("another rule")
    branch.accept(**WORSE)

    found = branch.outcome()

    assert {each["slice"] for each in found["figures"]} == {"nDCG@10 segment=tail", "nDCG@10 all", "P@3 all"}
    assert found["facts"][1] == "changed since then, so rules may be others: shop.ireval.yaml"


def test_the_check_is_one_of_the_suite_and_runs_alone(branch):
    listed = branch.run("--co", "-q").outlines
    assert "shop.ireval.yaml::lowering" in listed

    branch.run("shop.ireval.yaml::lowering").assert_outcomes(passed=1)
    assert "shop.ireval.yaml::lowering" not in branch.shop.run("--co", "-q").outlines


@pytest.mark.parametrize(
    "rule",
    ['threshold: {nDCG@10: ">= 0.5"}', "no_regression: {metric: nDCG@10, tolerance: 5%, against: {run: rankings.txt}}"],
)
def test_a_suite_that_compares_with_no_stored_baseline_has_no_such_check(branch, rule):
    branch.shop.change((branch.shop.suite.partition("rules:\n")[2], f"  - {rule}\n"))

    assert "shop.ireval.yaml::lowering" not in branch.run("--co", "-q").outlines


def test_lists_alone_have_nothing_to_be_lowered(branch):
    churn = "  - churn: {overlap: RBO(p=0.9), below: 0.8, at_most: 50%}\n"
    branch.shop.change((branch.shop.suite.partition("rules:\n")[2], churn))
    branch.accept(**WORSE)

    assert branch.outcome(*FAILS)["headline"] == (
        f"lists have no figure to be lowered; those of 1 query are others than at {branch.base}, the merge base with "
        "main"
    )


def test_git_is_not_asked_where_the_check_was_not_selected(branch):
    branch.run("shop.ireval.yaml::threshold", base="nowhere").assert_outcomes(passed=1)


def test_a_ref_that_git_does_not_know_is_an_error_and_no_pass(branch):
    result = branch.run(base="mian")

    result.assert_outcomes(passed=7, errors=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "shop.ireval.yaml:1: git knows no commit 'mian' here",
            "Owner @search-team.",
            "",
            "  did you mean 'main'?",
            "  git fetch origin +refs/heads/mian:refs/remotes/origin/mian brings a branch that is not here yet",
        ]
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--ireval-base", " "), "ERROR: --ireval-base is empty: it names a git ref, such as origin/main\n"),
        (
            ("-o", "ireval_baseline_lowering=fial"),
            "ERROR: ireval_baseline_lowering\n  'fial' is no way to treat a lowered baseline\n  did you mean 'fail'?\n"
            "  allowed: report, fail\n",
        ),
    ],
)
def test_options_that_make_no_sense(shop, arguments, said):
    result = shop.run(*arguments)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert said in result.stderr.str()


def clone_of(branch, pytester, *arguments):
    """The repository as CI checks it out."""
    folder = pytester.mkdir("clone")
    subprocess.run(["git", "clone", "-q", *arguments, branch.path.as_uri(), str(folder)], check=True)
    return folder


def test_a_shallow_clone_is_an_error_that_names_what_ci_has_to_say(branch, pytester, monkeypatch):
    branch.accept(**WORSE)
    monkeypatch.chdir(clone_of(branch, pytester, "--depth=1", "--branch", "change"))

    result = branch.run(base="origin/main")

    result.assert_outcomes(passed=7, errors=1)
    result.stdout.fnmatch_lines(
        [
            "shop.ireval.yaml:1: git knows no commit 'origin/main' here, and the clone is shallow",
            "Owner @search-team.",
            "",
            "  fetch-depth: 0 of actions/checkout, GIT_DEPTH: 0 of GitLab, or git fetch --unshallow origin",
            "    +refs/heads/main:refs/remotes/origin/main brings the history",
        ]
    )


def test_a_clone_with_a_detached_head(branch, pytester, monkeypatch):
    branch.accept(**WORSE)
    folder = clone_of(branch, pytester, "--branch", "change")
    monkeypatch.chdir(folder)
    subprocess.run(["git", "checkout", "-q", "--detach"], cwd=folder, check=True)

    result = branch.run(*FAILS)

    result.assert_outcomes(passed=7, failed=1)
    result.stdout.fnmatch_lines(["  there is no main here, so origin/main was taken"])
    run = json.loads((folder / "ireval-report/results.json").read_text())
    assert (run["branch"], run["base"]) == ("", "main")


def test_a_partial_clone_brings_what_it_lacks_or_says_that_it_cannot(branch, pytester, monkeypatch):
    branch.git("config", "uploadpack.allowFilter", "true")
    branch.accept(**WORSE)
    folder = clone_of(branch, pytester, "--filter=blob:none", "--branch", "change")
    monkeypatch.chdir(folder)
    hidden = branch.path / ".git-elsewhere"
    (branch.path / ".git").rename(hidden)
    offline = branch.run()
    hidden.rename(branch.path / ".git")
    online = branch.run(*FAILS)

    offline.assert_outcomes(passed=7, errors=1)
    said = offline.stdout.str()
    assert f"shop.ireval.yaml:1: {branch.base}:baselines/shop.json: git cannot read it: " in said
    assert "a partial clone brings contents from its remote, which has to be reachable" in said
    online.assert_outcomes(passed=7, failed=1)


def test_what_is_accepted_and_not_committed_is_seen_on_main_itself(branch):
    branch.git("checkout", "--quiet", "main")
    branch.rank(**WORSE)
    branch.shop.run("--ireval-update", "--ireval-reason", REASON)

    found = branch.outcome()

    assert found["warning"]
    assert found["facts"] == [
        f"accepted 2026-11-18 {branch.base} with uncommitted changes: {REASON}",
        "HEAD is part of main: only what is not committed can differ",
    ]


def test_going_back_to_an_older_baseline_is_lowering_too(branch):
    branch.git("checkout", "--quiet", "main")
    branch.accept(**WORSE)
    branch.accept(q10="d0 d1 d2 d3")
    branch.git("checkout", "--quiet", "-B", "change")
    branch.git("checkout", "HEAD~1", "--", "baselines")
    branch.commit("back")

    found = branch.outcome()

    assert found["warning"]
    assert found["facts"] == ["1 acceptance of the base is not part of this baseline, the last one on 2026-11-18"]


def test_a_deleted_baseline_is_the_worst_case(branch):
    branch.git("rm", "-rq", "baselines")
    branch.commit("gone")

    reported = branch.outcome()
    failed = branch.outcome(*FAILS)

    assert (reported["verdict"], reported["warning"], failed["verdict"]) == ("pass", True, "fail")
    assert failed["headline"] == (
        f"the branch has deleted its baseline, which was there at {branch.base}, the merge base with main"
    )
    command = (
        f"git checkout {branch.base} -- baselines/shop.json baselines/shop.judgments.tsv baselines/shop.rankings.tsv"
    )
    assert failed["facts"] == [f"{command} brings it back"]
    branch.git(*command.split()[1:])
    assert branch.outcome(*FAILS)["verdict"] == "pass"


def test_deleting_and_accepting_anew_is_seen(branch):
    branch.git("rm", "-rq", "baselines")
    branch.commit("gone")
    branch.rank(**WORSE)
    branch.shop.run("--ireval-update-new")
    branch.commit("anew")

    found = branch.outcome(*FAILS)

    assert found["verdict"] == "fail"
    assert found["facts"][1] == ("1 acceptance of the base is not part of this baseline, the last one on 2026-11-18")


def test_a_new_suite_has_no_baseline_to_lower_and_this_is_said(branch):
    (branch.path / "shop.ireval.yaml").write_text(branch.shop.suite)
    (branch.path / "blog.ireval.yaml").write_text(branch.shop.suite.replace("suite: shop", "suite: blog"))
    branch.shop.run("blog.ireval.yaml", "--ireval-update-new")
    branch.commit("a new suite")

    found = branch.outcome("blog.ireval.yaml", *FAILS)

    assert (found["verdict"], found["warning"], found["facts"]) == ("pass", False, [])
    assert found["headline"] == (
        f"the suite had no baseline at {branch.base}, the merge base with main; it is new on this branch"
    )


def rename(branch, *, history):
    """The suite is called store, with the baseline of the shop or with one of its own."""
    branch.shop.change(("suite: shop", "suite: store"))
    if history:
        for ending in ("json", "judgments.tsv", "rankings.tsv"):
            branch.git("mv", f"baselines/shop.{ending}", f"baselines/store.{ending}")
        branch.accept("--ireval-force", **WORSE)
        return
    branch.rank(**WORSE)
    assert branch.shop.run("--ireval-update-new").ret == 0
    branch.commit("renamed")


@pytest.mark.parametrize("history", [True, False])
@pytest.mark.parametrize("deleted", [True, False])
@pytest.mark.parametrize("moved", [True, False])
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
    assert found["facts"] == ["gone since then, and continued by no baseline here: baselines/shop.json"]


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


def other_values(branch):
    branch.shop.change(("[de, fr]", "[at, ch]"))


@pytest.mark.parametrize(
    ("begins", "change", "called"),
    [(None, to_matrix, "shop"), (to_matrix, from_matrix, "shop.fr"), (to_matrix, other_values, "shop.fr")],
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

    assert found["verdict"] == "fail"
    assert "the baseline was called baselines/shop.json then" in found["facts"]


@pytest.mark.parametrize(
    ("file", "damage", "said"),
    [
        ("shop.json", lambda data: data.replace(b'"format": 1', b'"format": 2'), "has format 2; this version of"),
        ("shop.json", lambda data: data[:-30], "is cut off"),
        ("shop.rankings.tsv", lambda data: data[:-3], "is cut off: its last line has no end"),
        ("shop.rankings.tsv", lambda data: data.replace(b"d3", b"d9"), "is not what was accepted"),
    ],
)
def test_a_damaged_baseline_of_the_base_is_an_error(branch, file, damage, said):
    good = (branch.path / "baselines" / file).read_bytes()
    branch.git("checkout", "--quiet", "main")
    (branch.path / "baselines" / file).write_bytes(damage(good))
    base = branch.commit("damage")[:7]
    branch.git("checkout", "--quiet", "-B", "change")
    (branch.path / "baselines" / file).write_bytes(good)
    branch.accept(**WORSE)

    found = branch.outcome()

    assert found["verdict"] == "error"
    assert found["headline"].startswith(f"{base}:baselines/{file}")
    assert said in found["headline"]


def test_a_file_that_is_missing_at_the_base_is_an_error(branch):
    branch.git("checkout", "--quiet", "main")
    branch.git("rm", "-q", "--cached", "baselines/shop.rankings.tsv")
    branch.git("commit", "-qm", "forgotten")
    base = branch.git("rev-parse", "--short=7", "HEAD")
    branch.git("checkout", "--quiet", "-B", "change")
    branch.accept(**WORSE)

    assert branch.outcome()["headline"] == f"{base}:baselines/shop.rankings.tsv: is missing"


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"


def test_a_pointer_of_git_lfs_is_no_content(branch):
    branch.git("checkout", "--quiet", "main")
    good = (branch.path / "baselines/shop.rankings.tsv").read_bytes()
    (branch.path / "baselines/shop.rankings.tsv").write_text(POINTER)
    base = branch.commit("lfs")[:7]
    branch.git("checkout", "--quiet", "-B", "change")
    here = branch.run()
    (branch.path / "baselines/shop.rankings.tsv").write_bytes(good)
    branch.accept(**WORSE)

    found = branch.outcome()

    here.stdout.fnmatch_lines(
        ["*: baselines/shop.rankings.tsv: is a pointer of Git LFS, and not the content", "  git lfs pull brings it"]
    )
    assert found["verdict"] == "error"
    assert found["headline"] == (
        f"{base}:baselines/shop.rankings.tsv: is a pointer of Git LFS there, and git lfs does not bring the content"
    )
    assert found["facts"] == [f"git lfs install, then git lfs pull; git lfs fetch origin {base} brings what is older"]


def test_git_lfs_brings_the_content_where_it_can(branch, monkeypatch):
    branch.git("checkout", "--quiet", "main")
    good = (branch.path / "baselines/shop.rankings.tsv").read_bytes()
    (branch.path / "baselines/shop.rankings.tsv").write_text(POINTER)
    branch.commit("lfs")
    branch.git("checkout", "--quiet", "-B", "change")
    (branch.path / "baselines/shop.rankings.tsv").write_bytes(good)
    branch.accept(**WORSE)
    programs = branch.path / "programs"
    programs.mkdir()
    (programs / "kept").write_bytes(good)
    (programs / "git-lfs").write_text(f'#!/bin/sh\n[ "$1" = smudge ] && cat > /dev/null && cat {programs}/kept\n')
    (programs / "git-lfs").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")

    assert branch.outcome(*FAILS)["verdict"] == "fail"


def test_a_baseline_that_held_too_little_is_an_error_that_says_what_differs(branch):
    branch.git("checkout", "--quiet", "main")
    branch.shop.change(("depth: 10", "depth: 3"), ("nDCG@10", "nDCG@3"))
    text = branch.shop.suite.replace("nDCG@10", "nDCG@3")
    branch.shop.suite = text
    branch.accept("--ireval-force")
    base = branch.git("rev-parse", "--short=7", "HEAD")
    branch.git("checkout", "--quiet", "-B", "change")
    branch.shop.suite = text.replace("depth: 3", "depth: 10")
    branch.accept(**WORSE)
    deep_enough = branch.outcome(*FAILS)
    branch.shop.suite = branch.shop.suite.replace("nDCG@3", "nDCG@10")
    branch.shop.write()

    found = branch.outcome()

    assert deep_enough["verdict"] == "fail"
    assert found["verdict"] == "error"
    assert found["headline"] == (
        f"the baseline at {base}, the merge base with main holds 3 documents of each query, and nDCG@10 looks at 10"
    )


def test_queries_that_are_taken_out_do_not_go_unseen(branch):
    branch.rank(**WORSE)
    branch.shop.judgments.pop("q10")
    branch.shop.write()
    path = branch.path / "queries.tsv"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith("q10")))
    branch.shop.run("--ireval-update", "--ireval-reason", REASON)
    branch.commit("without a query")

    found = branch.outcome()

    assert (found["verdict"], found["warning"]) == ("pass", True)
    assert found["facts"][0] == "1 query of the base not in the suite any more, so not compared: 'q10'"


def test_a_waived_query_counts_in_neither(branch):
    waiver = "waive:\n  - {query: q10, until: 2099-01-01, reason: feed}\n"
    branch.accept(**WORSE)
    branch.shop.suite += waiver
    branch.shop.write()

    assert branch.outcome(*FAILS)["verdict"] == "pass"


def test_a_lowered_baseline_does_not_stand_in_the_way_of_a_better_one(branch):
    branch.accept(**WORSE)
    branch.rank(q10="d0 d1 d2 d3")

    result = branch.run("--ireval-update", "--ireval-reason", "repaired", *FAILS)

    assert branch.shop.results()["accepted"] == ["shop"]
    result.assert_outcomes(passed=7, failed=1)
    branch.run(*FAILS).assert_outcomes(passed=8)


def test_from_python(branch):
    branch.accept(**WORSE)
    path = branch.path / "shop.ireval.yaml"
    registry = Conftests().registry_for(path)
    suite = load_suite(path, registry)

    reported = run_gate(suite, registry=registry, base="main")
    failed = run_gate(suite, registry=registry, base="main", lowering_fails=True)

    assert (reported.verdict, failed.verdict) == ("pass", "fail")
    assert LOWERING not in run_gate(suite, registry=registry).planned


def test_the_fixture_holds_against_the_base_too(branch):
    branch.accept(**WORSE)
    branch.shop.pytester.makepyfile("def test_shop(ireval):\n    ireval.check('shop.ireval.yaml')\n")

    result = branch.shop.pytester.runpytest("--ireval-base", "main", *FAILS, "-p", "no:cacheprovider")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*shop.ireval.yaml:1: the branch lowers its baseline: nDCG@10 1.0000 -> 0.7500 on*"])
    branch.shop.pytester.runpytest("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_git_is_asked_for_the_merge_base_once_for_all_suites(branch, monkeypatch):
    from pytest_ireval.repositories import branches, tree

    branch.git("checkout", "--quiet", "main")
    branch.shop.change(
        ("suite: shop\n", "suite: shop\nmatrix: {locale: [de, fr, it, en]}\n"), ("@search-team", "@{locale}")
    )
    branch.accept()
    branch.git("checkout", "--quiet", "-B", "change")
    calls = []
    for module in (branches, tree):
        asked = module.asked
        monkeypatch.setattr(module, "asked", lambda *a, asked=asked, **b: calls.append(a[1]) or asked(*a, **b))

    branch.run(*FAILS).assert_outcomes(passed=32)

    assert sorted(calls) == ["cat-file"] * 4 + ["ls-tree", "merge-base", "rev-parse"]


def test_in_parallel_runs_it_is_the_same(branch):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    branch.accept(**WORSE)

    branch.run("-n", "2", *FAILS).assert_outcomes(passed=7, failed=1)
    ran = branch.shop.results()
    empty = branch.run("-n", "2", base="")

    assert ran["base"] == "main"
    assert empty.ret == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: --ireval-base is empty" in empty.stderr.str()


@pytest.fixture
def both(branch):
    """``main`` and ``change`` have both accepted something, and the merge is a conflict; ``change`` is checked out."""
    branch.git("checkout", "--quiet", "main")
    branch.accept(q09="d1 d0 d2 d3")
    branch.git("checkout", "--quiet", "change")
    branch.rank(q09="d0 d1 d2 d3")
    branch.accept(q10="d0 d2 d1 d3")
    branch.git("merge", "main", check=False)
    assert "baselines/shop.json" in branch.git("ls-files", "--unmerged")
    branch.rank(q09="d1 d0 d2 d3", q10="d0 d2 d1 d3")
    return branch


def test_a_merge_in_conflict_is_said_settled_repeated_and_green(both, ireval, capsys):
    told = both.run()

    told.assert_outcomes(passed=3, errors=5)
    text = told.stdout.str()
    assert "shop.ireval.yaml:13: baselines/shop.json:" in text
    assert "has the marks of a merge conflict" in text
    assert "  ireval resolve settles it" in text

    capsys.readouterr()
    resolved = ireval("resolve", "--take", "theirs").out
    command = shlex.split(resolved.splitlines()[-1])
    assert resolved.splitlines()[0].startswith("baselines/shop.json: kept the side of main (")
    assert command[:4] == ["pytest", "--ireval", "shop.ireval.yaml", "--ireval-update"]
    both.git("add", "--all")
    both.git("commit", "--quiet", "--no-edit")
    assert both.shop.run(*command[2:]).ret == 0
    assert both.shop.results()["accepted"] == ["shop"]
    both.commit("repeated")

    green = both.outcome()

    assert both.said.ret == 0
    reasons = [each["reason"] for each in json.loads((both.path / "baselines/shop.json").read_text())["acceptances"]]
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
            f"accepted with uncommitted changes, beside commit {commit}: commit them with the baseline, or nobody",
            "  can measure it again",
        ]
    )
    run = branch.shop.results()
    assert (run["commit"][:7], run["branch"], run["dirty"]) == (commit, "", True)
    branch.rank(q09="n1")
    later = branch.shop.run()
    later.stdout.fnmatch_lines([f"  baseline: {commit} with uncommitted changes, just accepted*"])
    branch.commit("all of it")
    branch.rank(q10="d0 d1 d2 d3", q09="d0 d1 d2 d3")
    branch.commit("better")
    assert "accepted with uncommitted" not in branch.shop.run("--ireval-update", "--ireval-reason", REASON).stdout.str()


def test_a_baseline_in_another_repository_than_its_suite_is_held_against_the_base_there(branch, pytester):
    kept = pytester.mkdir("kept")
    branch.git("mv", "baselines", "kept/baselines")
    branch.commit("kept elsewhere")
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "kept"]):
        subprocess.run(["git", *words], cwd=kept, check=True)
    (branch.path / "baselines").symlink_to(kept / "baselines")
    branch.rank(**WORSE)
    branch.shop.run("--ireval-update", "--ireval-reason", REASON)

    found = branch.outcome(*FAILS)

    assert found["verdict"] == "fail"
    commit = subprocess.run(["git", "rev-parse", "--short=7", "HEAD"], cwd=kept, check=True, capture_output=True)
    assert commit.stdout.decode().strip() in found["sentence"]


SESSIONS = """
import numpy as np
from pytest_ireval import hookimpl, metric

@metric(name="SessRel", unit="session", needs=("sessions",), range=(0, 100))
def sess(judged):
    '''Relevant documents of a session.'''
    there = judged.sessions.session >= 0
    counts = judged.sum(judged.relevant())[there]
    return np.bincount(judged.sessions.session[there], counts, len(judged.sessions.names))

@hookimpl
def ireval_metrics():
    return [sess]
"""


def test_sessions_are_held_over_the_queries_that_both_baselines_have(branch):
    shop, every = branch.shop, list(branch.shop.judgments)
    rows = [f"{query}\twords\ttail\t1\ts{(n + 1) // 2}\t{(n + 1) % 2 + 1}\n" for n, query in enumerate(every)]
    judgments, rankings = dict(shop.judgments), dict(shop.rankings)
    write = shop.write

    def with_sessions():
        write()
        (branch.path / "queries.tsv").write_text("id\ttext\tsegment\tsearches\tsession\tposition\n" + "".join(rows))

    shop.write = with_sessions
    branch.git("checkout", "--quiet", "main")
    (branch.path / "conftest.py").write_text(SESSIONS)
    shop.change((shop.suite.partition("rules:\n")[2], "  - no_regression: {metric: SessRel, tolerance: 1%}\n"))
    del shop.judgments["q01"], shop.rankings["q01"]
    branch.git("rm", "-q", "baselines/shop.*")
    branch.commit("sessions")
    shop.write()
    shop.accept()
    branch.commit("without the first query")
    branch.git("checkout", "--quiet", "-B", "change")
    shop.judgments, shop.rankings = judgments, rankings
    branch.accept(q10="n1 n2 n3")

    found = branch.outcome(*FAILS)

    assert found["verdict"] == "fail"
    assert found["headline"] == "the branch lowers its baseline: SessRel 5.4000 -> 4.8000 on all"
