"""Spellings of metrics elsewhere: names that end in numbers, such as ``ndcg_cut_10`` and ``utility.1,-1,0,0``."""

from __future__ import annotations

import math
import re
from typing import Any

HOLE = re.compile(r"\{(?P<parameter>\w+)(?P<squared>\^2)?\}")
"""The place of a number in a spelling: ``ndcg_cut_{cutoff}``, ``set_F_{beta^2}`` for one that is given squared.

Several holes make one metric (``utility_{hit},{noise},{miss},{rest}``). A hole for a map of numbers takes pairs
(``ndcg_{gains}`` reads ``ndcg.1=3.5,2=9``).
"""

NUMBER = r"[+-]?[0-9]+(?:\.[0-9]+)?"
ENTRY = rf"(?:{NUMBER}=)?{NUMBER}"
SPELLED = re.compile(
    rf"(?P<stem>[^\W\d]\w*?(?:\.[a-z]\w*?)?)(?P<mark>[_.=])(?P<entries>{ENTRY}(?:,{ENTRY})*)", re.IGNORECASE
)
"""``_``, ``.`` or ``=`` comes before the numbers."""


def stem_of(name: str) -> str:
    """The part before the first hole of ``ndcg_cut_{cutoff}``; empty without a hole."""
    hole = HOLE.search(name)
    return stem(name[: hole.start()].rstrip("_=")) if hole else ""


def stem(text: str) -> str:
    """A name without its numbers in the form in which stems are compared."""
    return text.lower().replace(".", "_")


def holes_of(name: str) -> list[re.Match[str]]:
    """The holes, if they are all that follows the stem; otherwise none."""
    first = HOLE.search(name)
    holes = list(HOLE.finditer(name))
    whole = first is not None and name[first.start() :] == ",".join(hole.group() for hole in holes)
    return holes if whole else []


def arguments_of(spelling: str, entries: str, maps: bool) -> list[dict[str, Any]]:
    """The arguments given by the numbers after a stem, one for each metric; none if they do not fit.

    ``maps``: the hole is a map of numbers.
    """
    holes, words = holes_of(spelling), entries.split(",")
    if maps:
        pairs = [word.split("=") for word in words]
        fit = all(len(pair) == 2 for pair in pairs) and len({spelt_number(pair[0]) for pair in pairs}) == len(pairs)
        if not fit:
            return []
        return [{holes[0]["parameter"]: {spelt_number(key): spelt_number(value) for key, value in pairs}}]
    if "=" in entries or len(holes) not in (1, len(words)):
        return []
    if len(holes) == 1:
        return [_argument(holes[0], word) for word in words]
    whole: dict[str, Any] = {}
    for hole, word in zip(holes, words, strict=True):
        whole |= _argument(hole, word)
    return [whole]


def _argument(hole: re.Match[str], word: str) -> dict[str, Any]:
    value = spelt_number(word)
    return {hole["parameter"]: math.sqrt(value) if hole["squared"] and value >= 0 else value}


def spelt_number(text: str) -> int | float:
    """A number as it is written: whole, or with a fraction."""
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
