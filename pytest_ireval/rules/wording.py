"""Sentences that several rules share: the change of a figure, and of the queries behind it, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.results.outcome import QueryChange, SliceFigures
from pytest_ireval.rules.context import AcceptedChange, RuleContext, Values, Walk, best_of
from pytest_ireval.rules.evidence import RelabeledChange
from pytest_ireval.rules.question import Question
from pytest_ireval.statistics.looks import LOOKS
from pytest_ireval.statistics.resolution import LEVEL
from pytest_ireval.suite.options import AlwaysEvidenceOptions
from pytest_ireval.suite.quantities import Tolerance
from pytest_ireval.text_table import truncate
from pytest_ireval.words import choose_decimals, format_count, format_percent, pluralize, round_estimate


def on(context: RuleContext) -> str:
    """The slice: empty for all queries, or `` on segment=tail``."""
    return "" if not context.slice.conditions else f" on {context.slice}"


def queries_of(context: RuleContext, count: int) -> str:
    """``12 tail queries``; sessions where the metric scores sessions."""
    word = context.metric.unit if context.part.metric is not None else "query"
    kind = f"{context.slice.value} " if context.slice.value else ""
    return f"{count} {kind}{word if count == 1 else pluralize(word)}"


def metric_words(context: RuleContext, figures: SliceFigures) -> str:
    """``nDCG@10``, ``weighted nDCG@10``."""
    return f"weighted {context.metric}" if figures.weighted else str(context.metric)


def moved_words(figures: SliceFigures, *, absolute: bool, limit: Tolerance | None = None) -> str:
    """``fell 31.1%``, ``rose by 0.0123``, ``did not change``; with more digits where they tell it from the limit."""
    change = figures.change or 0.0
    if change == 0:
        return "did not change"
    verb = "fell" if change < 0 else "rose"
    if absolute or figures.relative is None:
        allowed = None if limit is None else limit.allowed(figures.baseline or 0.0)
        decimals = choose_decimals(abs(change), allowed, 4)
        return f"{verb} by {abs(change):.{decimals}f}" if abs(change) >= 5e-5 else f"{verb} by {abs(change):.2g}"
    return f"{verb} {format_percent(abs(figures.relative), None if limit is None else limit.relative)}"


def fell_words(context: RuleContext, figures: SliceFigures, limit: Tolerance, beside: str) -> str:
    """``nDCG@10 fell 3.4% on segment=tail (tolerance 2%)``; what stands beside the fall names its limit."""
    moved = moved_words(figures, absolute=bool(limit.absolute), limit=limit)
    return f"{metric_words(context, figures)} {moved}{on(context)} ({beside})"


NAMED = 3
"""The number of queries that a line names."""


def worst_words(context: RuleContext, queries: Sequence[QueryChange]) -> str:
    """``; worst queries: q052 1.000 -> 0.000, q007 1.000 -> 0.631``; empty where none got worse."""
    named = [f"{truncate(each.query, 30)} {each.baseline:.3f} -> {each.now:.3f}" for each in queries[:NAMED]]
    unit = context.metric.unit if len(named) == 1 else pluralize(context.metric.unit)
    return f"; worst {unit}: {', '.join(named)}" if named else ""


def who_got_worse(context: RuleContext, figures: SliceFigures, worst: _Worst) -> str:
    """A sentence about the queries that got worse, for a reader who does not know the metric."""
    if not figures.worse:
        return f"None of {queries_of(context, figures.queries)} got worse."
    lost = [change for change in worst.queries if _lost_its_best(context, change)] if worst.whole else []
    among = worst.in_all == figures.worse and lost
    count, what = (len(lost), "lost their best document") if among else (figures.worse, "got worse")
    said = f"{count} of {queries_of(context, figures.queries)} {what}"
    if count == 1:
        said = said.replace("lost their best", "lost its best")
    share = _share(context, lost) if among else _share_of(worst, figures.worse)
    carry = "carries" if count == 1 else "carry"
    it = "it" if count == 1 else "they"
    return f"{said}." if share is None else f"{said}; {it} {carry} {format_percent(share)} of searches."


def much_worse(context: RuleContext, worst: _Worst, count: int, of: int) -> str:
    """A sentence about the queries that got much worse, and their share of searches."""
    if not count:
        return f"None of {queries_of(context, of)} got much worse."
    share = _share_of(worst, count)
    carried = (
        "" if share is None else f"; {'it carries' if count == 1 else 'they carry'} {format_percent(share)} of searches"
    )
    return f"{count} of {queries_of(context, of)} got much worse{carried}."


def _share_of(worst: _Worst, count: int) -> float | None:
    """The share of searches of these queries; None where the list is about others."""
    return worst.share if worst.in_all == count else None


def _lost_its_best(context: RuleContext, change: QueryChange) -> bool:
    """Tell whether the best document of the baseline's ranking is no longer where the metric looks."""
    cutoff = context.metric.settings.get("cutoff")
    limit = cutoff if isinstance(cutoff, int) else context.now.depth
    best = best_of(context.placed(change.query), before=True)
    return best is not None and (best.baseline or 0) <= limit and (best.now is None or best.now > limit)


def _share(context: RuleContext, changes: Sequence[QueryChange]) -> float | None:
    if context.population.weights is None:
        return None
    total = float(context.population.weights.sum())
    return sum(change.weight or 0.0 for change in changes) / total if total else None


def no_weight_words(question: Question) -> str:
    """The reason for a missing figure, if it is the weights."""
    return ": all of its queries have weight 0" if question.weightless else ""


def cannot_tell(question: Question, figures: SliceFigures, what: str, enough: str = "") -> str:
    """``200 queries cannot tell …; 520 would``; with ``enough`` where there are as many as should."""
    text = f"{size_words(question)} cannot tell {what}"
    changed = question.evidence.moved
    if 0.5**changed >= LEVEL:  # chance alone moves all of them one way as often
        units = "of them" if question.clusters is None else f"of the {question.clusters} clusters"
        return f"{text}, as only {changed} {units} changed{would_words(figures)}"
    if figures.p is not None and figures.adjusted is not None and figures.p < LEVEL <= figures.adjusted:
        many = f"{question.context.tests} verdicts" if question.context.tests > 1 else "many changes since one anchor"
        return f"{text}, as one of {many} moves as much by chance{would_words(figures)}"
    return f"{text}{would_words(figures) or (enough if figures.needed and figures.tolerance else '')}"


def would_words(figures: SliceFigures) -> str:
    """``; 520 would``: the number of queries that show a fall of the tolerance; empty if that is unknown or no more."""
    if figures.needed is None or not figures.tolerance or figures.needed <= figures.queries:
        return ""
    return f"; {round_estimate(figures.needed):,} would"


def size_words(question: Question) -> str:
    """``60 queries``, ``60 queries in 12 clusters``."""
    size = format_count(question.gains.size, question.context.metric.unit)
    return size if question.clusters is None else f"{size} in {format_count(question.clusters, 'cluster')}"


def describe_units(question: Question) -> Iterator[str]:
    """What else the evidence is about than the mean of single queries."""
    if question.ratio:
        yield "figures are geometric means, and p is about the mean of log(now / baseline) of single queries"
    if question.clusters is not None and question.evidence.changed:
        yield f"{size_words(question)}: variants of one intent count together"


LOW_BASELINE = 0.05
"""Below this, a share of the baseline is less than noise."""


def low_baseline_words(question: Question, figures: SliceFigures) -> Iterator[str]:
    """A line if the tolerance is a share of nearly nothing."""
    tolerance = question.tolerance
    if tolerance and tolerance.relative and figures.baseline is not None and abs(figures.baseline) < LOW_BASELINE:
        noise = "a share of such a small value is noise; write tolerance: {absolute: …}"
        yield f"the baseline is {figures.baseline:.4f}: {noise}"


def bounds_words(change: Question, relabeled: RelabeledChange | None) -> Iterator[str]:
    """The least and the most change that judging the unjudged documents could lead to."""
    if relabeled is None:
        return
    sign, count, exactly = change.context.sign, relabeled.documents, "" if relabeled.exact else "about "
    low, high = sorted(-sign * end.fall + 0.0 for end in (relabeled.worst, relabeled.best))
    affect, grades = ("affects", "grade it gets") if count == 1 else ("affect", "grades they get")
    rank = relabeled.below
    below = "" if rank is None else f" (documents below rank {rank} count as judged)"
    yield (
        f"{format_count(count, 'unjudged document')} {affect} this figure: the change is between {exactly}"
        f"{low:+.3f} and {high:+.3f}, whatever {grades}{below}; {condensed_words(change, relabeled)}"
    )


def condensed_words(change: Question, relabeled: RelabeledChange) -> str:
    """``without unjudged documents the change is -0.012``."""
    condensed, unit = relabeled.condensed, change.context.metric.unit
    size = condensed.gains.size
    if not size:
        return "no list has anything else"
    left = "" if size == change.gains.size else f" of the {format_count(size, unit)} left"
    return f"without unjudged documents the change{left} is {-change.context.sign * condensed.fall + 0.0:+.3f}"


def few_words(options: AlwaysEvidenceOptions, question: Question) -> str:
    """The reason why nothing is tested."""
    size = size_words(question)
    verb = "is" if question.gains.size == 1 else "are"
    if question.clusters is not None:
        worth = "" if question.worth == question.clusters else f", equivalent to {question.worth} of equal weight"
        return f"{size}{worth}: evidence needs {options.fewest} clusters"
    if question.worth < question.gains.size:
        size, verb = f"{size}, weighted equivalent to {question.worth},", "are"
    return f"{size} {verb} fewer than the {options.fewest} that evidence needs"


def drift_words(question: Question, figures: SliceFigures) -> str:
    """The joint loss of accepted changes; empty without accepted changes since the anchor, or without a loss."""
    walk, relative, change = question.context.walk, figures.relative, figures.change
    if walk is None or not walk.accepted or relative is None or change is None or question.context.sign * change >= 0:
        return ""
    lost = "lost" if question.context.sign > 0 else "added"
    this = " and this one" if walk.moving else ""
    origin = "" if question.context.baseline is None else question.context.baseline.origin
    changes, share = format_count(len(walk.accepted), "accepted change"), format_percent(abs(relative))
    text = f"Since {origin}, {changes}{this} {lost} {share}"
    together = " together" if len(walk.accepted) + walk.moving > 1 else ""
    return f"{text}{together}{_each(question, walk)}."


def _each(question: Question, walk: Walk) -> str:
    """Say that each accepted change stayed within the tolerance, if all are known and did."""
    losses = [-question.context.sign * each.step.change for each in walk.accepted if each.step is not None]
    if question.tolerance is None or walk.unknown or len(losses) < 2 or max(losses) > (question.allowed or 0.0):
        return ""
    return f"; each accepted change stayed within {question.tolerance}"


def drift_facts(question: Question, figures: SliceFigures) -> Iterator[str]:
    """The accepted changes that lost most, and those without figures."""
    walk, before = question.context.walk, figures.baseline
    if walk is None or not drift_words(question, figures):
        return
    sign = question.context.sign
    known = [(sign * each.step.change, each) for each in walk.accepted if each.step is not None]
    losses = sorted(((change, each) for change, each in known if change < 0), key=lambda pair: (pair[0], pair[1].date))
    if losses and before:
        named = [_named(each, sign * change / abs(before)) for change, each in losses[:3]]
        yield f"largest accepted losses: {'; '.join(named)}" if sign > 0 else f"largest rises: {'; '.join(named)}"
    if walk.unknown:
        verb = "keeps" if walk.unknown == 1 else "keep"
        yield f"{walk.unknown} of {format_count(len(walk.accepted), 'accepted change')} {verb} no figures of this mean"


def _named(change: AcceptedChange, relative: float) -> str:
    """``2026-03-14 synonyms v2 -0.6%``."""
    sign = "-" if relative < 0 else "+"
    return (
        f"{' '.join(part for part in (change.date[:10], change.reason) if part)} {sign}{format_percent(abs(relative))}"
    )


def too_many_looks(context: RuleContext) -> Iterator[str]:
    """A line if more changes were accepted since the anchor than the level lasts for."""
    walk = context.walk
    if walk is not None and walk.looks > LOOKS:
        yield (
            f"this is change {walk.looks} since the anchor: after {LOOKS}, chance turns more than "
            f"{format_percent(LEVEL)} of neutral series red; pin a new anchor"
        )


def look_words(context: RuleContext) -> Iterator[str]:
    """The number of accepted changes since the anchor, and the p below which the next one counts."""
    walk = context.walk
    if walk is not None:
        level = f"{walk.levels[-1]:.2g}".lstrip("0")
        yield f"change {walk.looks} of {max(LOOKS, walk.looks)} since the anchor: a p below {level} counts"


SHOWN_WITHOUT_FAILURE = 5
"""The queries listed for a rule that passes; one that does not lists all."""
WITH_DOCUMENTS = 200
"""The most queries that are listed with their documents."""
MOST_LISTED = 10_000
"""A list ends here: an object for each of a million queries takes a minute, and no reader looks at them."""


class _Worst(NamedTuple):
    """A list of queries, and facts about all queries that it is taken from."""

    queries: tuple[QueryChange, ...]
    more: int
    """The number of queries that the list leaves out because it would be too long."""
    whole: bool
    """True if the list has all of them, with their documents."""
    in_all: int
    """The number of all of them, listed or not."""
    share: float | None
    """Their share of all searches; None where queries have no weight, or a rule that passes hides some."""


def worst_changes(context: RuleContext, values: Values, *, failed: bool, least: float = 0.0) -> _Worst:
    """Queries whose value got worse by more than ``least``, the worst first."""
    change = context.sign * values.gain
    order = np.argsort(change, kind="stable")
    return _listed(context, values, order[change[order] < -max(least, 1e-12)], failed)


def lowest_values(context: RuleContext, values: Values, *, failed: bool, first: int | None = None) -> _Worst:
    """Queries by value, the worst first; all of them, or the ``first`` ones."""
    rows = np.argsort(context.sign * values.now, kind="stable")
    return _listed(context, values, rows[:first], failed)


def _listed(context: RuleContext, values: Values, rows: NDArray[np.int64], failed: bool) -> _Worst:
    looked_up = rows[: WITH_DOCUMENTS if failed else SHOWN_WITHOUT_FAILURE]
    plain = rows[looked_up.size : MOST_LISTED] if failed else rows[:0]
    return _Worst(
        context.changes(values, looked_up.tolist()) + tuple(_plain(context, values, row) for row in plain.tolist()),
        max(0, rows.size - MOST_LISTED) if failed else 0,
        looked_up.size == rows.size,
        int(rows.size),
        context.population.share_of(values.place[rows])
        if context.metric.unit == "query" and (failed or looked_up.size == rows.size)
        else None,
    )


def _plain(context: RuleContext, values: Values, row: int) -> QueryChange:
    queries, weights, place = context.population.queries, context.population.weights, int(values.place[row])
    of_queries = context.metric.unit == "query"
    return QueryChange(
        values.all_names[place],
        queries.text[place] if of_queries else "",
        now=float(values.now[row]),
        baseline=None if context.baseline is None else float(values.before[row]),
        weight=float(weights[place]) if of_queries and weights is not None else None,
    )
