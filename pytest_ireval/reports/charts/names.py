"""Names of charts: good as ids on a page and as names of files, on every system."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

STRANGE = re.compile(r"[^A-Za-z0-9_.-]+")
LONGEST = 60
"""Characters of one part of a name."""
RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)")
"""What Windows takes for a device, whatever ends the name."""


def part_of_name(text: str, *, at: bool = False) -> str:
    """``segment=tail`` is ``segment-tail-…``: a text that loses something ends in a short hash of the whole.

    ``at`` lets an ``@`` be ``_`` without: names of metrics have no other one.
    """
    plain = text.replace("@", "_") if at else text
    kept = STRANGE.sub("-", plain).strip("-.")[:LONGEST].rstrip("-.")
    if kept and kept == plain and not RESERVED.match(kept):
        return kept
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{kept}-{digest}" if kept and not RESERVED.match(kept) else f"x-{digest}"


def chart_name(suite: str, kind: str, metric: str = "", slice: str = "", query: str = "") -> str:  # noqa: A002 - our word
    """``product-search.differences.nDCG_10``."""
    about = (
        part_of_name(metric, at=True) if metric else "",
        part_of_slice(slice) if slice else "",
        part_of_name(query) if query else "",
    )
    return ".".join((part_of_name(suite), kind, *filter(None, about)))


def part_of_slice(text: str) -> str:
    """``segment=tail`` is ``segment-tail``, as in the ids of rules."""
    plain = text.replace("=", "-")
    return plain if text.count("=") <= 1 and part_of_name(plain) == plain else part_of_name(text)


def told_apart(names: Iterable[str]) -> list[str]:
    """The same names, and a number after one that was there, in any letter case: files may not tell them apart."""
    found: list[str] = []
    taken: set[str] = set()
    for name in names:
        fresh, number = name, 1
        while fresh.casefold() in taken:
            number += 1
            fresh = f"{name}-{number}"
        taken.add(fresh.casefold())
        found.append(fresh)
    return found
