"""The best and the worst order of equal scores are the best and the worst of all orders there are."""

from itertools import permutations, product
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import hit_columns
from trec_doors import judged_in_file

from pytest_ireval.evaluating.policy_views import reordered
from pytest_ireval.retrieval.from_objects import judgments_from, rankings_from
from pytest_ireval.retrieval.join import judge, judged_hits

UNJUDGED = None
rankings_with_ties = st.lists(st.tuples(st.integers(1, 3), st.sampled_from([UNJUDGED, -1, 0, 1, 2, 0.5])), max_size=6)


def judged_from(lists):
    """Judged rankings of lists of (score, grade); documents are numbered, ``extra`` is never retrieved."""
    grades = {
        f"q{i}": {f"d{j}": grade for j, (_, grade) in enumerate(ranking) if grade is not UNJUDGED} | {"extra": 1}
        for i, ranking in enumerate(lists)
    }
    scores = {f"q{i}": {f"d{j}": score for j, (score, _) in enumerate(ranking)} for i, ranking in enumerate(lists)}
    return judge(judgments_from(grades, grades="float"), rankings_from(scores))


def grades_by_rank(judged, query):
    """The grades of one ranking by rank, None where a document is not judged."""
    grades = [UNJUDGED] * int(judged.retrieved[query])
    for rank, grade in ranks_and_grades(judged, query):
        assert grades[rank - 1] is UNJUDGED
        grades[rank - 1] = grade
    return grades


def ranks_and_grades(judged, query):
    """Rank and grade of one query's hits."""
    rows = slice(int(judged.first[query]), int(judged.first[query + 1]))
    return list(zip(judged.hits.rank[rows].tolist(), judged.hits.grade[rows].tolist(), strict=True))


def all_orders(ranking):
    """The grades by rank in every order that equal scores allow."""
    groups = [[grade for s, grade in ranking if s == score] for score in sorted({s for s, _ in ranking}, reverse=True)]
    return [[grade for group in order for grade in group] for order in product(*map(permutations, groups))]


def discounted_gain(grades):
    """What documents gain, less the further down."""
    return sum((grade or 0) / log2(rank + 1) for rank, grade in enumerate(grades, 1))


def discounted_gain_of_judged(grades):
    """The same, without the documents that are not judged."""
    return discounted_gain([grade for grade in grades if grade is not UNJUDGED])


def relevant_before_others(grades):
    """Pairs of a relevant document above one judged not relevant, less those the other way round."""
    marks = [grade > 0 for grade in grades if grade is not UNJUDGED]
    return sum((above > below) - (above < below) for i, above in enumerate(marks) for below in marks[i + 1 :])


def precision(grades):
    """Average precision, but for the number of relevant documents."""
    marks = [(grade or 0) > 0 for grade in grades]
    return sum(sum(marks[: i + 1]) / (i + 1) for i, relevant in enumerate(marks) if relevant)


@pytest.mark.parametrize("value", [discounted_gain, discounted_gain_of_judged, relevant_before_others, precision])
@given(rankings_with_ties, rankings_with_ties)
def test_no_order_is_better_than_the_best_and_none_worse_than_the_worst(value, first, second):
    judged = judged_from([first, second])
    best, worst = reordered(judged, best_first=True), reordered(judged, best_first=False)

    for query, ranking in enumerate([first, second]):
        values = [value(grades) for grades in all_orders(ranking)]
        assert value(grades_by_rank(best, query)) == pytest.approx(max(values), abs=1e-12)
        assert value(grades_by_rank(worst, query)) == pytest.approx(min(values), abs=1e-12)


@given(st.lists(rankings_with_ties, min_size=1, max_size=3), st.booleans())
def test_documents_and_hits_are_put_in_the_same_order(lists, best_first):
    judged = reordered(judged_from(lists), best_first=best_first)

    for query in range(judged.count):
        grades = judged.documents.grade[judged.documents.of(query)].tolist()
        assert [None if np.isnan(grade) else grade for grade in grades] == grades_by_rank(judged, query)


@given(st.lists(rankings_with_ties, min_size=1, max_size=3), st.booleans())
def test_hits_stay_sorted_and_keep_their_judgment_score_and_span(lists, best_first):
    before = judged_from(lists)
    after = reordered(before, best_first=best_first)

    assert rows(before, "query", "judgment", "grade", "score", "tied_from", "tied_to") == rows(
        after, "query", "judgment", "grade", "score", "tied_from", "tied_to"
    )
    places = list(zip(after.hits.query.tolist(), after.hits.rank.tolist(), strict=True))
    assert places == sorted(places)
    assert ((after.hits.tied_from <= after.hits.rank) & (after.hits.rank <= after.hits.tied_to)).all()


def rows(judged, *names):
    """Some columns of the hits as sorted rows."""
    return sorted(zip(*(getattr(judged.hits, name).tolist() for name in names), strict=True))


def test_best_is_relevant_then_unjudged_then_not_relevant_and_worst_the_reverse():
    judged = judged_from([[(2, 1), (1, 0), (1, UNJUDGED), (1, 2), (1, -1), (1, 3), (0, 1)]])

    assert grades_by_rank(reordered(judged, best_first=True), 0) == [1, 3, 2, UNJUDGED, 0, -1, 1]
    assert grades_by_rank(reordered(judged, best_first=False), 0) == [1, -1, 0, UNJUDGED, 2, 3, 1]


def test_without_ties_nothing_moves():
    judged = judged_from([[(3, 0), (2, UNJUDGED), (1, 2)]])

    assert grades_by_rank(reordered(judged, best_first=True), 0) == [0, UNJUDGED, 2]
    assert grades_by_rank(reordered(judged, best_first=False), 0) == [0, UNJUDGED, 2]


@given(st.lists(rankings_with_ties, min_size=1, max_size=3), st.booleans())
def test_hits_alone_are_put_in_the_order_that_whole_rankings_are(written, lists, best_first):
    whole = judged_from(lists)
    lines = [f"q{i} Q0 d{j} 1 {score} t\n" for i, ranking in enumerate(lists) for j, (score, _) in enumerate(ranking)]
    grades = {f"q{i}": {f"d{j}": g for j, (_, g) in enumerate(r) if g is not None} for i, r in enumerate(lists)}
    judgments = judgments_from({q: documents | {"extra": 1} for q, documents in grades.items()}, grades="float")
    if not lines:
        return
    hits = reordered(judged_hits(judgments, judged_in_file(written("".join(lines)), judgments)), best_first=best_first)

    assert hit_columns(hits) == hit_columns(reordered(whole, best_first=best_first))
