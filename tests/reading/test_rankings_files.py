"""Rankings files as they occur, read as the slow reader reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from messy_files import messy_files
from plain import plain_rankings
from slow_reader import Place, first_places, slow_rankings
from trec_doors import read_rankings


@given(messy_files(), st.booleans())
def test_any_rankings_file_reads_as_the_slow_reader_reads_it(written, files, by_id):
    rankings = read_rankings(written(files.rankings), by_id=by_id)

    expected = slow_rankings(files.rankings, by_id=by_id)
    assert plain_rankings(rankings) == expected
    assert list(rankings.queries) == list(expected)


@given(messy_files(), st.integers(0, 6), st.booleans())
def test_a_depth_keeps_the_first_documents_and_all_that_is_known_of_them(written, files, depth, by_id):
    rankings = read_rankings(written(files.rankings), depth, by_id=by_id)

    assert plain_rankings(rankings) == first_places(slow_rankings(files.rankings, by_id=by_id), depth)


def order(written, text, **options):
    """The order of the documents of query ``q``."""
    return read_rankings(written(text), **options).ranking("q")


def test_the_score_makes_the_order_and_the_rank_column_does_not(written):
    assert order(written, "q Q0 a 1 1.5 t\nq Q0 b 2 3.5 t\nq Q0 c 3 2.5 t\n") == ["b", "c", "a"]


def test_ties_are_broken_by_document_id_descending(written):
    assert order(written, "q Q0 b 1 1 t\nq Q0 a 2 1 t\nq Q0 c 3 1 t\n") == ["c", "b", "a"]


def test_ties_are_broken_by_the_bytes_of_ids_whatever_their_length(written):
    ids = ["d", "d1", "d10", "d9", "é", "z", "\U0001f600", "d" * 8, "d" * 9, "d" * 100, "d" * 100 + "1"]

    assert order(written, "".join(f"q Q0 {i} 1 7 t\n" for i in ids)) == sorted(ids, key=str.encode, reverse=True)


def test_ties_stay_as_they_stand_in_the_file_if_ids_are_not_to_break_them(written):
    assert order(written, "q Q0 b 1 1 t\nq Q0 a 2 1 t\nq Q0 d 1 2 t\nq Q0 c 3 1 t\n", by_id=False) == list("dbac")


@pytest.mark.parametrize(
    ("one", "other"), [("1", "1.0"), ("0", "-0"), ("2e1", "20"), ("0.5", ".5"), ("5.", "+5"), ("1e-400", "0")]
)
def test_scores_written_differently_tie_if_they_are_one_number(written, one, other):
    rankings = read_rankings(written(f"q Q0 a 1 {one} t\nq Q0 b 2 {other} t\n"))

    assert [(p.document, p.tied_from, p.tied_to) for p in plain_rankings(rankings)["q"].places] == [
        ("b", 1, 2),
        ("a", 1, 2),
    ]


@pytest.mark.parametrize("lower_first", [True, False])
@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        ("0.1234567890123456", "0.1234567890123457"),
        ("0.12345678901234561", "0.12345678901234564"),
        ("9007199254740992", "9007199254740994"),
        ("-1.00000000000000022", "-1"),
        ("1e308", "1.0000000000000002e308"),
        ("-1e300", "1e-300"),
    ],
)
def test_scores_that_differ_in_their_last_digits_are_told_apart(written, lower, higher, lower_first):
    lines = [f"q Q0 low 1 {lower} t\n", f"q Q0 high 2 {higher} t\n"]

    assert order(written, "".join(lines if lower_first else reversed(lines))) == ["high", "low"]


def test_long_scores_that_are_one_number_stay_as_they_stand_in_the_file(written):
    text = "q Q0 first 1 0.994819562949742719 t\nq Q0 second 2 0.9948195629497427 t\n"

    assert float("0.994819562949742719") == float("0.9948195629497427")
    assert order(written, text, by_id=False) == ["first", "second"]


def test_ties_across_the_depth_are_known(written):
    text = "q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 c 3 2 t\nq Q0 d 4 2 t\nq Q0 e 5 1 t\n"

    (ranking,) = plain_rankings(read_rankings(written(text), 2)).values()
    assert ranking.retrieved == 5
    assert ranking.places == [Place(1, "a", 3.0, 1, 1), Place(2, "d", 2.0, 2, 4)]


def test_the_lines_of_a_query_may_be_scattered(written):
    text = "q Q0 a 1 1 t\nr Q0 a 1 1 t\nq Q0 b 2 2 t\nr Q0 c 1 4 t\nq Q0 d 1 1.5 t\n"

    rankings = read_rankings(written(text))
    assert rankings.queries == ("q", "r")
    assert rankings.ranking("q") == ["b", "d", "a"]
    assert rankings.ranking("r") == ["c", "a"]


def test_one_document_may_be_ranked_for_several_queries(written):
    rankings = read_rankings(written("q Q0 a 1 1 t\nr Q0 a 1 1 t\na Q0 q 1 1 t\n"))

    assert [rankings.ranking(query) for query in ("q", "r", "a")] == [["a"], ["a"], ["q"]]


@pytest.mark.parametrize(
    "line",
    [
        "q\tQ0\td\t1\t2.5\tt\n",
        "q  Q0\t d   1 \t2.5  t\n",
        "  q Q0 d 1 2.5 t\n",
        "q Q0 d 1 2.5 t\r\n",
        "q Q0 d 1 2.5 t more words\n",
        "q Q0 d 1 2.5 t  \n",
        "\n\n \t\nq Q0 d 1 2.5 t\n\n",
        "# query Q0 document\nq Q0 d 1 2.5 t\n#\n",
        " # a b c d e f\r\nq Q0 d 1 2.5 t\n",
        "q Q0 d 1 2.5 t",
        "\ufeffq Q0 d 1 2.5 t\n",
        "\ufeff# exported\nq Q0 d 1 2.5 t\r\n",
        "q Q0 d 1 2.5 #t\n",
    ],
)
def test_messy_but_legal_lines(written, line):
    rankings = read_rankings(written(line))

    assert plain_rankings(rankings) == {"q": (1, [Place(1, "d", 2.5, 1, 1)])}


def test_only_ascii_blanks_part_words(written):
    ids = ["no\u00a0break", "next\u0085line", "wide\u3000blank", "unit\x1fseparator", "line\u2028separator"]

    assert sorted(order(written, "".join(f"q Q0 {i} 1 7 t\n" for i in ids))) == sorted(ids)
