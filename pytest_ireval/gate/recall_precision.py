"""Precision of every query of a suite at eleven levels of recall, in the order of the suite's queries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pytest_ireval.evaluating.recall_precision import LEVELS, found_in, interpolated, r_precision
from pytest_ireval.evaluating.told import as_told
from pytest_ireval.gate.gathering import Gathered
from pytest_ireval.results.evaluation import Policies
from pytest_ireval.retrieval.doors import Brought
from pytest_ireval.retrieval.judged import JudgedRankings, Mask
from pytest_ireval.rules.side import Floats
from pytest_ireval.suites.suite import Suite


def relevant_from(suite: Suite) -> float:
    """The lowest relevant grade: what the suite says, or 1 as for metrics."""
    lowest = suite.judgments.relevant_from if suite.judgments else None
    return 1.0 if lowest is None else lowest


def seen_by_metrics(found: Brought, policies: Policies) -> JudgedRankings:
    """The rankings as the policies tell them; equal scores that are an error have been one already."""
    ties = "trec" if policies.ties == "error" else policies.ties
    return as_told(found.judged, replace(policies, ties=ties), found.origin)


def recall_precision_of(suite: Suite, gathered: Gathered, found: Brought, counting: Mask | None) -> Floats:
    """A row for each query of the suite: precision at eleven levels of recall, and R-precision.

    NaN for a query that does not count or has no relevant documents; one without a ranking has zeros.
    """
    queries = gathered.population.queries
    rows = np.full((len(queries), len(LEVELS) + 1), np.nan)
    if gathered.setting is None:
        return rows
    judged = seen_by_metrics(found, gathered.setting.policies)
    relevant = found_in(judged, relevant_from(suite))
    wanted = relevant.relevant > 0 if counting is None else counting & (relevant.relevant > 0)
    place = np.array([queries.position[query] for query in judged.queries], np.int64)
    rows[place[wanted]] = np.column_stack((interpolated(relevant), r_precision(relevant)))[wanted]
    return rows
