"""Keys that collide cost time and nothing else, because bytes decide."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messy_files import messy_files
from plain import plain_hits, plain_judgments, plain_rankings
from slow_reader import slow_hits, slow_judgments, slow_rankings
from trec_readers import join_file, read_judgments, read_rankings

from pytest_ireval.data.join import join_judged_rows, join_judgments
from pytest_ireval.data.scan import ids, rows
from pytest_ireval.data.scan.chunks import Span
from pytest_ireval.data.scan.keys import hash_tokens
from pytest_ireval.errors import InputError


def replace_hash(patch, function):
    """Replace the hash function everywhere."""

    def of_one_length(chunk, width, length, count, seed=0):
        start = np.arange(count) * width
        return function(chunk, Span(start, start + length), seed)

    patch.setattr(ids, "hash_tokens", function)
    patch.setattr(ids, "hash_tokens_of_one_length", of_one_length)
    patch.setattr(rows, "hash_tokens", function)


def one_key_below(good_seed):
    """A hash function that gives all ids one key, unless the seed is ``good_seed`` or more."""

    def keys(chunk, span, seed=0):
        return hash_tokens(chunk, span, seed) if seed >= good_seed else np.full(span.start.size, 7, np.uint64)

    return keys


def by_length(chunk, span, seed=0):
    """A hash function that sees the length alone."""
    return (span.end - span.start).astype(np.uint64) << np.uint64(52)


def test_a_document_with_the_key_of_a_judged_one_is_not_judged(write_file, monkeypatch):
    replace_hash(monkeypatch, by_length)
    judgments = read_judgments(write_file("q 0 a 1\nq 0 bb 2\nq 0 ccc 3\n", "judgments.txt"))
    rankings = write_file("q Q0 x 1 6 t\nq Q0 bb 2 5 t\nq Q0 yy 3 4 t\nq Q0 a 4 3 t\nq Q0 zzz 5 2 t\n")

    for judged in (
        join_judged_rows(judgments, join_file(rankings, judgments)),
        join_judgments(judgments, read_rankings(rankings)),
    ):
        hits = plain_hits(judged, judgments)["q"]
        assert [(place.rank, place.document, grade) for place, grade in hits] == [(2, "bb", 2), (4, "a", 1)]


@given(messy_files(), st.integers(1, 15))
def test_judgments_whose_ids_collide_are_hashed_with_another_seed(write_file, files, good_seed):
    with pytest.MonkeyPatch.context() as patch:
        replace_hash(patch, one_key_below(good_seed))
        judgments = read_judgments(write_file(files.judgments, "judgments.txt"))
        judged = join_judged_rows(judgments, join_file(write_file(files.rankings), judgments))

    grades = slow_judgments(files.judgments)
    assert judgments.index.seed == (good_seed if len(judgments) > len(judgments.queries) else 0)
    assert plain_judgments(judgments) == grades
    assert plain_hits(judged, judgments) == slow_hits(slow_rankings(files.rankings), grades)


def test_a_pair_judged_twice_is_found_between_pairs_that_collide(write_file, monkeypatch):
    replace_hash(monkeypatch, one_key_below(1))
    judgments = read_judgments(write_file("q 0 a 1\nq 0 b 0\nq 0 a 1\nr 0 a 2\nq 0 b 0\n"))

    assert plain_judgments(judgments) == {"q": {"a": 1, "b": 0}, "r": {"a": 2}}


@pytest.mark.parametrize("lines_between", ["", "q 0 b 0\nq 0 a 1\nq 0 c 0\n"])
def test_a_conflict_between_pairs_that_collide_is_named_by_its_lines(write_file, monkeypatch, lines_between):
    replace_hash(monkeypatch, one_key_below(1))
    path = write_file(f"q 0 a 1\n{lines_between}q 0 a 2\n")

    with pytest.raises(InputError, match="document 'a' is judged twice for query 'q': grade 2 here") as caught:
        read_judgments(path)
    assert str(caught.value).startswith(f"{path}:{2 + lines_between.count(chr(10))}\n")


def test_judgments_that_collide_under_every_seed_are_refused(read_error, monkeypatch):
    replace_hash(monkeypatch, one_key_below(99))

    text = read_error(read_judgments, "q 0 a 1\nq 0 b 1\n")
    assert text == "FILE\n  its ids collide under all hash functions; were the ids constructed to collide?"


@given(messy_files())
def test_documents_that_collide_are_no_repetitions(write_file, files):
    with pytest.MonkeyPatch.context() as patch:
        replace_hash(patch, one_key_below(1))
        rankings = read_rankings(write_file(files.rankings))

    assert plain_rankings(rankings) == slow_rankings(files.rankings)


@pytest.mark.parametrize("documents", ["abca", "abcdefghijklmnopqrstuvwxyza"])
def test_a_repetition_is_found_among_documents_that_collide(read_error, monkeypatch, documents):
    replace_hash(monkeypatch, one_key_below(1))

    text = read_error(read_rankings, "".join(f"q Q0 {document} 1 1 t\n" for document in documents))
    repeated = documents[-1]
    assert f"FILE:{len(documents)}\n  document '{repeated}' is ranked twice for query 'q'" in text
