"""The arithmetic of metrics of the blended ratio, line by line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, Steps, steps_of
from pytest_ireval_metrics.average_precision import divisor_within
from pytest_ireval_metrics.cumulated_gain import gains_in
from pytest_ireval_metrics.gains import gain_of
from pytest_ireval_metrics.sets_and_ranks import listed_as, relevance_facts
from pytest_ireval_metrics.vocabulary import Floats, Mask, quotient, shared_steps, shown_number, summed


class Blend(NamedTuple):
    """The parts of the ratio at each rank; ``above`` and ``below`` are its two sides."""

    relevant: Mask
    gain: Floats
    cumulated: Floats
    best: Floats
    found: NDArray[np.int64]
    above: Floats
    below: Floats

    @property
    def ratio(self) -> Floats:
        """The blended ratio, 0 where there is no relevant document."""
        return np.where(self.relevant, self.above / self.below, 0.0)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """All of it, for the table."""
        ratio = np.where(self.relevant, self.ratio, np.nan)
        return {"gain": self.gain, "cg": self.cumulated, "cg*": self.best, "found": self.found, "ratio": ratio}


def _blend(listed: Listing, settings: Mapping[str, Any], beta: float) -> Blend:
    relevant = listed.relevant(settings["rel"])
    gain = np.where(relevant, gains_in(listed, settings), 0.0)
    found: NDArray[np.int64] = np.cumsum(relevant.astype(np.int64))
    cumulated = np.cumsum(gain)
    best = _best_so_far(listed, settings, listed.rank)
    return Blend(relevant, gain, cumulated, best, found, beta * cumulated + found, beta * best + listed.rank)


def _best_so_far(listed: Listing, settings: Mapping[str, Any], rank: NDArray[np.int64]) -> Floats:
    """The gain that the best order has collected at each rank, cg*."""
    gain = gain_of(listed.ideal, "linear", settings["gains"])
    gain = -np.sort(-np.where((listed.ideal >= settings["rel"]) & (gain > 0), gain, 0.0))
    return summed(gain)[np.minimum(rank, gain.size)]


def _facts(listed: Listing, settings: Mapping[str, Any], *more: str) -> list[str]:
    beta = shown_number(settings["beta"])
    return [*relevance_facts(listed, settings), f"ratio = (beta cg + found) / (beta cg* + rank), beta = {beta}", *more]


def q_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """The blended ratio at each relevant document, added up and divided by R."""
    listed = listed_as(judged, settings)
    blend = _blend(listed, settings, settings["beta"])
    among = divisor_within(listed, settings)
    return shared_steps(listed, blend.columns, blend.ratio, among, _facts(listed, settings))


def awp_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """The gain so far as a share of the best, at each relevant document."""
    listed = listed_as(judged, settings)
    blend = _blend(listed, settings, 1.0)
    weighted = np.where(blend.best > 0, blend.cumulated / np.where(blend.best > 0, blend.best, 1.0), 0.0)
    adds = np.where(blend.relevant, weighted, 0.0)
    columns = {**blend.columns, "ratio": np.where(blend.relevant, adds, np.nan)}
    facts = [*relevance_facts(listed, settings), "ratio = cg / cg*"]
    return shared_steps(listed, columns, adds, divisor_within(listed, settings), facts)


def o_measure_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """The blended ratio at the first relevant document."""
    listed = listed_as(judged, settings)
    blend = _blend(listed, settings, settings["beta"])
    first = np.flatnonzero(blend.relevant)[:1]
    return _at(listed, blend, first, settings, "the first relevant document is at rank")


def p_measure_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """The blended ratio at the first document of the best grade retrieved."""
    listed = listed_as(judged, settings)
    blend = _blend(listed, settings, settings["beta"])
    return _at(listed, blend, _preferred(listed, blend), settings, "the first of the best documents is at rank")


def _preferred(listed: Listing, blend: Blend) -> NDArray[np.int64]:
    """The row of the first document of the best grade among relevant ones; none if there are none."""
    rows: NDArray[np.int64] = np.flatnonzero(blend.relevant)
    first: NDArray[np.int64] = rows[listed.grade[rows] == listed.grade[rows].max(initial=-np.inf)][:1]
    return first


def _at(listed: Listing, blend: Blend, row: NDArray[np.int64], settings: Mapping[str, Any], said: str) -> Steps:
    """The blended ratio at one row; relevant documents down to it make up its upper side."""
    text, value, shares = "0", 0.0, np.zeros(listed.rank.size)
    where = "no relevant document is there"
    if row.size:
        i = int(row[0])
        text, value = quotient(float(blend.above[i]), float(blend.below[i]))
        shares = np.where(listed.rank <= listed.rank[i], settings["beta"] * blend.gain + blend.relevant, 0.0)
        shares = shares / blend.below[i]
        where = f"{said} {listed.rank[i]}"
    facts = _facts(listed, settings, where)
    return steps_of(listed, blend.columns, arithmetic=text, value=value, facts=facts, shares=shares)


def p_plus_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """The mean blended ratio of the relevant documents down to the first of the best grade."""
    listed = listed_as(judged, settings)
    blend = _blend(listed, settings, settings["beta"])
    row = _preferred(listed, blend)
    last = int(row[0]) + 1 if row.size else 0
    adds = np.where(listed.rank <= last, blend.ratio, 0.0)
    facts = _facts(listed, settings, f"relevant documents count down to rank {last}, the first of the best")
    return shared_steps(listed, blend.columns, adds, int(blend.relevant[:last].sum()), facts)


def ncu_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """The blended ratio times the readers who stop there."""
    listed = listed_as(judged, settings)
    blend = _blend(listed, settings, settings["beta"])
    stopping, everybody = _readers(listed, blend, settings)
    columns = {**blend.columns, "readers": np.where(blend.relevant, stopping, np.nan)}
    fact = f"of {shown_number(everybody)} readers, the number that stops at each; times ratio, added up"
    return shared_steps(listed, columns, blend.ratio * stopping, everybody, _facts(listed, settings, fact))


def _readers(listed: Listing, blend: Blend, settings: Mapping[str, Any]) -> tuple[Floats, float]:
    """The readers who stop at each document, and all readers."""
    count, gamma = listed.relevant_count(settings["rel"]), settings["gamma"]
    if settings["stop"] == "uniform":
        return np.ones(listed.rank.size), float(count)
    if settings["stop"] == "rank_biased":
        return np.power(gamma, blend.found - 1.0), sum(gamma**i for i in range(count))
    willing = settings["stops"] or settings["gains"]
    ideal = listed.ideal[listed.ideal >= settings["rel"]]
    return gain_of(listed.grade, "linear", willing), float(gain_of(ideal, "linear", willing).sum())


def r_measure_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """The blended ratio of the documents at ranks 1 to R."""
    count = listed_as(judged, settings).relevant_count(settings["rel"])
    listed = listed_as(judged, settings, cutoff=count)
    blend, beta = _blend(listed, settings, settings["beta"]), settings["beta"]
    below = beta * float(_best_so_far(listed, settings, np.array([count]))[0]) + count
    adds = beta * blend.gain + blend.relevant
    text, value = quotient(float(adds.sum()), below)
    return steps_of(
        listed,
        blend.columns,
        arithmetic=text,
        value=value,
        facts=_facts(listed, settings, f"ranks 1 to R = {count} count: (beta cg + found) / (beta cg* + R)"),
        shares=adds / below if below else np.zeros(adds.size),
    )
