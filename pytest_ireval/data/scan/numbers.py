"""Numbers from digits, eight characters at a time.

A decimal number is a whole number m and a power of ten: ``12.50`` is 1250 / 100. Up to 2^53 m is exact and one
division rounds correctly, so the value is that of ``float()``. Longer numbers are at most one unit in the last place
off and are marked *inexact*; :func:`read_exactly` reads them again if that matters. All other tokens (exponents, very
long numbers, nonsense) are read one by one.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from pytest_ireval.data.arrays import Floats, Integers, Mask
from pytest_ireval.data.scan.chunks import SHOWN_LINES, BadLine, BadLines, Chunk, Span, Words
from pytest_ireval.data.scan.keys import KEEP_LAST, U
from pytest_ireval.data.tables import FRACTIONS
from pytest_ireval.errors import quote

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
DECIMAL = re.compile(rb"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_NOT_FINITE = re.compile(rb"[+-]?(nan|inf(inity)?)", re.IGNORECASE)


class Numbers(NamedTuple):
    """One number for every token."""

    value: Floats
    inexact: Mask
    """Where ``value`` may be one unit in the last place off."""


def read_numbers(chunk: Chunk, span: Span, what: str, decimal: re.Pattern[bytes] = DECIMAL) -> Numbers:
    """Read every token as a finite decimal number; ``what`` names the column in complaints.

    Tokens that are not only digits, a sign and a point must match ``decimal``.
    """
    if not span.start.size:
        return Numbers(np.zeros(0), np.zeros(0, bool))
    first = chunk.text[span.start]
    negative = first == MINUS
    digits = span.length - (negative | (first == PLUS))
    odd = (digits > LONGEST) | (digits < 1)
    words = _load_digits(chunk, span.end, digits)
    places = _replace_points(chunk, span, digits, words, odd)
    whole = _combine_words(words, odd)
    value, mantissa = _scale(whole, places, odd)
    inexact = mantissa >= U(1 << 53)
    _read_one_by_one(chunk, span, np.flatnonzero(odd), what, decimal, value, inexact)
    if negative.any():
        np.negative(value, out=value, where=negative)
    return Numbers(value, inexact)


def read_exactly(chunk: Chunk, span: Span, rows: Integers) -> Floats:
    """The correctly rounded values of some rows."""
    return np.array([float(token) for token in chunk.tokens(span.at(rows))], np.float64)


def _load_digits(chunk: Chunk, end: Integers, digits: Integers) -> list[Words]:
    """The last words of every token, each byte turned into its digit; bytes before the token into 0."""
    longest = int(digits.max())
    count = 1 if longest <= 8 else 2 if longest <= 16 else 3
    loaded = chunk.windows(count)[end].view("<u8").reshape(-1, count)
    words = []
    for j in range(count):
        keep = KEEP_LAST.take(digits - 8 * j, mode="clip")
        words.append(((loaded[:, count - 1 - j] & keep) | (_ZEROS & ~keep)) ^ _ZEROS)
    return words


def _replace_points(chunk: Chunk, span: Span, digits: Integers, words: list[Words], odd: Mask) -> int | Integers:
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
    return _replace_differing_points(words, digits, odd)


def _replace_differing_points(words: list[Words], digits: Integers, odd: Mask) -> Integers:
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


def _combine_words(words: list[Words], odd: Mask) -> Words:
    """All digits as one whole number; tokens with anything but digits become odd."""
    high = (words[0] + _OVER_NINE) | words[0]
    for word in words[1:]:
        high |= (word + _OVER_NINE) | word
    odd |= (high & _HIGH_BITS) != 0
    whole = _combine_digits(words[0])
    if len(words) > 1:
        whole += _combine_digits(words[1]) * U(10**8)
    if len(words) > 2:
        top = _combine_digits(words[2])
        odd |= top >= 1800  # would not fit into 64 bits
        whole += top * U(10**16)
    return whole


def _combine_digits(x: Words) -> Words:
    """The number whose decimal digits are the bytes of x, the last byte the last digit."""
    x = (x * U(10) + (x >> U(8))) & U(0x00FF00FF00FF00FF)
    x = (x * U(100) + (x >> U(16))) & U(0x0000FFFF0000FFFF)
    return (x * U(10000) + (x >> U(32))) & U(0xFFFFFFFF)


def _scale(whole: Words, places: int | Integers, odd: Mask) -> tuple[Floats, Words]:
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
    chunk: Chunk, span: Span, rows: Integers, what: str, decimal: re.Pattern[bytes], value: Floats, inexact: Mask
) -> None:
    """Read the tokens that the fast way cannot; the caller sets the sign."""
    bad = []
    for row, token in zip(rows.tolist(), chunk.tokens(span.at(rows)), strict=True):
        complaint = _find_fault(token, what, decimal)
        if complaint:
            bad.append(BadLine(int(span.start[row]), complaint))
        else:
            value[row] = abs(float(token))
            inexact[row] = False
    if bad:
        raise BadLines(bad[:SHOWN_LINES], max(0, len(bad) - SHOWN_LINES))


def _find_fault(token: bytes, what: str, decimal: re.Pattern[bytes]) -> str:
    text = quote(token.decode("utf-8", "replace"))
    if decimal.fullmatch(token):
        if not math.isfinite(float(token)):
            return f"{what} {text} is too large for a number"
        digits = token.lower().partition(b"e")[0].strip(b"+-.0")  # of 0.001 as of 1e-400 something is left
        lost = what == "grade" and digits and not float(token)  # a relevant document would be none
        return f"{what} {text} is too close to 0 for a number" if lost else ""
    if _NOT_FINITE.fullmatch(token):
        return f"{what} {text} is not finite"
    return f"{what} {text} is not a number"


def refuse_fractions(chunk: Chunk, span: Span, value: Floats, what: str) -> None:
    rows = np.flatnonzero(value != np.floor(value))
    if rows.size:
        some = span.at(rows[:SHOWN_LINES])
        lines = [
            BadLine(at, f"{what} {token.decode()} is not a whole number")
            for at, token in zip(some.start.tolist(), chunk.tokens(some), strict=True)
        ]
        raise BadLines(lines, rows.size - len(lines), suggestion=FRACTIONS)
