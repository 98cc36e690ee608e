"""What unjudged documents leave open where some queries have changed places, or have other rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pytest_ireval.rules.side import Floats
from pytest_ireval.rules.slices import Mask
from pytest_ireval.rules.unjudged import Unjudged


def changed_places(found: Unjudged, heads: Mask) -> Unjudged:
    """With both sides of some queries exchanged: what is bad for one side is good for the other."""
    return replace(
        found,
        condensed_now=np.where(heads, found.condensed_before, found.condensed_now),
        condensed_before=np.where(heads, found.condensed_now, found.condensed_before),
        worst=np.where(heads, -found.best, found.worst),
        best=np.where(heads, -found.worst, found.best),
    )


def of_identical(found: Unjudged) -> Unjudged:
    """That of the side that ``found`` compares with, beside itself: no label makes a difference."""
    none = np.where(np.isnan(found.worst), np.nan, 0.0)
    return replace(found, condensed_now=found.condensed_before, worst=none, best=none, documents=())


def of_known(now: Floats, before: Floats) -> Unjudged:
    """That of two sides whose values hang on no label."""
    return Unjudged(now, before, now - before, now - before, exact=True)


def with_queries_of(one: Unjudged, other: Unjudged, queries: Sequence[str], marked: Mask) -> Unjudged:
    """That of ``one``, of the ``marked`` ones of all ``queries`` that of ``other``."""
    taken = {query for query, there in zip(queries, marked.tolist(), strict=True) if there}
    return replace(
        other,
        condensed_now=np.where(marked, other.condensed_now, one.condensed_now),
        condensed_before=np.where(marked, other.condensed_before, one.condensed_before),
        worst=np.where(marked, other.worst, one.worst),
        best=np.where(marked, other.best, one.best),
        exact=one.exact and other.exact,
        documents=(
            *(each for each in other.documents if each.query in taken),
            *(each for each in one.documents if each.query not in taken),
        ),
    )
