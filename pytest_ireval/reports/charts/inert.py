"""Texts of others in a drawing: nothing that XML forbids, nothing that turns what stands beside it around."""

from __future__ import annotations

import unicodedata

QUERY = 80
"""Characters of a query's text that a chart shows."""
ISOLATED = "\u2068{}\u2069"
"""The text between these reads in its own direction, and what follows does not."""


def inert(text: str) -> str:
    """The same text if it is harmless; else with a mark for each character that no drawing can hold."""
    return text if text.isascii() and text.isprintable() else "".join(map(_shown, text))


def cut(text: str, room: int) -> str:
    """Harmless, and its beginning if it is longer than there is room for."""
    plain = inert(text[: 4 * room])
    return plain if len(plain) <= room else f"{plain[: room - 1].rstrip()}…"


def isolated(text: str) -> str:
    """The same, and its direction does not reach what stands beside it."""
    return text if text.isascii() else ISOLATED.format(text)


def _shown(character: str) -> str:
    if character in "\t\n\r":
        return " "
    kind = unicodedata.category(character)
    if kind in ("Cc", "Cs", "Zl", "Zp") or character in TURNING or ord(character) & 0xFFFE == 0xFFFE:
        return "\ufffd"
    return character


TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\ufeff")
"""What changes the direction of a text; what joins letters (\u200c, \u200d) is part of how languages are written."""
