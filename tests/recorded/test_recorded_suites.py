"""Suites whose verdicts, figures, queries and causes were recorded; see README.md in this folder."""

import importlib.util
import json

import pytest
import yaml
from recording import (
    EXPECTED,
    NAMES,
    NEEDS,
    SUITES,
    TEXTS,
    compare_with_recorded,
    copy_suite,
    list_unrepeatable,
    pick_facts,
    run_copied,
    set_environment,
    write_json,
)

READ_HERE = ("green", "tail_slice", "evidence_undecided", "broken_judgments", "live_elasticsearch")
"""The suites whose texts are compared without --texts."""


@pytest.mark.parametrize("name", NAMES)
def test_a_suite_gives_what_was_recorded(name, pytester, monkeypatch, request):
    if NEEDS.get(name) and importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"needs {NEEDS[name]}")
    set_environment(monkeypatch)
    copy_suite(name, pytester)
    exit_code, results, terminal, summary = run_copied(name, pytester)
    given = {EXPECTED / f"{name}.json": write_json(pick_facts(exit_code, results)) + "\n"}
    wanted = [request.config.getoption(option, False) for option in ("--record", "--texts")]
    if any(wanted) or name in READ_HERE:
        given |= {TEXTS / f"{name}.terminal.txt": terminal, TEXTS / f"{name}.summary.md": summary}
    compare_with_recorded(given, request.config)
    assert list_unrepeatable(pytester.path) == []  # judged again from the kept rankings, a run says the same


def test_every_recording_belongs_to_a_suite():
    assert {path.stem for path in EXPECTED.iterdir()} == set(NAMES)
    assert {path.name.split(".")[0] for path in TEXTS.iterdir()} == set(NAMES)


def test_the_suites_use_every_rule_and_source(registry):
    used = set()
    for path in SUITES.glob("*/*.yaml"):
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        used |= {kind for rule in document.get("rules", []) for kind in rule} | set(document.get("source", {}))
    assert set(registry.rules) | set(registry.sources) <= used


def test_the_suites_have_every_verdict_and_exit_code():
    runs = [json.loads((EXPECTED / f"{name}.json").read_text(encoding="utf-8")) for name in NAMES]
    assert {run["exit_code"] for run in runs} == {0, 1, 2}
    assert {run["verdict"] for run in runs} == {"pass", "inconclusive", "fail", "error"}
