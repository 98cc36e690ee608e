"""Keys of tokens: 64 bits that are equal for equal tokens, and almost surely different for others.

Tokens are compared by key, and equal keys are confirmed byte by byte. All words of all tokens are read at once: from
their ends, because ids of one system often begin alike.
"""

from __future__ import annotations

import numpy as np

from pytest_ireval.data.arrays import Integers, Mask
from pytest_ireval.data.scan.chunks import ROOM, Chunk, Span, Words

U = np.uint64
WIDE = 4
"""Words that are loaded for all ids at once; the few longer ids are read word by word."""

KEEP_LAST = np.array([(0xFFFFFFFFFFFFFFFF << (64 - 8 * k)) & 0xFFFFFFFFFFFFFFFF for k in range(9)], dtype="<u8")
"""Masks: ``KEEP_LAST[k]`` keeps the last k bytes of a little-endian word; taken with ``clip`` for any length."""

# Odd numbers with well mixed bits, from the constants of SplitMix64, xxHash and wyhash.
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


def hash_tokens(chunk: Chunk, span: Span, seed: int = 0) -> Words:
    """A key for every token. Another ``seed`` gives other keys, for tokens that collide."""
    length = span.length
    longest = int(length.max()) if length.size else 0
    key = _mix_words(load_last_words(chunk, span.end, length, min(WIDE, max(1, -(-longest // 8)))), seed)
    rows = np.flatnonzero(length > 8 * WIDE)
    for j in range(WIDE, -(-longest // 8)):  # the words of long tokens that are further from the end
        rows = rows[length[rows] > 8 * j]
        (word,) = load_last_words(chunk, span.end[rows] - 8 * j, length[rows] - 8 * j, 1)
        key[rows] += _spread(word, j, seed)
    return _finish(key, length, seed)


def hash_tokens_of_one_length(chunk: Chunk, width: int, length: int, count: int, seed: int = 0) -> Words:
    """The same for ``count`` tokens of ``length`` bytes, at most ``8 * WIDE``.

    One begins every ``width`` bytes, which are whole words. What is between them does not matter.
    """
    begins = range(ROOM + length - 8, ROOM - 8, -8)
    words = [np.ndarray(count, "<u8", buffer=chunk.buffer.data, offset=at, strides=(width,)) for at in begins]
    if length % 8:
        words[-1] = words[-1] & KEEP_LAST[length % 8]  # it begins before the token: a longer one may end there
    return _finish(_mix_words(words, seed), np.array([length]), seed)


def mix_again(query_keys: Words) -> Words:
    """Query keys, mixed once more so that a query and a document with the same name do not cancel out."""
    more: Words = query_keys * _FACTORS[5]
    return more


def load_last_words(chunk: Chunk, end: Integers, length: Integers, words: int) -> list[Words]:
    """The last ``words`` words of every token, the very last first, cut to the token."""
    loaded = chunk.windows(words)[end].view("<u8").reshape(-1, words)
    columns: list[Words] = [
        loaded[:, words - 1 - j] & KEEP_LAST.take(length - 8 * j, mode="clip") for j in range(words)
    ]
    return columns


def _mix_words(words: list[Words], seed: int) -> Words:
    key: Words = words[0] * (_FACTORS[0] + U(2 * seed))
    for j, word in enumerate(words[1:], 1):
        key += _spread(word, j, seed)
    return key


def _spread(word: Words, j: int, seed: int) -> Words:
    factor = (int(_FACTORS[j & 7]) + 2 * seed) * (2 * (j >> 3) + 1) & 0xFFFFFFFFFFFFFFFF
    spread: Words = (word ^ (word >> U(29))) * U(factor)
    return spread


def _finish(key: Words, length: Integers, seed: int) -> Words:
    """Mix in the length: tokens that differ in zero bytes alone have the same words."""
    key ^= key >> U(32)
    key += length.astype("<u8") * _FACTORS[7] + U(seed)
    key *= _FACTORS[3]
    key ^= key >> U(29)
    return key


def find_group_starts(chunk: Chunk, span: Span) -> Integers:
    """The lines whose token differs from the one on the line before; the first line always."""
    length = span.length
    if not length.size:
        return np.zeros(0, np.int64)
    same = length[1:] == length[:-1]
    for j in range(-(-int(length.max()) // 8)):
        (word,) = load_last_words(chunk, np.maximum(span.end - 8 * j, 0), length - 8 * j, 1)
        same &= word[1:] == word[:-1]
    return np.concatenate((np.zeros(1, np.int64), np.flatnonzero(~same) + 1))


def have_same_bytes(one: Chunk, span: Span, other: Chunk, other_span: Span) -> Mask:
    """Tell whether token i of one chunk is, byte for byte, token i of another."""
    length, other_length = span.length, other_span.length
    same: Mask = length == other_length
    longest = int(length.max()) if length.size else 0
    at_once = min(WIDE, max(1, -(-longest // 8)))
    words = load_last_words(one, span.end, length, at_once)
    other_words = load_last_words(other, other_span.end, other_length, at_once)
    for word, other_word in zip(words, other_words, strict=True):
        same &= word == other_word
    for j in range(at_once, -(-longest // 8)):
        rows = np.flatnonzero(same & (length > 8 * j))
        (word,) = load_last_words(one, span.end[rows] - 8 * j, length[rows] - 8 * j, 1)
        (other_word,) = load_last_words(other, other_span.end[rows] - 8 * j, other_length[rows] - 8 * j, 1)
        same[rows] = word == other_word
    return same
