"""A plugin that cannot be loaded is an error of a gate, unless it is left out by name; commands that look go on."""

import json
import os

import pytest
from suite_files import write_judgments, write_rankings, write_suite
from test_discovery import distribution


@pytest.fixture
def shop(pytester, monkeypatch):
    """A suite, and an installed plugin that cannot be imported."""
    distribution(pytester.path / "lib", "acme-metrics", "[pytest_ireval]\nacme = acme_metrics\n")
    (pytester.path / "lib/acme_metrics.py").write_text("import a_library_that_is_gone\n")
    monkeypatch.syspath_prepend(pytester.path / "lib")
    monkeypatch.setenv("PYTHONPATH", str(pytester.path / "lib"), prepend=os.pathsep)
    write_judgments(pytester.path / "judgments.txt", {"q1": {"d1": 1}})
    write_rankings(pytester.path / "rankings.txt", {"q1": ["d1"]})
    write_suite(pytester.path, "threshold: {nDCG@3: '>= 0.5'}")
    return pytester


def flat(text):
    return " ".join(str(text).split())


def test_it_ends_a_gate_and_says_how_to_go_on(shop):
    result = shop.runpytest("--ireval", "-n0")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = flat(result.stderr)
    assert "plugin 'acme' (acme_metrics) of acme-metrics 1.2 cannot be loaded: ModuleNotFoundError" in text
    assert "repair it, or run without it: --ireval-without acme (or IREVAL_WITHOUT=acme)" in text


@pytest.mark.parametrize("how", ["option", "variable"])
def test_left_out_by_name_the_report_says_so(shop, monkeypatch, how):
    if how == "variable":
        monkeypatch.setenv("IREVAL_WITHOUT", "acme-metrics")
    result = shop.runpytest("--ireval", "-n0", *(["--ireval-without", "acme"] if how == "option" else []))

    assert result.ret == 0
    assert "; without acme-metrics 1.2" in flat(result.stdout)
    (suite,) = json.loads((shop.path / "ireval-report/results.json").read_text())["suites"]
    assert "this run is without the plugin acme-metrics 1.2, which was left out by name" in suite["notes"]


def test_one_that_only_suites_need_stops_these(shop, ireval):
    (text,) = shop.path.glob("lib/*/entry_points.txt")
    text.write_text("[pytest_ireval_suites]\nacme = acme_metrics\n")
    result = shop.runpytest("--ireval", "-n0")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "plugin 'acme' (acme_metrics) of acme-metrics 1.2 cannot be loaded: ModuleNotFound" in flat(result.stdout)
    assert shop.runpytest("--ireval", "-n0", "--ireval-without", "acme").ret == 0
    assert ireval("evaluate", "judgments.txt", "rankings.txt", "-m", "nDCG@3").err == ""
    assert ireval("check", "shop.ireval.yaml").code == 1
    listed = ireval("plugins")
    assert "warning: nothing of this plugin is shown: plugin 'acme'" in flat(listed.err)
    assert "acme-metrics 1.2 (acme)" in listed.out


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "judgments.txt", "rankings.txt", "-m", "nDCG@3"),
        ("why", "nDCG@3", "judgments.txt", "rankings.txt", "--query", "q1"),
        ("metrics",),
    ],
    ids=lambda command: command[0],
)
def test_commands_that_look_go_on_and_say_what_is_missing(shop, ireval, command):
    found = ireval(*command)

    assert found.code == 0
    assert found.out
    assert flat(found.err).startswith("warning: nothing of this plugin is shown: plugin 'acme' (acme_metrics)")
    assert found.err.count("warning") == 1
