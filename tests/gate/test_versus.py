"""``ireval rank`` asks one commit, and ``--ireval-versus`` compares another one with what it wrote."""

import json
import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from git_repository import commit_all, isolate_git, read_commit, run_git

from pytest_ireval import load_suite
from pytest_ireval.cli import main
from pytest_ireval.clock import read_clock, read_date
from pytest_ireval.gate.run import gate_suite, make_plan
from pytest_ireval.gate.run_context import RunContext
from pytest_ireval.gate.versus import read_versus
from pytest_ireval.plugins.manager import installed_registry

TAIL = "no_regression::nDCG_10.segment-tail"
COMPARING = (TAIL, "no_regression::nDCG_10.all", "no_regression::nDCG_10.segment-head", "worsened::nDCG_10")
SEARCH = """\
import os
import pathlib


def search(text, *, query_id):
    folder = pathlib.Path(__file__).parent
    with open(folder / "asked.txt", "a") as file:
        file.write(f"{os.environ['IREVAL_SIDE']} {query_id}\\n")
    if (folder / "broken").exists():
        raise RuntimeError("no such analyzer")
    return [f"{query_id}-d{i}" for i in range(4)]
"""


HALF = """\
from pytest_ireval import hookimpl, per_query_metric


@per_query_metric(name="Half")
def half(ranking):
    '''Half.'''
    return 0.5


@hookimpl
def ireval_metrics():
    return [half]
"""


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch, tmp_path):
    isolate_git(monkeypatch, tmp_path)
    monkeypatch.setenv("IREVAL_SIDE", "")  # what the test sets goes with it
    monkeypatch.delenv("IREVAL_SIDE")


@pytest.fixture
def rank(shop, monkeypatch, capsys):
    """``rank()`` calls ``ireval rank`` for the shop as it is now, and returns the exit code and what it said."""
    monkeypatch.chdir(shop.path)

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["ireval", "rank", *(arguments or (".",)), "-o", "rank"])
        monkeypatch.delenv("IREVAL_SIDE", raising=False)
        with pytest.raises(SystemExit) as stop:
            main()
        monkeypatch.delenv("IREVAL_SIDE", raising=False)
        said = capsys.readouterr()
        return stop.value.code, said.out + said.err

    return call


@pytest.fixture
def compare(shop):
    """``compare()`` gates the shop against what ``rank()`` wrote, without pytest."""

    def call(file="shop.ireval.yaml"):
        versus = read_versus(Path("rank"), read_clock(), timedelta(days=1))
        suite, registry = load_suite(file), installed_registry()
        result = gate_suite(suite, registry, make_plan(suite, registry), RunContext(read_date(), versus=versus)).result
        shop.checked = result
        return result

    return call


def lose_the_tail(shop):
    for number in (7, 8, 9, 10):
        shop.rankings[f"q{number:02}"].reverse()
    shop.write()


def ask_python(shop):
    (shop.path / "asked.py").write_text(SEARCH)
    shop.change(("source: {run: rankings.txt}", 'source: {python: "asked:search"}'))


class TestAgainstAFolder:
    def test_the_same_rankings_pass_without_any_baseline(self, shop, rank):
        assert rank() == (
            0,
            "shop.ireval.yaml: shop: 10 queries, run: rankings.txt\nwrote the rankings of 1 suite to rank\n",
        )
        result = shop.run("--ireval-versus", "rank")
        assert result.ret == 0
        result.stdout.fnmatch_lines(["ireval: compared with rank, asked less than a minute ago"])
        assert {shop.verdicts()[check] for check in COMPARING} == {"pass"}

    def test_a_broken_tail_fails_and_nothing_offers_to_accept_it(self, shop, rank):
        rank()
        lose_the_tail(shop)
        result = shop.run("--ireval-versus", "rank")
        assert result.ret == 1
        assert shop.verdicts()[TAIL] == "fail"
        assert not shop.outcome(TAIL)["acceptable"]
        result.stdout.fnmatch_lines(["*compared with: rank, asked less than a minute ago*"])
        written = [shop.path / "ireval-report" / name for name in ("index.html", "summary.md", "comment.md")]
        texts = [result.stdout.str(), *(path.read_text() for path in written)]
        assert not any("--ireval-update" in text for text in texts)

    def test_the_stored_baseline_is_neither_compared_with_nor_changed(self, shop, rank):
        shop.accept()
        before = shop.baseline_files()
        lose_the_tail(shop)
        rank()
        assert shop.gate().verdict == "fail"
        assert shop.run("--ireval-versus", "rank").ret == 0
        assert shop.baseline_files() == before

    def test_both_sides_are_judged_by_the_judgments_and_rules_of_the_branch(self, shop, rank, compare):
        rank()
        shop.judgments["q01"] = {"q01-d0": 0, "q01-d1": 0, "q01-d2": 0, "q01-d3": 3}
        shop.change(
            ("nDCG@10, P@3]", "nDCG@10, P@3, RR@10]"), ("metric: nDCG@10, tolerance", "metric: RR@10, tolerance")
        )
        assert compare().verdict == "pass"
        assert shop.verdicts()["no_regression::RR_10.all"] == "pass"

    def test_a_query_that_the_other_commit_was_not_asked_is_left_out_and_named(self, shop, rank):
        shop.change(("judgments: judgments.txt", "judgments: judgments.txt\nmissing_queries: ignore"))
        kept = shop.rankings.pop("q10")
        shop.write()
        rank()
        shop.rankings["q10"] = kept
        shop.write()
        result = shop.run("--ireval-versus", "rank")
        assert result.ret == 0
        result.stdout.fnmatch_lines(["*1 query that the other commit was not asked, and not compared: 'q10'*"])

    def test_a_suite_that_is_new_here_warns_and_passes(self, shop, rank):
        rank()
        shop.change(("suite: shop", "suite: store"))
        result = shop.run("--ireval-versus", "rank")
        assert result.ret == 0
        assert {shop.verdicts()[check] for check in COMPARING} == {"inconclusive"}
        result.stdout.fnmatch_lines(["*new here, nothing to compare with*", "*other commit has a suite 'shop'*"])

    def test_a_renamed_file_is_found_by_the_name_of_its_suite(self, shop, rank, compare):
        rank()
        os.rename(shop.path / "shop.ireval.yaml", shop.path / "store.ireval.yaml")
        lose_the_tail(shop)
        (shop.path / "shop.ireval.yaml").unlink()
        assert compare("store.ireval.yaml").verdict == "fail"
        assert shop.verdicts()[TAIL] == "fail"

    def test_a_metric_that_needs_what_the_other_commit_does_not_know_warns(self, shop, rank, compare):
        rank()
        (shop.path / "times.tsv").write_text("query\tseconds\n" + "".join(f"{q}\t0.1\n" for q in shop.rankings))
        shop.change(
            ("{run: rankings.txt}", "{run: rankings.txt, timings: times.tsv}"),
            ("nDCG@10, P@3]", "nDCG@10, P@3, Latency]"),
            ("rules:\n", "rules:\n  - no_regression: {metric: Latency, tolerance: 5%, on_fail: fail}\n"),
        )
        compare()
        assert shop.verdicts()["no_regression::Latency.all"] == "inconclusive"
        assert {shop.verdicts()[check] for check in COMPARING} == {"pass"}

    def test_why_shows_both_sides(self, shop, rank, monkeypatch, capsys):
        rank()
        lose_the_tail(shop)
        shop.run("--ireval-versus", "rank")
        monkeypatch.setattr("sys.argv", ["ireval", "why", "nDCG@10", "--suite", "shop.ireval.yaml", "-q", "q07"])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main()
        assert stop.value.code == 0
        said = capsys.readouterr().out
        assert "rank, asked less than a minute ago (A) -> run: rankings.txt (B)" in said

    def test_workers_compare_with_it_too(self, shop, rank):
        pytest.importorskip("xdist", reason="pytest-xdist is not installed")
        rank()
        lose_the_tail(shop)
        assert shop.run("--ireval-versus", "rank", "-n1").ret == 1
        assert [check for check, verdict in shop.verdicts().items() if verdict == "error"] == []
        assert shop.verdicts()[TAIL] == "fail"

    def test_locked_judgments_still_have_to_be_those_of_the_baseline(self, shop, rank, compare):
        shop.change(("judgments: judgments.txt", "judgments: {file: judgments.txt, lock: true}"))
        shop.accept()
        rank()
        shop.judgments["q01"]["q01-d3"] = 3
        shop.write()
        compare()
        assert shop.verdicts()[TAIL] == "error"


class TestAgainstARef:
    @pytest.fixture
    def begun(self, shop):
        run_git(shop.path, "init", "--quiet", "--initial-branch=main")
        (shop.path / ".gitignore").write_text("ireval-report/\n")
        commit_all(shop.path, "begun")
        return shop

    @pytest.fixture
    def answered(self, begun, rank, monkeypatch):
        """The same, where no program has to ask the base: its answers are those of ``ireval rank`` here."""
        rank()
        answers = (begun.path / "rank").rename(begun.path / ".git/rank")

        def put_answers(suites, rankings, *_):
            shutil.copytree(answers, rankings.path, dirs_exist_ok=True)

        monkeypatch.setattr("pytest_ireval.versus.ask._rank", put_answers)
        return begun

    def test_a_branch_is_compared_with_the_commit_where_it_began(self, begun):
        run_git(begun.path, "checkout", "--quiet", "-b", "change")
        lose_the_tail(begun)
        commit_all(begun.path, "another ranking")
        result = begun.run("--ireval-versus", "main")
        assert result.ret == 1
        assert begun.verdicts()[TAIL] == "fail"
        result.stdout.fnmatch_lines(["ireval: compared with *, asked less than a minute ago (* s for its rankings)"])
        assert begun.results()["warnings"] == []

    def test_changes_that_are_not_committed_count_and_are_named(self, answered):
        lose_the_tail(answered)
        assert answered.run("--ireval-versus", "main").ret == 1
        assert "this side has changes that are not committed" in answered.results()["warnings"]

    def test_a_ref_that_git_does_not_know_is_an_error_and_no_pass(self, begun):
        result = begun.run("--ireval-versus", "mian")
        assert result.ret == 1
        assert {begun.verdicts()[check] for check in COMPARING} == {"error"}
        result.stdout.fnmatch_lines(["ireval: the other commit could not be asked: *"])
        assert "git does not know the commit 'mian' here" in result.stdout.str().replace("\n  ", " ")

    def test_a_run_on_the_base_itself_says_that_nothing_can_differ_and_registers_a_conftest_once(self, answered):
        (answered.path / "below").mkdir()
        for name in ("queries.tsv", "judgments.txt", "rankings.txt", "shop.ireval.yaml"):
            (answered.path / name).rename(answered.path / "below" / name)
        (answered.path / "below/conftest.py").write_text(HALF)
        suite = answered.path / "below/shop.ireval.yaml"
        suite.write_text(suite.read_text().replace("P@3]", "P@3, Half]"))
        commit_all(answered.path, "moved")
        run_git(answered.path, "branch", "--force", "old", "HEAD")
        result = answered.run("--ireval-versus", "old", ".")
        assert result.ret == 0, result.stdout.str()
        assert {answered.verdicts()[check] for check in COMPARING} == {"pass"}
        assert any("HEAD is" in warning for warning in answered.results()["warnings"])

    def test_listing_the_checks_asks_nobody(self, begun):
        assert begun.run("--ireval-versus", "mian", "--collect-only").ret == 0


class TestPythonGates:
    @pytest.mark.parametrize(("breaks", "passed"), [(False, 1), (True, 0)])
    def test_a_gate_in_a_python_test_compares_with_it_too(self, shop, rank, breaks, passed):
        shop.accept()
        lose_the_tail(shop)  # against the baseline it is red
        rank()
        if breaks:
            for query in ("q01", "q02", "q03"):
                shop.rankings[query].reverse()
            shop.write()
        shop.pytester.makepyfile(test_gate="def test_gate(ireval):\n    ireval.check('shop.ireval.yaml')\n")
        arguments = ("--ireval", "--ireval-versus", "rank", "test_gate.py", "-p", "no:cacheprovider")
        shop.pytester.runpytest(*arguments).assert_outcomes(passed=passed, failed=1 - passed)


class TestFolderThatIsNoEvidence:
    """It is an error of every comparison, and never a pass; rules that compare nothing are checked all the same."""

    @pytest.fixture
    def find_error(self, shop, compare):
        def find():
            compare()
            assert {shop.verdicts()[check] for check in COMPARING} == {"error"}
            assert shop.verdicts()["threshold::nDCG_10"] == "pass"
            tail = shop.outcome(TAIL)
            return " ".join([tail["headline"], *tail["facts"]])

        return find

    def change_index(self, shop, **changes):
        path = shop.path / "rank/rank.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    def test_it_was_asked_too_long_ago(self, shop, rank, find_error):
        rank()
        self.change_index(shop, date="2026-01-01T00:00:00Z")
        assert "the limit is 1 day" in find_error()
        shop.pytester.makeini("[pytest]\nireval_versus_max_age = 90000d\n")
        assert shop.run("--ireval-versus", "rank").ret == 0

    def test_ireval_rank_was_stopped(self, shop, rank, find_error):
        rank()
        self.change_index(shop, whole=False)
        assert "ireval rank was stopped" in find_error()

    def test_a_file_was_edited(self, shop, rank, find_error):
        rank()
        path = shop.path / "rank/shop.rankings"
        path.write_text(path.read_text().replace("q01-d0", "q01-d9"))
        assert "is not what ireval rank wrote" in find_error()

    def test_a_file_is_gone(self, shop, rank, find_error):
        rank()
        (shop.path / "rank/shop.rankings").unlink()
        assert "shop.rankings" in find_error()

    def test_it_holds_something_else(self, shop, find_error):
        (shop.path / "rank").mkdir()
        assert "has no rank.json" in find_error()

    def test_the_other_commit_could_not_be_asked(self, shop, rank):
        ask_python(shop)
        (shop.path / "broken").touch()
        code, said = rank()
        assert code == 1
        assert "no such analyzer" in said
        (shop.path / "broken").unlink()
        assert "no such analyzer" in shop.run("--ireval-versus", "rank").stdout.str()
        assert {shop.verdicts()[check] for check in COMPARING} == {"error"}

    def test_it_was_asked_for_fewer_documents_than_the_suite_needs_now(self, shop, rank, compare, find_error):
        rank()
        shop.change(("depth: 10", "depth: 20"))
        assert "ireval rank shop.ireval.yaml --depth 20 -o FOLDER" in find_error()
        assert rank(".", "--depth", "20")[0] == 0
        assert compare().verdict == "pass"


class TestOptions:
    def test_it_cannot_be_used_with_accepting(self, shop):
        result = shop.run("--ireval-versus", "rank", "--ireval-update")
        assert result.ret == 4
        result.stderr.fnmatch_lines(["*--ireval-update accepts a baseline, and --ireval-versus compares with none*"])

    def test_an_empty_value_is_refused(self, shop):
        assert shop.run("--ireval-versus", "").ret == 4

    def test_an_age_that_is_none_is_refused(self, shop, rank):
        rank()
        shop.pytester.makeini("[pytest]\nireval_versus_max_age = tomorrow\n")
        result = shop.run("--ireval-versus", "rank")
        assert result.ret == 4
        result.stderr.fnmatch_lines(["*invalid ireval_versus_max_age: 'tomorrow'*"])


class TestAsking:
    def test_each_side_knows_which_it_is_and_is_asked_once(self, shop, rank):
        ask_python(shop)
        rank()
        assert shop.run("--ireval-versus", "rank").ret == 0
        asked = (shop.path / "asked.txt").read_text().split("\n")
        assert sum(line.startswith("base ") for line in asked) == 10
        assert {line.split()[0] for line in asked if line} == {"base", "head"}
        assert "IREVAL_SIDE" not in os.environ

    def test_the_commit_is_named(self, shop, rank):
        run_git(shop.path, "init", "--quiet", "--initial-branch=main")
        (shop.path / ".gitignore").write_text("rank/\nireval-report/\n")
        commit_all(shop.path, "begun")
        rank()
        result = shop.run("--ireval-versus", "rank")
        result.stdout.fnmatch_lines(
            [f"ireval: compared with {read_commit(shop.path)[:7]}, asked less than a minute ago"]
        )

    def test_a_folder_with_other_files_is_left_alone(self, shop, rank):
        (shop.path / "rank").mkdir()
        (shop.path / "rank/notes.txt").write_text("mine")
        code, said = rank()
        assert code == 2
        assert "is not empty, and holds no rankings of ireval rank" in said
        assert [path.name for path in (shop.path / "rank").iterdir()] == ["notes.txt"]

    def test_earlier_rankings_are_replaced(self, shop, rank):
        rank()
        shop.change(("suite: shop", "suite: store"))
        rank()
        assert sorted(path.name for path in (shop.path / "rank").iterdir()) == ["rank.json", "store.rankings"]


class TestOneIndex:
    """Both sides asked the same build of an index."""

    WARNING = "both sides asked one index, so changes of mapping or analysis cannot be seen this way"

    @pytest.fixture
    def indexed(self, shop):
        (shop.path / "asked.py").write_text(
            "from pytest_ireval import Answer\n\n\ndef search(text, *, query_id):\n"
            "    return Answer([f'{query_id}-d{i}' for i in range(4)], index={'build': 'b1', 'mapping': 'm1'})\n"
        )
        shop.change(("source: {run: rankings.txt}", 'source: {python: "asked:search"}'))
        run_git(shop.path, "init", "--quiet", "--initial-branch=main")
        (shop.path / ".gitignore").write_text("rank/\nireval-report/\n__pycache__/\n")
        (shop.path / "mapping.json").write_text("{}")
        commit_all(shop.path, "begun")
        return shop

    def test_it_is_a_note(self, indexed, rank):
        rank()
        assert indexed.run("--ireval-versus", "rank").ret == 0
        results = indexed.results()
        assert any(self.WARNING in note for note in results["suites"][0]["notes"])
        assert not any(self.WARNING in warning for warning in results["warnings"])

    def test_it_is_a_warning_where_the_branch_changed_a_mapping(self, indexed, rank):
        rank()
        (indexed.path / "mapping.json").write_text('{"analyzer": "english"}')
        assert indexed.run("--ireval-versus", "rank").ret == 0
        assert any(self.WARNING in warning and "mapping.json" in warning for warning in indexed.results()["warnings"])
