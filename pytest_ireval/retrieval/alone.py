"""Every judged document that was retrieved as a ranking of its own: what a metric says of it alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pytest_ireval.retrieval.judged import JudgedRankings
from pytest_ireval.retrieval.judgments import Ideal


def each_alone(judged: JudgedRankings) -> JudgedRankings:
    """A query for each hit, with that hit where it stands and nothing else that is judged; ideals are as they were."""
    hits = judged.hits
    number = np.arange(hits.query.size)
    size = np.diff(judged.first_ideal)[hits.query]
    row = np.repeat(judged.first_ideal[hits.query] - np.cumsum(size) + size, size) + np.arange(int(size.sum()))
    ideal = Ideal(np.repeat(number, size), judged.ideal.rank[row], judged.ideal.grade[row])
    return replace(
        judged,
        queries=tuple(map(str, number.tolist())),
        retrieved=judged.retrieved[hits.query],
        present=np.ones(number.size, bool),
        hits=hits._replace(query=number),
        ideal=ideal,
        documents=None,
        subtopics=None,
        sessions=None,
        timings=None,
        reference=None,
        _memory={},
        _memory_of_ideal={},
    )
