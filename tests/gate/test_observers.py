"""Plugins observe accepted baselines and the end of a run; an observer that raises is an error of the run."""

import json
import re
from pathlib import Path

import pytest

OBSERVER = """\
import json
from pathlib import Path

from pytest_ireval import hookimpl

LOG = Path(__file__).with_name("{log}")


def note(*words):
    with LOG.open("a") as file:
        file.write(" ".join(map(str, words)) + "\\n")


@hookimpl
def ireval_baseline_accepted(suite, acceptance, file):
    note("accepted", suite.name, acceptance.reason, [file.name] if file.is_file() else [])


@hookimpl
def ireval_run_ended(run, folder):
    known = json.loads((folder / "results.json").read_text())["verdict"] if folder else "no files"
    for suite in run.suites:
        for outcome in suite.outcomes:
            note(suite.name, outcome.id, outcome.verdict)
    note("ended", run.verdict, [suite.name for suite in run.suites], known)
"""
RAISES = """\
from pytest_ireval import hookimpl


@hookimpl
def {hook}({arguments}):
    raise RuntimeError("no network")
"""
ALONE_OR_PARALLEL = pytest.mark.parametrize("arguments", [(), pytest.param(("-n2",), marks=pytest.mark.ci)])


@pytest.fixture
def notes(shop):
    """Runs the suite with an observer in its conftest.py; returns what the observer was told."""
    (shop.path / "conftest.py").write_text(OBSERVER.replace("{log}", "log.txt"))

    def run(*arguments):
        (shop.path / "log.txt").unlink(missing_ok=True)
        shop.run(*arguments)
        return (shop.path / "log.txt").read_text().splitlines()

    return run


@ALONE_OR_PARALLEL
def test_they_are_told_of_an_accepted_baseline_with_its_files_and_of_the_end_with_each_verdict(notes, shop, arguments):
    shop.rankings["q01"].reverse()
    shop.write()
    accepted, *verdicts, ended = notes(
        "--ireval-update", "--ireval-force", "--ireval-reason", "a new index", *arguments
    )
    files = sorted(path.name for path in (shop.path / "baselines").glob("shop.*"))
    (suite,) = shop.results()["suites"]

    assert accepted == f"accepted shop a new index {files}"
    assert verdicts == [f"shop {each['id']} {each['verdict']}" for each in suite["outcomes"]]
    assert ended == f"ended {shop.results()['verdict']} ['shop'] {shop.results()['verdict']}"


def test_only_what_was_run_is_told_and_nothing_where_a_run_only_looks(notes, shop):
    told = notes("-k", "threshold", "--ireval-report", "none")
    (shop.path / "log.txt").unlink()
    shop.run("--collect-only")

    assert told == ["shop threshold::nDCG_10 pass", "ended pass ['shop'] no files"]
    assert not (shop.path / "log.txt").exists()


def test_each_is_told_of_the_suites_that_it_serves(shop):
    for name in ("one", "two"):
        folder = shop.path / name
        folder.mkdir()
        (folder / "conftest.py").write_text(OBSERVER.replace("{log}", "log.txt"))
        for file in ("queries.tsv", "judgments.txt", "rankings.txt"):
            (folder / file).write_text((shop.path / file).read_text())
        text = (shop.path / "shop.ireval.yaml").read_text().replace("suite: shop", f"suite: {name}")
        (folder / "shop.ireval.yaml").write_text(text)
    (shop.path / "shop.ireval.yaml").unlink()
    (shop.path / "conftest.py").write_text(OBSERVER.replace("{log}", "log.txt"))
    shop.run("--ireval-update-new")

    def last(path):
        return (shop.path / path).read_text().splitlines()[-1]

    assert "['one', 'two']" in last("log.txt")
    assert "['one']" in last("one/log.txt")
    assert "['two']" in last("two/log.txt")


def test_the_end_of_a_run_without_a_suite_is_told_too(shop):
    (shop.path / "observer.py").write_text(OBSERVER.replace("{log}", "log.txt"))
    shop.pytester.syspathinsert()
    (shop.path / "shop.ireval.yaml").write_text("ireval: 1\n")
    shop.run("-p", "observer")

    assert (shop.path / "log.txt").read_text() == "ended error [] error\n"


HOOKS = {"ireval_run_ended": "run", "ireval_baseline_accepted": "suite, file"}


@pytest.mark.parametrize("hook", HOOKS)
def test_one_that_raises_is_an_error_of_the_run_with_its_file_and_line(shop, hook):
    (shop.path / "conftest.py").write_text(RAISES.format(hook=hook, arguments=HOOKS[hook]))
    result = shop.run("--ireval-update", "--ireval-reason", "fine")
    said = f"{hook} of conftest.py raised RuntimeError: no network; at conftest.py:6, in {hook}"

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"*problem: {said}"])
    assert result.stdout.str().count(said) == 1
    results = shop.results()
    assert (results["verdict"], results["problems"]) == ("error", [said])
    assert results["suites"][0]["verdict"] == "pass"
    assert results["accepted"] == ["shop"]


def test_the_others_are_told_all_the_same(notes, shop):
    (shop.path / "raises.py").write_text(RAISES.format(hook="ireval_run_ended", arguments="run"))
    shop.pytester.syspathinsert()

    assert notes("-p", "raises")[-1] == "ended fail ['shop'] fail"


PAGE = Path(__file__).parents[2] / "docs/plugins.md"


@pytest.mark.skipif(not PAGE.is_file(), reason="needs a checkout of the project")
def test_the_observers_of_the_page_observe(shop):
    code = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (shown,) = [block for block in code if "def ireval_run_ended" in block]
    (shop.path / "conftest.py").write_text(shown)
    result = shop.run("--ireval-update-new")

    assert result.ret == 0, result.stdout.str()
    copies = {path.name: path.read_bytes() for path in (shop.path / "copies/shop").iterdir()}
    assert copies == shop.baseline_files()
    assert json.loads((shop.path / "last_run.json").read_text()) == {"shop": shop.verdicts()}
