"""A metric of the shop's own: pytest finds it because it is next to the suites."""

from pytest_ireval import Ranking, hookimpl, per_query_metric


@per_query_metric(name="TopGrade", range=(0, 1))
def top_grade(ranking: Ranking, *, cutoff: int) -> float:
    """Share of the first `cutoff` documents that carry the top grade."""
    return float((ranking.grades[:cutoff] == ranking.top_grade).sum() / cutoff)


@hookimpl
def ireval_metrics():
    """What this folder adds to the metrics."""
    return [top_grade]
