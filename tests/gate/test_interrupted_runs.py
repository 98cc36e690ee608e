"""Whenever a run is ended, each file is the old or the new one, what was not done is not green, and it is said why."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_ireval.baseline.reading import read_baseline
from pytest_ireval.report.results_file import parse_run

DRIVER = Path(__file__).with_name("interrupted_run.py")
KINDS = {"killed": 70, "full": 70, "interrupted": 70, "unreadable": 40, "interrupted-reading": 40}
"""What happens, and at how many moments of a run at least."""
ENVIRONMENT = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "100"}
ENVIRONMENT.pop("CI", None)
PYTEST = (sys.executable, "-m", "pytest", "-p", "pytest_ireval.pytest_plugin.plugin", "-p", "no:cacheprovider")
ACCEPTING = ("--ireval", "--ireval-update", "--ireval-reason", "synonyms")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def run(folder, *arguments, **more):
    return subprocess.Popen(
        [*PYTEST, *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **more,
    )


def read_first_document(folder):
    """The first document of q01 as baselines in a folder have it; None for a suite without one."""
    found = {}
    for suite in ("shop", "blog"):
        baseline = read_baseline(folder / "baselines", suite)
        rankings = baseline and baseline.rankings[0]
        found[suite] = baseline and rankings.documents[rankings.first[rankings.queries.index("q01")]]
    return found


BEGINNING = 21
"""Calls after which nothing of an earlier run is left: three files, of which the last is put in place by the 21st."""
OLD, NEW = "q01-d0", "q01-d3"
BEFORE, AFTER = {"shop": OLD, "blog": None}, {"shop": NEW, "blog": NEW}


@pytest.fixture(scope="module")
def home(tmp_path_factory, shop_in):
    """A folder with a template: a suite whose rankings changed since they were accepted, and one without a baseline."""
    home = tmp_path_factory.mktemp("interrupted")
    template = home / "template"
    template.mkdir()
    shop = shop_in(template)
    (template / "pytest.ini").write_text("[pytest]\n")
    shop.suite = shop.suite.replace("document: q01-d0, top: 3", "document: q03-d0, top: 3").replace("q01,", "q03,")
    shop.write()
    first = run(template, "--ireval", "--ireval-update-new")
    printed, _ = first.communicate()
    assert first.returncode == 0, printed
    for query in ("q01", "q02"):
        shop.rankings[query].reverse()
    shop.write()
    (template / "blog.ireval.yaml").write_text(shop.suite.replace("suite: shop", "suite: blog"))
    assert read_first_document(template) == BEFORE
    return home


@pytest.mark.parametrize(
    "step", [pytest.param(1, marks=pytest.mark.slow, id="each"), pytest.param(20, marks=pytest.mark.ci, id="some")]
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_is_disturbed_at_any_moment(kind, step, home):
    command = [sys.executable, DRIVER, home, kind, str(step)]
    driver = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert driver.returncode == 0, driver.stderr
    *moments, last = map(json.loads, driver.stdout.splitlines())

    assert len(moments) >= KINDS[kind] // step
    assert (last["came"], last["code"]) == (False, 0)
    assert [
        each for moment in [*moments, last] if (each := wrong(home / f"{kind}-{step}-{moment['moment']}", kind, moment))
    ] == []


def wrong(folder, kind, moment):
    """What must not be after a run that was disturbed, with the moment."""
    printed = Path(f"{folder}.txt").read_text()
    baselines = read_first_document(folder)  # each can be read, whole
    problems = []
    if not (baselines["shop"] in (OLD, NEW) and baselines["blog"] in (None, NEW)):
        problems.append(f"baselines are {baselines}")
    problems += wrong_results(folder, moment, baselines)
    if moment["code"] == 0 and baselines != AFTER:
        problems.append("exit code 0, and not all was accepted")
    if moment["came"] and moment["code"] == 0 and kind in ("killed", "interrupted", "interrupted-reading"):
        problems.append("exit code 0 of a run that was ended")
    if kind in ("full", "unreadable") and ("Traceback" in printed or "INTERNALERROR" in printed):
        problems.append("a traceback")
    if (
        kind in ("full", "unreadable")
        and moment["code"]
        and "No space left" not in printed
        and "Input/output" not in printed
    ):
        problems.append("does not say why")
    if kind != "killed" and any(folder.glob("ireval-report/.results.json.*")) and "unlink" not in moment["at"]:
        problems.append("a temporary file is left")
    if kind == "killed" and moment["came"] and moment["after"] not in ([0, 0], []):
        problems.append(f"the next update and the run after it end with {moment['after']}")
    return [moment["at"], *problems, printed] if problems else None


def wrong_results(folder, moment, baselines):
    """What is wrong with the file of results: it is that of a run that ended, or no pass."""
    path = folder / "ireval-report/results.json"
    verdict = parse_run(path.read_text()).verdict if path.exists() else "error"
    page = ("index.html", "Safe to land</h1>")
    for name, green in (page, ("summary.md", "**Safe to land**"), ("metrics.txt", "ireval_pass 1.0")):
        other = path.with_name(name)
        if other.exists() and green in other.read_text() and verdict != "pass":
            stale = other.read_bytes() == (folder.parent / "template/ireval-report" / name).read_bytes()
            if not stale or baselines != BEFORE or moment["code"] == 0 or moment["moment"] > BEGINNING:
                yield f"{name} is green, and the results are not"
    if not path.exists():
        return
    old = (folder.parent / "template/ireval-report/results.json").read_bytes()
    if path.read_bytes() == old:
        if moment["code"] == 0 or baselines != BEFORE or moment["moment"] > 6:
            yield "the results are those of an earlier run"
        return
    result = parse_run(path.read_text())
    if result.verdict == "pass" and (baselines != AFTER or result.accepted != ("blog", "shop")):
        yield "the results say pass, and not all was accepted"


def copy_home(home, name):
    folder = home / name
    subprocess.run(["cp", "-R", home / "template", folder], check=True)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda each: each.name)
def test_a_program_that_is_ended_at_a_random_moment(number, home):
    chance = random.Random(int(number))
    for attempt in range(4):
        folder = copy_home(home, f"{number.name}-{attempt}")
        process = run(folder, *ACCEPTING)
        time.sleep(0.5 + 2 * chance.random())
        process.send_signal(number)
        process.communicate()

        baselines = read_first_document(folder)
        assert baselines["shop"] in (OLD, NEW)
        assert baselines["blog"] in (None, NEW)
        if process.returncode == 0:  # it had ended
            assert baselines == AFTER
        results = (folder / "ireval-report/results.json").read_bytes()
        if results == (home / "template/ireval-report/results.json").read_bytes():
            assert baselines == BEFORE  # it had not begun
        else:
            assert parse_run(results.decode()).verdict == "error" or baselines == AFTER


PROGRAM = """
import os, pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path("pids.new").write_text(f"{os.getpid()} {child.pid}")
os.rename("pids.new", "pids")
time.sleep(600)
"""


@pytest.mark.ci
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda each: each.name)
def test_a_program_that_a_source_runs_ends_with_pytest(number, tmp_path, shop_in):
    shop = shop_in(tmp_path)
    (tmp_path / "search.py").write_text(PROGRAM)
    shop.change(("{run: rankings.txt}", f"{{command: [{sys.executable}, search.py]}}"))
    process = run(tmp_path, "--ireval", preexec_fn=hanging_up_ends)
    pids = wait_for(tmp_path / "pids", process).split()

    process.send_signal(number)
    process.communicate()

    assert process.returncode == (2 if number == signal.SIGINT else -number)
    assert [pid for pid in pids if is_alive(int(pid))] == []
    assert parse_run((tmp_path / "ireval-report/results.json").read_text()).verdict == "error"


def hanging_up_ends():
    """As in a terminal; under nohup, which hands its own way on, it does not, and should not."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def wait_for(path, process):
    """The text of a file that a process writes before it ends."""
    while not path.exists():
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.02)
    return path.read_text()


def is_alive(pid):
    """Whether it runs; one that ended and that nobody has asked for yet does not."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return False
        time.sleep(0.05)
    return True
