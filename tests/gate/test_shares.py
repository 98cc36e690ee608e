"""Of a metric that simply adds up documents, each of them alone is worth what the steps of the metric say."""

import numpy as np
import pytest

from pytest_ireval.data.side_data import SideData
from pytest_ireval.data.views import cut_to_depth, select_queries
from pytest_ireval.evaluating.evaluation import prepare_evaluation
from pytest_ireval.explaining import show_steps
from pytest_ireval.gate.query_documents import isolate_documents
from pytest_ireval.metrics.score import score
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.results.policies import Policies
from pytest_ireval.testing.data import make_corner_cases, make_random_data

REGISTRY = installed_registry()


def join_rankings(metric, data):
    """What the metric sees, missing rankings as empty ones."""
    judgments = {query.name: query.grades for query in data.queries}
    rankings = {query.name: list(query.ranking or ()) for query in data.queries}
    setting = prepare_evaluation(judgments, metric, Policies(ties="input", missing_queries="zero", scale=3), REGISTRY)
    return setting.join_rankings(rankings, SideData(), documents=True).judged


@pytest.mark.parametrize("data", [make_random_data(8, tied=True), make_corner_cases()], ids=str)
@pytest.mark.parametrize("name", ["nDCG@5", "DCG", "P@3", "R@5", "RBP(p=0.5)", "CG@3"])
def test_documents_alone_are_worth_what_the_steps_say_and_add_up_to_the_value(name, data):
    (metric,) = REGISTRY.parse_metrics([name])
    assert metric.is_additive
    cutoff = metric.settings.get("cutoff")
    whole = join_rankings(metric, data)
    seen = whole if cutoff is None else cut_to_depth(whole, cutoff)

    alone = score(metric, isolate_documents(seen)).values

    sums = np.bincount(seen.hits.query, weights=alone, minlength=seen.count)
    assert sums == pytest.approx(score(metric, whole).values, abs=1e-9)
    for row in range(seen.count):
        shares = show_steps(metric, select_queries(whole, np.arange(seen.count) == row)).shares
        hits = seen.hits.query == row
        told = np.array([share or 0.0 for share in shares.values])[seen.hits.rank[hits] - 1]
        assert alone[hits] == pytest.approx(told, abs=1e-9)
