"""The begin and end of the columns of every line, and comparison of words as bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ROOM = 64
"""Bytes before and after the text that do not belong to it and may be read."""

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]
Ranks = NDArray[np.int32]
Words = NDArray[np.uint64]


class Chunk:
    """``size`` bytes of text inside ``buffer``, which starts ``ROOM`` bytes earlier and ends as much later.

    Offsets count from the start of the text, so ``text[start:end]`` is a token.
    """

    __slots__ = ("buffer", "size", "text")

    def __init__(self, buffer: Bytes, size: int) -> None:
        self.buffer = buffer
        self.size = size
        self.text = buffer[ROOM : ROOM + size]

    @classmethod
    def of(cls, data: bytes) -> Chunk:
        """A chunk that holds a copy of ``data``."""
        buffer = np.zeros(len(data) + 2 * ROOM, np.uint8)
        buffer[ROOM : ROOM + len(data)] = np.frombuffer(data, np.uint8)
        return cls(buffer, len(data))

    def windows(self, words: int) -> NDArray[np.void]:
        """A view in which ``windows(n)[end]`` are the ``8 * n`` bytes before offset ``end``."""
        width = 8 * words
        return np.ndarray(self.size + 1, dtype=f"V{width}", buffer=self.buffer.data, offset=ROOM - width, strides=(1,))

    def windows_after(self, words: int) -> NDArray[np.void]:
        """A view in which ``windows_after(n)[start]`` are the ``8 * n`` bytes from offset ``start`` on."""
        return np.ndarray(self.size + 1, dtype=f"V{8 * words}", buffer=self.buffer.data, offset=ROOM, strides=(1,))

    def token(self, start: int, end: int) -> bytes:
        """The bytes between two offsets."""
        return self.text[start:end].tobytes()

    def tokens(self, start: Offsets, end: Offsets) -> list[bytes]:
        """The bytes between many pairs of offsets."""
        text = self.text.data
        return [bytes(text[s:e]) for s, e in zip(start.tolist(), end.tolist(), strict=True)]


def joined(texts: Sequence[bytes]) -> tuple[Chunk, Offsets, Offsets]:
    """Texts laid end to end, with the offsets where each starts and ends."""
    edge = begins_of(np.fromiter(map(len, texts), np.int64, len(texts)))
    return Chunk.of(b"".join(texts)), edge[:-1], edge[1:]


def begins_of(lengths: NDArray[np.int64] | NDArray[np.bool_]) -> Offsets:
    """The begin of each of some parts that follow each other, and the end of the last one."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))


def owners_of(begins: Offsets) -> Offsets:
    """The part of each row; part i is rows ``begins[i]`` to ``begins[i + 1]``."""
    return np.repeat(np.arange(begins.size - 1), np.diff(begins))


def ranks_of(begins: Offsets) -> Offsets:
    """The place of each row in its part, from 1."""
    rank = np.arange(1, int(begins[-1]) + 1)
    rank -= np.repeat(begins[:-1], np.diff(begins))
    return rank


def small_ranks_of(begins: Offsets) -> Ranks:
    """The same in half of the memory."""
    rank = np.arange(1, int(begins[-1]) + 1, dtype=np.int32)
    rank -= np.repeat(begins[:-1].astype(np.int32), np.diff(begins))
    return rank


TAB, NEWLINE, RETURN, SPACE, HASH = 9, 10, 13, 32, 35


class Span(NamedTuple):
    """The start and end of one column, a pair of offsets for every line."""

    start: Offsets
    end: Offsets


class BadLines(Exception):  # noqa: N818 - it says what it carries
    """Lines that cannot be read; the reader of the file turns offsets into line numbers."""

    def __init__(self, complaints: Sequence[tuple[int, str]], more: int = 0, *, suggestion: str = "") -> None:
        self.complaints = tuple(complaints)
        """Pairs of an offset inside the line and a complaint about it."""
        self.more = more
        """The number of further lines with the same fault."""
        self.suggestion = suggestion
        super().__init__(f"{len(self.complaints) + more} unreadable lines")


class WrongWidth(BadLines):
    """Lines with too few or too many columns."""


SHOWN_LINES = 5
"""The number of bad lines that are named; the rest is counted."""


def columns(chunk: Chunk, width: int, wanted: Sequence[int], *, exact: bool) -> list[Span]:
    """The spans of the ``wanted`` columns of every line that has content.

    Lines have ``width`` columns, or more unless ``exact``. The text ends in a newline. Most files are regular (one
    separator between two columns): strided slices of the separators' offsets are enough. Other chunks take the general
    path.
    """
    regular = _regular_columns(chunk.text, width, wanted)
    return regular if regular is not None else _general_columns(chunk, width, wanted, exact)


def _regular_columns(text: Bytes, width: int, wanted: Sequence[int]) -> list[Span] | None:
    """The spans if every line is ``width`` words with one blank or tab between them, else None."""
    blank = np.less_equal(text, SPACE)
    separator = np.flatnonzero(blank)
    if separator.size % width or not separator.size:
        return None
    line_end = np.ascontiguousarray(separator[width - 1 :: width])
    controls, lines = int(np.count_nonzero(text < SPACE)), line_end.size
    if controls != lines:
        newlines = int(np.count_nonzero(text == NEWLINE))
        if newlines != lines or controls != lines + int(np.count_nonzero(text == TAB)):
            return None
    if not (text.take(line_end) == NEWLINE).all() or blank[0] or np.logical_and(blank[1:], blank[:-1]).any():
        return None
    line_start = np.empty(line_end.size, np.int64)
    line_start[0] = 0
    np.add(line_end[:-1], 1, out=line_start[1:])
    if (text.take(line_start) == HASH).any():
        return None
    return [
        Span(separator[c - 1 :: width] + 1 if c else line_start, np.ascontiguousarray(separator[c::width]))
        for c in wanted
    ]


def refuse_zero_bytes(text: Bytes) -> None:
    """Text has no zero bytes; UTF-16 has many."""
    zero = np.flatnonzero(text == 0)
    if zero.size:
        raise BadLines([(int(zero[0]), "contains a zero byte: is it UTF-16, or not a text file?")])


def _refuse_lone_carriage_returns(text: Bytes) -> None:
    """Refuse lines that end in CR alone: they would look like one line with many words, of which the first count."""
    returns = np.flatnonzero(text == RETURN)
    lone = returns[text[returns + 1] != NEWLINE]
    if lone.size:
        complaint = "has a carriage return without a line feed after it; lines must end in LF or CR LF"
        raise BadLines([(int(lone[0]), complaint)])


def _general_columns(chunk: Chunk, width: int, wanted: Sequence[int], exact: bool) -> list[Span]:
    """Runs of blanks, tabs, CR LF, blank lines, lines that begin with ``#``, further columns."""
    text = chunk.text
    refuse_zero_bytes(text)
    _refuse_lone_carriage_returns(text)
    blank = (text == SPACE) | ((text - np.uint8(TAB)) <= 4)  # space, \t \n \v \f \r
    start = np.flatnonzero(~blank & np.concatenate((np.ones(1, bool), blank[:-1])))
    end = np.flatnonzero(blank[1:] & ~blank[:-1]) + 1
    line_end = np.flatnonzero(text == NEWLINE)
    first = np.searchsorted(start, np.concatenate((np.zeros(1, np.int64), line_end[:-1] + 1)))
    count = np.diff(np.append(first, start.size))
    first, count = first[count > 0], count[count > 0]
    content = text[start[first]] != HASH
    first, count = first[content], count[content]
    wrong = np.flatnonzero(count != width if exact else count < width)
    if wrong.size:
        complaints = [
            (int(start[first[i]]), f"has {int(count[i])} column{'s' if count[i] != 1 else ''}")
            for i in wrong[:SHOWN_LINES]
        ]
        raise WrongWidth(complaints, wrong.size - len(complaints))
    if width >= 6:  # lines of rankings are regular enough to recognise two lines in one
        _refuse_two_in_one(text, Span(start, end), first[count >= 2 * width - 1], width)
    return [Span(start[first + c], end[first + c]) for c in wanted]


def _refuse_two_in_one(text: Bytes, words: Span, first: Offsets, width: int) -> None:
    """Refuse a line that contains the next one, without a line feed between them: both have the same second word."""
    for further in (width, width + 1):
        one, other = first + 1, first + further
        length = words.end[one] - words.start[one]
        alike = words.end[other] - words.start[other] == length
        alike &= text[words.start[one]] == text[words.start[other]]
        for row in np.flatnonzero(alike).tolist():
            size, at, again = int(length[row]), int(words.start[one[row]]), int(words.start[other[row]])
            if (text[at : at + size] == text[again : again + size]).all():
                raise BadLines([(int(words.start[first[row]]), "looks like two lines; a line break may be missing")])


U = np.uint64
WIDE = 4
"""Words that are loaded for all ids at once; the few longer ids are read word by word."""

KEEP = np.array([(0xFFFFFFFFFFFFFFFF << (64 - 8 * k)) & 0xFFFFFFFFFFFFFFFF for k in range(9)], dtype="<u8")
"""Masks: ``KEEP[k]`` keeps the last k bytes of a little-endian word; taken with ``clip`` for any length."""

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


def _last_words(chunk: Chunk, end: Offsets, length: Offsets, words: int) -> list[Words]:
    """The last ``words`` words of every token, the very last first, cut to the token."""
    loaded = chunk.windows(words)[end].view("<u8").reshape(-1, words)
    columns: list[Words] = [loaded[:, words - 1 - j] & KEEP.take(length - 8 * j, mode="clip") for j in range(words)]
    return columns


def keys_of(chunk: Chunk, span: Span, seed: int = 0) -> Words:
    """A 64-bit key for every token; equal tokens have equal keys, others almost surely not."""
    length = span.end - span.start
    longest = int(length.max()) if length.size else 0
    key = _mixed_words(_last_words(chunk, span.end, length, min(WIDE, max(1, -(-longest // 8)))), seed)
    _add_words_of_long_tokens(chunk, span, longest, key, seed)
    return _finished(key, length, seed)


def keys_of_equal_lengths(chunk: Chunk, width: int, length: int, count: int, seed: int = 0) -> Words:
    """The same for ``count`` tokens of ``length`` bytes, at most ``8 * WIDE``.

    One begins every ``width`` bytes, which are whole words. What is between them does not matter.
    """
    begins = range(ROOM + length - 8, ROOM - 8, -8)
    words = [np.ndarray(count, "<u8", buffer=chunk.buffer.data, offset=at, strides=(width,)) for at in begins]
    if length % 8:
        words[-1] = words[-1] & KEEP[length % 8]  # it begins before the token: a longer one may end there
    return _finished(_mixed_words(words, seed), np.array([length]), seed)


def _mixed_words(words: list[Words], seed: int) -> Words:
    key: Words = words[0] * (_FACTORS[0] + U(2 * seed))
    for j, word in enumerate(words[1:], 1):
        key += _spread(word, j, seed)
    return key


def _finished(key: Words, length: Offsets, seed: int) -> Words:
    """The key of all words, with the length of the token."""
    key ^= key >> U(32)
    key += length.astype("<u8") * _FACTORS[7] + U(seed)
    key *= _FACTORS[3]
    key ^= key >> U(29)
    return key


def _add_words_of_long_tokens(chunk: Chunk, span: Span, longest: int, key: Words, seed: int) -> None:
    """Mix in the words more than ``WIDE`` words from the end, of the tokens that are so long."""
    length = span.end - span.start
    rows = np.flatnonzero(length > 8 * WIDE)
    for j in range(WIDE, -(-longest // 8)):
        rows = rows[length[rows] > 8 * j]
        (word,) = _last_words(chunk, span.end[rows] - 8 * j, length[rows] - 8 * j, 1)
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
        (word,) = _last_words(chunk, np.maximum(span.end - 8 * j, 0), length - 8 * j, 1)
        same &= word[1:] == word[:-1]
    return np.concatenate((np.zeros(1, np.int64), np.flatnonzero(~same) + 1))


def mixed(query_keys: Words) -> Words:
    """Query keys, mixed once more so that a query and a document with the same name do not cancel out."""
    more: Words = query_keys * _FACTORS[5]
    return more


def same_bytes(
    ours: Chunk, start: Offsets, end: Offsets, theirs: Chunk, their_start: Offsets, their_end: Offsets
) -> NDArray[np.bool_]:
    """Tell whether token i of one chunk is, byte for byte, token i of another."""
    length = end - start
    same: NDArray[np.bool_] = length == their_end - their_start
    longest = int(length.max()) if length.size else 0
    at_once = min(WIDE, max(1, -(-longest // 8)))
    mine = _last_words(ours, end, length, at_once)
    yours = _last_words(theirs, their_end, their_end - their_start, at_once)
    for my_word, your_word in zip(mine, yours, strict=True):
        same &= my_word == your_word
    for j in range(at_once, -(-longest // 8)):
        rows = np.flatnonzero(same & (length > 8 * j))
        (my_word,) = _last_words(ours, end[rows] - 8 * j, length[rows] - 8 * j, 1)
        (your_word,) = _last_words(theirs, their_end[rows] - 8 * j, length[rows] - 8 * j, 1)
        same[rows] = my_word == your_word
    return same


SMALLEST_TABLE = 17
"""Bits of the smallest table: one byte for each of 131,072 buckets stays in the cache."""
_SEVERAL = 255
"""The mark of a bucket with several keys; a bucket with one has a byte of it, and an empty one has 0."""


class JudgedPairs:
    """Finds keys among the keys of the judged pairs; most unjudged pairs end at one byte."""

    def __init__(self, keys: Words) -> None:
        self._row = np.argsort(keys)
        self._key = keys[self._row]
        bits = max(SMALLEST_TABLE, int(max(1, keys.size) - 1).bit_length() + 2)
        self._shift = U(64 - bits)
        self._mark = np.zeros(1 << bits, np.uint8)
        self._first = np.zeros(1 << bits, np.int32)
        self._deepest = 0
        if keys.size:
            self._fill()

    def _fill(self) -> None:
        bucket = (self._key >> self._shift).view(np.int64)
        first = np.concatenate((np.zeros(1, np.int64), np.flatnonzero(bucket[1:] != bucket[:-1]) + 1))
        count = np.diff(np.append(first, bucket.size))
        self._mark[bucket[first]] = np.where(count == 1, _marks(self._key[first]), _SEVERAL)
        self._first[bucket[first]] = first
        self._deepest = int(count.max())

    def suspects(self) -> Offsets:
        """Rows that share their key with another: a pair judged twice, or two pairs whose keys collide."""
        return not_unique(self._key, self._row)

    def find(self, keys: Words) -> tuple[Offsets, Offsets]:
        """Positions in ``keys`` that hold a judged pair's key, in no order, and the row of each pair."""
        bucket = (keys >> self._shift).view(np.int64)
        mark = self._mark.take(bucket)
        position = np.flatnonzero((mark == _marks(keys)) | (mark == _SEVERAL))
        wanted, at = keys[position], self._first[bucket[position]]
        found: list[tuple[Offsets, Offsets]] = []
        for _ in range(self._deepest):  # the keys of a bucket are neighbours, and buckets are small
            equal = self._key[at] == wanted
            found.append((position[equal], at[equal]))
            further = ~equal & (at < self._key.size - 1)
            position, wanted, at = position[further], wanted[further], at[further] + 1
        positions = np.concatenate([np.zeros(0, np.int64), *(position for position, _ in found)])
        rows = np.concatenate([np.zeros(0, np.int64), *(row for _, row in found)])
        return positions, self._row[rows]


def _marks(keys: Words) -> Bytes:
    """From 1 to 254, by bits that do not choose the bucket."""
    marks: Bytes = keys.astype(np.uint8).clip(1, _SEVERAL - 1)
    return marks


def not_unique(sorted_keys: Words, rows: Offsets) -> Offsets:
    """The rows, ascending, whose key is also that of a neighbour."""
    equal = sorted_keys[1:] == sorted_keys[:-1]
    shared = np.zeros(rows.size, bool)
    shared[1:] |= equal
    shared[:-1] |= equal
    return np.sort(rows[shared])


def repetitions(chunk: Chunk, span: Span, group: Offsets, rows: Offsets) -> tuple[Offsets, Offsets]:
    """Pairs of rows (first, later) with the same bytes in the same group, among ``rows``; in order of the later one."""
    first: dict[tuple[int, bytes], int] = {}
    pairs = []
    for row, name, token in zip(
        rows.tolist(), group[rows].tolist(), chunk.tokens(span.start[rows], span.end[rows]), strict=True
    ):
        earlier = first.setdefault((name, token), row)
        if earlier != row:
            pairs.append((earlier, row))
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]
