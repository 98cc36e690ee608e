"""Judged rankings cut, condensed, perfect or for some queries only, against lists treated the obvious way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.data.from_objects import convert_judgments, convert_rankings
from pytest_ireval.data.join import join_judgments
from pytest_ireval.data.side_data import join_side_data
from pytest_ireval.data.views import condensed, cut_to_depth, perfect, select_queries

UNJUDGED = None
grades = st.sampled_from([UNJUDGED, UNJUDGED, -1, 0, 1, 2, 3])
rankings_with_ties = st.lists(st.tuples(st.integers(1, 4), grades), max_size=8)
several = st.lists(rankings_with_ties, min_size=1, max_size=4)
MISSED = [0, 2]


def data_from(lists):
    """Judgments and scores of lists of (score, grade); two judged documents of each query are not retrieved."""
    judged = {
        f"q{i}": {f"d{j}": grade for j, (_, grade) in enumerate(ranking) if grade is not UNJUDGED}
        | {f"missed{k}": grade for k, grade in enumerate(MISSED)}
        for i, ranking in enumerate(lists)
    }
    scores = {f"q{i}": {f"d{j}": score for j, (score, _) in enumerate(ranking)} for i, ranking in enumerate(lists)}
    return convert_judgments(judged), scores


def join_lists(lists, depth=None):
    """Judged rankings, with themselves upside down as reference."""
    judgments, scores = data_from(lists)
    upside_down = {query: {d: -score for d, score in ranking.items()} for query, ranking in scores.items()}
    judged, reference = (join_judgments(judgments, convert_rankings(each, depth)) for each in (scores, upside_down))
    return join_side_data(judged, reference=reference)


def order_documents(ranking):
    """(document, grade, score) in order of rank, as a list."""
    rows = [(f"d{j}", grade, score) for j, (score, grade) in enumerate(ranking)]
    return sorted(sorted(rows, key=lambda row: row[0], reverse=True), key=lambda row: -row[2])


def list_expected_hits(rows):
    """(rank, grade, first tied rank, last tied rank) of judged documents."""
    scores = [score for _, _, score in rows]
    return [
        (rank, grade, scores.index(score) + 1, scores.index(score) + scores.count(score))
        for rank, (_, grade, score) in enumerate(rows, 1)
        if grade is not UNJUDGED
    ]


def hits_of(judged, query):
    """The same from the arrays."""
    rows = slice(int(judged.first[query]), int(judged.first[query + 1]))
    columns = (getattr(judged.hits, name)[rows].tolist() for name in ("rank", "grade", "tied_from", "tied_to"))
    return list(zip(*columns, strict=True))


def documents_of(judged, query):
    """(document, grade, score) in order of rank from the arrays."""
    documents, rows = judged.documents, judged.documents.of(query)
    graded = [UNJUDGED if np.isnan(grade) else grade for grade in documents.grade[rows].tolist()]
    texts = documents.ids.texts(np.arange(rows.start, rows.stop))
    return list(zip(texts, graded, documents.score[rows].tolist(), strict=True))


def spans_of(judged, query):
    """First and last tied rank of each document."""
    rows = judged.documents.of(query)
    return list(zip(judged.documents.tied_from[rows].tolist(), judged.documents.tied_to[rows].tolist(), strict=True))


@given(several, st.integers(1, 9))
def test_a_cut_ranking_is_the_one_that_is_read_to_that_depth(lists, depth):
    judged, read = cut_to_depth(join_lists(lists), depth), join_lists(lists, depth)

    for query in range(judged.count):
        assert hits_of(judged, query) == hits_of(read, query)
        assert documents_of(judged, query) == documents_of(read, query)
        assert spans_of(judged, query) == spans_of(read, query)


@given(several)
def test_a_condensed_ranking_is_the_list_without_unjudged_documents(lists):
    judged = condensed(join_lists(lists))

    for query, ranking in enumerate(lists):
        rows = [row for row in order_documents(ranking) if row[1] is not UNJUDGED]
        assert hits_of(judged, query) == list_expected_hits(rows)
        assert documents_of(judged, query) == rows
        assert judged.retrieved[query] == len(rows)
        assert judged.reference.retrieved[query] == len(rows)


def test_documents_of_a_condensed_ranking_are_tied_as_its_hits_are():
    judged = condensed(join_lists([[(3, UNJUDGED), (2, 1), (2, UNJUDGED), (2, 0), (1, 1)]]))

    assert [hit[2:] for hit in hits_of(judged, 0)] == [(1, 2), (1, 2), (3, 3)]
    assert spans_of(judged, 0) == [(1, 2), (1, 2), (3, 3)]


@given(several)
def test_a_perfect_ranking_holds_all_judged_documents_by_grade(lists):
    judged = perfect(join_lists(lists))

    for query, ranking in enumerate(lists):
        best = sorted([grade for _, grade in ranking if grade is not UNJUDGED] + MISSED, reverse=True)
        assert hits_of(judged, query) == [(rank, grade, rank, rank) for rank, grade in enumerate(best, 1)]
        assert judged.retrieved[query] == len(best)
    assert judged.present.all()


def test_a_perfect_ranking_has_the_companions_of_the_ranking_it_is_asked_for():
    judged = join_lists([[(1, 1)], [(1, 2)]])
    perfect(judged)

    assert perfect(join_side_data(judged, timings={"q0": 0.5, "q1": 1.5})).timings.tolist() == [0.5, 1.5]


@given(several, st.data())
def test_some_queries_alone_are_as_they_were_among_the_others(lists, data):
    mask = data.draw(st.lists(st.booleans(), min_size=len(lists), max_size=len(lists)))
    whole = join_lists(lists)
    judged = select_queries(whole, np.array(mask))

    kept = [query for query, wanted in enumerate(mask) if wanted]
    assert judged.queries == tuple(f"q{query}" for query in kept)
    assert judged.count == len(judged.retrieved) == len(judged.present) == len(kept)
    for number, query in enumerate(kept):
        for part, of_whole in ((judged, whole), (judged.reference, whole.reference)):
            assert hits_of(part, number) == hits_of(of_whole, query)
            assert documents_of(part, number) == documents_of(of_whole, query)
            assert part.retrieved[number] == of_whole.retrieved[query]
            assert part.present[number] == of_whole.present[query]
        assert hits_of(perfect(judged), number) == hits_of(perfect(whole), query)
        assert judged.relevant_count(1)[number] == whole.relevant_count(1)[query]


@pytest.mark.parametrize(
    ("mask", "names", "session", "position"),
    [([False, True, False, True], ("t",), [0, -1], [1, 0]), ([False, False, False, True], (), [-1], [0])],
)
def test_sessions_and_timings_go_with_their_queries(mask, names, session, position):
    judged = join_side_data(
        join_lists([[]] * 4),
        sessions={"q2": ("s", 2), "q0": ("s", 1), "q1": ("t", 1)},
        timings={"q0": 0.5, "q1": 1.5, "q2": 2.5, "q3": 3.5},
    )

    part = select_queries(judged, np.array(mask))
    assert part.sessions.names == names
    assert part.sessions.session.tolist() == session
    assert part.sessions.position.tolist() == position
    assert part.timings.tolist() == pytest.approx(np.array([0.5, 1.5, 2.5, 3.5])[mask].tolist())
