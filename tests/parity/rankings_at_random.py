"""Random judged rankings with everything that has set packages apart, and the same without one of these things."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

DOCUMENTS = ["a", "b", "B", "d10", "d9", "é", "e\u0301", "ü7", "猫", "Ω", "🦆", "zz"]
"""Ids whose order differs between bytes, code points, UTF-16 and locales."""

CLOSE = 0.1234567891
"""Two scores may differ from this in the tenth digit only."""

SCORES = [-1.5, 0.0, 0.25, 0.5, 1.0, 3.0, 1e6, CLOSE, CLOSE + 1e-10, CLOSE - 1e-10]


@dataclass(frozen=True)
class Data:
    """``judgments``: query, document, grade; ``rankings``: query, document, score."""

    judgments: dict
    rankings: dict


@st.composite
def rankings(draw):
    """One to four queries: ties, unjudged documents, grades below 0, one document, nothing relevant."""
    judgments, scores = {}, {}
    for number in range(draw(st.integers(1, 4))):
        query = str(number + 1)  # gdeval, which ir_measures asks, knows no other ids
        judged = draw(st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-2, 3), min_size=1, max_size=9))
        ranked = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from(SCORES), min_size=1, max_size=9)
        judgments[query], scores[query] = judged, draw(ranked)
    return Data(judgments, scores)


def as_float32(data):
    """Scores in single precision, as trec_eval 9 keeps them."""
    return Data(data.judgments, _mapped(data.rankings, lambda score: float(np.float32(score))))


def without_grades_below_0(data):
    return Data(_mapped(data.judgments, lambda grade: max(grade, 0)), data.rankings)


def binary(data):
    return Data(_mapped(data.judgments, lambda grade: int(grade >= 1)), data.rankings)


def without_ties(data):
    """The same order, and scores a whole number apart."""
    apart = {}
    for query, scores in data.rankings.items():
        worst_first = sorted(scores, key=lambda document: (scores[document], document.encode()))
        apart[query] = {document: float(place) for place, document in enumerate(worst_first, 1)}
    return Data(data.judgments, apart)


def with_a_grade_from_0_on(data):
    return Data({query: {**grades, "other": 0} for query, grades in data.judgments.items()}, data.rankings)


def with_something_relevant(data):
    return Data({query: {**grades, "first": 2} for query, grades in data.judgments.items()}, data.rankings)


def with_something_relevant_retrieved(data):
    judged = with_something_relevant(data).judgments
    return Data(judged, {query: {**scores, "first": 0.75} for query, scores in data.rankings.items()})


def with_something_not_relevant_retrieved(data):
    judged = {query: {**grades, "last": 0} for query, grades in data.judgments.items()}
    return Data(judged, {query: {**scores, "last": -9.0} for query, scores in data.rankings.items()})


def with_something_unjudged(data):
    return Data(data.judgments, {query: {**scores, "unknown": 0.75} for query, scores in data.rankings.items()})


def all_retrieved(data):
    """Every judged document is ranked."""
    low = {query: {**dict.fromkeys(grades, -20.0), **data.rankings[query]} for query, grades in data.judgments.items()}
    return Data(data.judgments, low)


def _mapped(values, change):
    return {query: {key: change(value) for key, value in inner.items()} for query, inner in values.items()}
