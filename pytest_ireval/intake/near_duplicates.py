"""Texts that are nearly the same: but for letter case, accents, marks, the order of words, or one letter."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

ONE_MORE, ONE_OTHER = 4, 6
"""A word must have so many letters for one more to be a variant (mug, mugs), and so many for another one to be a
slip (teapot, tepaot): ``boot`` and ``boat``, ``vitamin b`` and ``vitamin c`` are two things."""

LONGEST = 200
"""Longer texts are compared word by word only."""

WORD = re.compile(r"[\w#+]+")
"""``c``, ``c#`` and ``c++`` are three things."""


def near_duplicates(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of positions, the earlier first; each text is named once, with the first that is like it."""
    seen = _Seen()
    pairs = []
    for row, text in enumerate(texts):
        words = _words(text)
        if not words:
            continue
        like = seen.like(words)
        if like is not None:
            pairs.append((like, row))
        seen.add(words, row)
    return pairs


def _words(text: str) -> list[str]:
    """Words in lower case without accents."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    return WORD.findall("".join(mark for mark in folded if not unicodedata.combining(mark)))


class _Seen:
    """The texts so far, by what one of their variants has in common with them."""

    def __init__(self) -> None:
        self.by_words: dict[str, int] = {}
        self.whole: dict[str, int] = {}
        self.shortened: dict[str, int] = {}
        self.with_gap: dict[tuple[int, str], int] = {}

    def like(self, words: Sequence[str]) -> int | None:
        """The first text that is like this one."""
        text = " ".join(words)
        found = [self.by_words.get(" ".join(sorted(words))), self.shortened.get(text)]
        found += [self.whole.get(rest) for _, rest in _without_a_letter(words, ONE_MORE)]
        for at, rest in _without_a_letter(words, ONE_OTHER):
            found += [self.with_gap.get((at + step, rest)) for step in (-1, 0, 1)]
        return min((row for row in found if row is not None), default=None)

    def add(self, words: Sequence[str], row: int) -> None:
        """Remember a text."""
        self.by_words.setdefault(" ".join(sorted(words)), row)
        self.whole.setdefault(" ".join(words), row)
        for _, rest in _without_a_letter(words, ONE_MORE):
            self.shortened.setdefault(rest, row)
        for gap in _without_a_letter(words, ONE_OTHER):
            self.with_gap.setdefault(gap, row)


def _without_a_letter(words: Sequence[str], shortest: int) -> Iterator[tuple[int, str]]:
    """The text without each letter of its longer words, and where it stood; digits stay, for they tell things apart."""
    text, start = " ".join(words), 0
    for word in words if len(text) <= LONGEST else ():
        if len(word) >= shortest:
            for at in range(start, start + len(word)):
                if text[at].isalpha():
                    yield at, text[:at] + text[at + 1 :]
        start += len(word) + 1
