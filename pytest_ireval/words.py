"""Numbers and lists in English words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

MAX_DECIMALS = 9
"""Figures that differ only beyond these decimals differ by rounding."""


def choose_decimals(value: float, limit: float | None, decimals: int) -> int:
    """The decimals of a figure beside its limit: more than ``decimals`` where fewer would hide that they differ."""
    if limit is None:
        return decimals
    enough = range(decimals, MAX_DECIMALS + 1)
    return next((each for each in enough if round(value, each) != round(limit, each)), decimals)


def format_count(number: int, word: str) -> str:
    """The number and the word, in the plural unless there is one."""
    return f"{number} {word if number == 1 else pluralize(word)}"


def format_age(age: timedelta) -> str:
    """In the largest unit that fits at least once: ``4 minutes``."""
    seconds = int(age.total_seconds())
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= size:
            return format_count(seconds // size, unit)
    return "less than a minute"


MAX_CHANGES = 3
"""The changes that one sentence names."""


def list_changes(changes: Sequence[str]) -> str:
    """The first changes, and the number of the others."""
    more = [f"and {len(changes) - MAX_CHANGES} more"] if len(changes) > MAX_CHANGES else []
    return ", ".join([*changes[:MAX_CHANGES], *more])


def pluralize(word: str) -> str:
    """The plural of a noun that this project uses."""
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("ch", "sh")) else f"{word}s"


def format_magnitude(value: float) -> str:
    """A magnitude with two significant digits: ``0.34``, ``0.0051``, ``12``."""
    if value >= 10:
        return f"{value:.0f}"
    if value >= 0.095 or not value:
        return f"{value:.2f}"
    decimals = next((places for places in range(2, 10) if value * 10**places >= 9.5), 10)
    return f"{value:.{decimals}f}"


def round_estimate(number: int) -> int:
    """An estimated number with two significant digits, rounded up."""
    step: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // step) * step


def format_percent(share: float, limit: float | None = None) -> str:
    """``3.4%``; a share that rounds to nothing keeps two digits, one beside a limit as many as tell it from that."""
    text = f"{100 * share:.{choose_decimals(100 * share, None if limit is None else 100 * limit, 1)}f}%"
    return text if text.strip("-+0.%") or share == 0 else f"{100 * share:.2g}%"


def format_p(p: float) -> str:
    """``.032``, ``.0004``, ``< .0001``."""
    if p < 1e-4:
        return "< .0001"
    return "1" if p >= 0.9995 else f"{p:.{4 if p < 0.001 else 3}f}".lstrip("0")


SHOWN_NAMES = 5


def format_some(names: Sequence[str]) -> str:
    """The first of many names, and the number of the others."""
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return ", ".join(map(repr, names[:SHOWN_NAMES])) + more


PLACEHOLDER = re.compile(r"[\W_]*(?:reason|todo|tbd|fixme|why)?[\W_]*", re.IGNORECASE)


def is_placeholder(reason: str) -> bool:
    """Tell whether it is what a command or a template has where a reason is to be written."""
    return PLACEHOLDER.fullmatch(reason) is not None


def describe_contradicted_ranks(count: int, rankings: int) -> str:
    """A sentence about rankings whose rank column is not in the order of the scores; empty for none."""
    if not count:
        return ""
    ranks = f"the ranks contradict the scores in {count:,} of {format_count(rankings, 'ranking')}"
    return f"{ranks}; the scores count, as in trec_eval"
