"""Metrics of sessions: queries that a user asks one after the other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np

from pytest_ireval import JudgedRankings, Listing, MetricError, Param, list_session, metric, ratio, steps_for
from pytest_ireval_metrics.cumulated_gain import order_judged, sum_discounted
from pytest_ireval_metrics.vocabulary import (
    Cutoff,
    Discount,
    Floats,
    Gain,
    Integers,
    LogBase,
    Mask,
    compute_discount,
    compute_gain,
    format_number,
    make_sum_steps,
)

if TYPE_CHECKING:
    from pytest_ireval import Steps

QueryBase = Annotated[float, Param("the base of the logarithm that discounts later queries of the session", above=1)]
Repeats = Annotated[
    Literal["ignore", "count"],
    Param("a document that gained for an earlier query of the session: ignore gives no gain again, count does"),
]

ONCE = "a document that gains for one query of a session does not gain for a later one, which may grade it higher"
session_metric = partial(
    metric,
    unit="session",
    needs=("judgments", "sessions"),
    not_promised={"perfect_is_best": ONCE, "promotion_never_harms": ONCE},
)


def find_places_in_sessions(judged: JudgedRankings) -> tuple[Integers, Floats, int]:
    """The session of each query (-1: none), its position there as a number from 1, and the number of sessions."""
    sessions = judged.sessions
    if sessions is None:
        raise MetricError("the queries have no sessions")
    return sessions.session, np.maximum(sessions.position, 1).astype(np.float64), len(sessions.names)


def _number_documents(judged: JudgedRankings) -> Integers:
    """For each judgment a number of its document: the same one in all queries."""
    judgments = judged.judgments
    if judgments is None:
        raise MetricError("the queries have no judgments")

    def numbered() -> Integers:
        known: dict[str, int] = {}
        return np.array([known.setdefault(text, len(known)) for text in judgments.documents.texts()], np.int64)

    return judged.remember_ideal("documents", numbered)


def _find_first_of_each(*keys: Integers | Floats) -> Integers:
    """The rows with the least last key among those whose other keys are equal; sorted by these keys."""
    order = np.lexsort(keys[::-1])
    new = np.ones(order.size, bool)
    new[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys[:-1]], axis=0)
    return order[new]


def find_gaining_hits(judged: JudgedRankings, repeats: str, cutoff: int | None = None) -> Integers:
    """The hits that gain: within the cutoff, of a grade above 0, and not again for a later query of the session."""
    hits, (session, position, _) = judged.hits, find_places_in_sessions(judged)
    gains = (session[hits.query] >= 0) & (hits.grade > 0)
    rows = np.flatnonzero(gains if cutoff is None else gains & (hits.rank <= cutoff))
    if repeats == "count":
        return rows
    query, document = hits.query[rows], _number_documents(judged)[hits.judgment[rows]]
    return rows[_find_first_of_each(session[query], document, position[query])]


class SessionSettings(NamedTuple):
    """The arguments of SessionDCG."""

    cutoff: int
    gain: str
    discount: str
    log_base: float
    bq: float
    repeats: str

    def discount_queries(self, position: Floats) -> Floats:
        """The divisor of the DCG of a query at each position of its session."""
        divisor: Floats = 1.0 + np.log(position) / np.log(self.bq)
        return divisor


def _compute_session_dcg(judged: JudgedRankings, settings: SessionSettings) -> Floats:
    session, position, count = find_places_in_sessions(judged)
    rows = find_gaining_hits(judged, settings.repeats, settings.cutoff)
    query, rank = judged.hits.query[rows], judged.hits.rank[rows]
    discount = compute_discount(rank, settings.discount, settings.log_base)
    adds = compute_gain(judged.hits.grade[rows], settings.gain) / discount / settings.discount_queries(position[query])
    return np.bincount(session[query], adds, minlength=count).astype(np.float64)


def _compute_best_session_dcg(judged: JudgedRankings, settings: SessionSettings) -> Floats:
    """The sum of the best orders of all queries; with every document once, at most that of the best places."""
    cutoff, gain, discount, log_base = settings[:4]
    session, position, count = find_places_in_sessions(judged)
    divisor, inside = settings.discount_queries(position), session >= 0
    best = sum_discounted(*order_judged(judged, gain, None)[:3], judged.count, cutoff, discount, log_base) / divisor
    by_query = np.bincount(session[inside], best[inside], minlength=count).astype(np.float64)
    if settings.repeats == "count":
        return by_query
    ideal = judged.ideal
    rows = np.flatnonzero((ideal.grade > 0) & (session[ideal.query] >= 0))
    worth = compute_gain(ideal.grade[rows], gain)
    of, document = session[ideal.query[rows]], _number_documents(judged)[ideal.judgment[rows]]
    once = _find_first_of_each(of, document, -worth)
    of, worth = of[once], worth[once]
    size = np.bincount(of, minlength=count)
    places = np.where(inside, np.minimum(cutoff, size[session]), 0)
    query = np.repeat(np.arange(judged.count), places)
    rank = np.arange(query.size) - np.repeat(np.cumsum(places) - places, places) + 1
    place_worth = 1 / divisor[query] / compute_discount(rank, discount, log_base)
    their = session[query]
    best_places = np.lexsort((-place_worth, their))
    first = np.searchsorted(their[best_places], np.arange(count))
    order = np.lexsort((-worth, of))
    of, worth = of[order], worth[order]
    row = np.arange(of.size) - np.searchsorted(of, np.arange(count))[of]
    fits = row < np.bincount(their, minlength=count)[of]
    of, adds = of[fits], worth[fits] * place_worth[best_places[first[of[fits]] + row[fits]]]
    return np.minimum(by_query, np.bincount(of, adds, minlength=count))


@session_metric(name="SessionDCG", range=(0, np.inf))
def session_dcg(
    judged: JudgedRankings,
    *,
    cutoff: Cutoff,
    gain: Gain = "linear",
    discount: Discount = "log2",
    log_base: LogBase = 2,
    bq: QueryBase = 4,
    repeats: Repeats = "ignore",
) -> Floats:
    """Sum of the DCG of the queries of a session, each discounted by its position: reformulating costs effort.

    Formula: SessionDCG@k = sum over the queries q = 1, 2, ... of a session of DCG@k(q) / (1 + log_bq(q)); documents
        that gained for an earlier query have no gain, unless repeats='count'
    Reference: K. Järvelin et al., Discounted cumulated gain based evaluation of multiple-query IR sessions, ECIR 2008
        (sDCG there, with discount='jarvelin'; here letter case does not matter, and sDCG is read as SDCG).
    Example: SessionDCG@2 of a b, a c = (1 + 1/1.585) + (0 + 1/1.585) / 1.5 = 2.0515
    """
    return _compute_session_dcg(judged, SessionSettings(cutoff, gain, discount, log_base, bq, repeats))


@steps_for(session_dcg)
def _session_dcg_steps(judged: JudgedRankings, **arguments: Any) -> Steps:
    return _make_session_steps(judged, SessionSettings(**arguments), None)


def _make_session_steps(judged: JudgedRankings, settings: SessionSettings, best: float | None) -> Steps:
    """The gain of each document, and a second table with the sum of each query."""
    listed = list_session(judged, settings.cutoff)
    position = list_positions(listed)
    gain = np.where(mark_gaining(listed, settings.repeats), compute_gain(listed.grade, settings.gain), 0.0)
    discount = compute_discount(listed.rank, settings.discount, settings.log_base)
    queries, of_query = np.unique(position, return_inverse=True)
    dcg = np.bincount(of_query, gain / discount, queries.size)
    divisor = settings.discount_queries(queries.astype(np.float64))
    adds = gain / discount / divisor[of_query]
    facts = [f"k = {settings.cutoff}, the cutoff; discount of query q: 1 + log{settings.bq:g}(q)"]
    if settings.repeats == "ignore":
        facts.append("a document that gained for an earlier query has no gain")
    if best is not None:
        facts.append(f"{format_number(best)} is the highest sum that the judged documents allow")
    return make_sum_steps(
        listed,
        {"gain": gain, "discount": discount, "discounted": gain / discount, "adds": adds},
        adds,
        best,
        facts,
        terms=False,
        second_title="the queries of the session",
        second_table={"query": queries, "DCG": dcg, "discount": divisor, "discounted": dcg / divisor},
    )


def list_positions(listed: Listing) -> Integers:
    """For each document of the lists of a session, the position of its query."""
    if listed.position is None:
        raise MetricError("the list is not that of a session")
    return listed.position


def mark_gaining(listed: Listing, repeats: str) -> Mask:
    """True for the documents in the lists of a session that gain: of a grade above 0, and not gained before."""
    gaining = listed.judged & (listed.grade > 0)
    if repeats == "ignore":
        earlier: set[str] = set()
        for place, document in enumerate(listed.documents):  # by position
            gaining[place] &= document not in earlier
            if gaining[place]:
                earlier.add(document)
    return gaining


@session_metric(name="nSessionDCG", spellings={"nsDCG": {}})
def normalized_session_dcg(
    judged: JudgedRankings,
    *,
    cutoff: Cutoff,
    gain: Gain = "linear",
    discount: Discount = "log2",
    log_base: LogBase = 2,
    bq: QueryBase = 4,
    repeats: Repeats = "ignore",
) -> Floats:
    """SessionDCG divided by the highest that its judged documents allow.

    Formula: nSessionDCG@k = SessionDCG@k / the best SessionDCG@k: the sum of the best orders of the queries; unless
        repeats='count', no more than all documents of the session, each once with its highest grade, at the places that
        count most
    Reference: E. Kanoulas et al., Evaluating multi-query sessions, SIGIR 2011; TREC Session tracks (nsDCG).
    Example: nSessionDCG@2 of a b, a c = 2.0515 / (1 + 1/1.5 + 1/1.585) = 0.8929
    """
    settings = SessionSettings(cutoff, gain, discount, log_base, bq, repeats)
    return ratio(_compute_session_dcg(judged, settings), _compute_best_session_dcg(judged, settings))


@steps_for(normalized_session_dcg)
def _normalized_session_dcg_steps(judged: JudgedRankings, **arguments: Any) -> Steps:
    settings = SessionSettings(**arguments)
    return _make_session_steps(judged, settings, float(_compute_best_session_dcg(judged, settings)[0]))
