"""Fewer judgments: the draws, the views of rankings, and the figures of robustness."""

from dataclasses import replace

import numpy as np
import pytest
from collections_of_systems import collection
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval import Policies, SideData, compare, evaluate, load_registry
from pytest_ireval.data.from_objects import convert_judgments
from pytest_ireval.data.judgments import drop_judgments
from pytest_ireval.progress import SILENT
from pytest_ireval.statistics.orders import compare_orders
from pytest_ireval_lab.stress import StressPlan, draw_orders, stress_metrics, with_condensed_forms
from pytest_ireval_lab.systems import Systems, note_doubts

LEVELS = tuple(range(100, 0, -10))
PLAN = StressPlan(LEVELS, repeats=2, seed=7, rel=1, test="t", alpha=0.05)


def stress(judgments, rankings, metrics, plan=PLAN):
    """The results by metric and level."""
    registry = load_registry()
    known = convert_judgments(judgments, grades="integer", origin="judgments")
    policies = Policies(missing_queries="zero")
    systems = Systems("", rankings, (), policies, SideData(), None, None, registry)
    both = with_condensed_forms(registry.parse_metrics(metrics))
    whole = systems.compare(SILENT, known, both).metrics
    return {(each.metric, each.level): each for of in stress_metrics(systems, known, both, whole, plan) for each in of}


GRADES = st.dictionaries(
    st.sampled_from([f"q{i}" for i in range(4)]),
    st.dictionaries(st.sampled_from([f"d{i}" for i in range(12)]), st.integers(-2, 3), min_size=1),
    min_size=1,
)


@given(GRADES, st.integers(0, 99))
def test_samples_are_nested_and_keep_a_share_of_each_query_and_one_relevant_document(grades, seed):
    judgments = convert_judgments(grades, grades="integer", origin="judgments")
    (draw,) = draw_orders(judgments, 1, seed, 1)

    relevant, before = judgments.grade >= 1, np.ones(len(judgments), bool)
    assert draw.select(100).all()
    for level in (90, 50, 30, 10, 1):
        kept = draw.select(level)
        assert not (kept & ~before).any()
        for query in range(len(judgments.queries)):
            for kind in (relevant, ~relevant):
                rows = (judgments.query == query) & kind
                size, left = int(rows.sum()), int((kept & rows).sum())
                least = 1 if kind is relevant and size else 0
                assert left == max(least, int(level / 100 * size + 0.5))
        before = kept


def test_a_draw_depends_on_the_seed_and_the_number_but_not_on_the_order_of_the_rows():
    rows = [("q", f"d{i}", i % 3) for i in range(60)]
    one, other = (convert_judgments(part, grades="integer", origin="judgments") for part in (rows, rows[::-1]))

    def left(judgments, seed, number):
        draw = list(draw_orders(judgments, 1, seed, 2))[number]
        return set(judgments.documents.texts(np.flatnonzero(draw.select(40))))

    assert left(one, 7, 0) == left(other, 7, 0)
    assert len({frozenset(left(one, seed, number)) for seed in (7, 8) for number in (0, 1)}) == 4


def test_figures_are_those_of_two_comparisons():
    """At 40%, for AP: tau, power and changed decisions by hand from paired t tests."""
    stats = pytest.importorskip("scipy.stats")
    judgments, rankings = collection()
    found = stress(judgments, rankings, ["AP"], replace(PLAN, levels=(100, 40), repeats=1))["AP", 40]

    known = convert_judgments(judgments, grades="integer", origin="judgments")
    (draw,) = draw_orders(known, 1, 7, 1)
    fewer = drop_judgments(known, np.flatnonzero(~draw.select(40)))
    whole, part = (
        [list(evaluate(by, ranking, "AP")["AP"].values.values()) for ranking in rankings.values()]
        for by in (known, fewer)
    )

    def decisions(values):
        pairs = [(values[a], values[b]) for a in range(len(values)) for b in range(a)]
        tests = [stats.ttest_rel(one, other) for one, other in pairs]
        return np.array([np.sign(test.statistic) if test.pvalue < 0.05 else 0 for test in tests])

    mine, true = decisions(part), decisions(whole)
    assert found.power == np.mean(mine != 0)
    assert found.flips == np.mean(mine != true)
    assert found.flips == pytest.approx(found.lost + found.gained + found.reversed)
    assert 0 < found.lost < 1
    assert found.tau == pytest.approx(stats.kendalltau(*(np.mean(v, axis=1) for v in (part, whole))).statistic)
    assert found.tau == compare_orders([np.mean(v) for v in part], [np.mean(v) for v in whole]).tau
    assert found.tau_sd is None
    assert found.judgments == int(draw.select(40).sum())


def test_equal_systems_have_no_order_and_no_significant_pair():
    judgments, rankings = collection(systems=1)
    rankings |= {"twin": rankings["s0"]}

    found = stress(judgments, rankings, ["AP"])
    assert {(each.tau, each.tau_ap) for (metric, _), each in found.items() if metric == "AP"} == {(None, None)}
    assert {each.power for each in found.values()} == {each.flips for each in found.values()} == {0}
    comparison = compare(judgments, rankings, "AP")
    sentences = list(note_doubts(comparison, comparison.metrics))
    assert sentences[0].startswith("2 systems are too few")
    assert sentences[1] == "AP: the same values on every query: s0 = twin"
