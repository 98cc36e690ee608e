"""Waivers that end soon, said while there is time to do something about them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from pytest_ireval.plurals import counted
from pytest_ireval.suites.suite import Suite, Waiver

SOON = 14
"""Days."""


def endings(suite: Suite, today: date) -> Iterator[str]:
    """A line for each waiver that ends soon; one that has ended is red by itself."""
    for waiver in suite.waivers:
        if left := time_left(waiver, today):
            yield f"the waiver of {waiver.query} ends on {waiver.until}, {left}"


def time_left(waiver: Waiver, today: date) -> str:
    """How long a waiver holds, if it ends soon; nothing otherwise."""
    days = (waiver.until - today).days
    if not 0 <= days <= SOON:
        return ""
    return ("today", "tomorrow")[days] if days < 2 else f"in {counted(days, 'day')}"
