"""What figures rest on: how much of everything there is, and what might mislead a reader of them."""

from __future__ import annotations

import numpy as np

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.gate.gathering import Gathered
from pytest_ireval.gate.scoring import Evaluated
from pytest_ireval.plurals import counted
from pytest_ireval.results.suite_result import Counts
from pytest_ireval.retrieval.doors import some
from pytest_ireval.suites.suite import Suite


def notes_on(suite: Suite, base: Gathered, found: Evaluated, not_asked: tuple[str, ...]) -> tuple[str, ...]:
    """Rankings that are cut under metrics without a cutoff; queries that were ranked besides, or not at all."""
    return (*_truncated(suite, found), *_not_asked(not_asked), *_unranked(base, found))


def refuse_strangers(base: Gathered, found: Evaluated) -> None:
    """Documents none of which is judged are called by other ids than those of the judgments."""
    judgments = base.population.judgments
    if judgments is None or not found.listed or found.unjudged < found.listed:
        return
    ids = next((ids for query in judgments.queries if (ids := found.side.documents(query))), [])
    judged_ids = judgments.documents.texts(np.arange(min(5, len(judgments))))
    raise InputError(
        Problem(
            f"none of the {found.listed} documents that it ranks is judged in {judgments.origin}: are these other ids?",
            place=found.side.origin,
            suggestion=f"it ranks {some(ids)}; judged are {some(judged_ids)}",
            allowed="documents: {aliases: FILE} in the suite names what is called otherwise now",
        )
    )


def _unranked(base: Gathered, found: Evaluated) -> tuple[str, ...]:
    """Queries that nobody judged, and that have no ranking either."""
    judgments = base.population.judgments
    judged = set(judgments.queries) if judgments is not None else set(base.population.queries.ids)
    lacking = [q for q in base.population.queries.ids if q not in judged and q not in found.side.position]
    if not lacking:
        return ()
    verb = "has" if len(lacking) == 1 else "have"
    return (f"{counted(len(lacking), 'query')} without judgments {verb} no ranking: {some(lacking)}",)


def _not_asked(queries: tuple[str, ...]) -> tuple[str, ...]:
    """Queries that the source ranked besides."""
    if not queries:
        return ()
    return (f"{counted(len(queries), 'query')} ranked that the suite does not have, left out: {some(queries)}",)


def counts_of(base: Gathered, found: Evaluated, missing: tuple[str, ...]) -> Counts:
    """How many queries and documents there are, judged and not, tied, missing, waived."""
    population, evaluation = base.population, found.evaluation
    rankings = found.side.rankings[0]
    without = np.flatnonzero(rankings.retrieved == 0).tolist()
    known = set(population.queries.ids)
    return Counts(
        queries=len(population.queries),
        judged=len(population.judgments.queries) if population.judgments is not None else 0,
        missing=missing,
        empty=tuple(rankings.queries[i] for i in without if rankings.queries[i] in known),
        without_judgments=evaluation.without_judgments if evaluation is not None else (),
        no_relevant=max((m.no_relevant for m in evaluation.metrics), default=0) if evaluation is not None else 0,
        unjudged=found.unjudged,
        tied=max((m.ties.queries for m in evaluation.metrics if m.ties), default=0) if evaluation is not None else 0,
        waived=tuple(sorted(population.waived)),
    )


def _truncated(suite: Suite, found: Evaluated) -> tuple[str, ...]:
    """Metrics without a cutoff over rankings that were cut."""
    deeper = int(np.count_nonzero(found.side.rankings[0].retrieved >= suite.depth))
    uncut = [
        str(metric)
        for metric in suite.metrics
        if metric.unit == "query" and metric.parameter("cutoff") is not None and metric.settings.get("cutoff") is None
    ]
    if not deeper or not uncut:
        return ()
    return (f"{', '.join(uncut)} look at whole rankings, and {deeper} rankings are cut at depth {suite.depth}",)
