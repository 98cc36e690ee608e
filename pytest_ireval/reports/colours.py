"""Which words of a text a terminal may colour; a colour repeats what a word says, and never says more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

Tone = Literal["plain", "good", "doubtful", "bad"]
TONES: dict[str, Tone] = {
    "pass": "good",
    "accepted": "good",
    "warning": "doubtful",
    "inconclusive": "doubtful",
    "fail": "bad",
    "error": "bad",
    "problem": "bad",
    "red": "bad",
}
_VERDICT = "pass|accepted|warning|inconclusive|fail|error"
_ROW = re.compile(rf"(?P<before>.* {{2}})(?P<word>{_VERDICT})(?P<after>)")
"""A row of a table that ends in a verdict."""
_NOTE = re.compile(rf"(?P<before>)(?P<word>{_VERDICT}|problem|red)(?P<after>: .*)")
_RUN = re.compile(rf"(?P<before>ireval: )(?P<word>{_VERDICT})(?P<after>[:,] .*)")
_DECIDES = re.compile(r" {2}.* <- (over tolerance|breaks the rule|over|red)")
"""A line of figures that the verdict rests on."""


class Piece(NamedTuple):
    """Text in one tone."""

    text: str
    tone: Tone = "plain"


def summary_pieces(line: str) -> tuple[Piece, ...]:
    """A line of a summary, its verdict in the tone of it."""
    found = _RUN.fullmatch(line) or _NOTE.fullmatch(line) or _ROW.fullmatch(line)
    if found is None:
        return (Piece(line),)
    word = found["word"]
    return (Piece(found["before"]), Piece(word, TONES[word]), Piece(found["after"]))


def failure_pieces(text: str) -> Iterator[Piece]:
    """The lines of a failure: its headline and the figures that decided stand out."""
    for number, line in enumerate(text.split("\n")):
        yield Piece(line, "bad" if number == 0 or _DECIDES.fullmatch(line) else "plain")
