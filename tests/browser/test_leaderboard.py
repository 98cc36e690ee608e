"""The page of a comparison: sorted by a click, with the values of a ranking when it is chosen."""

import numpy as np
import pytest

from pytest_ireval.cli.comparison_views import View, render_page
from pytest_ireval.comparing import ComparisonOptions, compare_evaluations
from pytest_ireval.results.evaluation import Evaluation, MetricResult
from pytest_ireval.results.policies import Policies

METRICS = ("nDCG@10", "AP")


def leaderboard(systems, queries):
    """The page of systems with random values, those of their queries included."""
    draw = np.random.default_rng(7)
    ids = [f"q{number}" for number in range(queries)]
    evaluations = {}
    for number in range(systems):
        results = []
        for name in METRICS:
            values = draw.random(queries)
            each = dict(zip(ids, values.tolist(), strict=True))
            mean = float(values.mean())
            results.append(MetricResult(name, mean, "mean", mean, "higher", "query", each, 0, 1, "here"))
        policies = Policies(missing_queries="zero")
        name = f"system <{number}>"
        evaluations[name] = Evaluation(tuple(results), queries, (), (), (), 0, 1.0, policies, "judgments.txt", name, ())
    comparison = compare_evaluations(evaluations, ComparisonOptions("system <0>"), queries)
    return comparison, render_page(comparison, View(list(evaluations), per_query=True))


def names(page):
    return page.locator("#board tbody th button").all_inner_texts()


def test_a_click_on_a_metric_sorts_best_first_and_a_second_click_turns_the_order_round(open_page):
    comparison, text = leaderboard(4, 5)
    page = open_page(text)
    figures = comparison["AP"].values
    best_first = sorted(figures, key=figures.get, reverse=True)
    assert names(page)[1:] == ["system <1>", "system <2>", "system <3>"]

    page.locator("#board thead button").nth(1).click()
    assert [name.removesuffix(" (baseline)") for name in names(page)] == best_first
    page.locator("#board thead button").nth(1).click()
    assert [name.removesuffix(" (baseline)") for name in names(page)] == best_first[::-1]


def test_a_click_on_a_ranking_shows_its_queries_and_a_second_click_hides_them(open_page):
    comparison, text = leaderboard(3, 5)
    page = open_page(text)
    row = page.locator("#board tbody table tr").nth(1)

    page.get_by_text("system <2>", exact=True).first.click()
    values = comparison.rankings["system <2>"]
    assert row.locator("td").all_inner_texts() == ["q0", *(f"{values[name].values['q0']:.4f}" for name in METRICS)]
    page.get_by_text("system <2>", exact=True).first.click()
    assert row.count() == 0


@pytest.mark.slow
def test_a_thousand_systems_of_250_queries_are_less_than_5_mb_and_can_be_sorted(open_page):
    _, text = leaderboard(1000, 250)
    page = open_page(text)

    page.locator("#board thead button").nth(0).click()

    assert len(text) < 5_000_000
    assert page.locator("#board tbody > tr").count() == 1000
