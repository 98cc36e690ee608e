"""Random judged rankings with everything that has set packages apart, and the same without one of these things."""

import random
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

DOCUMENTS = ["a", "b", "B", "d10", "d9", "é", "e\u0301", "ü7", "猫", "Ω", "🦆", "zz"]
"""Ids whose order differs between bytes, code points, UTF-16 and locales."""

MANY = [*DOCUMENTS, *(f"n{number}" for number in range(28))]
LONGEST = 25
"""No list is longer; many are longer than the greatest cutoff, 10."""

CLOSE = 0.1234567891
"""Two scores may differ from this in the tenth digit only."""

SCORES = [-1.5, 0.0, 0.25, 0.5, 1.0, 3.0, 1e6, CLOSE, CLOSE + 1e-10, CLOSE - 1e-10]


@dataclass(frozen=True)
class Data:
    """``judgments``: query, document, grade; ``rankings``: query, document, score, where queries may be missing."""

    judgments: dict
    rankings: dict


@st.composite
def rankings(draw):
    """One to four queries that shrink well, with few documents, and up to eight that have many or no ranking.

    Ties, unjudged documents, grades below 0, one document, nothing relevant; lists that a cutoff of 10 cuts, queries
    that the rankings lack, empty rankings.
    """
    judgments, scores = {}, {}
    for number in range(draw(st.integers(1, 4))):
        query = str(number + 1)  # gdeval, which ir_measures asks, knows no other ids
        judged = draw(st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-2, 3), min_size=1, max_size=9))
        ranked = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from(SCORES), min_size=1, max_size=9)
        judgments[query], scores[query] = judged, draw(ranked)
    for number, seed in enumerate(draw(st.lists(st.integers(0, 2**32), max_size=8)), 101):
        judgments[str(number)], ranked = query_with_many_documents(random.Random(seed))
        if ranked is not None:
            scores[str(number)] = ranked
    return Data(judgments, scores)


def query_with_many_documents(source):
    """Grades and scores of up to 25 documents each; now and then no documents, or no ranking (None) at all."""
    lowest, highest = source.choice([(0, 1), (0, 3), (-2, 3), (-1, 1), (0, 0)])
    judged = {d: source.randint(lowest, highest) for d in source.sample(MANY, source.randint(1, LONGEST))}
    kind = source.random()
    if kind < 0.1:
        return judged, None
    size = 0 if kind < 0.2 else source.randint(1, LONGEST)
    tied = source.random() < 0.5
    ranked = {d: source.choice(SCORES) if tied else source.uniform(-5, 5) for d in source.sample(MANY, size)}
    return judged, ranked


def keep_ranked_queries(data):
    """Without queries that the rankings lack, and without empty rankings."""
    ranked = {query: scores for query, scores in data.rankings.items() if scores}
    return Data({query: data.judgments[query] for query in ranked}, ranked)


def without_empty_rankings(data):
    """Queries with an empty ranking have none."""
    return Data(data.judgments, {query: scores for query, scores in data.rankings.items() if scores})


def as_float32(data):
    """Scores in single precision, as trec_eval 9 keeps them."""
    return Data(data.judgments, _mapped(data.rankings, lambda score: float(np.float32(score))))


def without_grades_below_0(data):
    return Data(_mapped(data.judgments, lambda grade: max(grade, 0)), data.rankings)


def binary(data):
    return Data(_mapped(data.judgments, lambda grade: int(grade >= 1)), data.rankings)


def of_one_grade(data):
    """Relevant documents have the highest grade, 4."""
    return Data(_mapped(data.judgments, lambda grade: 4 * int(grade >= 1)), data.rankings)


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


def with_subtopics(data):
    """Each document is about some of three subtopics, which its id says."""
    return Data(
        {
            query: {document: _by_subtopic(sum(document.encode()), grade) for document, grade in grades.items()}
            for query, grades in data.judgments.items()
        },
        data.rankings,
    )


def with_something_relevant_by_subtopic(data):
    return Data({query: {**grades, "first": {"a": 2}} for query, grades in data.judgments.items()}, data.rankings)


def _by_subtopic(number, grade):
    about = {s: grade - (number + i) % 2 for i, s in enumerate("abc") if number % (i + 2) == 0}
    return about | {"a" if number % 3 else "d": grade}


def all_retrieved(data):
    """Every judged document is ranked."""
    low = {query: {**dict.fromkeys(grades, -20.0), **data.rankings[query]} for query, grades in data.judgments.items()}
    return Data(data.judgments, low)


def _mapped(values, change):
    return {query: {key: change(value) for key, value in inner.items()} for query, inner in values.items()}
