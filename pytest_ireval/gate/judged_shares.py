"""Which share of the listed documents is judged, now and in the baseline, and what should be said of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pytest_ireval.results.suite_result import Counts
from pytest_ireval.retrieval.doors import Brought
from pytest_ireval.retrieval.judged import Mask
from pytest_ireval.retrieval.views import cut
from pytest_ireval.rules.side import Judgedness, Population, Side
from pytest_ireval.suites.suite import Suite

ENOUGH = 0.8
"""With a smaller share figures say little of what people would see."""
MUCH_LESS = 0.05
"""By so much the share may fall before the two sides are hard to compare."""


def looked_at(suite: Suite) -> int:
    """Down to which rank the metrics of a suite look: the largest cutoff, or the depth if one of them has none."""
    cutoffs = [metric.settings.get("cutoff") for metric in suite.metrics if metric.unit == "query"]
    known = [cutoff for cutoff in cutoffs if isinstance(cutoff, int)]
    return min(suite.depth, max(known)) if known and len(known) == len(cutoffs) else suite.depth


def judgedness_of(found: Brought, depth: int) -> Judgedness | None:
    """How many documents of each judged query are listed down to a depth, and how many of them are judged."""
    documents = cut(found.judged, depth).documents
    if documents is None:
        return None
    listed = np.diff(documents.first)
    query = np.repeat(np.arange(listed.size), listed)
    return Judgedness(listed, np.bincount(query[~np.isnan(documents.grade)], minlength=listed.size))


def with_judged_shares(counts: Counts, suite: Suite, population: Population, now: Side, before: Side | None) -> Counts:
    """The counts with the share of judged documents on both sides."""
    if now.judgedness is None or population.judgments is None:
        return counts
    queries = population.judgments.queries
    wanted = np.array([query in now.position and query not in population.waived for query in queries], bool)
    if before is not None:
        wanted &= np.array([query in before.position for query in queries], bool)
    return replace(
        counts,
        judged_share=_share(now.judgedness, wanted),
        judged_share_before=None if before is None else _share(before.judgedness, wanted),
        judged_depth=looked_at(suite),
    )


def _share(judgedness: Judgedness | None, wanted: Mask) -> float | None:
    listed = 0 if judgedness is None else int(judgedness.listed[wanted].sum())
    return None if judgedness is None or not listed else float(judgedness.judged[wanted].sum()) / listed


def notes_on_shares(counts: Counts) -> Iterator[str]:
    """What a reader of figures should know where little is judged, or less than in the baseline."""
    now, before = counts.judged_share, counts.judged_share_before
    if now is None or (now >= ENOUGH and (before is None or before - now <= MUCH_LESS)):
        return
    then = "" if before is None else f" (baseline: {before:.0%})"
    yield f"{now:.0%} of the first {counts.judged_depth} documents are judged{then}; the others count as irrelevant"
