"""Precision beside recall: interpolate_precision at eleven levels, and where it equals recall."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval import evaluate
from pytest_ireval.data.side_data import SideData
from pytest_ireval.evaluating.evaluation import prepare_evaluation
from pytest_ireval.evaluating.recall_precision import compute_r_precision, find_relevant, interpolate_precision
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.results.policies import Policies

REGISTRY = installed_registry()
ranking = st.lists(st.sampled_from([0, 1, 2, None]), max_size=8)
queries = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), st.tuples(ranking, st.lists(st.sampled_from([0, 1, 2]))))


def split_lists(lists):
    """Judgments and rankings of queries that are given as grades: those retrieved (None: unjudged), those missed."""
    judgments, rankings = {}, {}
    for query, (retrieved, missed) in lists.items():
        rankings[query] = [f"d{rank}" for rank in range(len(retrieved))]
        grades = dict(zip(rankings[query], retrieved, strict=True)) | {f"m{i}": each for i, each in enumerate(missed)}
        judgments[query] = {document: grade for document, grade in grades.items() if grade is not None}
    return judgments, rankings


def find_relevant_documents(rel=1, **lists):
    judgments, rankings = split_lists(lists)
    setting = prepare_evaluation(judgments, "AP", Policies(), REGISTRY)
    return find_relevant(setting.join_rankings(rankings, SideData()).judged, rel)


def interpolate_levels(retrieved, missed=(), rel=1):
    return interpolate_precision(find_relevant_documents(rel, q=(retrieved, missed)))[0].tolist()


def test_without_relevant_documents_there_is_nothing():
    assert interpolate_levels([0, 0]) == [0.0] * 11
    assert compute_r_precision(find_relevant_documents(q=([0, 0], []))).tolist() == [0.0]


@given(queries)
def test_both_are_what_the_metrics_say(lists):
    lists = {query: (retrieved, [*missed, 0]) for query, (retrieved, missed) in lists.items()} or {"q": ([1], [0])}
    metrics = evaluate(*split_lists(lists), ["IPrecAvg", "Rprec", "IPrec@0.3"]).metrics

    drawn = find_relevant_documents(**lists)

    average, r, third = (np.array([metric.values[query] for query in lists]) for metric in metrics)
    assert interpolate_precision(drawn).mean(axis=1) == pytest.approx(average)
    assert compute_r_precision(drawn) == pytest.approx(r)
    assert interpolate_precision(drawn)[:, 3] == pytest.approx(third)
