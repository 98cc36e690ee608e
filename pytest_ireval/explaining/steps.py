"""The steps of a metric on one query, and proof that they come to its value; a generic table if it has none."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pytest_ireval.errors import MetricError, Problem
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import score, worst
from pytest_ireval.metrics.steps import listing, steps_of
from pytest_ireval.results.evaluation import Policies
from pytest_ireval.results.explanation import Column, Explained, Steps
from pytest_ireval.retrieval.judged import JudgedRankings
from pytest_ireval.retrieval.judgments import Ideal, Subtopics

SAME = 1e-9
"""Steps may be this far from the value, by rounding."""


def explained(metric: Metric, judged: JudgedRankings, origin: str, policies: Policies) -> Explained:
    """One metric on the one query of ``judged``."""
    facts = _facts(judged, policies)
    if not judged.present[0] and not math.isfinite(worst(metric) or 0.0):
        facts.append("evaluate refuses to score it: no value of this metric is the worst")
    judged = explainable(metric, judged)
    scores = score(metric, judged)
    value = float(scores.values[0])
    ruling = _ruling(metric, judged, bool(scores.no_relevant[0]))
    steps = generic_steps(metric, judged, value) if metric.steps is None else described_steps(metric, judged)
    if not ruling and not _same(steps.value, value):
        raise _untrue(metric, f"its steps come to {steps.value:.10g}, but its value is {value:.10g}")
    if not ruling and not steps.generic and steps.shares is not None:
        shares = math.fsum(share or 0.0 for share in steps.shares.values)
        if not _same(shares, value):
            raise _untrue(metric, f"its shares add up to {shares:.10g}, but its value is {value:.10g}")
    cutoff = metric.settings.get("cutoff")
    return Explained(
        rankings=origin,
        retrieved=int(judged.retrieved[0]),
        cutoff=cutoff if isinstance(cutoff, int) else None,
        value=value,
        steps=replace(steps, facts=(*facts, *steps.facts)),
        ruling=ruling,
    )


def explainable(metric: Metric, judged: JudgedRankings) -> JudgedRankings:
    """The same with rankings that are lacking as empty ones, where the metric has no worst value to give them."""
    if math.isfinite(worst(metric) or 0.0):
        return judged
    return replace(judged, present=np.ones(judged.count, bool), _memory={})


def _same(steps: float, value: float) -> bool:
    return abs(steps - value) <= SAME * max(1.0, abs(value))


def _ruling(metric: Metric, judged: JudgedRankings, no_relevant: bool) -> str:
    """What the metric declares for such a query, whatever the steps come to."""
    least = worst(metric)
    if not judged.present[0] and least is not None and (least or metric.direction == "lower"):
        return f"a query without a ranking scores the worst value, {least:g}"
    if metric.empty is not None and judged.retrieved[0] == 0:
        return f"an empty ranking scores {metric.empty:g}"
    if metric.no_relevant is not None and no_relevant:
        return f"a query without relevant documents scores {metric.no_relevant:g}"
    return ""


def _facts(judged: JudgedRankings, policies: Policies) -> list[str]:
    """What the policies made of the ranking before the metric saw it."""
    facts = []
    if not judged.present[0]:
        facts.append("there is no ranking of this query; it counts as empty")
    elif judged.retrieved[0] == 0:
        facts.append("the ranking is empty")
    if policies.depth is not None:
        facts.append(f"only the first {policies.depth} documents count (depth)")
    if policies.unjudged == "removed":
        facts.append("unjudged documents were removed before (unjudged); ranks are those of the others")
    tied = judged.hits.tied_from < judged.hits.tied_to
    if tied.any():
        orders = {
            "trec": "by document id descending",
            "input": "as they stand",
            "pessimistic": "the worst order for the metric",
            "optimistic": "the best order for the metric",
        }
        count = int(np.count_nonzero(tied))
        facts.append(
            f"{count} judged document{'s share scores' if count > 1 else ' shares its score'} with others; "
            f"ties: {orders[policies.ties]}"
        )
    return facts


def described_steps(metric: Metric, judged: JudgedRankings) -> Steps:
    """What the metric says itself."""
    try:
        steps = metric.steps(judged, **metric.settings) if metric.steps else None
    except MetricError as error:
        raise MetricError(*(p if p.place else replace(p, place=str(metric)) for p in error.problems)) from None
    except Exception as error:  # whatever a plugin's code raises, the message names it
        raise _untrue(metric, f"its steps raised {type(error).__name__}: {error}") from error
    if not isinstance(steps, Steps):
        raise _untrue(metric, f"its steps returned {type(steps).__name__}, not what steps_of makes")
    return steps


def _untrue(metric: Metric, complaint: str) -> MetricError:
    return MetricError(Problem(complaint, place=str(metric), suggestion=f"the metric comes from {metric.source}"))


def generic_steps(metric: Metric, judged: JudgedRankings, value: float) -> Steps:
    """For each judged document that was retrieved, what the metric would be if nobody had judged it."""
    listed = listing(judged)
    without = np.full(listed.rank.size, np.nan)
    failed = 0
    for row, rank in enumerate(judged.hits.rank.tolist()):
        try:
            without[rank - 1] = score(metric, _unjudging(judged, row)).values[0]
        except MetricError:  # the table says how often
            failed += 1
    steps = steps_of(
        listed,
        {"unjudged": without},
        arithmetic="",
        value=value,
        facts=[
            f"{metric.name} does not describe its steps; this table can be made for every metric:",
            "unjudged is what its value would be if nobody had judged the document",
            *([f"for {failed} documents it has no such value"] if failed else []),
        ],
    )
    makes = tuple(None if other is None else value - other for other in steps.columns[0].values)
    return replace(steps, shares=Column("makes", makes), generic=True)


def _unjudging(judged: JudgedRankings, row: int) -> JudgedRankings:
    """The same as if nobody had judged the document of one hit."""
    hits = judged.hits
    kept = np.arange(hits.rank.size) != row
    place = int(np.flatnonzero(judged.ideal.grade == hits.grade[row])[-1])
    rest = np.arange(judged.ideal.grade.size) != place
    count = int(rest.sum())
    documents = judged.documents
    if documents is not None:
        grade = documents.grade.copy()
        grade[int(hits.rank[row]) - 1] = np.nan
        documents = documents._replace(grade=grade)
    return replace(
        judged,
        hits=hits.at(kept),
        ideal=Ideal(np.zeros(count, np.int64), np.arange(1, count + 1), judged.ideal.grade[rest]),
        documents=documents,
        subtopics=judged.subtopics and _subtopics_without(judged.subtopics, int(hits.judgment[row])),
        _memory={},
        _memory_of_ideal={},
    )


def _subtopics_without(subtopics: Subtopics, judgment: int) -> Subtopics:
    rows = subtopics.row != judgment
    return Subtopics(subtopics.names, subtopics.row[rows], subtopics.subtopic[rows], subtopics.grade[rows])
