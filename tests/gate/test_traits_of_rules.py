"""A rule of a plugin whose options have names of their own gets from plan and checks what a built-in rule gets."""

from dataclasses import replace
from datetime import date

import pytest

from pytest_ireval import run_gate
from pytest_ireval.errors import SuiteError
from pytest_ireval.gate.planning import find_checks_that_cannot_fail, plan_checks, select_rule_checks
from pytest_ireval.gate.queries_and_judgments import read_suite_queries
from pytest_ireval.plugins.conftests import Conftests
from pytest_ireval.power.outlook import collect_suite_data, find_tolerances_of_nothing, foresee_rules
from pytest_ireval.suite.loading import load_suite

PLUGIN = """\
from pydantic import Field
from pytest_ireval import RuleResult, hookimpl, rule
from pytest_ireval.suite.option_types import Against
from pytest_ireval.suite.option_types import AmountText
from pytest_ireval.suite.options import ComparingOptions
from pytest_ireval.suite.option_types import Flag
from pytest_ireval.suite.option_types import MetricText
from pytest_ireval.suite.options import RuleTraits
from pytest_ireval.suite.option_types import TolerancesText


class SlackOptions(ComparingOptions):
    metric: MetricText
    slack: TolerancesText = Field("1%", validate_default=True)
    losers: AmountText = Field("1", validate_default=True)
    by_traffic: Flag = False

    @property
    def traits(self):
        return RuleTraits(
            reference=self.against, tolerance=self.slack, at_most=self.losers, weighted=self.by_traffic
        )


@rule(name="slack", options=SlackOptions)
def slack(options, context):
    '''A rule of somebody else.'''
    return RuleResult("pass", "fine")


@hookimpl
def ireval_rules():
    return [slack]
"""
BUILT_IN = "no_regression: {metric: nDCG@10, tolerance: 5%, decide_by: observed}"
THEIRS = "slack: {metric: nDCG@10, slack: 5%}"


@pytest.fixture
def load_with_rules(shop):
    """A suite with an accepted baseline and these rules, loaded; and the registry of its folder."""
    shop.accept()
    (shop.path / "conftest.py").write_text(PLUGIN)

    def load(*rules, more=""):
        rules = "rules:\n" + "".join(f"  - {rule}\n" for rule in rules)
        shop.suite = shop.suite[: shop.suite.index("rules:")] + more + rules
        shop.write()
        path = shop.path / "shop.ireval.yaml"
        registry = Conftests().registry_for(path)
        return load_suite(path, registry), registry

    return load


def outlooks_of(suite, registry):
    return foresee_rules(collect_suite_data(suite, registry, date(2026, 11, 18)))


PAIRS = [
    (BUILT_IN.replace("}", ", weighted: true}"), THEIRS.replace("}", ", by_traffic: true}")),
    (
        "no_regression: {metric: nDCG@10, per: segment, tolerance: {head: 10%, default: 5%}, decide_by: observed}",
        "slack: {metric: nDCG@10, per: segment, slack: {head: 10%, default: 5%}}",
    ),
]


def test_plan_says_of_it_what_it_says_of_a_built_in_rule(load_with_rules):
    for built_in, theirs in PAIRS:
        expected, found = (outlooks_of(*load_with_rules(rule)) for rule in (built_in, theirs))

        assert len(found) > 0
        assert all(outlook.tolerance is not None for outlook in found)
        assert [replace(each, check=None) for each in found] == [replace(each, check=None) for each in expected]
    wrong = [
        list(find_tolerances_of_nothing(outlooks_of(*load_with_rules(rule.replace("5%", "0%")))))
        for rule in (BUILT_IN, THEIRS)
    ]
    assert len(wrong[0]) == len(wrong[1])


def test_a_tolerance_for_a_value_that_no_query_has_and_weights_that_the_suite_lacks_are_mistakes(load_with_rules, shop):
    suite, registry = load_with_rules("slack: {metric: nDCG@10, per: segment, slack: {haed: 10%, default: 5%}}")
    with pytest.raises(SuiteError, match="no query has segment=haed"):
        outlooks_of(suite, registry)

    shop.suite = shop.suite.replace("weight: searches\n", "")
    suite, registry = load_with_rules(THEIRS.replace("}", ", by_traffic: true}"))
    with pytest.raises(SuiteError, match="is weighted, but the suite does not say"):
        outlooks_of(suite, registry)


def test_a_share_that_nothing_can_exceed_is_named(load_with_rules):
    for losers, can_never_fail in (("10", True), ("100%", True), ("9", False)):
        suite, registry = load_with_rules(THEIRS.replace("}", f", losers: {losers}}}"))
        queries = read_suite_queries(suite, registry)
        notes = find_checks_that_cannot_fail(select_rule_checks(plan_checks(suite, queries)), queries)

        assert any("can never fail" in note for note in notes) == can_never_fail, losers


def test_what_it_compares_with_is_fetched(load_with_rules, shop):
    (shop.path / "other.txt").write_text((shop.path / "rankings.txt").read_text())
    suite, registry = load_with_rules("slack: {metric: nDCG@10, against: {run: other.txt}}")

    assert run_gate(suite, registry=registry).verdict == "pass"
    (shop.path / "other.txt").unlink()
    (outcome,) = [each for each in run_gate(suite, registry=registry).outcomes if each.kind == "slack"]
    assert (outcome.verdict, "other.txt" in outcome.headline) == ("error", True)
