"""A rule of an installed distribution, with option names of its own, gets what the built-in rule gets."""

import json

import pytest
from suite_files import write_judgments, write_rankings, write_suite
from test_discovery import distribution

pytestmark = pytest.mark.ci

RULES = '''\
from pytest_ireval import RuleResult, hookimpl, rule
from pytest_ireval.plugin_api import MeanEvidence, compute_slice_figures, mean_evidence
from pytest_ireval.options import EvidenceOptions, Flag, MetricText, RuleTraits, TolerancesText
from dataclasses import replace


class SlackOptions(EvidenceOptions):
    metric: MetricText
    slack: TolerancesText
    by_traffic: Flag = False

    @property
    def traits(self):
        return replace(super().traits, tolerance=self.slack, weighted=self.by_traffic)


def evidence(context):
    return mean_evidence(context.sign * context.paired_values().gain)


def p_of_slack(options, context):
    return evidence(context).p_worse if options.by_evidence else None


@rule(name="slack", options=SlackOptions, p_value=p_of_slack)
def slack(options, context):
    """A rule of somebody else."""
    line = compute_slice_figures(options, context)
    p = context.adjust_p(evidence(context).p_worse)
    failed = p < 0.05 if options.by_evidence else -line.change > line.tolerance
    return RuleResult("fail" if failed else "pass", f"{context.metric} moved by {line.change:+.4f}", figures=(line,))


@hookimpl
def ireval_rules():
    return [slack]
'''
BUILT_IN = "no_regression: {metric: nDCG@3, tolerance: 2%, against: {run: before.txt}MORE}"
THEIRS = "slack: {metric: nDCG@3, slack: 2%, against: {run: before.txt}MORE}"
KINDS = pytest.mark.parametrize("more", [", decide_by: observed", ", min_queries: 6"], ids=["observed", "evidence"])


@pytest.fixture
def suite_with(pytester, monkeypatch):
    """A suite with one rule, over rankings of 40 queries, 12 of which got worse."""
    folder = pytester.path
    lists = {f"q{i:02}": ["a", "b", "c"] for i in range(40)}
    worse = {query: ids[::-1] if i < 12 else ids for i, (query, ids) in enumerate(lists.items())}
    write_rankings(folder / "before.txt", lists)
    write_rankings(folder / "now.txt", worse)
    write_judgments(folder / "judgments.txt", {q: {"a": 1 + i % 3, "b": 1} for i, q in enumerate(lists)})
    (folder / "acme_rules.py").write_text(RULES)
    distribution(folder, "acme-rules", "[pytest_ireval]\nacme-rules = acme_rules\n")
    monkeypatch.syspath_prepend(folder)

    return lambda rule, more: write_suite(folder, rule.replace("MORE", more), source="{run: now.txt}", depth=3)


def erase_names(text):
    """Erase the names that differ; `names_whole` makes the ids of the built-in rule end with `.all`."""
    return text.replace("slack", "no_regression").replace("nDCG_3.all", "nDCG_3")


@KINDS
def test_the_gate(suite_with, more, pytester):
    lines = []
    for rule in (BUILT_IN, THEIRS):
        result = pytester.runpytest("--ireval", "-p", "no:cacheprovider", str(suite_with(rule, more)))
        (suite,) = json.loads((pytester.path / "ireval-report/results.json").read_text())["suites"]
        (outcome,) = [each for each in suite["outcomes"] if each["compares"]]
        assert (result.ret, outcome["verdict"]) == (1, "fail")
        lines.append({**outcome["figures"][0], "over": None, "adjusted": None})

    assert lines[0] == lines[1]
    assert lines[0]["tolerance"] > 0


@KINDS
def test_plan_and_check(suite_with, more, ireval):
    plans, checks = [], []
    for rule in (BUILT_IN, THEIRS):
        path = suite_with(rule, more)
        plans.append(ireval("plan", path, "--format", "json").out)
        checks.append(ireval("check", path))

    assert erase_names(plans[1]) == erase_names(plans[0])
    assert json.loads(plans[0])
    assert [each.code for each in checks] == [0, 0]


@KINDS
def test_self_test_damages_what_it_looks_at(suite_with, more, ireval):
    found = [
        ireval("self-test", suite_with(rule, more), "--trials", "20", "--format", "json").out
        for rule in (BUILT_IN, THEIRS)
    ]

    assert json.loads(found[0])
    assert erase_names(found[1]) == erase_names(found[0])
