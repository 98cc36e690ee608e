"""Rankings joined with judgments, by either door, as the slow reader joins them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from messy_files import messy_files
from plain import hit_columns, plain_hits, plain_retrieved
from slow_reader import slow_hits, slow_judgments, slow_rankings
from trec_readers import join_file, read_judgments, read_rankings

from pytest_ireval.data.join import find_unjudged_queries, join_judged_rows, join_judgments


def read_both(write_file, rankings, judgments, by_id=True):
    """The judgments, and the hits found while reading."""
    graded = read_judgments(write_file(judgments, "judgments.txt"))
    return graded, join_judged_rows(graded, join_file(write_file(rankings), graded, by_id=by_id))


@given(messy_files(), st.booleans())
def test_the_hits_found_while_reading_are_those_of_the_slow_reader(write_file, files, by_id):
    judgments, judged = read_both(write_file, *files, by_id)

    rankings = slow_rankings(files.rankings, by_id=by_id)
    grades = slow_judgments(files.judgments)
    assert plain_hits(judged, judgments) == slow_hits(rankings, grades)
    assert plain_retrieved(judged) == {query: rankings[query].retrieved for query in grades if query in rankings}


@given(messy_files(), st.booleans())
def test_judging_whole_rankings_gives_the_same_as_looking_for_judged_documents(write_file, files, by_id):
    judgments, sparse = read_both(write_file, *files, by_id)
    dense = join_judgments(judgments, read_rankings(write_file(files.rankings), by_id=by_id))

    assert dense.queries == sparse.queries
    assert dense.retrieved.tolist() == sparse.retrieved.tolist()
    assert dense.present.tolist() == sparse.present.tolist()
    assert hit_columns(dense) == hit_columns(sparse)


@given(messy_files(), st.integers(1, 5))
def test_judging_the_first_documents_forgets_those_behind_the_depth(write_file, files, depth):
    judgments = read_judgments(write_file(files.judgments, "judgments.txt"))
    judged = join_judgments(judgments, read_rankings(write_file(files.rankings), depth))

    every_hit = slow_hits(slow_rankings(files.rankings), slow_judgments(files.judgments))
    retrieved = plain_retrieved(judged)
    assert max(retrieved.values(), default=0) <= depth
    assert plain_hits(judged, judgments) == {
        query: [
            (place._replace(tied_to=min(place.tied_to, retrieved[query])), grade)
            for place, grade in hits
            if place.rank <= depth
        ]
        for query, hits in every_hit.items()
    }


@given(messy_files())
def test_judged_rankings_know_the_grade_of_every_document(write_file, files):
    judgments = read_judgments(write_file(files.judgments, "judgments.txt"))
    judged = join_judgments(judgments, read_rankings(write_file(files.rankings)))

    grades = slow_judgments(files.judgments)
    rankings = slow_rankings(files.rankings)
    for number, query in enumerate(judged.queries):
        rows = judged.documents.of(number)
        documents = [place.document for place in rankings[query].places] if query in rankings else []
        assert judged.documents.ids.texts(np.arange(rows.start, rows.stop)) == documents
        seen = [None if np.isnan(grade) else grade for grade in judged.documents.grade[rows].tolist()]
        assert seen == [grades[query].get(document) for document in documents]


def test_the_ideal_holds_all_judged_documents_by_grade(write_file):
    judgments = read_judgments(write_file("q 0 a 1\nr 0 a 0\nq 0 b 3\nq 0 c -1\nq 0 d 2\n"))

    ideal = judgments.ideal
    assert ideal.query.tolist() == [0, 0, 0, 0, 1]
    assert ideal.grade.tolist() == [3, 2, 1, -1, 0]
    assert ideal.rank.tolist() == [1, 2, 3, 4, 1]
    assert judgments.highest_grade == 3


def test_queries_without_judgments_are_named(write_file):
    judgments = read_judgments(write_file("q 0 a 1\n", "judgments.txt"))
    rankings = read_rankings(write_file("q Q0 a 1 1 t\nr Q0 a 1 1 t\nu Q0 a 1 1 t\n"))

    assert find_unjudged_queries(judgments, rankings.queries) == ("r", "u")
