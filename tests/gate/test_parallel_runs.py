"""With pytest-xdist a run is the same run: verdicts, files, one evaluation of each suite; and nothing lost is green."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from pytest_ireval.pytest_plugin.planned_suite import SuiteEvaluation
from pytest_ireval.pytest_plugin.workers import LOCK, WorkerFolder
from pytest_ireval.results.suite_result import SuiteResult

pytest.importorskip("xdist", reason="pytest-xdist is not installed")

pytestmark = pytest.mark.ci

MODES = [
    *("load", "each"),
    *(pytest.param(mode, marks=pytest.mark.slow) for mode in ("worksteal", "loadscope", "loadfile", "loadgroup")),
]
ASKED = """\
import os
import pathlib


def search(text, *, query_id):
    here = pathlib.Path(__file__).parent
    with open(here / "asked.txt", "a") as file:
        file.write(f"{query_id}\\n")
    if (here / "dies").exists():
        (here / "dies").unlink()
        os._exit(9)
    return [f"{query_id}-d{i}" for i in range(4)]
"""


@pytest.fixture(autouse=True)
def at_one_moment(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")


@pytest.fixture
def asking(shop):
    """The source is Python code that remembers whom it was asked for."""
    (shop.path / "asked.py").write_text(ASKED)
    shop.change(("source: {run: rankings.txt}", 'source: {python: "asked:search"}'))
    return shop


def run(shop, *arguments):
    """In a process of its own, as workers are."""
    return shop.pytester.runpytest_subprocess("--ireval", "-p", "no:cacheprovider", *arguments)


@pytest.fixture
def red_shop(accepted_shop):
    """The tail lost its best documents, and there are more suites than workers."""
    for query in ("q07", "q08"):
        accepted_shop.rankings[query].reverse()
    accepted_shop.write()
    for number in range(3):
        text = accepted_shop.suite.replace("suite: shop", f"suite: shop{number}")
        (accepted_shop.path / f"shop{number}.ireval.yaml").write_text(text)
    return accepted_shop


def files_of(shop):
    """What a run wrote, by name."""
    folder = shop.path / "ireval-report"
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def junit(shop, name):
    """Properties and failure texts by test."""
    cases = ET.parse(shop.path / name).getroot().iter("testcase")
    return {
        f"{case.get('classname')}::{case.get('name')}": (
            [(each.get("name"), each.get("value")) for each in case.iter("property")],
            [each.text for each in (*case.iter("failure"), *case.iter("error"))],
        )
        for case in cases
    }


def without_its_processes(text):
    """A failure text but for the line of the worker, which pytest-xdist prints."""
    return re.sub(r"\[gw\d\].*\n", "", text)


def figures(result):
    """The part of the terminal that is ours."""
    lines = result.outlines
    start = next(i for i, line in enumerate(lines) if re.match("=+ ireval =+", line))
    end = next(i for i, line in enumerate(lines) if "short test summary" in line)
    return [line for line in lines[start:end] if "generated xml file" not in line]


@pytest.mark.parametrize("mode", MODES)
def test_in_every_mode_of_spreading_the_run_is_the_same(red_shop, mode):
    by_evidence = "  - no_regression: {metric: nDCG@10, tolerance: NUMBER%, min_queries: 5, name: nNUMBER}\n"
    red_shop.change(("rules:\n", "rules:\n" + "".join(by_evidence.replace("NUMBER", each) for each in "12345")))
    alone = red_shop.run("--junit-xml=alone.xml")
    files = files_of(red_shop)
    assert b"corrected for 5 verdicts" in files["results.json"]
    spread = run(red_shop, "-n2", "--dist", mode, "--junit-xml=spread.xml")

    assert (alone.ret, spread.ret) == (1, 1)
    before = {"rankings_before.zip": b"of another run"}
    assert files_of(red_shop) | before == files | before
    assert {suite["name"] for suite in red_shop.results()["suites"]} == {"shop", "shop0", "shop1", "shop2"}
    assert figures(spread) == figures(alone)
    one, other = junit(red_shop, "alone.xml"), junit(red_shop, "spread.xml")
    assert one.keys() == other.keys()
    for name, (properties, texts) in one.items():
        assert other[name][0][: len(properties)] == properties
        assert [without_its_processes(text) for text in other[name][1]][: len(texts)] == texts


def test_a_source_is_asked_once_for_each_query_and_its_baseline_is_the_one_of_a_single_process(asking):
    asking.accept()
    alone = asking.baseline_files()
    for name in alone:
        (asking.path / "baselines" / name).unlink()
    (asking.path / "asked.txt").unlink()

    result = run(asking, "-n3", "--ireval-update-new")

    assert result.ret == 0, result.stdout.str()
    again = 2  # to see whether the source answers the same, before its first baseline
    asked = sorted((asking.path / "asked.txt").read_text().split())
    assert asked == [f"q{i:02}" for i in range(1, 11) for _ in range(again)]
    assert asking.baseline_files() == alone


HOLDER = """
import sys
from pathlib import Path
from pytest_ireval.pytest_plugin.workers import hold_if_free
with hold_if_free(Path(sys.argv[1])) as free:
    print(free, flush=True)
    sys.stdin.read()
"""


def test_whoever_would_wait_for_a_suite_evaluates_another_one_meanwhile_and_takes_over_from_who_dies(tmp_path):
    shared, order = WorkerFolder(tmp_path), []
    results = {name: SuiteEvaluation(SuiteResult(name, f"{name}.yaml", "pass", ())) for name in ("shop", "ads")}
    lock = shared.suite_folder("shop") / LOCK
    lock.parent.mkdir()
    pipe = subprocess.PIPE
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, lock], stdin=pipe, stdout=pipe, text=True)
    assert holder.stdout.readline() == "True\n"

    def evaluate(name):
        order.append(name)
        return results[name]

    def another():
        evaluated_here = shared.evaluate_if_free("ads", lambda: evaluate("ads"))
        holder.kill()
        holder.communicate()
        return evaluated_here

    assert shared.evaluate_once("shop", lambda: evaluate("shop"), another) == results["shop"].result
    assert order == ["ads", "shop"]
    assert shared.read_evaluation("ads") == results["ads"]
    assert not shared.evaluate_if_free("ads", lambda: evaluate("ads"))


def test_a_worker_that_is_killed_makes_the_run_red_and_nothing_is_accepted(asking):
    asking.accept()
    before = asking.baseline_files()
    (asking.path / "dies").touch()

    result = run(asking, "-n2", "--ireval-update", "--ireval-reason", "x")

    assert result.ret == 1
    (suite,) = asking.results()["suites"]
    assert suite["verdict"] == asking.results()["verdict"] == "error"
    assert "the run ended before 1 of its verdicts were reported" in suite["notes"]
    assert len(suite["outcomes"]) == len(suite["planned"]) - 1  # another worker goes on
    assert {outcome["verdict"] for outcome in suite["outcomes"]} == {"pass"}
    result.stdout.fnmatch_lines(["not accepted: shop: 1 of its 7 verdicts were not part of this run; left as it is"])
    assert asking.baseline_files() == before


KILLS_ITSELF = """\
import os
import pathlib
import signal

HERE = pathlib.Path(__file__).parent
SEEN = []


def moment():
    SEEN.append(None)
    if os.environ.get("PYTEST_XDIST_WORKER") and len(SEEN) == {moment} and not (HERE / "killed").exists():
        (HERE / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)


def pytest_runtest_setup():
    moment()


def pytest_runtest_logreport():
    moment()
"""


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs signals of POSIX")
@pytest.mark.parametrize("moment", [1, 14, *(pytest.param(moment, marks=pytest.mark.slow) for moment in (2, 3, 4, 31))])
def test_a_worker_that_is_killed_at_any_moment_never_makes_a_red_run_green(red_shop, moment):
    (red_shop.path / "conftest.py").write_text(KILLS_ITSELF.format(moment=moment))

    result = run(red_shop, "-n2")

    assert (red_shop.path / "killed").exists()
    # pytest-xdist itself fails if it sends tests to a worker that has just died.
    assert result.ret in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERNAL_ERROR)
    assert red_shop.results()["verdict"] in ("fail", "error")  # its last report may have come


def test_where_pytest_xdist_itself_fails_after_a_worker_died_the_run_is_not_green(red_shop):
    fails = """

def pytest_sessionstart(session):
    if session.config.pluginmanager.has_plugin("dsession"):
        def fails(*_):
            raise OSError("cannot send (already closed?)")

        session.config.pluginmanager.getplugin("dsession").worker_errordown = fails
"""
    (red_shop.path / "conftest.py").write_text(KILLS_ITSELF.format(moment=1) + fails)

    result = run(red_shop, "-n2")

    assert result.ret == pytest.ExitCode.INTERNAL_ERROR
    assert red_shop.results()["verdict"] == "error"


def test_where_no_worker_comes_back_the_suites_are_errors(asking):
    (asking.path / "dies").touch()

    result = run(asking, "-n1", "--max-worker-restart=0")

    assert result.ret != 0
    (suite,) = asking.results()["suites"]
    assert (suite["verdict"], suite["error"]) == ("error", "the run ended before this suite was evaluated")


def test_a_suite_that_cannot_be_read_is_told_once_and_makes_the_run_red(red_shop):
    (red_shop.path / "broken.ireval.yaml").write_text(red_shop.suite.replace("nDCG@10", "ndgc@10"))

    alone, spread = red_shop.run(), run(red_shop, "-n2")

    assert (alone.ret, spread.ret) == (2, 1)  # pytest-xdist goes on with the others
    assert red_shop.results()["verdict"] == "error"
    assert spread.stdout.str().count("\nbroken.ireval.yaml:10:11: metrics > 1\n") == 1


def test_without_any_suite_a_spread_run_is_no_pass_either(pytester):
    pytester.makepyfile("def test_fine():\n    pass\n")

    result = pytester.runpytest_subprocess("--ireval", "-n2", "-p", "no:cacheprovider")

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["--ireval: no suite was collected*"])


def test_a_part_of_a_spread_suite_is_never_accepted(red_shop):
    before = red_shop.baseline_files()

    result = run(red_shop, "-n2", "-k", "tail", "--ireval-update", "--ireval-reason", "x")

    assert result.ret == 1
    assert red_shop.baseline_files() == before
    result.stdout.fnmatch_lines(["not accepted: shop: 6 of its 7 verdicts were not part of this run; left as it is"])


def test_groups_of_tests_that_carry_their_name_in_the_id_are_found_again(red_shop):
    (red_shop.path / "conftest.py").write_text(
        "import pytest\n\n\n"
        "def pytest_collection_modifyitems(items):\n"
        "    for item in items:\n"
        "        item.add_marker(pytest.mark.xdist_group(item.nodeid.partition('.')[0]))\n"
    )

    result = run(red_shop, "-n2", "--dist", "loadgroup")

    assert result.ret == 1
    assert [suite["verdict"] for suite in red_shop.results()["suites"]] == ["fail"] * 4


def test_python_tests_of_a_worker_use_the_fixture_and_leave_no_folder(accepted_shop, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (accepted_shop.path / "test_shop.py").write_text(
        "def test_gate(ireval):\n    assert ireval.gate('shop.ireval.yaml').verdict == 'pass'\n\n\n"
        "def test_fails():\n    assert False\n"
    )

    result = run(accepted_shop, "-n2")

    assert result.ret == 1
    result.assert_outcomes(passed=8, failed=1)
    assert (accepted_shop.results()["verdict"], accepted_shop.results()["failed_tests"]) == (
        "fail",
        ["test_shop.py::test_fails"],
    )
    assert not list(tmp_path.glob("ireval-*"))


def test_where_workers_cannot_share_anything_the_run_ends_in_words(accepted_shop, monkeypatch):
    sitecustomize = "import tempfile\n\n\ndef mkdtemp(*a, **k):\n    raise OSError(28, 'No space left on device')\n\n\n"
    (accepted_shop.path / "conftest.py").write_text(sitecustomize + "tempfile.mkdtemp = mkdtemp\n")

    result = run(accepted_shop, "-n2")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "cannot create a folder for the workers of this run: No space left on device" in result.stderr.str()
    assert json.loads((accepted_shop.path / "ireval-report/results.json").read_text())["verdict"] == "error"
