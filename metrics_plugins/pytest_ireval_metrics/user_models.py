"""Metrics that follow a reader down the list until she stops: ERR and RBP."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Param, Steps, condensed, listing, metric, perfect, ratio, steps_of
from pytest_ireval_metrics.gains import by_gain, by_relevance, satisfaction, scale_top
from pytest_ireval_metrics.sets_and_ranks import listed_as
from pytest_ireval_metrics.vocabulary import (
    Depth,
    Floats,
    JudgedOnly,
    MaxGrade,
    Persistence,
    quotient,
    shown_number,
    total,
)

Columns = dict[str, NDArray[Any]]


def _err_steps(judged: JudgedRankings, *, max_grade: float | None, gain: str, **settings: Any) -> Steps:
    """How likely a reader comes to each document and stops there, divided by its rank."""
    listed = listed_as(judged, settings)
    columns = _stops(listed.grade, scale_top(max_grade, judged), gain)
    adds = columns["adds"]
    facts = _scale_facts(judged, max_grade, gain)
    return steps_of(listed, columns, arithmetic=total(adds), value=adds.sum(), facts=facts, shares=adds)


def _nerr_steps(judged: JudgedRankings, *, max_grade: float | None, gain: str, **settings: Any) -> Steps:
    """The same, divided by what the best order comes to."""
    listed, top = listed_as(judged, settings), scale_top(max_grade, judged)
    columns = _stops(listed.grade, top, gain)
    grades = listed.ideal[: settings["cutoff"]]
    ideal = _stops(grades, top, gain)
    best = float(ideal["adds"].sum())
    text, value = quotient(float(columns["adds"].sum()), best)
    return steps_of(
        listed,
        columns,
        arithmetic=text,
        value=value,
        facts=_scale_facts(judged, max_grade, gain),
        shares=columns["adds"] / best if best else np.zeros(listed.rank.size),
        beside=(
            "the best order of all judged documents",
            {"rank": np.arange(1, grades.size + 1), "grade": grades, **ideal},
        ),
    )


def _scale_facts(judged: JudgedRankings, max_grade: float | None, gain: str) -> list[str]:
    top = shown_number(scale_top(max_grade, judged))
    chance = f"grade / ({top} + 1)" if gain == "ntcir" else f"(2^grade - 1) / 2^{top}"
    return [f"the top of the scale is {top}", f"stops = {chance}; adds = reaches * stops / rank"]


def _stops(grade: Floats, top: float, gain: str) -> Columns:
    stops = satisfaction(grade, top, gain)
    reaches = np.concatenate((np.ones(1), np.cumprod(1.0 - stops)))[:-1]
    adds = reaches * stops / np.arange(1, grade.size + 1)
    return {"stops": stops, "reaches": reaches, "adds": adds, "sum": np.cumsum(adds)}


def _rbp_steps(
    judged: JudgedRankings, *, p: float, rel: float | None, max_grade: float | None, **settings: Any
) -> Steps:
    """Gains times how likely a reader gets there."""
    listed = listed_as(judged, settings)
    if rel is None:
        top = scale_top(max_grade, judged)
        gain, said = np.maximum(listed.grade, 0.0) / top, f"gain = grade / {shown_number(top)}"
    else:
        gain, said = listed.relevant(rel).astype(np.float64), f"gain = 1 for grade {rel:g} and more"
    reaches = _reaches(listed.rank, p)
    columns = {"gain": gain, "reaches": reaches, "product": gain * reaches, "sum": np.cumsum(gain * reaches)}
    whole = float((gain * reaches).sum())
    return steps_of(
        listed,
        columns,
        arithmetic=f"(1 - {p:g}) * {shown_number(whole)}",
        value=(1 - p) * whole,
        facts=[f"p = {p:g}, the probability to go on; reaches = p^(rank - 1)", said],
        shares=(1 - p) * gain * reaches,
    )


def _rbp_residual_steps(judged: JudgedRankings, *, cutoff: int | None, p: float) -> Steps:
    """What is settled by judged documents, taken from 1."""
    listed = listing(judged, cutoff)
    reaches = _reaches(listed.rank, p)
    settled = np.where(listed.judged, reaches, 0.0)
    columns = {"reaches": reaches, "settled": settled, "sum": np.cumsum(settled)}
    return steps_of(
        listed,
        columns,
        arithmetic=f"1 - (1 - {p:g}) * {shown_number(float(settled.sum()))}",
        value=1 - (1 - p) * float(settled.sum()),
        facts=[f"p = {p:g}, the probability to go on; reaches = p^(rank - 1)", "judged documents are settled"],
    )


def _reaches(rank: NDArray[np.int64], p: float) -> Floats:
    reaches: Floats = np.power(p, rank - 1.0)
    return reaches


StopChance = Annotated[
    Literal["exp", "ntcir"],
    Param("the probability that a grade g satisfies: exp is (2^g - 1) / 2^max_grade, ntcir is g / (max_grade + 1)"),
]


def _expected_reciprocal_rank(judged: JudgedRankings, cutoff: int | None, max_grade: float, gain: str) -> Floats:
    """Per query, the expectation of one divided by the rank at which the reader is satisfied."""
    hits = judged.hits
    stops = satisfaction(hits.grade, max_grade, gain)
    goes_on = judged.running_product(1.0 - stops)
    reaches = np.concatenate((np.ones(1), goes_on[:-1])) if goes_on.size else goes_on
    first = judged.first[:-1]
    reaches[first[first < judged.first[1:]]] = 1.0
    return judged.sum(reaches * stops / hits.rank, None if cutoff is None else hits.rank <= cutoff)


def _by_grade(grade: Floats, **_: Any) -> Floats:
    return by_gain(grade)


def _by_gain_or_relevance(grade: Floats, *, rel: float | None, **_: Any) -> Floats:
    return by_gain(grade) if rel is None else by_relevance(grade, rel=rel)


def _unjudged_first(grade: Floats, **_: Any) -> Floats:
    return np.isnan(grade).astype(np.float64)


@metric(name="ERR", tie_order=_by_grade, steps=_err_steps, spellings={"err_{cutoff}": {}})
def err(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    max_grade: MaxGrade = None,
    gain: StopChance = "exp",
    judged_only: JudgedOnly = False,
) -> Floats:
    """Expectation of 1 / the rank at which a reader is satisfied; good documents make later ones matter less.

    Formula: ERR = sum over ranks i of (1/i) R_i prod of (1 - R_j) for j < i, with R = (2^grade - 1) / 2^max_grade
    Reference: O. Chapelle et al., Expected Reciprocal Rank for Graded Relevance, CIKM 2009. gdeval has max_grade=4.
    Example: ERR(max_grade=4) of 3 2 4 = 7/16 + 1/2 * 9/16 * 3/16 + 1/3 * 9/16 * 13/16 * 15/16 = 0.6331
    """
    judged = condensed(judged) if judged_only else judged
    return _expected_reciprocal_rank(judged, cutoff, scale_top(max_grade, judged), gain)


@metric(name="nERR", tie_order=_by_grade, steps=_nerr_steps)
def nerr(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    max_grade: MaxGrade = None,
    gain: StopChance = "exp",
    judged_only: JudgedOnly = False,
) -> Floats:
    """ERR as a share of the ERR of the best order of all judged documents.

    Formula: nERR@k = ERR@k / ERR@k of the judged documents sorted by grade
    Reference: T. Sakai, R. Song, Evaluating diversified search results using per-intent graded relevance, SIGIR 2011.
    Example: nERR(max_grade=1) of 0 1 = (1/2 * 1/2) / (1/2) = 0.5
    """
    judged = condensed(judged) if judged_only else judged
    top = scale_top(max_grade, judged)
    best = _expected_reciprocal_rank(perfect(judged), cutoff, top, gain)
    return ratio(_expected_reciprocal_rank(judged, cutoff, top, gain), best)


@metric(name="RBP", tie_order=_by_gain_or_relevance, steps=_rbp_steps, spellings={"rbp_p={p}": {}}, additive=True)
def rank_biased_precision(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    p: Persistence = 0.8,
    rel: Annotated[
        float | None,
        Param("documents of this grade and above have gain 1, others 0; unless given, gain is grade / max_grade"),
    ] = None,
    max_grade: MaxGrade = None,
    judged_only: JudgedOnly = False,
) -> Floats:
    """What a reader gets per document who goes on from each to the next with probability p.

    Formula: RBP = (1 - p) sum over ranks i of gain_i p^(i - 1), with gain = grade / max_grade
    Reference: A. Moffat, J. Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 27, 2008.
    Example: RBP(p=0.5) of 1 0 1 = 0.5 * (1 + 0.25) = 0.625
    """
    judged = condensed(judged) if judged_only else judged
    hits = judged.hits
    if rel is not None:
        gain = judged.relevant(rel).astype(np.float64)
    else:
        top = scale_top(max_grade, judged)
        gain = np.maximum(hits.grade, 0.0) / top
    within = None if cutoff is None else hits.rank <= cutoff
    return (1 - p) * judged.sum(gain * _reach(hits.rank, p), within)


@metric(
    name="RBPResidual",
    tie_order=_unjudged_first,
    steps=_rbp_residual_steps,
    direction="neither",
    no_relevant=None,
    spellings={"rbp_resid": {}, "rbp_resid_p={p}": {}},
)
def rbp_residual(judged: JudgedRankings, *, cutoff: Depth = None, p: Persistence = 0.8) -> Floats:
    """How much higher RBP could be if all documents that are unjudged, or were not retrieved, had the top grade.

    Formula: RBPResidual = sum over unjudged ranks i of (1 - p) p^(i - 1), plus p^n for all ranks below the list
    Reference: A. Moffat, J. Zobel, TOIS 27, 2008.
    Example: RBPResidual(p=0.5) of 1 - 1 = 0.5 * 0.5 + 0.5^3 = 0.375
    """
    hits = judged.hits
    within = None if cutoff is None else hits.rank <= cutoff
    return 1.0 - (1 - p) * judged.sum(_reach(hits.rank, p), within)


def _reach(rank: NDArray[np.int64], p: float) -> Floats:
    """The probability that a reader comes to a rank."""
    reach: Floats = np.power(p, rank - 1.0)
    return reach


METRICS = [err, nerr, rank_biased_precision, rbp_residual]
