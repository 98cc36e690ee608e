"""Sentences that several rules share: what happened to a figure, and to how many queries, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_ireval.plurals import plural
from pytest_ireval.results.outcome import QueryChange, SliceFigures
from pytest_ireval.rules.ruling import percent
from pytest_ireval.rules.seen import Seen
from pytest_ireval.rules.worst import Worst


def on(seen: Seen) -> str:
    """Where: nothing for all queries, or `` on segment=tail``."""
    return "" if not seen.slice.conditions else f" on {seen.slice}"


def queries_of(seen: Seen, count: int) -> str:
    """``12 tail queries``; sessions where the metric scores sessions."""
    word = seen.metric.unit if seen.part.metric is not None else "query"
    kind = f"{seen.slice.value} " if seen.slice.value else ""
    return f"{count} {kind}{word if count == 1 else plural(word)}"


def metric_words(seen: Seen, figures: SliceFigures) -> str:
    """``nDCG@10``, ``weighted nDCG@10``."""
    return f"weighted {seen.metric}" if figures.weighted else str(seen.metric)


def moved(figures: SliceFigures, *, absolute: bool) -> str:
    """``fell 31.1%``, ``rose by 0.0123``, ``did not change``."""
    change = figures.change or 0.0
    if change == 0:
        return "did not change"
    verb = "fell" if change < 0 else "rose"
    if absolute or figures.relative is None:
        return f"{verb} by {abs(change):.4f}" if abs(change) >= 5e-5 else f"{verb} by {abs(change):.2g}"
    return f"{verb} {percent(abs(figures.relative))}"


def who_got_worse(seen: Seen, figures: SliceFigures, worst: Worst) -> str:
    """What a reader who does not know the metric should know of the queries that got worse."""
    if not figures.worse:
        return f"None of {queries_of(seen, figures.queries)} got worse."
    lost = [change for change in worst.queries if _lost_its_best(seen, change)] if worst.whole else []
    among = worst.in_all == figures.worse and lost
    count, what = (len(lost), "lost their best document") if among else (figures.worse, "got worse")
    said = f"{count} of {queries_of(seen, figures.queries)} {what}"
    if count == 1:
        said = said.replace("lost their best", "lost its best")
    share = _share(seen, lost) if among else _share_of(worst, figures.worse)
    carry = "carries" if count == 1 else "carry"
    it = "it" if count == 1 else "they"
    return f"{said}." if share is None else f"{said}; {it} {carry} {percent(share)} of searches."


def much_worse(seen: Seen, worst: Worst, count: int, of: int) -> str:
    """How many queries got much worse, and what they carry."""
    if not count:
        return f"None of {queries_of(seen, of)} got much worse."
    share = _share_of(worst, count)
    carried = "" if share is None else f"; {'it carries' if count == 1 else 'they carry'} {percent(share)} of searches"
    return f"{count} of {queries_of(seen, of)} got much worse{carried}."


def _share_of(worst: Worst, count: int) -> float | None:
    """Which share they carry; None where the list is about other queries."""
    return worst.share if worst.in_all == count else None


def _lost_its_best(seen: Seen, change: QueryChange) -> bool:
    """Whether the best document of the baseline's ranking is no longer where the metric looks."""
    cutoff = seen.metric.settings.get("cutoff")
    limit = cutoff if isinstance(cutoff, int) else seen.now.depth
    best = change.best
    return best is not None and (best.baseline or 0) <= limit and (best.now is None or best.now > limit)


def _share(seen: Seen, changes: Sequence[QueryChange]) -> float | None:
    """Which share of all searches these queries carry."""
    if seen.population.weights is None:
        return None
    total = float(seen.population.weights.sum())
    return sum(change.weight or 0.0 for change in changes) / total if total else None
