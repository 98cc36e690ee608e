"""Readers with a model of patience: normalised ERR, what RBP leaves open, INST, NERR and others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from pytest_ireval import (
    JudgedRankings,
    MetricError,
    Param,
    list_ranking,
    make_steps,
    metric,
    perfect,
    ratio,
    steps_for,
)
from pytest_ireval_metrics.user_models import StopChance, describe_scale, err, make_stop_columns
from pytest_ireval_metrics.vocabulary import (
    Depth,
    Floats,
    MaxGrade,
    Persistence,
    condensable_metric,
    find_top_grade,
    format_number,
    list_as_scored,
    make_sum_steps,
)
from pytest_ireval_more_metrics.continuation import GainAndCost, Goal, user_model

if TYPE_CHECKING:
    from pytest_ireval import Steps


@condensable_metric(name="nERR")
def nerr(
    judged: JudgedRankings, *, cutoff: Depth = None, max_grade: MaxGrade = None, gain: StopChance = "exp"
) -> Floats:
    """ERR as a share of the ERR of the best order of all judged documents.

    Formula: nERR@k = ERR@k / ERR@k of the judged documents sorted by grade
    Reference: T. Sakai, R. Song, Evaluating diversified search results using per-intent graded relevance, SIGIR 2011.
    Example: nERR(max_grade=1) of 0 1 = (1/2 * 1/2) / (1/2) = 0.5
    """
    settings = {"cutoff": cutoff, "max_grade": find_top_grade(max_grade, judged), "gain": gain, "judged_only": False}
    return ratio(err.batch(judged, **settings), err.batch(perfect(judged), **settings))


@steps_for(nerr)
def _nerr_steps(judged: JudgedRankings, *, max_grade: float | None, gain: str, **settings: Any) -> Steps:
    listed, top = list_as_scored(judged, settings), find_top_grade(max_grade, judged)
    columns = make_stop_columns(listed.grade, top, gain)
    grades = listed.ideal[: settings["cutoff"]]
    ideal = make_stop_columns(grades, top, gain)
    best, facts = float(ideal["adds"].sum()), describe_scale(judged, max_grade, gain)
    table = {"rank": np.arange(1, grades.size + 1), "grade": grades, **ideal}
    return make_sum_steps(
        listed,
        columns,
        columns["adds"],
        best,
        facts,
        terms=False,
        second_title="the best order of all judged documents",
        second_table=table,
    )


@metric(
    name="RBPResidual",
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
    return 1.0 - (1 - p) * judged.sum(np.power(p, hits.rank - 1.0), within)


@steps_for(rbp_residual)
def _rbp_residual_steps(judged: JudgedRankings, *, cutoff: int | None, p: float) -> Steps:
    listed = list_ranking(judged, cutoff)
    reaches = np.power(p, listed.rank - 1.0)
    settled = np.where(listed.judged, reaches, 0.0)
    columns = {"reaches": reaches, "settled": settled, "sum": np.cumsum(settled)}
    return make_steps(
        listed,
        columns,
        arithmetic=f"1 - (1 - {p:g}) * {format_number(float(settled.sum()))}",
        value=1 - (1 - p) * float(settled.sum()),
        facts=[f"p = {p:g}, the probability to go on; reaches = p^(rank - 1)", "judged documents are settled"],
    )


def _set_log2(given: Mapping[str, Any]) -> dict[str, Any]:
    """SDCG of ir_measures, which has a parameter for the one discount there is."""
    if given.get("dcg", "log2") != "log2":
        raise MetricError(f"dcg={given['dcg']!r} is unknown; ir_measures allows 'log2'")
    return {name: value for name, value in given.items() if name != "dcg"}


@user_model(
    "SDCG", "log2(rank + 1) / log2(rank + 2)", by="rank", cutoff_required=True, dialects={"ir_measures": _set_log2}
)
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
    return _square(reader.rank + 2 * T)


def _square(x: Floats) -> Floats:
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
    return _square(reader.rank + 2 * T - reader.gained)


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
    return _square(reader.rank + 2 * T) * (1 - reader.gain)
