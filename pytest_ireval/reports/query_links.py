"""Anchors of queries, and texts that fit into a file in UTF-8."""

from __future__ import annotations

import re
from urllib.parse import quote

UNSOUND = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, of which a page keeps some and drops others, and halves of characters, which stand for bytes that
are no UTF-8. What joins emoji and letters of other scripts stays."""


def sound(text: str) -> str:
    """The text as a page can hold it: with the mark for unreadable characters in place of those."""
    return text if text.isprintable() else UNSOUND.sub("\ufffd", text)


def query_anchor(suite: str, query: str) -> str:
    """The ``id`` of a query in a page."""
    return sound(f"{suite}::q={query}")


def query_link(suite: str, query: str) -> str:
    """What leads there within the page."""
    return "#" + quote(query_anchor(suite, query), safe=":=")
