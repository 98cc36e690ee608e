"""Whether a baseline can be compared with what is evaluated now, and what a reader should know if it can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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


def misfit(
    suite: Suite, gathered: Gathered, stored: Baseline, now: Side, cause: Cause, prints: Fingerprints
) -> BaselineError | None:
    """Why the baseline cannot be compared with; None if it can."""
    locked = _locked(suite, stored, cause, prints)
    if locked is not None:
        return BaselineError(locked)
    problems = [*_shallow(suite, stored), *_gone(suite, stored, cause), *_lost(suite, gathered, stored, now, cause)]
    return BaselineMisfitError(*problems) if problems else None


def accept_anew(suite: Suite) -> str:
    """What to type."""
    node = "::".join(filter(None, (suite.shown, ".".join(suite.values.values()))))
    return f'accept the baseline anew: pytest --ireval {node} --ireval-update --ireval-reason "…"'


def needs_scores(suite: Suite) -> bool:
    """Whether the scores of documents are part of what is compared."""
    by_judgments = suite.policies.ties in ORDERS_BY_JUDGMENTS
    return by_judgments or any(metric.needs & SCORES for metric in suite.metrics)


def redefined(suite: Suite, stored: Baseline, now: Mapping[str, tuple[int, str]]) -> dict[str, IrevalError]:
    """Metrics that are not what they were when the baseline was accepted; ``now`` has version and origin."""
    errors: dict[str, IrevalError] = {}
    for name, (version, origin) in now.items():
        then = stored.metrics.get(name)
        if then is not None and (then.version, then.origin) != (version, origin):
            complaint = (
                f"{name} is version {version} of {origin} now; the baseline was accepted with version {then.version} "
                f"of {then.origin}"
            )
            errors[name] = BaselineMisfitError(Problem(complaint, suggestion=accept_anew(suite)))
    return errors


def notes_of(cause: Cause, queries: int) -> Iterator[str]:
    """Queries that are new, and queries that are gone."""
    if cause.added:
        much = ": more than a tenth, so accept the baseline anew" if len(cause.added) > MOST_ADDED * queries else ""
        new = counted(len(cause.added), "query")
        yield f"{new} not yet in the baseline, and not compared{much}: {some(cause.added)}"
    if cause.removed:
        yield f"{counted(len(cause.removed), 'query')} of the baseline gone: {some(cause.removed)}"


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


def _shallow(suite: Suite, stored: Baseline) -> Iterator[Problem]:
    """Documents, or scores, that count now and were not kept."""
    if stored.depth < suite.depth:
        complaint = f"the baseline holds {stored.depth} documents of each query, and depth is {suite.depth} now"
        yield Problem(complaint, suggestion=accept_anew(suite))
    if needs_scores(suite) and not stored.scored:
        what = f"ties: {suite.policies.ties}" if suite.policies.ties in ORDERS_BY_JUDGMENTS else "a metric"
        yield Problem(f"the baseline holds no scores, which {what} needs", suggestion=accept_anew(suite))


def _gone(suite: Suite, stored: Baseline, cause: Cause) -> Iterator[Problem]:
    """Queries of the baseline that the suite no longer has."""
    count = len(stored.rankings[0].queries)
    if len(cause.removed) > MOST_REMOVED * count:
        complaint = f"{len(cause.removed)} of {counted(count, 'query')} of the baseline are gone: {some(cause.removed)}"
        yield Problem(complaint, suggestion=accept_anew(suite))


def _lost(suite: Suite, gathered: Gathered, stored: Baseline, now: Side, cause: Cause) -> Iterator[Problem]:
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
            hint = "were judgments deleted, or rankings left out? " + accept_anew(suite)
            yield Problem(complaint, suggestion=hint)
            return
