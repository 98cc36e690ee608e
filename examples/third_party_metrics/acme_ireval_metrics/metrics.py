"""Two metrics of the Acme search team: one as a function of one ranking, one over all queries at once."""

import numpy as np

from pytest_ireval import JudgedRankings, metric, per_query_metric


@per_query_metric(name="TopGrade", range=(0, 1))
def top_grade(ranking, *, cutoff: int) -> float:
    """Share of the first `cutoff` documents that carry the top grade."""
    return float((ranking.grades[:cutoff] == ranking.top_grade).mean())


@metric(
    name="FirstBad",
    range=(0, float("inf")),
    no_relevant=None,
    not_promised={"perfect_is_best": "unjudged documents are not bad, so a longer list may be better"},
)
def first_bad(judged: JudgedRankings, *, cutoff: int = 10) -> np.ndarray:
    """How many documents a customer sees before the first one judged not relevant, at most `cutoff`."""
    hits = judged.hits
    bad = (hits.grade <= 0) & (hits.rank <= cutoff)
    seen = np.minimum(judged.retrieved, cutoff).astype(float)
    np.minimum.at(seen, hits.query[bad], hits.rank[bad] - 1)
    return seen
