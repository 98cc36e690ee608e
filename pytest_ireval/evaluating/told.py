"""Judged rankings as the policies tell them: the order of equal scores, the depth, and unjudged documents."""

from __future__ import annotations

import numpy as np

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.plurals import counted
from pytest_ireval.results.evaluation import Policies
from pytest_ireval.retrieval.doors import some
from pytest_ireval.retrieval.judged import JudgedRankings, Mask
from pytest_ireval.retrieval.ties import reordered
from pytest_ireval.retrieval.views import condensed, cut


def as_told(judged: JudgedRankings, policies: Policies, origin: str) -> JudgedRankings:
    """Equal scores in the order that was chosen, cut at the depth, and without unjudged documents if so told."""
    if policies.ties in ("optimistic", "pessimistic") and tied(judged).any():
        judged = reordered(judged, best_first=policies.ties == "optimistic")
    judged = shortened(judged, policies)
    found = tied(judged)
    if policies.ties == "error" and found.any():
        queries = [judged.queries[i] for i in np.unique(judged.hits.query[found]).tolist()]
        raise InputError(
            Problem(
                f"judged documents share their score with others in {len(queries)} of "
                f"{counted(judged.count, 'query')}, and ties are an error: {some(queries)}",
                place=origin,
                suggestion='ties="trec" (command line: --ties trec) puts equal scores in order of document ids',
            )
        )
    return judged


def tied(judged: JudgedRankings) -> Mask:
    """Which hits share their score with another document."""
    found: Mask = judged.hits.tied_from < judged.hits.tied_to
    return found


def shortened(judged: JudgedRankings, policies: Policies) -> JudgedRankings:
    """Cut at the depth, and without unjudged documents, if the policies say so."""
    if policies.depth is not None:
        judged = cut(judged, policies.depth)
    return condensed(judged) if policies.unjudged == "removed" else judged
