"""Numbers from digits, eight characters at a time.

A decimal number is a whole number m and a power of ten: ``12.50`` is 1250 / 100. Up to 2^53 m is exact and one
division rounds correctly, so the value is that of ``float()``. Longer numbers are at most one unit in the last place
off and are marked *inexact*; :func:`exactly` reads them again if that matters. All other tokens (exponents, very long
numbers, nonsense) are read one by one.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.scan.tokens import KEEP, SHOWN_LINES, BadLines, Chunk, Offsets, Span, U, Words
from pytest_ireval.data.tables import FRACTIONS
from pytest_ireval.errors import shown

PLUS, MINUS, POINT = 43, 45, 46
LONGEST = 24
"""Digits and point that three words hold."""

_ZEROS = U(0x3030303030303030)
_POINT_AS_DIGIT = U(0x1E)  # "." XOR "0"
_POINTS = U(0x1E1E1E1E1E1E1E1E)
_LOW_BITS = U(0x7F7F7F7F7F7F7F7F)
_HIGH_BITS = U(0x8080808080808080)
_OVER_NINE = U(0x7676767676767676)
_PLACE_OF_BYTE = U(0x0001020304050607)  # times 2^(8i), the top byte is i
_TENS = np.array([10**i for i in range(20)], dtype="<u8")
_FLOAT_TENS = np.array([10.0**i for i in range(23)])
_DECIMAL = re.compile(rb"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_NOT_FINITE = re.compile(rb"[+-]?(nan|inf(inity)?)", re.IGNORECASE)


class Numbers(NamedTuple):
    """One number for every token."""

    value: NDArray[np.float64]
    inexact: NDArray[np.bool_]
    """Where ``value`` may be one unit in the last place off."""


def numbers(chunk: Chunk, span: Span, what: str, decimal: re.Pattern[bytes] = _DECIMAL) -> Numbers:
    """Read every token as a finite decimal number; ``what`` names the column in complaints.

    Tokens that are not only digits, a sign and a point must match ``decimal``.
    """
    start, end = span
    if not start.size:
        return Numbers(np.zeros(0), np.zeros(0, bool))
    first = chunk.text[start]
    negative = first == MINUS
    digits = (end - start) - (negative | (first == PLUS))
    odd = (digits > LONGEST) | (digits < 1)
    words = _digit_words(chunk, end, digits)
    places = _take_out_points(chunk, span, digits, words, odd)
    whole = _whole_numbers(words, odd)
    value, mantissa = _scaled(whole, places, odd)
    inexact = mantissa >= U(1 << 53)
    _read_one_by_one(chunk, span, np.flatnonzero(odd), what, decimal, value, inexact)
    if negative.any():
        np.negative(value, out=value, where=negative)
    return Numbers(value, inexact)


def exactly(chunk: Chunk, span: Span, rows: Offsets) -> NDArray[np.float64]:
    """The correctly rounded values of some rows."""
    tokens = chunk.tokens(span.start[rows], span.end[rows])
    return np.array([float(token) for token in tokens], np.float64)


def _digit_words(chunk: Chunk, end: Offsets, digits: Offsets) -> list[Words]:
    """The last words of every token, each byte turned into its digit; bytes before the token into 0."""
    longest = int(digits.max())
    count = 1 if longest <= 8 else 2 if longest <= 16 else 3
    loaded = chunk.windows(count)[end].view("<u8").reshape(-1, count)
    words = []
    for j in range(count):
        keep = KEEP.take(digits - 8 * j, mode="clip")
        words.append(((loaded[:, count - 1 - j] & keep) | (_ZEROS & ~keep)) ^ _ZEROS)
    return words


def _take_out_points(
    chunk: Chunk, span: Span, digits: Offsets, words: list[Words], odd: NDArray[np.bool_]
) -> int | Offsets:
    """Turn points into the digit 0; return the number of digits after each (-1: no point).

    It is one number if all tokens agree, as in files with a fixed format.
    """
    start, end = span
    after = len(chunk.token(int(start[0]), int(end[0])).rpartition(b".")[2])
    if 0 < after < digits[0] and after < 8 * len(words):
        at = end - (after + 1)
        if (digits > after).all() and (chunk.text[at] == POINT).all():
            j, k = divmod(after, 8)
            words[j] ^= U(0x1E << (8 * (7 - k)))
            return after
    return _take_out_differing_points(words, digits, odd)


def _take_out_differing_points(words: list[Words], digits: Offsets, odd: NDArray[np.bool_]) -> Offsets:
    places = np.full(digits.size, -1, np.int64)
    points = np.zeros(digits.size, np.int64)
    for j, word in enumerate(words):
        x = word ^ _POINTS
        found = ~(((x & _LOW_BITS) + _LOW_BITS) | x | _LOW_BITS) >> U(7)  # bit 0 of each byte that is a point
        if not found.any():
            continue
        points += ((found * U(0x0101010101010101)) >> U(56)).astype(np.int64)
        byte = ((found * _PLACE_OF_BYTE) >> U(56)).astype(np.int64)
        np.copyto(places, 7 - byte + 8 * j, where=found != 0)
        words[j] = word ^ (found * _POINT_AS_DIGIT)
    odd |= (points > 1) | ((points == 1) & (digits == 1))  # two points, or nothing but a point
    return places


def _whole_numbers(words: list[Words], odd: NDArray[np.bool_]) -> Words:
    """All digits as one whole number; tokens with anything but digits become odd."""
    strange = (words[0] + _OVER_NINE) | words[0]
    for word in words[1:]:
        strange |= (word + _OVER_NINE) | word
    odd |= (strange & _HIGH_BITS) != 0
    whole = _eight_digits(words[0])
    if len(words) > 1:
        whole += _eight_digits(words[1]) * U(10**8)
    if len(words) > 2:
        top = _eight_digits(words[2])
        odd |= top >= 1800  # would not fit into 64 bits
        whole += top * U(10**16)
    return whole


def _eight_digits(x: Words) -> Words:
    """The number whose decimal digits are the bytes of x, the last byte the last digit."""
    x = (x * U(10) + (x >> U(8))) & U(0x00FF00FF00FF00FF)
    x = (x * U(100) + (x >> U(16))) & U(0x0000FFFF0000FFFF)
    return (x * U(10000) + (x >> U(32))) & U(0xFFFFFFFF)


def _scaled(whole: Words, places: int | Offsets, odd: NDArray[np.bool_]) -> tuple[NDArray[np.float64], Words]:
    """Drop the 0 in the place of the point, and divide by the power of ten."""
    if isinstance(places, int):
        if places > 18:
            odd[:] = True
            return whole.astype(np.float64), whole
        above = whole // U(10 ** (places + 1))
        mantissa = whole - above * U(10 ** (places + 1) - 10**places)
        return mantissa.astype(np.float64) / _FLOAT_TENS[places], mantissa
    odd |= places > 18
    clipped = np.clip(places, 0, 18)
    above = whole // _TENS[clipped + 1]
    mantissa = np.where(places < 0, whole, whole - above * (_TENS[clipped + 1] - _TENS[clipped]))
    return mantissa.astype(np.float64) / _FLOAT_TENS[clipped], mantissa


def _read_one_by_one(
    chunk: Chunk,
    span: Span,
    rows: Offsets,
    what: str,
    decimal: re.Pattern[bytes],
    value: NDArray[np.float64],
    inexact: NDArray[np.bool_],
) -> None:
    """Read the tokens that the fast way cannot; the caller sets the sign."""
    complaints = []
    for row, token in zip(rows.tolist(), chunk.tokens(span.start[rows], span.end[rows]), strict=True):
        complaint = _why_not_a_number(token, what, decimal)
        if complaint:
            complaints.append((int(span.start[row]), complaint))
        else:
            value[row] = abs(float(token))
            inexact[row] = False
    if complaints:
        raise BadLines(complaints[:SHOWN_LINES], max(0, len(complaints) - SHOWN_LINES))


def _why_not_a_number(token: bytes, what: str, decimal: re.Pattern[bytes]) -> str:
    text = shown(token.decode("utf-8", "replace"))
    if decimal.fullmatch(token):
        if not math.isfinite(float(token)):
            return f"{what} {text} is too large for a number"
        digits = token.lower().partition(b"e")[0].strip(b"+-.0")  # of 0.001 as of 1e-400 something is left
        lost = what == "grade" and digits and not float(token)  # a relevant document would be none
        return f"{what} {text} is too close to 0 for a number" if lost else ""
    if _NOT_FINITE.fullmatch(token):
        return f"{what} {text} is not finite"
    return f"{what} {text} is not a number"


def whole_numbers_only(chunk: Chunk, span: Span, value: NDArray[np.float64], what: str) -> None:
    """Complain about fractions."""
    rows = np.flatnonzero(value != np.floor(value))
    if rows.size:
        start, end = span.start[rows[:SHOWN_LINES]], span.end[rows[:SHOWN_LINES]]
        complaints = [
            (at, f"{what} {token.decode()} is not a whole number")
            for at, token in zip(start.tolist(), chunk.tokens(start, end), strict=True)
        ]
        raise BadLines(complaints, rows.size - len(complaints), suggestion=FRACTIONS)
