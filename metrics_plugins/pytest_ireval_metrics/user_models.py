"""Metrics that follow a reader down the list until she stops: ERR, RBP, and her patience in INST, NERR and others."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Param, Steps, listing, metric, perfect, ratio, steps_of
from pytest_ireval_metrics.continuation import GainAndCost, Goal, user_model
from pytest_ireval_metrics.vocabulary import (
    Depth,
    Floats,
    MaxGrade,
    Persistence,
    condensable_metric,
    listed_as,
    satisfaction,
    scale_top,
    shared_steps,
    shown_number,
)

Columns = dict[str, NDArray[Any]]


def _err_steps(judged: JudgedRankings, *, max_grade: float | None, gain: str, **settings: Any) -> Steps:
    listed = listed_as(judged, settings)
    columns = _stops(listed.grade, scale_top(max_grade, judged), gain)
    return shared_steps(listed, columns, columns["adds"], None, _scale_facts(judged, max_grade, gain))


def _nerr_steps(judged: JudgedRankings, *, max_grade: float | None, gain: str, **settings: Any) -> Steps:
    listed, top = listed_as(judged, settings), scale_top(max_grade, judged)
    columns = _stops(listed.grade, top, gain)
    grades = listed.ideal[: settings["cutoff"]]
    ideal = _stops(grades, top, gain)
    best, facts = float(ideal["adds"].sum()), _scale_facts(judged, max_grade, gain)
    table = {"rank": np.arange(1, grades.size + 1), "grade": grades, **ideal}
    beside = ("the best order of all judged documents", table)
    return shared_steps(listed, columns, columns["adds"], best, facts, terms=False, beside=beside)


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


@condensable_metric(name="ERR", steps=_err_steps, spellings={"err_{cutoff}": {}})
def err(
    judged: JudgedRankings, *, cutoff: Depth = None, max_grade: MaxGrade = None, gain: StopChance = "exp"
) -> Floats:
    """Expectation of 1 / the rank at which a reader is satisfied; good documents make later ones matter less.

    Formula: ERR = sum over ranks i of (1/i) R_i prod of (1 - R_j) for j < i, with R = (2^grade - 1) / 2^max_grade
    Reference: O. Chapelle et al., Expected Reciprocal Rank for Graded Relevance, CIKM 2009. gdeval has max_grade=4.
    Example: ERR(max_grade=4) of 3 2 4 = 7/16 + 1/2 * 9/16 * 3/16 + 1/3 * 9/16 * 13/16 * 15/16 = 0.6331
    """
    return _expected_reciprocal_rank(judged, cutoff, scale_top(max_grade, judged), gain)


@condensable_metric(name="nERR", steps=_nerr_steps)
def nerr(
    judged: JudgedRankings, *, cutoff: Depth = None, max_grade: MaxGrade = None, gain: StopChance = "exp"
) -> Floats:
    """ERR as a share of the ERR of the best order of all judged documents.

    Formula: nERR@k = ERR@k / ERR@k of the judged documents sorted by grade
    Reference: T. Sakai, R. Song, Evaluating diversified search results using per-intent graded relevance, SIGIR 2011.
    Example: nERR(max_grade=1) of 0 1 = (1/2 * 1/2) / (1/2) = 0.5
    """
    top = scale_top(max_grade, judged)
    best = _expected_reciprocal_rank(perfect(judged), cutoff, top, gain)
    return ratio(_expected_reciprocal_rank(judged, cutoff, top, gain), best)


@condensable_metric(name="RBP", steps=_rbp_steps, spellings={"rbp_p={p}": {}}, additive=True)
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
) -> Floats:
    """Gain per document of a reader who goes on from each document to the next with probability p.

    Formula: RBP = (1 - p) sum over ranks i of gain_i p^(i - 1), with gain = grade / max_grade
    Reference: A. Moffat, J. Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 27, 2008.
    Example: RBP(p=0.5) of 1 0 1 = 0.5 * (1 + 0.25) = 0.625
    """
    hits = judged.hits
    if rel is not None:
        gain = judged.relevant(rel).astype(np.float64)
    else:
        gain = np.maximum(hits.grade, 0.0) / scale_top(max_grade, judged)
    within = None if cutoff is None else hits.rank <= cutoff
    return (1 - p) * judged.sum(gain * _reaches(hits.rank, p), within)


@metric(
    name="RBPResidual",
    steps=_rbp_residual_steps,
    direction="neither",
    no_relevant=None,
    spellings={"rbp_resid": {"p": 0.9}, "rbp_resid_p={p}": {}},
)
def rbp_residual(judged: JudgedRankings, *, cutoff: Depth = None, p: Persistence = 0.8) -> Floats:
    """The rise of RBP if all documents that are unjudged, or were not retrieved, had the top grade.

    Formula: RBPResidual = sum over unjudged ranks i of (1 - p) p^(i - 1), plus p^n for all ranks below the list
    Reference: A. Moffat, J. Zobel, TOIS 27, 2008.
    Example: RBPResidual(p=0.5) of 1 - 1 = 0.5 * 0.5 + 0.5^3 = 0.375
    """
    hits = judged.hits
    within = None if cutoff is None else hits.rank <= cutoff
    return 1.0 - (1 - p) * judged.sum(_reaches(hits.rank, p), within)


def _reaches(rank: NDArray[np.int64], p: float) -> Floats:
    reaches: Floats = np.power(p, rank - 1.0)
    return reaches


@user_model("SDCG", "log2(rank + 1) / log2(rank + 2)", by="rank", cutoff_required=True)
def sdcg(reader: GainAndCost) -> Floats:
    """DCG as a share of that of a list whose documents all have the top grade (scaled DCG).

    Formula: C(i) = log2(i + 1) / log2(i + 2); EU = sum of gain_i W(i), with W(i) = W(1) C(1) … C(i - 1), the sum of W 1
    Reference: A. Moffat, P. Thomas, F. Scholer, Users versus models, CIKM 2013; K. Järvelin, J. Kekäläinen, TOIS 2002.
    Example: SDCG@3 of 1 0 1 = (1/1 + 1/2) / (1 + 1/1.585 + 1/2) = 0.7039
    """
    chance: Floats = np.log2(reader.rank + 1) / np.log2(reader.rank + 2)
    return chance


@user_model("INSQ", "((rank + 2T - 1) / (rank + 2T))^2", by="rank")
def insq(reader: GainAndCost, *, T: Goal = 1) -> Floats:
    """Expected gain per document of a reader who is the more patient, the more documents she wants and has read.

    Formula: C(i) = ((i + 2T - 1) / (i + 2T))^2; EU as SDCG
    Reference: A. Moffat, F. Scholer, P. Thomas, Models and metrics: IR evaluation as a user process, ADCS 2012.
    Example: INSQ@3 of 1 0 1 = (1 + 4/16) / (1 + 4/9 + 4/16) = 0.7377
    """
    return _squared(reader.rank + 2 * T)


def _squared(x: Floats) -> Floats:
    chance: Floats = ((x - 1) / x) ** 2
    return chance


@user_model("INST", "((rank + 2T - gained - 1) / (rank + 2T - gained))^2", by="gain")
def inst(
    reader: GainAndCost,
    *,
    T: Annotated[
        float,
        Param(
            "the gain that the reader looks for, in documents of the top grade",
            low=0.5,
            why="with less, a reader who has found only good documents would go on with a probability above 1",
        ),
    ] = 1,
) -> Floats:
    """INSQ of a reader who becomes less patient as what she has found comes near to what she looks for.

    Formula: C(i) = ((i + 2T - G_i - 1) / (i + 2T - G_i))^2, with G_i = gain of ranks 1 to i; EU as SDCG
    Reference: P. Bailey et al., User variability and IR system evaluation, SIGIR 2015; A. Moffat et al., ADCS 2015.
    Example: INST@3 of 1 0 1 = (1 + 1/4 * 4/9) / (1 + 1/4 + 1/4 * 4/9) = 0.8163
    """
    return _squared(reader.rank + 2 * T - reader.gained)


@user_model("NERR8", "1 - gain", by="gain", cutoff_required=True)
def nerr8(reader: GainAndCost) -> Floats:
    """Expected gain per document of a reader whom each document satisfies with the probability of its gain.

    Formula: C(i) = 1 - gain_i; EU as SDCG
    Reference: L. Azzopardi, J. Mackenzie, A. Moffat, ERR is not C/W/L, ICTIR 2021, equation 8.
    Example: NERR8(max_grade=2)@3 of 1 0 2 = (1/2 + 1/2 * 1) / (1 + 1/2 + 1/2) = 0.5
    """
    return 1 - reader.gain


@user_model("NERR9", "rank / (rank + 1) * (1 - gain)", by="gain", cutoff_required=True)
def nerr9(reader: GainAndCost) -> Floats:
    """NERR8 of a reader who tires as in ERR.

    Formula: C(i) = i / (i + 1) * (1 - gain_i); EU as SDCG, and ETU is ERR of these gains
    Reference: L. Azzopardi, J. Mackenzie, A. Moffat, ERR is not C/W/L, ICTIR 2021, equation 9.
    Example: NERR9(max_grade=2)@3 of 1 0 2 = (1/2 + 1/6 * 1) / (1 + 1/4 + 1/6) = 0.4706
    """
    chance: Floats = reader.rank / (reader.rank + 1) * (1 - reader.gain)
    return chance


@user_model("NERR10", "p * (1 - gain)", by="gain")
def nerr10(
    reader: GainAndCost,
    *,
    p: Annotated[float, Param("the probability to go on after a document without gain", low=0, high=1)] = 0.9,
) -> Floats:
    """NERR8 of a reader who tires as in RBP.

    Formula: C(i) = p (1 - gain_i); EU as SDCG
    Reference: L. Azzopardi, J. Mackenzie, A. Moffat, ERR is not C/W/L, ICTIR 2021, equation 10.
    Example: NERR10(max_grade=2, p=0.5)@3 of 1 0 2 = (1/2 + 1/8 * 1) / (1 + 1/4 + 1/8) = 0.4545
    """
    return p * (1 - reader.gain)


@user_model("NERR11", "((rank + 2T - 1) / (rank + 2T))^2 * (1 - gain)", by="gain")
def nerr11(reader: GainAndCost, *, T: Goal = 1) -> Floats:
    """NERR8 of a reader who tires as in INSQ.

    Formula: C(i) = ((i + 2T - 1) / (i + 2T))^2 (1 - gain_i); EU as SDCG
    Reference: L. Azzopardi, J. Mackenzie, A. Moffat, ERR is not C/W/L, ICTIR 2021, equation 11.
    Example: NERR11(max_grade=2)@3 of 1 0 2 = (1/2 + 1/8 * 1) / (1 + 2/9 + 1/8) = 0.4639
    """
    return _squared(reader.rank + 2 * T) * (1 - reader.gain)
