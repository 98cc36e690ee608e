"""Editors: what the adapters of VS Code and PyCharm ask of the tests that they list and run."""

import json
import os
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.ci

ADAPTER = """\
import json
import pathlib


def pytest_collection_finish(session):
    listed = [
        {
            "id": item.nodeid,
            "path": str(item.path),
            "file": str(item.parent.path),
            "line": item.location[1] + 1,
            "place": item.location[0],
            "name": item.name,
        }
        for item in session.items
    ]
    pathlib.Path("listed.json").write_text(json.dumps([session.path.as_posix(), listed]))


def pytest_report_teststatus(report):
    if report.when == "call":
        with pathlib.Path("shown.jsonl").open("a") as file:
            file.write(json.dumps([report.nodeid, report.outcome, report.longreprtext]) + "\\n")
"""
"""What the adapter of VS Code reads of a session: paths, lines, ids, and the text of each failure."""


@pytest.fixture
def editor(shop):
    """The ini file turns the gate on, as an editor needs it; two checks are red."""
    shop.accept()
    shop.rankings["q10"] = ["q10-n1"]
    shop.write()
    (shop.path / "pytest.ini").write_text("[pytest]\nireval = true\n")
    (shop.path / "adapter.py").write_text(ADAPTER)
    (shop.path / "test_python.py").write_text("def test_other():\n    pass\n")
    return shop


def ask(shop, *arguments):
    command = ("-p", "adapter", "-p", "no:cacheprovider", f"--rootdir={shop.path}", *arguments)
    return shop.pytester.runpytest_subprocess(*command)


def test_vs_code_lists_every_check_at_its_line_and_runs_it_by_its_id(editor):
    assert ask(editor, "--collect-only").ret == 0
    root, listed = json.loads((editor.path / "listed.json").read_text())
    checks = [each for each in listed if "ireval.yaml" in each["path"]]

    assert Path(root) == editor.path
    assert len(listed) == len(checks) + 1 == 8
    lines = (editor.path / "shop.ireval.yaml").read_text().splitlines()
    for each in checks:
        assert Path(each["path"]) == Path(each["file"]) == editor.path / "shop.ireval.yaml"
        assert each["place"] == "shop.ireval.yaml"
        assert each["id"].startswith("shop.ireval.yaml::")
        assert each["id"].endswith(f"::{each['name']}")
        kind = each["id"].split("::")[1]
        assert kind == "inputs" or kind in lines[each["line"] - 1] or kind == "expect"

    chosen = next(each["id"] for each in checks if each["id"].endswith("segment-tail"))
    assert ask(editor, f"{editor.path}{os.sep}{chosen}").ret == 1  # it hands over whole paths
    ((shown, outcome, text),) = {
        tuple(json.loads(line)) for line in (editor.path / "shown.jsonl").read_text().splitlines()
    }
    assert (shown, outcome) == (chosen, "failed")
    assert text.startswith("shop.ireval.yaml:14: nDCG@10 fell 25.0% on segment=tail (tolerance 5%)\n")

    assert ask(editor).ret == 1  # each failure has its own text although the terminal has one block
    shown = [json.loads(line) for line in (editor.path / "shown.jsonl").read_text().splitlines()]
    texts = {text.partition("\n")[0] for _, outcome, text in shown if outcome == "failed"}
    assert texts == {
        "shop.ireval.yaml:13: nDCG@10 fell 10.0% (tolerance 5%)",
        "shop.ireval.yaml:14: nDCG@10 fell 25.0% on segment=tail (tolerance 5%)",
    }


def test_a_run_of_one_python_test_stays_a_usual_run(editor):
    assert ask(editor, f"{editor.path}{os.sep}test_python.py::test_other").ret == 0


def test_pycharm_gets_a_message_for_each_check(editor, monkeypatch):
    if "IREVAL_TEAMCITY" not in os.environ:
        assert os.environ.get("IREVAL_CI_TOOLS") != "required"
        pytest.skip("IREVAL_TEAMCITY is not a folder with teamcity-messages, by which PyCharm runs tests")
    monkeypatch.setenv("PYTHONPATH", os.environ["IREVAL_TEAMCITY"], prepend=os.pathsep)

    said = editor.pytester.runpytest_subprocess("--teamcity", "-p", "no:cacheprovider").stdout.str()
    started = re.findall(r"##teamcity\[testStarted .*? name='(.*?)'\]", said)
    failed = re.findall(r"##teamcity\[testFailed .*?details='(.*?)\|n.*? name='(.*?)'\]", said)

    assert len(started) == len(set(started)) == 8
    assert dict(map(reversed, failed)) == {
        "shop_ireval_yaml.no_regression.nDCG_10_all": "shop.ireval.yaml:13: nDCG@10 fell 10.0% (tolerance 5%)",
        "shop_ireval_yaml.no_regression.nDCG_10_segment-tail": (
            "shop.ireval.yaml:14: nDCG@10 fell 25.0% on segment=tail (tolerance 5%)"
        ),
    }
    assert said.count("##teamcity[testFinished ") == 8
