"""The arithmetic of metrics that follow a reader down the list, line by line."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Steps, listing, steps_of
from pytest_ireval_metrics.arithmetic import quotient, shown_number, total
from pytest_ireval_metrics.gains import satisfaction, scale_top
from pytest_ireval_metrics.steps_of_precision import listed_as

Floats = NDArray[np.float64]
Columns = dict[str, NDArray[Any]]


def err_steps(judged: JudgedRankings, *, max_grade: float | None, gain: str, **settings: Any) -> Steps:
    """How likely a reader comes to each document and stops there, divided by its rank."""
    listed = listed_as(judged, settings)
    columns = _stops(listed.grade, scale_top(max_grade, judged), gain)
    adds = columns["adds"]
    facts = _scale_facts(judged, max_grade, gain)
    return steps_of(listed, columns, arithmetic=total(adds), value=adds.sum(), facts=facts, shares=adds)


def nerr_steps(judged: JudgedRankings, *, max_grade: float | None, gain: str, **settings: Any) -> Steps:
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


def rbp_steps(
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


def rbp_residual_steps(judged: JudgedRankings, *, cutoff: int | None, p: float) -> Steps:
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
