"""Runs a recorded suite, and takes from its results what must stay the same."""

import difflib
import json
import re
import shutil
from pathlib import Path

import pytest
from suite_files import find_registry

from pytest_ireval import load_suites
from pytest_ireval.gate_api import open_kept_run
from pytest_ireval.plugin_api import read_run

HERE = Path(__file__).parent
SUITES, EXPECTED, TEXTS, BRANCHES = (HERE / name for name in ("suites", "expected", "texts", "branches"))
NAMES = sorted(each.parent.name for each in SUITES.glob("*/suite.ireval.yaml"))
MOMENT = "1767225600"  # 2026-01-01 00:00 UTC
OPTIONS = ("--ireval", "--ireval-report=report", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist")
MORE_METRICS = ("condensed_lists", "preferences", "subtopics", "unjudged_documents", "variants_and_titles")
LIVE = [name for name in NAMES if name.startswith("live_")]
NEEDS = {
    "sql": "sqlalchemy",
    **dict.fromkeys(LIVE, "urllib3"),
    **dict.fromkeys(MORE_METRICS, "pytest_ireval_more_metrics"),
}

OUTCOME = ("id", "kind", "verdict", "metric", "slice", "warning", "acceptable", "compares", "missing_baseline")
FIGURES = (
    "slice",
    "queries",
    "now",
    "baseline",
    "worse",
    "better",
    "same",
    "share",
    "tolerance",
    "over",
    "low",
    "high",
)
FIGURES += ("resolution", "p", "adjusted", "needed", "effective", "clusters", "weighted", "two_sided")
CHANGE = ("query", "now", "baseline", "weight")
DIAGNOSIS = ("kind", "queries", "affected", "compared", "metric", "explained", "stage", "locates")
METRIC = ("name", "now", "baseline", "paired", "worse", "better", "same", "low", "high", "verdict")
COUNTS = ("queries", "judged", "missing", "empty", "without_judgments", "no_relevant", "unjudged", "tied", "waived")
CAUSE = ("rankings", "compared", "judgments", "edited", "added", "removed", "queries", "metrics", "source", "policies")
CAUSE += ("timings", "fields", "restated")


def set_environment(monkeypatch):
    """The same day, width and answers everywhere."""
    for variable in ("CI", "RANKINGS", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "NO_COLOR", "FORCE_COLOR", "PY_COLORS"):
        monkeypatch.delenv(variable, raising=False)
    for variable, text in {"SOURCE_DATE_EPOCH": MOMENT, "IREVAL_OFFLINE": "1", "COLUMNS": "80", "TZ": "UTC"}.items():
        monkeypatch.setenv(variable, text)


def copy_suite(name, pytester):
    """Copy a suite and the files that all share."""
    for folder in ("data", name, *(["python_functions"] if name == "python_all_at_once" else [])):
        shutil.copytree(SUITES / folder, pytester.path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    pytester.path.joinpath("pytest.ini").write_text("[pytest]\n")


def run_copied(name, pytester, *options):
    """Run it there; return the exit code, the results, the text of the terminal, and the summary."""
    ran = pytester.runpytest_inprocess(*OPTIONS, *options, name)
    report = pytester.path / "report"
    results = json.loads((report / "results.json").read_text(encoding="utf-8"))
    summary = (report / "summary.md").read_text(encoding="utf-8")
    here = str(pytester.path)
    return int(ran.ret), results, _plain("\n".join(ran.outlines) + "\n", here), _plain(summary, here)


def list_unrepeatable(folder):
    """The checks of a run that have another verdict when its kept rankings are checked again; no source is asked."""
    report = folder / "report"
    run = read_run(report)
    suites = [each for each in run.suites if not each.error]
    found = []
    for result in suites:
        path = folder / result.path
        registry = find_registry(path)
        suite = next(each for each in load_suites(path, registry) if each.name == result.name)
        found += open_kept_run(suite, registry, result, report / "rankings.zip").unrepeatable
    return found


def compare_with_recorded(given, config):
    """Compare texts with the files of that path; with ``--record`` write the files."""
    differences = []
    for path, text in given.items():
        recorded = path.read_bytes().decode() if path.is_file() else ""
        if config.getoption("--record", False):
            path.write_bytes(text.encode())
        elif text != recorded:
            place = f"recorded/{path.parent.name}/{path.name}"
            lines = recorded.splitlines(), text.splitlines()
            differences += difflib.unified_diff(*lines, place, "now", lineterm="", n=1)
    if differences:
        pytest.fail("\n".join([*differences, "if this is intended: --record"]), pytrace=False)


def _plain(text, here):
    """The text without what differs by machine and by moment."""
    text = text.replace(here, "HERE")
    return re.sub(r"in \d+\.\d\ds( \([\d:]+\))?( =*)?$", "in 0.00s", text, flags=re.MULTILINE)


def pick_facts(exit_code, results):
    """Verdicts, figures, queries and causes of all suites of a run; no words, paths, versions or times."""
    return {
        "exit_code": exit_code,
        "verdict": results["verdict"],
        "problems": len(results["problems"]),
        "suites": {suite["name"]: _pick_suite(suite) for suite in results["suites"]},
    }


def _pick_suite(suite):
    return {
        "verdict": suite["verdict"],
        "planned": len(suite["planned"]),
        "outcomes": [_pick_outcome(each) for each in suite["outcomes"]],
        "metrics": [_take(each, METRIC) for each in suite["metrics"]],
        "counts": _take(suite["counts"] or {}, COUNTS),
        "causes": [_take(each, DIAGNOSIS) for each in suite["diagnoses"]],
        "changed": _take(suite["cause"] or {}, CAUSE),
        "to_judge": [_take(each, ("query", "document", "metric", "effect")) for each in suite["to_judge"][:10]],
    }


def _pick_outcome(outcome):
    return _take(outcome, OUTCOME) | {
        "numbers": _round(outcome["numbers"]),
        "figures": [_take(each, FIGURES) for each in outcome["figures"]],
        "queries": [_take(each, CHANGE) for each in outcome["queries"]],
    }


def _take(record, names):
    """Those fields that say something: not the empty ones."""
    return {name: _round(record[name]) for name in names if record.get(name) not in (None, False, "", [], {})}


def _round(value):
    """Twelve places: sums of floats differ in the last digits between processors."""
    if isinstance(value, float):
        return round(value, 12) + 0.0
    if isinstance(value, dict):
        return {key: _round(each) for key, each in value.items()}
    return [_round(each) for each in value] if isinstance(value, list) else value


def write_json(value, indent=""):
    """JSON in which a record of plain values is one line, so that a difference is read easily."""
    inner = indent + "  "
    if not isinstance(value, dict | list) or not value or _is_plain(value):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(key)}: {write_json(each, inner)}" for key, each in value.items()]
    else:
        lines = [f"{inner}{write_json(each, inner)}" for each in value]
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    return f"{opened}\n" + ",\n".join(lines) + f"\n{indent}{closed}"


def _is_plain(value):
    """True if it holds only numbers, texts and lists of them."""
    each = value.values() if isinstance(value, dict) else value
    return not any(isinstance(one, dict) or (isinstance(one, list) and not _is_plain(one)) for one in each)
