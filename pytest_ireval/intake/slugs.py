"""Ids that any file can hold, made of ids that are whole phrases: ``red mug`` becomes ``red-mug``."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

BLANK = re.compile(r"\s")
LONGEST = 60


def slugs(ids: Iterable[str]) -> dict[str, str]:
    """A new id for each that has blanks in it, the same in every run; no two are alike, nor like one that is kept."""
    known = dict.fromkeys(ids)
    new = {name: _slug(name) for name in known if BLANK.search(name)}
    count = Counter(new.values())
    return {
        name: slug if slug and count[slug] == 1 and slug not in known else f"{slug}-{_mark(name)}".lstrip("-")
        for name, slug in new.items()
    }


def _slug(name: str) -> str:
    """Letters and digits of the phrase in lower case, joined by hyphens; accents are dropped."""
    folded = unicodedata.normalize("NFKD", name.casefold())
    words = re.findall(r"\w+", "".join(mark for mark in folded if not unicodedata.combining(mark)))
    return "-".join(words)[:LONGEST].rstrip("-")


def _mark(name: str) -> str:
    return hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
