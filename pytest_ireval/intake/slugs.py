"""Ids that any file can hold, made of ids that are whole phrases: ``red mug`` becomes ``red-mug``."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

BLANK = re.compile(r"\s")
PLAIN = re.compile(r"[^\W_A-Z]+( [^\W_A-Z]+)*")
"""Lower-case words with one blank between them, of which nothing gets lost."""

LONGEST = 60


def slugs(ids: Iterable[str]) -> dict[str, str]:
    """A new id for each that has blanks in it.

    It depends on the phrase alone, not on the others, so that ids stay when queries are added; phrases of which
    something gets lost (capitals, accents, marks) have a mark behind them. An id that is there already is not taken.
    """
    known = dict.fromkeys(ids)
    return {name: _slug(name, known) for name in known if BLANK.search(name)}


def _slug(name: str, known: dict[str, None]) -> str:
    """Letters and digits of the phrase in lower case, joined by hyphens; accents are dropped."""
    folded = unicodedata.normalize("NFKD", name.casefold())
    words = re.findall(r"\w+", "".join(mark for mark in folded if not unicodedata.combining(mark)))
    slug = "-".join(words)
    if PLAIN.fullmatch(name) and slug.replace("-", " ") == name and len(slug) <= LONGEST and slug not in known:
        return slug
    mark = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
    return f"{slug[:LONGEST].rstrip('-')}-{mark}".lstrip("-")
