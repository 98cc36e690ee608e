"""Whether a baseline can be compared with what is evaluated now, and what a reader should know if it can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from pytest_ireval.baselines.baseline import Baseline, Fingerprints
from pytest_ireval.errors import BaselineError, BaselineMisfitError, IrevalError, Problem
from pytest_ireval.gate.gathering import ORDERS_BY_JUDGMENTS, Gathered
from pytest_ireval.plurals import counted
from pytest_ireval.results.cause import Cause
from pytest_ireval.retrieval.doors import some
from pytest_ireval.rules.side import Side
from pytest_ireval.suites.suite import Suite

MOST_REMOVED = 0.05
MOST_ADDED = 0.10
SCORES = {"scores", "ties"}
"""Needs of metrics for which the scores of documents are kept."""


class Kept(NamedTuple):
    """What is compared with: the baseline or the anchor, and how it is made anew."""

    noun: str
    anew: str
    first: str = ""
    """What comes before that, where the baseline of now does not fit either."""
    by_lock: bool = True
    """Whether locked judgments have to be those of it."""


def the_baseline(suite: Suite) -> Kept:
    """The one that was accepted last."""
    node = "::".join(filter(None, (suite.shown, ".".join(suite.values.values()))))
    return Kept("baseline", f'accept the baseline anew: pytest --ireval {node} --ireval-update --ireval-reason "…"')


def the_anchor(suite: Suite) -> Kept:
    """The one that was pinned."""
    first = "a baseline that does not fit either is accepted before, by --ireval-force: this rule stands in the way"
    return Kept("anchor", f"pin the baseline of now instead: {anchor_command(suite)}", first, by_lock=False)


def anchor_command(suite: Suite) -> str:
    """Pins what is accepted now."""
    named = f" --named {suite.name}" if suite.values else ""
    return f'ireval anchor {suite.shown}{named} --reason "…"'


def misfit(
    suite: Suite, gathered: Gathered, stored: Baseline, now: Side, cause: Cause, prints: Fingerprints, kept: Kept
) -> BaselineError | None:
    """Why what was kept cannot be compared with; None if it can."""
    locked = _locked(suite, stored, cause, prints) if kept.by_lock else None
    if locked is not None:
        return BaselineError(locked)
    problems = [
        *_shallow(suite, stored, kept),
        *_gone(stored, cause, kept),
        *_lost(gathered, stored, now, cause, kept),
    ]
    return BaselineMisfitError(*problems) if problems else None


def needs_scores(suite: Suite) -> bool:
    """Whether the scores of documents are part of what is compared."""
    by_judgments = suite.policies.ties in ORDERS_BY_JUDGMENTS
    return by_judgments or any(metric.needs & SCORES for metric in suite.metrics)


def redefined(stored: Baseline, now: Mapping[str, tuple[int, str]], kept: Kept) -> dict[str, IrevalError]:
    """Metrics that are not what they were when this was accepted; ``now`` has version and origin."""
    errors: dict[str, IrevalError] = {}
    for name, (version, origin) in now.items():
        then = stored.metrics.get(name)
        if then is not None and (then.version, then.origin) != (version, origin):
            complaint = (
                f"{name} is version {version} of {origin} now; the {kept.noun} was accepted with version "
                f"{then.version} of {then.origin}"
            )
            errors[name] = BaselineMisfitError(Problem(complaint, suggestion=kept.anew, allowed=kept.first))
    return errors


def notes_of(cause: Cause, queries: int, kept: Kept) -> Iterator[str]:
    """Queries that are new, and queries that are gone."""
    if cause.added:
        anew = kept.anew.partition(":")[0]
        much = f": more than a tenth, so {anew}" if len(cause.added) > MOST_ADDED * queries else ""
        new = counted(len(cause.added), "query")
        yield f"{new} not yet in the {kept.noun}, and not compared{much}: {some(cause.added)}"
    if cause.removed:
        yield f"{counted(len(cause.removed), 'query')} of the {kept.noun} gone: {some(cause.removed)}"


def _locked(suite: Suite, stored: Baseline, cause: Cause, prints: Fingerprints) -> Problem | None:
    """Locked judgments that are not those of the baseline."""
    if suite.judgments is None or not suite.judgments.lock or stored.fingerprints.judgments == prints.judgments:
        return None
    edits = "; ".join(f"{e.query} {e.document}: {_grade(e.before)} -> {_grade(e.now)}" for e in cause.edits[:5])
    queries = f"those of {counted(cause.judgments, 'query')}" if cause.judgments else "they"
    return Problem(
        f"judgments are locked, and {queries} are not what they were when the baseline was accepted"
        f"{': ' + edits if edits else ''}",
        place=str(suite.judgments.file.place),
        suggestion="bring the judgments back, or take lock: true out of the suite",
    )


def _grade(grade: float | None) -> str:
    return "none" if grade is None else f"{grade:g}"


def _shallow(suite: Suite, stored: Baseline, kept: Kept) -> Iterator[Problem]:
    """Documents, or scores, that count now and were not kept."""
    if stored.depth < suite.depth:
        complaint = f"the {kept.noun} holds {stored.depth} documents of each query, and depth is {suite.depth} now"
        yield Problem(complaint, suggestion=kept.anew, allowed=kept.first)
    if needs_scores(suite) and not stored.scored:
        what = f"ties: {suite.policies.ties}" if suite.policies.ties in ORDERS_BY_JUDGMENTS else "a metric"
        yield Problem(f"the {kept.noun} holds no scores, which {what} needs", suggestion=kept.anew, allowed=kept.first)


def _gone(stored: Baseline, cause: Cause, kept: Kept) -> Iterator[Problem]:
    """Queries of the baseline that the suite no longer has."""
    count = len(stored.rankings[0].queries)
    if len(cause.removed) > MOST_REMOVED * count:
        complaint = (
            f"{len(cause.removed)} of {counted(count, 'query')} of the {kept.noun} are gone: {some(cause.removed)}"
        )
        yield Problem(complaint, suggestion=kept.anew, allowed=kept.first)


def _lost(gathered: Gathered, stored: Baseline, now: Side, cause: Cause, kept: Kept) -> Iterator[Problem]:
    """Queries that had a value when the baseline was accepted and have none now: judgments or rankings were lost."""
    out = gathered.population.waived | set(cause.removed)
    for name, scored in now.scored.items():
        if name not in stored.metrics or scored.metric.unit != "query":
            continue
        valued = {unit for unit, lacks in zip(scored.names, np.isnan(scored.values).tolist(), strict=True) if not lacks}
        had = stored.metrics[name].values
        lost = [query for query in had if query not in valued and query not in out]
        if len(lost) > MOST_REMOVED * len(had):
            complaint = f"{len(lost)} of {counted(len(had), 'query')} have no {name} any more: {some(lost)}"
            hint = "were judgments deleted, or rankings left out? " + kept.anew
            yield Problem(complaint, suggestion=hint, allowed=kept.first)
            return
