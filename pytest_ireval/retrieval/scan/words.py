"""Ids as 64-bit keys: hashed eight bytes at a time, never made into Python objects."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.retrieval.scan.chunk import Chunk, Offsets, Words
from pytest_ireval.retrieval.scan.tokens import Span

U = np.uint64
WIDE = 4
"""Words that are loaded for all ids at once; the few ids longer than that are looked at word by word."""

KEEP = np.array([(0xFFFFFFFFFFFFFFFF << (64 - 8 * k)) & 0xFFFFFFFFFFFFFFFF for k in range(9)], dtype="<u8")
"""``KEEP[k]`` keeps the last k bytes of a little-endian word; taken with ``clip`` for any length."""

_FACTORS = np.array(
    [
        0x9E3779B97F4A7C15,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0xD6E8FEB86659FD93,
        0xA0761D6478BD642F,
        0xE7037ED1A0B428DB,
        0x8EBC6AF09C88C6E3,
        0x589965CC75374CC3,
    ],
    dtype="<u8",
)


def last_words(chunk: Chunk, end: Offsets, length: Offsets, words: int) -> list[Words]:
    """The last ``words`` words of every token, the very last first, cut to the token."""
    loaded = chunk.windows(words)[end].view("<u8").reshape(-1, words)
    columns: list[Words] = [loaded[:, words - 1 - j] & KEEP.take(length - 8 * j, mode="clip") for j in range(words)]
    return columns


def keys_of(chunk: Chunk, span: Span, seed: int = 0) -> Words:
    """A 64-bit key for every token; equal tokens have equal keys, others almost surely not."""
    length = span.end - span.start
    longest = int(length.max()) if length.size else 0
    words = last_words(chunk, span.end, length, min(WIDE, max(1, -(-longest // 8))))
    key: Words = words[0] * (_FACTORS[0] + U(2 * seed))
    for j, word in enumerate(words[1:], 1):
        key += _spread(word, j, seed)
    _add_words_of_long_tokens(chunk, span, longest, key, seed)
    key ^= key >> U(32)
    key += length.astype("<u8") * _FACTORS[7] + U(seed)
    key *= _FACTORS[3]
    key ^= key >> U(29)
    return key


def _add_words_of_long_tokens(chunk: Chunk, span: Span, longest: int, key: Words, seed: int) -> None:
    """Mix in what lies further than ``WIDE`` words from the end, for the tokens that reach so far."""
    length = span.end - span.start
    rows = np.flatnonzero(length > 8 * WIDE)
    for j in range(WIDE, -(-longest // 8)):
        rows = rows[length[rows] > 8 * j]
        (word,) = last_words(chunk, span.end[rows] - 8 * j, length[rows] - 8 * j, 1)
        key[rows] += _spread(word, j, seed)


def _spread(word: Words, j: int, seed: int) -> Words:
    factor = (int(_FACTORS[j & 7]) + 2 * seed) * (2 * (j >> 3) + 1) & 0xFFFFFFFFFFFFFFFF
    spread: Words = (word ^ (word >> U(29))) * U(factor)
    return spread


def starts_of_groups(chunk: Chunk, span: Span) -> Offsets:
    """The lines whose token differs from the one on the line before; the first line always."""
    length = span.end - span.start
    if not length.size:
        return np.zeros(0, np.int64)
    same = length[1:] == length[:-1]
    for j in range(-(-int(length.max()) // 8)):
        (word,) = last_words(chunk, np.maximum(span.end - 8 * j, 0), length - 8 * j, 1)
        same &= word[1:] == word[:-1]
    return np.concatenate((np.zeros(1, np.int64), np.flatnonzero(~same) + 1))


def mixed(query_keys: Words) -> Words:
    """Query keys, mixed once more so that a query and a document of one name do not cancel each other out."""
    more: Words = query_keys * _FACTORS[5]
    return more


def same_bytes(
    ours: Chunk, start: Offsets, end: Offsets, theirs: Chunk, their_start: Offsets, their_end: Offsets
) -> NDArray[np.bool_]:
    """Whether token i of one chunk is, byte for byte, token i of another."""
    length = end - start
    same: NDArray[np.bool_] = length == their_end - their_start
    longest = int(length.max()) if length.size else 0
    at_once = min(WIDE, max(1, -(-longest // 8)))
    mine = last_words(ours, end, length, at_once)
    yours = last_words(theirs, their_end, their_end - their_start, at_once)
    for my_word, your_word in zip(mine, yours, strict=True):
        same &= my_word == your_word
    for j in range(at_once, -(-longest // 8)):
        rows = np.flatnonzero(same & (length > 8 * j))
        (my_word,) = last_words(ours, end[rows] - 8 * j, length[rows] - 8 * j, 1)
        (your_word,) = last_words(theirs, their_end[rows] - 8 * j, length[rows] - 8 * j, 1)
        same[rows] = my_word == your_word
    return same
