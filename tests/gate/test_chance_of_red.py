"""``ireval plan`` says how often a harmless change would turn a suite red: its rules are applied to drawn changes."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from suite_files import write_suite

from pytest_ireval import Queries, load_registry, load_suite
from pytest_ireval.baseline.record import Acceptance, StoredMetric, round_spreads
from pytest_ireval.gate.planning import plan_checks, select_rule_checks
from pytest_ireval.power import chance_of_red
from pytest_ireval.power.chance_of_red import estimate_chance_of_red
from pytest_ireval.power.outlook import SuiteData
from pytest_ireval.results.suite_result import QueryTable
from pytest_ireval.statistics.resolution import false_alarm

EVIDENCE = "no_regression: {metric: nDCG@10, tolerance: 1%}"
OBSERVED = "no_regression: {metric: nDCG@10, tolerance: 1%, decide_by: observed}"


@pytest.fixture
def chance(tmp_path, monkeypatch):
    """What is said of a suite with these rules, on so many queries whose values have the mean 0.5."""

    def ask(*rules, queries=400, known=("nDCG@10", "RR@10"), weights=None, moved=None, draws=60):
        monkeypatch.setattr(chance_of_red, "DRAWS", draws)
        for name in ("rankings.txt", "queries.tsv", "judgments.txt"):
            (tmp_path / name).touch()  # they are not read
        path = write_suite(tmp_path, *rules, suite="many", queries="queries.tsv", weight="searches")
        registry = load_registry()
        suite = load_suite(path, registry)
        ids = tuple(f"q{i}" for i in range(queries))
        columns = {"part": tuple(f"p{i % 5}" for i in range(queries)), "searches": ("1",) * queries}
        asked = Queries(ids, ids, columns=columns)
        values = np.random.default_rng(1).beta(1.2, 1.2, queries)
        metrics = {
            name: StoredMetric(1, "pytest-ireval", None, dict(zip(ids, (values + shift).tolist(), strict=True)))
            for name, shift in (("nDCG@10", 0.0), ("RR@10", 0.001))
        }
        accepted = Acceptance("2026-11-19", spreads=round_spreads([(name, 0.1) for name in known]))
        stored = SimpleNamespace(metrics=metrics, acceptances=(accepted,))
        weights = None if weights is None else np.array(weights, np.float64)
        run = None
        if moved is not None:
            table = QueryTable(("a",) * len(moved), now={"nDCG@10": moved}, baseline={"nDCG@10": (0.0,) * len(moved)})
            run = SimpleNamespace(date="2026-11-20", suites=[SimpleNamespace(name="many", queries=table)])
        return estimate_chance_of_red(
            SuiteData(
                suite, registry, tuple(select_rule_checks(plan_checks(suite, asked))), asked, weights, stored=stored
            ),
            run,
        )

    return ask


def test_where_no_change_was_seen_yet_it_is_unknown(chance):
    found = chance(EVIDENCE, known=())

    assert (found.red, found.why) == (None, "no accepted change and no run has shown yet how far queries move")


def test_an_observed_tolerance_is_broken_as_often_as_the_normal_distribution_says(chance):
    rule = "no_regression: {metric: nDCG@10, tolerance: {absolute: 0.005}, decide_by: observed}"
    found = chance(rule, draws=200)

    assert found.red == pytest.approx(false_alarm(0.005, 0.1, 400), abs=0.06)
    assert (found.drawn_from, found.left_out) == ("earlier changes", ())


def test_one_rule_by_evidence_is_red_in_five_per_cent_and_warns_of_other_falls_beyond_its_tolerance(chance):
    found = chance(EVIDENCE, draws=200)

    assert 0.01 <= found.red <= 0.09
    assert found.red + found.warned == pytest.approx(false_alarm(0.005, 0.1, 400), abs=0.06)


def test_many_rules_by_evidence_share_one_level(chance):
    sliced = EVIDENCE.replace("}", ", per: part, hard_limit: 90%}")

    assert chance(EVIDENCE, sliced, queries=100).red <= 0.1


def test_many_observed_tolerances_are_broken_far_more_often_than_one(chance):
    wide = OBSERVED.replace("1%", "4%")
    one, many = chance(wide, queries=100), chance(wide.replace("}", ", per: part}"), queries=100)

    assert one.red < 0.06
    assert many.red > 0.5


def test_the_differences_of_the_last_run_are_drawn_as_gains_and_as_losses(chance):
    """One query in a hundred lost everything: drawn changes move as many, half of them up."""
    rule = "worsened: {{metric: nDCG@10, by_more_than: 0.5, at_most: {}, decide_by: observed}}"
    moved = (-1.0, *(0.0,) * 98, None)
    tight, loose = (chance(rule.format(limit), moved=moved, draws=200) for limit in (1, 7))

    assert tight.drawn_from == "the change in the run of 2026-11-20"
    assert tight.red == pytest.approx(0.59, abs=0.08)  # more than 1 where 2 are expected, by the Poisson distribution
    assert loose.red < 0.02


def test_a_run_that_moved_no_query_says_nothing(chance):
    assert chance(EVIDENCE, moved=(0.0, 0.0, None)).drawn_from == "earlier changes"


def test_few_queries_with_most_of_the_traffic_are_few(chance):
    rule = "no_regression: {metric: nDCG@10, tolerance: 2%, weighted: true, decide_by: observed}"
    flat, steep = (chance(rule, weights=each).red for each in ([1] * 400, [100] * 10 + [1] * 390))

    assert flat < 0.1 < steep


def test_a_floor_counts_and_rules_about_lists_other_references_and_unknown_metrics_are_named(chance):
    found = chance(
        'threshold: {nDCG@10: ">= 0.4", RR@10: ">= 0.4"}',
        "churn: {overlap: RBO(p=0.9), below: 0.8, at_most: 10%}",
        "expect: [{query: q1, document: d, top: 3}]",
        "no_regression: {metric: nDCG@10, tolerance: 1%, against: anchor, name: far}",
        known=["nDCG@10"],
    )

    assert (found.red, found.warned) == (0.0, 0.0)
    assert found.left_out == ("threshold RR@10", "churn RBO", "expect", "no_regression nDCG@10")


def test_a_rule_that_only_warns_turns_nothing_red(chance):
    found = chance(OBSERVED.replace("1%", "0.01%").replace("}", ", on_fail: warn}"))

    assert found.red == 0.0
    assert found.warned == pytest.approx(0.5, abs=0.15)


@pytest.fixture
def moving(shop, monkeypatch):
    """A shop with one observed rule, whose last run saw a change of three queries."""
    monkeypatch.chdir(shop.path)
    shop.suite = shop.suite[: shop.suite.index("rules:")]
    shop.suite += "rules:\n  - no_regression: {metric: nDCG@10, tolerance: 2%, decide_by: observed}\n"
    shop.write()
    shop.accept()
    for query in ("q01", "q03", "q07"):
        shop.rankings[query].reverse()
    shop.write()
    shop.once("three queries moved", shop.run)
    return shop


def test_the_report_of_the_last_run_is_found_or_named(moving, ireval):
    date = moving.results()["date"]
    printed = ireval("plan", "shop.ireval.yaml").out
    assert f"Harmless changes as large as the change in the run of {date} would turn" in printed.replace("\n  ", " ")
    (moving.path / "ireval-report").rename(moving.path / "downloaded")

    (without,) = json.loads(ireval("plan", ".", "--format", "json").out)["suites"]
    (named,) = json.loads(ireval("plan", ".", "--format", "json", "--report", "downloaded").out)["suites"]

    assert (without["chance_of_red"], without["drawn_from"]) == (None, "")
    assert 0.2 < named["chance_of_red"] < 0.6
    assert named["drawn_from"] == f"the change in the run of {date}"


PLUGIN = """\
from pytest_ireval import RuleResult, hookimpl, rule
from pytest_ireval.suite.options import ComparingOptions
from pytest_ireval.suite.option_types import MetricText


class Options(ComparingOptions):
    metric: MetricText


@rule(name="odd", options=Options)
def odd(options, context):
    '''Fails if a query gains.'''
    return RuleResult("fail" if context.paired_values().gain.max() > 0 else "pass", "fine")


@hookimpl
def ireval_rules():
    return [odd]
"""


def test_a_rule_of_a_plugin_takes_part_unless_it_looks_at_documents(moving, ireval):
    moving.change(("rules:\n", "rules:\n  - odd: {metric: nDCG@10}\n"))

    def plan(code):
        (moving.path / "conftest.py").write_text(code)
        return json.loads(ireval("plan", ".", "--format", "json").out)["suites"][0]

    whole, part = (
        plan(PLUGIN),
        plan(PLUGIN.replace("    return RuleResult", "    context.current.documents('q01')[0]\n    return RuleResult")),
    )

    assert whole["not_counted"] == []
    assert part["not_counted"] == ["odd nDCG@10 (rule odd of conftest.py raised IndexError: list index out of range)"]
    assert 0 < part["chance_of_red"] < whole["chance_of_red"] < 1
