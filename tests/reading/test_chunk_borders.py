"""Wherever a file is cut into chunks, and into ranges for threads, the same comes out."""

from contextlib import contextmanager
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from messy_files import messy_files
from plain import plain_hits, plain_judgments, plain_rankings
from slow_reader import first_places, slow_hits, slow_judgments, slow_rankings
from trec_readers import join_file, read_judgments, read_rankings

from pytest_ireval.data.join import join_judged_rows
from pytest_ireval.data.scan import pieces
from pytest_ireval.errors import InputError

pytestmark = pytest.mark.ci

REGULAR = "".join(
    f"{query} Q0 doc{rank:0{rank}} {rank} {20 - rank // 2}.{rank:03} tag\n"
    for query, retrieved in (("1", 4), ("22", 1), ("333", 7), ("4", 3))
    for rank in range(1, retrieved + 1)
).encode()
MESSY = (
    "\ufeff# query Q0 document\r\n"
    "q1\tQ0 d1  1 3.5 t\r\n"
    "\n"
    "q1 Q0 dé2 2 0.12345678901234561 t more\n"
    "q1 Q0 d3 3 0.12345678901234564 t\n"
    "q2 Q0 only-document-of-this-query 1 -1e-3 t\n"
    " # a comment that is longer than several of the smallest chunks together\n"
    "   q3 Q0 d1 1 7 t\n"
    "q3 Q0 d\U0001f600 2 7.0 t\n"
    "\t\r\n"
    "q3 Q0 d2 2 8 t\n"
    "q4 Q0 d2 2 8 t"
).encode()
SCATTERED = b"".join(sorted(REGULAR.splitlines(keepends=True), key=lambda line: line[::-1]))
BLANKS = b"\n" * 300 + b"\n".join([*SCATTERED.splitlines()[:3], b" " * 300, *SCATTERED.splitlines()[3:]]) + b"\n" * 300
"""Several of the smallest chunks have no row."""
FILES = {"regular": REGULAR, "messy": MESSY, "scattered": SCATTERED, "blanks": BLANKS}
JUDGMENTS = (
    "\ufeffq1 0 d1 1\r\nq1 0 dé2 2\n\n# none\nq2 0 only-document-of-this-query 0\n q3  0 d\U0001f600\t3\nq3 0 d2 -1\n"
    "q1 0 d3 1\nq1 0 d1 1\n4 0 doc003 1\n333 0 doc0000007 2\n333 0 doc1 1"
).encode()


@contextmanager
def chunks_of(size, threads=1):
    """Buffers of so many bytes; even the smallest file is cut into ranges if there are threads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "CHUNK", size)
        patch.setattr(pieces, "SMALL", 1)
        patch.setattr(pieces, "count_threads", lambda: threads)
        yield


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_chunks_of_any_size_give_the_same_rankings(write_file, data):
    expected = slow_rankings(data)

    for size in range(1, 230):
        with chunks_of(size):
            assert plain_rankings(read_rankings(write_file(data))) == expected, f"chunks of {size}"


def test_chunks_of_any_size_give_the_same_judgments(write_file):
    expected = slow_judgments(JUDGMENTS)

    for size in range(1, 230):
        with chunks_of(size):
            assert plain_judgments(read_judgments(write_file(JUDGMENTS))) == expected, f"chunks of {size}"


@pytest.mark.parametrize("threads", [3])
@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_ranges_for_threads_give_the_same_rankings(write_file, data, threads):
    expected = slow_rankings(data)

    for size in (1, 2, 3, 5, 8, 13, 21, 34, len(data) // 8):
        with chunks_of(size, threads):
            assert plain_rankings(read_rankings(write_file(data))) == expected, f"chunks of {size}"


@pytest.mark.ci
@given(messy_files(), st.integers(1, 300), st.integers(1, 40), st.booleans())
def test_any_file_in_chunks_and_ranges_of_any_size(write_file, files, size, threads, by_id):
    with chunks_of(size, threads):
        judgments = read_judgments(write_file(files.judgments, "judgments.txt"))
        rankings = read_rankings(write_file(files.rankings), by_id=by_id)
        judged = join_judged_rows(judgments, join_file(write_file(files.rankings), judgments, by_id=by_id))

    grades, ranked = slow_judgments(files.judgments), slow_rankings(files.rankings, by_id=by_id)
    assert plain_judgments(judgments) == grades
    assert plain_rankings(rankings) == ranked
    assert plain_hits(judged, judgments) == slow_hits(ranked, grades)


@pytest.mark.parametrize("size", [1 << 16, 1 << 18])
def test_lines_longer_than_a_chunk(write_file, size):
    data = MESSY + b"\n# " + b"x" * 200_000 + b"\nq5 Q0 d 1 1 t" + b" extra" * 50_000 + b"\nq6 Q0 d 1 1 t\n" * 2
    data = data.removesuffix(b"q6 Q0 d 1 1 t\n") + b"q7 Q0 d 1 1 t\n"

    with chunks_of(size):
        assert plain_rankings(read_rankings(write_file(data))) == slow_rankings(data)


def test_a_file_of_several_chunks_and_ranges_as_they_are(write_file):
    draw = Random(7)
    lines = [
        f"query-{query:03}\tQ0\tdocument-{query:030}-{draw.random():.12f}-{rank}\t1\t{draw.randint(1, 99) / 8}\ttag\n"
        for query in range(800)
        for rank in range(100)
    ]
    data = "".join(lines).encode()

    assert len(data) > 3 * pieces.CHUNK
    assert plain_rankings(read_rankings(write_file(data), 20)) == first_places(slow_rankings(data), 20)


@pytest.mark.parametrize("threads", [1, 8])
def test_a_bad_line_is_named_by_its_number_in_any_chunk_and_range(write_file, threads):
    lines = [f"q{number // 3} Q0 dé{number} 1 1 t\n" for number in range(60)]

    for bad in range(0, 60, 7):
        path = write_file("# first\n" + "".join([*lines[:bad], f"q{bad // 3} Q0 d 1 1\n", *lines[bad:]]))
        for size in (1, 10, 31, 64, 100, 230):
            with chunks_of(size, threads), pytest.raises(InputError) as caught:
                read_rankings(path)
            assert str(caught.value) == (
                f"{path}:{bad + 2}\n  has 5 columns\n"
                "  a rankings file has 6 columns or more, separated by spaces or tabs: query Q0 document rank score tag"
            )
