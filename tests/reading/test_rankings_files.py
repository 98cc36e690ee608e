"""Rankings files as they occur, read as the slow reader reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from messy_files import messy_files
from plain import plain_rankings
from slow_reader import first_places, slow_rankings
from trec_readers import join_file, read_judgments, read_rankings


@given(messy_files(), st.booleans())
def test_any_rankings_file_reads_as_the_slow_reader_reads_it(write_file, files, by_id):
    rankings = read_rankings(write_file(files.rankings), by_id=by_id)

    expected = slow_rankings(files.rankings, by_id=by_id)
    assert plain_rankings(rankings) == expected
    assert list(rankings.queries) == list(expected)


@given(messy_files(), st.integers(0, 6), st.booleans())
def test_a_depth_keeps_the_first_documents_and_all_that_is_known_of_them(write_file, files, depth, by_id):
    rankings = read_rankings(write_file(files.rankings), depth, by_id=by_id)

    assert plain_rankings(rankings) == first_places(slow_rankings(files.rankings, by_id=by_id), depth)


def order(write_file, text, **options):
    """The order of the documents of query ``q``."""
    return read_rankings(write_file(text), **options).ranking("q")


def test_ties_are_broken_by_the_bytes_of_ids_whatever_their_length(write_file):
    ids = ["d", "d1", "d10", "d9", "é", "z", "\U0001f600", "d" * 8, "d" * 9, "d" * 100, "d" * 100 + "1"]

    assert order(write_file, "".join(f"q Q0 {i} 1 7 t\n" for i in ids)) == sorted(ids, key=str.encode, reverse=True)


@pytest.mark.parametrize("lower_first", [True, False])
@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        ("0.12345678901234561", "0.12345678901234564"),
        ("9007199254740992", "9007199254740994"),
        ("-1.00000000000000022", "-1"),
    ],
)
def test_scores_that_differ_in_their_last_digits_are_told_apart(write_file, lower, higher, lower_first):
    lines = [f"q Q0 low 1 {lower} t\n", f"q Q0 high 2 {higher} t\n"]

    assert order(write_file, "".join(lines if lower_first else reversed(lines))) == ["high", "low"]


def test_long_scores_that_are_one_number_stay_as_they_stand_in_the_file(write_file):
    text = "q Q0 first 1 0.994819562949742719 t\nq Q0 second 2 0.9948195629497427 t\n"

    assert float("0.994819562949742719") == float("0.9948195629497427")
    assert order(write_file, text, by_id=False) == ["first", "second"]


def test_only_ascii_blanks_part_words(write_file):
    ids = ["no\u00a0break", "next\u0085line", "wide\u3000blank", "unit\x1fseparator", "line\u2028separator"]

    assert sorted(order(write_file, "".join(f"q Q0 {i} 1 7 t\n" for i in ids))) == sorted(ids)


def rows(query, *ranked, first=0):
    """Lines with these ranks and scores."""
    return "".join(f"{query}  Q0 d{number}   {rank}\t{score} t\n" for number, (rank, score) in enumerate(ranked, first))


CONTRADICTED = [
    rows("q", (1, 0.1), (2, 0.2), (3, 0.3)),
    rows("q", (2, 9), (1, 8)),
    rows("q", (9, 9), (10, 7), (8, 6)),
    rows("q", (100, 3.0), (99, 2.5)),
    rows("q", *((n, 99 - n) for n in range(9)), (5, 1)),
]
AGREED = [
    rows("q", (1, 3), (2, 2), (10, 1)),
    rows("q", (3, 1), (2, 2), (1, 3)),
    rows("q", (2, 5), (1, 5), (3, 4)),
    rows("q", (0, 3), (0, 2), (0, 1)),
    rows("q", ("08", 3), (9, 2), ("10.0", 1)),
    rows("q", (1, 3)),
]


@pytest.mark.parametrize("text", CONTRADICTED)
def test_ranks_that_contradict_the_scores_are_found_and_the_scores_count(write_file, text):
    path = write_file(rows("a", (1, 2), (2, 1)) + text + rows("z", (1, 2), (2, 1)))
    judgments = read_judgments(write_file("q 0 d1 1\n", "judgments.txt"))

    rankings = read_rankings(path, 5)
    assert rankings.contradicted == ("q",)
    assert rankings.score.tolist() == read_rankings(path, 5, by_id=False).score.tolist()
    assert [query for part in join_file(path, judgments) for query in part.contradicted] == ["q"]


@pytest.mark.parametrize("text", AGREED)
def test_ranks_in_the_order_of_the_scores_or_without_one_are_no_contradiction(write_file, text):
    assert read_rankings(write_file(rows("a", (1, 2), (2, 1)) + text)).contradicted == ()


def test_ranks_that_are_no_plain_numbers_are_not_compared(write_file):
    assert read_rankings(write_file(rows("q", ("2nd", 2), ("1st", 1)))).contradicted == ()


def test_in_a_large_file_every_contradicted_query_is_counted_once_one_was_found(write_file):
    text = "".join(rows(f"q{number}", (2, 2), (1, 1)) for number in range(20_000))

    assert len(read_rankings(write_file(text)).contradicted) == 20_000
