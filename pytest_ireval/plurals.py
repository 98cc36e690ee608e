"""Numbers of things in words: ``1 query``, ``2 queries``; and how large something is."""

from __future__ import annotations


def counted(number: int, word: str) -> str:
    """The number and the word, in the plural unless there is one."""
    return f"{number} {word if number == 1 else plural(word)}"


def plural(word: str) -> str:
    """The plural of an English noun, as far as this project needs it."""
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2] not in "aeiou" else f"{word}s"


def magnitude(value: float) -> str:
    """A magnitude to two digits that matter: ``0.34``, ``0.0051``, ``12``."""
    if value >= 10:
        return f"{value:.0f}"
    return f"{value:.2f}" if value >= 0.095 or not value else f"{value:.{_decimals(value)}f}"


def _decimals(value: float) -> int:
    """How many decimals show two digits that matter, ten at most."""
    return next((places for places in range(2, 10) if value * 10**places >= 9.5), 10)


def roughly(number: int) -> int:
    """A number that was estimated: two digits that matter, rounded up."""
    step: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // step) * step
