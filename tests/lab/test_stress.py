"""Fewer judgments: the draws, the views of rankings, and the figures of robustness."""

from dataclasses import replace

import numpy as np
import pytest
from collections_of_systems import collection
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval import evaluate, load_registry
from pytest_ireval.data.from_objects import judgments_from
from pytest_ireval.data.judgments import drop_judgments
from pytest_ireval.data.side_data import SideData
from pytest_ireval.data.views import with_fewer_judgments
from pytest_ireval.results.policies import Policies
from pytest_ireval.statistics.orders import compare_orders
from pytest_ireval_lab.systems import StressPlan, condensed_of, doubts, draws, stressed, system_values, systems_of

LEVELS = tuple(range(100, 0, -10))
PLAN = StressPlan(LEVELS, repeats=2, seed=7, rel=1, test="t", alpha=0.05)
POLICIES = Policies(missing_queries="zero")


def systems(judgments, rankings, metrics, policies=POLICIES):
    return systems_of(judgments, rankings, metrics, policies, SideData())


def robustness(judgments, rankings, metrics, plan=PLAN, policies=POLICIES):
    """By metric and level."""
    found = systems(judgments, rankings, metrics, policies)
    both = condensed_of(found.setting.metrics)
    whole = system_values(both, found.judged, policies)
    return {(each.metric, each.level): each for each in stressed(found, both, whole, plan)}


GRADES = st.dictionaries(
    st.sampled_from([f"q{i}" for i in range(4)]),
    st.dictionaries(st.sampled_from([f"d{i}" for i in range(12)]), st.integers(-2, 3), min_size=1),
    min_size=1,
)


@given(GRADES, st.integers(0, 99))
def test_samples_are_nested_and_keep_a_share_of_each_query_and_one_relevant_document(grades, seed):
    judgments = judgments_from(grades, grades="integer", origin="judgments")
    (draw,) = draws(judgments, 1, seed, 1)

    relevant, before = judgments.grade >= 1, np.ones(len(judgments), bool)
    assert draw.kept(100).all()
    for level in (90, 50, 30, 10, 1):
        kept = draw.kept(level)
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
    one, other = (judgments_from(part, grades="integer", origin="judgments") for part in (rows, rows[::-1]))

    def left(judgments, seed, number):
        draw = list(draws(judgments, 1, seed, 2))[number]
        return set(judgments.documents.texts(np.flatnonzero(draw.kept(40))))

    assert left(one, 7, 0) == left(other, 7, 0)
    assert len({frozenset(left(one, seed, number)) for seed in (7, 8) for number in (0, 1)}) == 4


SKIPPED = {
    "judgments",
    "preferences",
    "timings",
    "fields",
    "sessions",
    "reference",
    "collection",
    "queries",
    "subtopics",
}


@pytest.fixture(scope="module")
def every_metric():
    """All built-in metrics that need rankings and judgments alone."""
    metrics = load_registry().vocabulary.metrics.values()
    cut = [each(cutoff=5) if "cutoff" in each.missing else each for each in metrics]
    plain = [each for each in cut if each.unit == "query" and not each.needs & SKIPPED and not each.missing]
    return condensed_of([each for each in plain if each.reads_judgments])


@pytest.mark.parametrize("policies", [POLICIES, replace(POLICIES, unjudged="removed", depth=20)])
def test_a_mask_over_judged_rows_gives_the_values_of_judgments_without_the_other_rows(every_metric, policies):
    """For each metric; documents with negative grades and queries without a relevant one are among them."""
    judgments, rankings = collection(systems=2, queries=8, documents=30, length=25, pool=12)
    judgments = {q: {d: g - 2 * (i % 5 == 0) for i, (d, g) in enumerate(of.items())} for q, of in judgments.items()}
    judgments["q0"] = dict.fromkeys(judgments["q0"], 0)
    rankings["s1"]["q3"] = []
    found = systems(judgments, rankings, every_metric, policies)
    known = found.setting.judgments
    assert len(every_metric) > 60

    for level in (70, 20):
        (draw,) = draws(known, 1, 7, 1)
        kept = draw.kept(level)
        fewer = drop_judgments(known, np.flatnonzero(~kept))
        values = system_values(every_metric, with_fewer_judgments(found.judged, kept), policies)
        by_hand = replace(policies, missing_queries="zero", scale=known.highest_grade)
        for row, ranking in enumerate(rankings.values()):
            plain = evaluate(fewer, ranking, every_metric, policies=by_hand)
            for metric, mine, theirs in zip(every_metric, values, plain.metrics, strict=True):
                assert mine.figures[row] == theirs.value, metric


def test_subtopics_of_the_other_rows_are_gone_too():
    judgments, rankings = collection(systems=2, queries=4, documents=30, length=25, pool=12)
    parts = {q: {d: {"s": g, "t": int(d[-1] in "257")} for d, g in of.items()} for q, of in judgments.items()}
    found = systems(parts, rankings, ["ERR_IA@5", "D_nDCG@5", "P_IA@5", "StRecall@5", "alpha_nDCG@5", "Dsharp_nDCG@5"])
    known, metrics = found.setting.judgments, found.setting.metrics
    (draw,) = draws(known, 1, 7, 1)
    kept = draw.kept(40)
    values = system_values(metrics, with_fewer_judgments(found.judged, kept), POLICIES)
    fewer = drop_judgments(known, np.flatnonzero(~kept))

    for row, ranking in enumerate(rankings.values()):
        plain = evaluate(fewer, ranking, metrics, policies=Policies(scale=known.highest_grade))
        assert [each.figures[row] for each in values] == [each.value for each in plain.metrics]


def test_figures_are_those_of_two_comparisons():
    """At 40%, for AP: tau, power and changed decisions by hand from paired t tests."""
    stats = pytest.importorskip("scipy.stats")
    judgments, rankings = collection()
    found = robustness(judgments, rankings, ["AP"], replace(PLAN, levels=(100, 40), repeats=1))["AP", 40]

    known = judgments_from(judgments, grades="integer", origin="judgments")
    (draw,) = draws(known, 1, 7, 1)
    fewer = drop_judgments(known, np.flatnonzero(~draw.kept(40)))
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
    assert found.judgments == int(draw.kept(40).sum())


def test_equal_systems_have_no_order_and_no_significant_pair():
    judgments, rankings = collection(systems=1)
    rankings |= {"twin": rankings["s0"]}

    found = robustness(judgments, rankings, ["AP"])
    assert {(each.tau, each.tau_ap) for (metric, _), each in found.items() if metric == "AP"} == {(None, None)}
    assert {each.power for each in found.values()} == {each.flips for each in found.values()} == {0}
    here = systems(judgments, rankings, ["AP"])
    sentences = list(doubts(here, system_values(here.setting.metrics, here.judged, POLICIES)))
    assert sentences[0].startswith("2 systems are too few")
    assert sentences[1] == "AP: the same values on every query: s0 = twin"
