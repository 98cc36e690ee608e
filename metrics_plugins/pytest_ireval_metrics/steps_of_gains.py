"""The arithmetic of metrics that add up gains, line by line, with the best order beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, Steps, steps_of
from pytest_ireval_metrics.arithmetic import quotient, shown_number, total
from pytest_ireval_metrics.gains import discount_at, gain_of
from pytest_ireval_metrics.steps_of_precision import listed_as

Floats = NDArray[np.float64]
Columns = dict[str, NDArray[Any]]


def cumulated_gain_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """Gains and their running sum."""
    listed = listed_as(judged, settings)
    gain = gains_in(listed, settings)
    columns = {"gain": gain, "sum": np.cumsum(gain)}
    facts = gain_facts(listed, settings)
    return steps_of(listed, columns, arithmetic=total(gain), value=gain.sum(), facts=facts, shares=gain)


def dcg_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """Gains divided by the discounts of their ranks, and the running sum."""
    listed = listed_as(judged, settings)
    columns = _discounted(listed.rank, gains_in(listed, settings), settings)
    adds = columns["discounted"]
    facts = gain_facts(listed, settings)
    return steps_of(listed, columns, arithmetic=total(adds), value=adds.sum(), facts=facts, shares=adds)


def ideal_dcg_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """What the best order comes to; the ranking changes nothing."""
    listed = listed_as(judged, settings)
    ideal = _best_order(judged, listed, {"ideal": "judged", **settings})
    adds = ideal["discounted"]
    return steps_of(
        listed,
        {"gain": gains_in(listed, settings)},
        arithmetic=total(adds),
        value=adds.sum(),
        facts=gain_facts(listed, settings),
        beside=("the best order of all judged documents", ideal),
    )


def ndcg_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """The same, divided by what the best order comes to."""
    listed = listed_as(judged, settings)
    columns = _discounted(listed.rank, gains_in(listed, settings), settings)
    ideal = _best_order(judged, listed, settings)
    best = float(ideal["discounted"].sum())
    text, value = quotient(float(columns["discounted"].sum()), best)
    what = "all judged documents" if settings["ideal"] == "judged" else "the judged documents that were retrieved"
    return steps_of(
        listed,
        columns,
        arithmetic=text,
        value=value,
        facts=gain_facts(listed, settings),
        shares=columns["discounted"] / best if best else np.zeros(listed.rank.size),
        beside=(f"the best order of {what}", ideal),
    )


def gains_in(listed: Listing, settings: Mapping[str, Any]) -> Floats:
    """What each listed document is worth; those that nobody judged are worth nothing."""
    gain = gain_of(listed.grade, settings.get("gain", "linear"), settings["gains"])
    worth: Floats = np.where(listed.judged, gain, 0.0)
    return worth


def gain_facts(listed: Listing, settings: Mapping[str, Any]) -> list[str]:
    """How grades become gains, and what counts."""
    facts = [f"{listed.ideal.size} documents are judged, {listed.retrieved} retrieved"]
    if settings.get("cutoff"):
        facts.append(f"k = {settings['cutoff']}, the cutoff")
    if settings.get("gain") == "exp":
        facts.append("gain = 2^grade - 1")
    if settings["gains"]:
        worth = ", ".join(
            f"{shown_number(g)} for grade {shown_number(grade)}" for grade, g in settings["gains"].items()
        )
        facts.append(f"gains as given: {worth}")
    if settings.get("judged_only"):
        facts.append("documents without a judgment are left out first; ranks are those of the others")
    return facts


def _discounted(rank: NDArray[np.int64], gain: Floats, settings: Mapping[str, Any]) -> Columns:
    discount = discount_at(rank, settings["discount"], settings["log_base"])
    return {"gain": gain, "discount": discount, "discounted": gain / discount, "sum": np.cumsum(gain / discount)}


def _best_order(judged: JudgedRankings, listed: Listing, settings: Mapping[str, Any]) -> Columns:
    """The documents of the best order that are worth something, down to the cutoff."""
    if settings["ideal"] == "judged":
        grade = listed.ideal
    else:
        whole = listed_as(judged, {**settings, "cutoff": None})
        grade = whole.grade[whole.judged]
    gain = gain_of(grade, settings["gain"], settings["gains"])
    order = np.argsort(-gain, kind="stable")
    order = order[gain[order] > 0][: settings["cutoff"]]
    rank = np.arange(1, order.size + 1)
    return {"rank": rank, "grade": grade[order], **_discounted(rank, gain[order], settings)}
