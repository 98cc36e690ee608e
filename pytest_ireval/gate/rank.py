"""Ask the source of a suite for its rankings, and nothing else: for a comparison of two commits."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from pytest_ireval.baseline.record import Acceptance, Baseline
from pytest_ireval.errors import IrevalError, Problem, SourceError
from pytest_ireval.gate.acceptance import keep_used_data
from pytest_ireval.gate.collect import compute_fingerprints, describe_search
from pytest_ireval.gate.fetching import fetch_rankings, refuse_missing_queries
from pytest_ireval.gate.queries_and_judgments import read_collection
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.suite.suite import Suite
from pytest_ireval.words import format_count


def rank_suite(
    suite: Suite, registry: Registry, today: date, asked: Acceptance, progress: Progress = SILENT, *, depth: int = 0
) -> Baseline:
    """Return the rankings of the suite's source, down to the depth of the suite or to a larger ``depth``.

    The result has the form of a baseline without figures and judgments. No query may fail: an empty list of the side
    that a change is compared with would hide a loss.
    """
    if suite.source is None:
        raise IrevalError(f"{suite.place}: names no source of rankings")
    collection = read_collection(suite, registry, today, progress)
    deeper = replace(suite, policies=replace(suite.policies, depth=max(suite.depth, depth)))
    answer = fetch_rankings(suite.source, replace(collection, suite=deeper), progress)
    if answer.failures:
        query, reason = next(iter(answer.failures.items()))
        lost = format_count(len(answer.failures), "query")
        raise SourceError(Problem(f"{lost} without an answer, such as {query!r} ({reason})", str(suite.source.place)))
    refuse_missing_queries(suite.source, collection, answer.rankings)
    search = describe_search(suite, answer)
    return Baseline(
        suite=suite.name,
        depth=deeper.depth,
        rankings=keep_used_data(deeper, answer.rankings),
        scored=True,
        fingerprints=compute_fingerprints(collection, search.source, None),
        search=search,
        plugins=registry.distributions,
        acceptances=(asked,),
    )
