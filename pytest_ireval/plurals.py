"""Numbers of things in words: ``1 query``, ``2 queries``."""

from __future__ import annotations


def counted(number: int, word: str) -> str:
    """The number and the word, in the plural unless there is one."""
    return f"{number} {word if number == 1 else plural(word)}"


def plural(word: str) -> str:
    """The plural of an English noun, as far as this project needs it."""
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2] not in "aeiou" else f"{word}s"
