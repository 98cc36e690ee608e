"""Texts that a page can hold: characters that no file in UTF-8 has, or no browser keeps, have a mark in their place."""

from __future__ import annotations

import re

UNSOUND = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, of which a page keeps some and drops others, and halves of characters, which stand for bytes that
are no UTF-8. What joins emoji and letters of other scripts stays."""


def sound(text: str) -> str:
    """The text as a page can hold it: with the mark for unreadable characters in place of those."""
    return text if text.isprintable() else UNSOUND.sub("\ufffd", text)
