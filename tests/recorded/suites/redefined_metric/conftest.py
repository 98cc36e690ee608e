"""A metric whose definition is another one than when the baseline was accepted."""

import os

from pytest_ireval import hookimpl, per_query_metric


@per_query_metric(name="First", range=(0, 1), version=1 if os.environ.get("RANKINGS") else 2)
def first(ranking) -> float:
    """Whether the first document is relevant."""
    return float(ranking.retrieved > 0 and ranking.grades[0] > 0)


@hookimpl
def ireval_metrics():
    return [first]
