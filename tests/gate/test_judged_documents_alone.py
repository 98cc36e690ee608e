"""The gate joins judged documents alone where no metric sees the others; results are those of all documents."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suite_files import accept_suites, write_judgments, write_rankings, write_suite

from pytest_ireval import load_suite, run_gate
from pytest_ireval.data.coerce import coerce_judgments, coerce_rankings
from pytest_ireval.data.join import join_judgments
from pytest_ireval.evaluating.evaluation import EvaluationSetup
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.results.plain import to_plain
from pytest_ireval.suite.loading import load_suites

REGISTRY = installed_registry()
NAMES = [f"d{number}" for number in range(12)]
RULES = (
    "threshold: {nDCG@3: '>= 0.5'}",
    "no_regression: {metric: nDCG@3, tolerance: 1%, against: {run: before.txt}}",
    "worsened: {metric: AP, by_more_than: 0.1, at_most: 1, against: {run: before.txt}}",
)

rankings = st.lists(
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from([3.0, 2.0, 1.5, 1.0, 0.5, 0.25]), min_size=1),
    min_size=3,
    max_size=3,
)
judged = st.lists(st.dictionaries(st.sampled_from(NAMES), st.integers(-1, 3), min_size=2), min_size=3, max_size=3)


def number_queries(lists):
    return {f"q{number}": documents for number, documents in enumerate(lists)}


@settings(max_examples=6)
@given(
    now=rankings,
    before=rankings,
    grades=judged,
    depth=st.sampled_from([5, 7, 100]),
    ties=st.sampled_from(["trec", "input"]),
)
def test_the_result_of_a_suite_is_the_same_with_and_without_unjudged_documents(
    tmp_path_factory, now, before, grades, depth, ties
):
    folder = tmp_path_factory.mktemp("suite")
    write_rankings(folder / "now.txt", number_queries(now))
    write_rankings(folder / "before.txt", number_queries(before))
    write_judgments(folder / "judgments.txt", number_queries(grades))
    keys = {"source": "{run: now.txt}", "depth": depth, "missing_queries": "zero", "ties": ties}
    metrics = "[nDCG@3, AP, RBP(p=0.8), Bpref, Judged@5, R@4]"
    (suite,) = load_suites(write_suite(folder, *RULES, metrics=metrics, **keys), REGISTRY)
    join_rankings = EvaluationSetup.join_rankings

    def with_all_documents(setting, ranked, companions=None, *, documents=None):
        return join_rankings(setting, ranked, companions, documents=True)

    alone = to_plain(run_gate(suite, registry=REGISTRY))
    with mock.patch.object(EvaluationSetup, "join_rankings", with_all_documents):
        assert to_plain(run_gate(suite, registry=REGISTRY)) == alone


@pytest.mark.parametrize("block", [1, 1000])
def test_hits_are_the_same_however_many_queries_are_joined_at_a_time(monkeypatch, block):
    monkeypatch.setattr("pytest_ireval.data.join.BLOCK", block)
    lists = {"q2": ["a", "b", "c"], "other": ["a"], "q1": ["c", "x"], "none": []}
    grades = coerce_judgments({"q1": {"c": 1, "d": 2}, "q2": {"c": 0, "a": 3}, "q3": {"a": 1}}, REGISTRY.readers)
    found = coerce_rankings(lists, REGISTRY.readers)

    with_all, alone = join_judgments(grades, found), join_judgments(grades, found, documents=False)

    assert alone.documents is None
    assert alone.hits.query.tolist() == [0, 1, 1]
    assert alone.hits.rank.tolist() == [1, 1, 3]
    for one, other in zip(with_all.hits, alone.hits, strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(with_all.retrieved, alone.retrieved)
    assert np.array_equal(with_all.present, alone.present)


def test_a_loss_is_seen_where_ids_of_neighbouring_queries_differ_in_length(tmp_path):
    """All other lists are those of the baseline, and are not judged again: the list that lost stands alone."""
    first = {q: [f"doc{q}{letter}" + "x" * (q % 2) for letter in "ABC"] for q in range(8)}
    write_judgments(tmp_path / "judgments.txt", {f"q{q}": {ids[0]: 1} for q, ids in first.items()})
    suite = write_suite(tmp_path, "no_regression: {metric: RR@10, tolerance: 1%, decide_by: observed}", depth=10)
    write_rankings(tmp_path / "rankings.txt", {f"q{q}": ids for q, ids in first.items()})
    accept_suites(suite)
    write_rankings(
        tmp_path / "rankings.txt", {f"q{q}": ids[1:] + ids[:1] if q == 2 else ids for q, ids in first.items()}
    )

    assert run_gate(load_suite(suite)).verdict == "fail"
