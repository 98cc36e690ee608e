"""Ids as keys, groups, bytes and pairs, each against the obvious way with Python's own bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messy_files import ids

from pytest_ireval.data.ids import Ids, are_among, concatenate_ids, find_ids, number_ids
from pytest_ireval.data.scan.chunks import Chunk, Span, join_texts
from pytest_ireval.data.scan.keys import hash_tokens
from pytest_ireval.data.scan.pairs import KeyTable
from pytest_ireval.data.scan.rows import find_repeated_documents
from pytest_ireval.data.scan.trec import parse_trec_rankings
from pytest_ireval.data.threads import map_on_threads

keys = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 40), st.integers(2**64 - 40, 2**64 - 1))


def key(text, before="", behind="", seed=0):
    """The key of one text that stands between others."""
    chunk, span = join_texts([before, text, behind])
    return hash_tokens(chunk, Span(span.start[1:2], span.end[1:2]), seed).tolist()[0]


@pytest.mark.parametrize("length", [7, 9, 32, 65, 129])
def test_changing_one_byte_anywhere_changes_the_key(length):
    text = "abcdefgh" * (length // 8) + "abcdefgh"[: length % 8]
    changed = [text[:at] + "X" + text[at + 1 :] for at in range(length)]
    longer = [text + "X", "X" + text, text + "\0", "\0" + text]

    assert len({key(other) for other in [text, *changed, *longer]}) == length + 5


@given(st.lists(keys, unique=True, max_size=60), st.lists(keys, max_size=30), st.data())
def test_pairs_are_found_where_a_dictionary_finds_them(judged, others, data):
    wanted = data.draw(st.permutations([*others, *(data.draw(st.lists(st.sampled_from(judged))) if judged else [])]))

    at, row = KeyTable(np.array(judged, np.uint64)).find(np.array(wanted, np.uint64))
    rows = {key: row for row, key in enumerate(judged)}
    assert sorted(zip(at.tolist(), row.tolist(), strict=True)) == [
        (position, rows[key]) for position, key in enumerate(wanted) if key in rows
    ]


@given(st.lists(st.tuples(st.sampled_from("qrs"), st.one_of(st.sampled_from("abcd"), ids)), min_size=1, max_size=25))
def test_repeated_documents_are_those_that_a_dictionary_finds(rows):
    rows = sorted(rows, key=lambda row: row[0])
    text = "".join(f"{query} Q0 {document} 1 1 t\n" for query, document in rows)
    ranked = parse_trec_rankings(Chunk.of(text.encode())).group(0)

    first, later = find_repeated_documents(ranked, ranked.compute_pair_keys(np.arange(len(ranked.queries))))
    assert list(zip(first.tolist(), later.tolist(), strict=True)) == [
        (rows.index(row), number) for number, row in enumerate(rows) if rows.index(row) < number
    ]


@given(st.lists(st.integers(1, 32), min_size=2, max_size=5), st.integers(0, 15), st.data())
def test_ids_of_one_length_behind_longer_ones_have_the_keys_of_any_ids(lengths, seed, data):
    groups = [data.draw(st.lists(st.text("abc", min_size=n, max_size=n), min_size=1, max_size=3)) for n in lengths]
    texts = [text for group in groups for text in group]
    copied = Ids.of(texts).copy(np.arange(len(texts)))

    at = 0
    for group in groups:
        part = copied.view(np.arange(at, at + len(group)))
        at += len(group)
        assert part.hash(seed).tolist() == [key(text, seed=seed) for text in group]


def test_rows_that_begin_and_end_like_neighbours_are_not_taken_for_them():
    copied = Ids.of([f"document{number}" for number in range(4)]).copy(np.arange(4))
    rows = np.array([0, 2, 1, 3])

    assert copied.view(rows).texts() == copied.copy(rows).texts() == copied.take(rows).texts() == copied.texts(rows)
    assert copied.equal(rows, copied, np.arange(4)).tolist() == [True, False, False, True]


def test_an_id_that_ends_in_a_zero_byte_is_another_one():
    copied = Ids.of(["document", "document\0", "document\0"]).copy(np.arange(3))

    assert copied.equal(np.array([0, 1]), copied, np.array([1, 2])).tolist() == [False, True]


@pytest.mark.parametrize("many", [1, 300])
def test_copied_ids_are_the_same_texts_whatever_they_end_in(many):
    texts = ["document-1", "document\0", "docu\0\0\0\0\0", "documént", "document\n"] * many
    ids = Ids.of(texts)
    copied = ids.copy(np.arange(len(texts)))

    assert copied.texts() == copied.texts(np.arange(len(texts))) == ids.texts() == texts
    assert copied.count_beginning("document") == ids.count_beginning("document") == 3 * many


def test_a_bucket_with_several_judged_pairs_is_searched_whole():
    """Keys that begin alike share a bucket, and a key that ends alike is not found for that."""
    judged = np.array([(1 << 63) + byte for byte in (0, 1, 7, 255)] + [(1 << 62) + 9], np.uint64)
    others = np.array([(1 << 63) + 256, (1 << 62) + 9 + 256, (1 << 61) + 9, 0], np.uint64)

    at, row = KeyTable(judged).find(np.concatenate((others, judged)))

    assert sorted(zip(at.tolist(), row.tolist(), strict=True)) == [(4 + row, row) for row in range(5)]


def test_ids_of_about_one_length_take_their_bytes_and_one_more_in_memory():
    texts = [f"document{number:08}" for number in range(100)]

    copied = Ids.of(texts).copy(np.arange(100))

    assert copied.chunk.size == 1600
    assert copied._span is None
    assert concatenate_ids([copied, Ids.of(["short"] * 99).copy(np.arange(99))]).texts() == [*texts, *["short"] * 99]
    with pytest.raises(IndexError):
        copied[100]


@given(st.lists(ids, max_size=12), st.lists(ids, max_size=12))
def test_ids_are_numbered_and_found_as_in_a_dictionary(texts, others):
    distinct, number = number_ids(Ids.of(texts))

    assert distinct.texts() == list(dict.fromkeys(texts))
    assert [distinct[i] for i in number.tolist()] == texts
    place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    assert find_ids(Ids.of(others), distinct).tolist() == [place.get(text, -1) for text in others]
    assert are_among(Ids.of(others), [Ids.of([]), Ids.of(texts)]).tolist() == [text in place for text in others]


@pytest.mark.parametrize("threads", [1, 4])
def test_work_on_parts_is_returned_in_order_and_does_not_run_far_ahead(threads, monkeypatch):
    monkeypatch.setattr("pytest_ireval.data.threads.count_threads", lambda: threads)
    taken, begun = [], iter(lambda: taken.append(len(taken)) or taken[-1], 50)

    for number, made in enumerate(map_on_threads(lambda piece: piece * piece, begun)):
        assert made == number * number
        assert len(taken) <= number + 2 + 2 * threads

    assert number == 49
    assert list(map_on_threads(str, [])) == []
    assert list(map_on_threads(str, [7])) == ["7"]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_part_is_raised(threads, monkeypatch):
    monkeypatch.setattr("pytest_ireval.data.threads.count_threads", lambda: threads)
    with pytest.raises(ZeroDivisionError):
        list(map_on_threads(lambda piece: 1 // piece, [2, 1, 0, 1]))
