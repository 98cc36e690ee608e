"""Ids as keys, groups, bytes and pairs, each against the obvious way with Python's own bytes."""

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messy_files import ids, long_ids

from pytest_ireval.retrieval.ids import Ids, concatenated, mapped
from pytest_ireval.retrieval.scan.kept import repeated_documents, words_of_rankings
from pytest_ireval.retrieval.scan.tokens import Chunk, JudgedPairs, Span, joined, keys_of, same_bytes, starts_of_groups

keys = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 40), st.integers(2**64 - 40, 2**64 - 1))


def spans(texts):
    """A chunk in which the texts stand without anything between them."""
    chunk, start, end = joined([text.encode() for text in texts])
    return chunk, Span(start, end)


def key(text, before="", behind="", seed=0):
    """The key of one text that stands between others."""
    chunk, span = spans([before, text, behind])
    return keys_of(chunk, Span(span.start[1:2], span.end[1:2]), seed).tolist()[0]


@given(st.lists(ids, min_size=1, max_size=10))
def test_equal_ids_have_equal_keys_and_others_do_not(texts):
    found = keys_of(*spans(texts)).tolist()

    assert len(set(found)) == len(set(texts))
    assert len(set(zip(texts, found, strict=True))) == len(set(texts))


@given(ids, ids, ids, st.integers(0, 15))
def test_a_key_does_not_depend_on_where_the_id_stands(text, before, behind, seed):
    alone = key(text, seed=seed)

    assert key(text, before, behind, seed) == alone
    assert keys_of(*spans([before, text, behind]), seed).tolist()[1] == alone
    assert Ids.of([behind, text]).keys(seed).tolist()[1] == alone


@pytest.mark.parametrize("length", [1, 7, 8, 9, 16, 31, 32, 33, 64, 65, 72, 73, 129, 300])
def test_changing_one_byte_anywhere_changes_the_key(length):
    text = "abcdefgh" * (length // 8) + "abcdefgh"[: length % 8]
    changed = [text[:at] + "X" + text[at + 1 :] for at in range(length)]
    longer = [text + "X", "X" + text, text + "\0", "\0" + text]

    assert len({key(other) for other in [text, *changed, *longer]}) == length + 5


def test_swapping_words_of_eight_bytes_changes_the_key():
    words = [f"{number:08}" for number in range(20)]
    swapped = [[*words[:at], words[at + 1], words[at], *words[at + 2 :]] for at in range(19)]

    assert len({key("".join(order)) for order in [words, *swapped]}) == 20


def test_every_seed_gives_other_keys():
    assert len({key("document", seed=seed) for seed in range(16)}) == 16


def test_numbered_ids_do_not_collide():
    texts = [f"{number}" for number in range(50_000)] + [f"msmarco_passage_{n % 70:02}_{n}" for n in range(50_000)]

    assert np.unique(keys_of(*spans(texts))).size == 100_000


@given(st.lists(st.sampled_from(["a", "b", "ab", "b" * 8, "ab" * 8, "bb" * 8, "a" + "b" * 40, "é"]), max_size=20))
def test_groups_of_equal_neighbours_begin_where_groupby_finds_them(texts):
    lengths = [len(list(group)) for _, group in groupby(texts)]

    assert starts_of_groups(*spans(texts)).tolist() == [sum(lengths[:i]) for i in range(len(lengths))]


@given(st.lists(st.tuples(ids, ids), max_size=6), st.lists(ids, max_size=4))
def test_same_bytes_are_equal_texts(pairs, equal):
    ours, (start, end) = spans([one for one, _ in pairs] + equal)
    theirs, (their_start, their_end) = spans([other for _, other in pairs] + equal)

    same = same_bytes(ours, start, end, theirs, their_start, their_end)
    assert same.tolist() == [one == other for one, other in pairs] + [True] * len(equal)


@given(long_ids, st.data())
def test_same_bytes_sees_a_change_at_any_place(text, data):
    at = data.draw(st.integers(0, len(text) - 1))
    other = text[:at] + ("y" if text[at] != "y" else "z") + text[at + 1 :]
    chunk, (start, end) = spans([text, other])

    assert same_bytes(chunk, start, end, chunk, start[::-1], end[::-1]).tolist() == [False, False]


@given(st.lists(keys, unique=True, max_size=60), st.lists(keys, max_size=30), st.data())
def test_pairs_are_found_where_a_dictionary_finds_them(judged, others, data):
    wanted = data.draw(st.permutations([*others, *(data.draw(st.lists(st.sampled_from(judged))) if judged else [])]))

    at, row = JudgedPairs(np.array(judged, np.uint64)).find(np.array(wanted, np.uint64))
    rows = {key: row for row, key in enumerate(judged)}
    assert sorted(zip(at.tolist(), row.tolist(), strict=True)) == [
        (position, rows[key]) for position, key in enumerate(wanted) if key in rows
    ]


@given(st.lists(keys, max_size=40))
def test_keys_that_are_not_unique_are_suspects(values):
    suspects = JudgedPairs(np.array(values, np.uint64)).suspects()

    assert suspects.tolist() == [row for row, key in enumerate(values) if values.count(key) > 1]


@given(st.lists(st.tuples(st.sampled_from("qrs"), st.one_of(st.sampled_from("abcd"), ids)), min_size=1, max_size=25))
def test_repeated_documents_are_those_that_a_dictionary_finds(rows):
    rows = sorted(rows, key=lambda row: row[0])
    text = "".join(f"{query} Q0 {document} 1 1 t\n" for query, document in rows)
    lines = words_of_rankings(Chunk.of(text.encode())).lines(0)

    first, later = repeated_documents(lines, lines.pair_key)
    assert list(zip(first.tolist(), later.tolist(), strict=True)) == [
        (rows.index(row), number) for number, row in enumerate(rows) if rows.index(row) < number
    ]


@given(st.lists(ids, max_size=8), st.data())
def test_a_column_of_ids_is_a_list_of_texts(texts, data):
    column = Ids.of(texts)
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1))) if texts else []
    taken = column.take(np.array(rows, np.int64))

    assert column.texts() == texts
    assert [column[row] for row in range(len(column))] == texts
    assert taken.texts() == column.texts(np.array(rows, np.int64)) == [texts[row] for row in rows]
    assert concatenated([column, taken, column]).texts() == [*texts, *taken.texts(), *texts]
    assert concatenated([]).texts() == []


columns_of_ids = st.lists(st.one_of(ids, st.text("ab\tü", min_size=1, max_size=9)), max_size=12)


@given(columns_of_ids, columns_of_ids, st.data())
def test_copied_ids_are_those_that_were_copied(one, other, data):
    both = [*one, *other]
    rows = data.draw(st.lists(st.integers(0, len(both) - 1), max_size=20)) if both else []
    whole = concatenated([Ids.of(one).take(np.arange(len(one))), Ids.of(other), Ids.of([])])
    copied = whole.take(np.array(rows, np.int64))
    again = copied.take(np.arange(len(copied)))
    together = concatenated([copied, again])

    assert whole.texts() == both
    assert copied.texts() == again.texts() == [both[row] for row in rows]
    assert [again[i] for i in range(len(again))] == copied.texts()
    assert again.at(np.arange(len(rows))[::-1]).texts() == copied.texts()[::-1]
    assert together.texts() == copied.texts() * 2
    assert together.take(np.arange(len(rows))).texts() == copied.texts()
    assert copied.same(np.arange(len(rows)), whole, np.array(rows, np.int64)).all()
    assert copied.keys(3).tolist() == Ids.of(copied.texts()).keys(3).tolist()
    begin = data.draw(st.integers(0, len(rows)))
    some = np.arange(begin, data.draw(st.integers(begin, len(rows))))
    assert copied.at(some).texts() == copied.take(some).texts() == [both[rows[row]] for row in some]
    assert copied.at(some).keys(3).tolist() == copied.keys(3)[some].tolist()
    assert copied.at(some).at(np.arange(some.size)).texts() == copied.at(some).texts()
    assert concatenated([copied.at(some), copied]).texts() == copied.texts(some) + copied.texts()
    assert copied.same(some, copied, some[::-1]).tolist() == [
        both[rows[a]] == both[rows[b]] for a, b in zip(some, some[::-1], strict=True)
    ]


@given(columns_of_ids, st.data())
def test_ids_are_written_one_after_another_with_a_byte_after_each(texts, data):
    after = data.draw(st.lists(st.sampled_from(b"\t\n,"), min_size=len(texts), max_size=len(texts)))
    column = Ids.of(texts)

    for each in (column, column.take(np.arange(len(texts)))):
        assert each.followed_by(np.array(after, np.uint8)) == b"".join(
            text.encode() + bytes([byte]) for text, byte in zip(texts, after, strict=True)
        )


@given(st.integers(4, 32), st.integers(0, 15), st.data())
def test_ids_of_one_length_have_the_keys_of_any_ids(length, seed, data):
    texts = data.draw(st.lists(st.text("abc", min_size=length, max_size=length), min_size=1, max_size=9))
    copied = Ids.of(texts).take(np.arange(len(texts)))

    assert copied._span is None
    assert copied.keys(seed).tolist() == [key(text, seed=seed) for text in texts]


@given(st.lists(st.integers(1, 32), min_size=2, max_size=5), st.integers(0, 15), st.data())
def test_ids_of_one_length_behind_longer_ones_have_the_keys_of_any_ids(lengths, seed, data):
    groups = [data.draw(st.lists(st.text("abc", min_size=n, max_size=n), min_size=1, max_size=3)) for n in lengths]
    texts = [text for group in groups for text in group]
    copied = Ids.of(texts).take(np.arange(len(texts)))

    at = 0
    for group in groups:
        part = copied.at(np.arange(at, at + len(group)))
        at += len(group)
        assert part.keys(seed).tolist() == [key(text, seed=seed) for text in group]


def test_rows_that_begin_and_end_like_neighbours_are_not_taken_for_them():
    copied = Ids.of([f"document{number}" for number in range(4)]).take(np.arange(4))
    rows = np.array([0, 2, 1, 3])

    assert copied.at(rows).texts() == copied.take(rows).texts() == copied.some(rows).texts() == copied.texts(rows)
    assert copied.same(rows, copied, np.arange(4)).tolist() == [True, False, False, True]


def test_an_id_that_ends_in_a_zero_byte_is_another_one():
    copied = Ids.of(["document", "document\0", "document\0"]).take(np.arange(3))

    assert copied.same(np.array([0, 1]), copied, np.array([1, 2])).tolist() == [False, True]


def test_a_bucket_with_several_judged_pairs_is_searched_whole():
    """Keys that begin alike share a bucket, and a key that ends alike is not found for that."""
    judged = np.array([(1 << 63) + byte for byte in (0, 1, 7, 255)] + [(1 << 62) + 9], np.uint64)
    others = np.array([(1 << 63) + 256, (1 << 62) + 9 + 256, (1 << 61) + 9, 0], np.uint64)

    at, row = JudgedPairs(judged).find(np.concatenate((others, judged)))

    assert sorted(zip(at.tolist(), row.tolist(), strict=True)) == [(4 + row, row) for row in range(5)]


def test_ids_of_about_one_length_take_their_bytes_and_one_more_in_memory():
    texts = [f"document{number:08}" for number in range(100)]

    copied = Ids.of(texts).take(np.arange(100))

    assert copied.chunk.size == 1600
    assert copied._span is None
    assert concatenated([copied, Ids.of(["short"] * 99).take(np.arange(99))]).texts() == [*texts, *["short"] * 99]
    with pytest.raises(IndexError):
        copied[100]


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_work_on_parts_is_returned_in_order_and_does_not_run_far_ahead(threads, monkeypatch):
    monkeypatch.setattr("pytest_ireval.retrieval.ids.threads", lambda: threads)
    taken, begun = [], iter(lambda: taken.append(len(taken)) or taken[-1], 50)

    for number, made in enumerate(mapped(lambda piece: piece * piece, begun)):
        assert made == number * number
        assert len(taken) <= number + 2 + 2 * threads

    assert number == 49
    assert list(mapped(str, [])) == []
    assert list(mapped(str, [7])) == ["7"]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_part_is_raised(threads, monkeypatch):
    monkeypatch.setattr("pytest_ireval.retrieval.ids.threads", lambda: threads)
    with pytest.raises(ZeroDivisionError):
        list(mapped(lambda piece: 1 // piece, [2, 1, 0, 1]))
