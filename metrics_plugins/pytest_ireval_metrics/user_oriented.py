"""Metrics of users: documents that they knew before, their effort to find as many as they want, and their sessions."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

import numpy as np

from pytest_ireval import JudgedRankings, MetricError, Param, Steps, metric, ratio, steps_of
from pytest_ireval_metrics.cumulated_gain import best_of_judged, discounted
from pytest_ireval_metrics.vocabulary import (
    Cutoff,
    Depth,
    Floats,
    Gain,
    Integers,
    Mask,
    MaxGrade,
    Persistence,
    Rel,
    discount_at,
    found_within,
    gain_of,
    listed_as,
    scale_top,
    shared_steps,
    shown_number,
)

KNOWN = {"1": True, "yes": True, "true": True, "0": False, "no": False, "false": False, "": False}
"""The cells of a column that says what the user knew before."""

Column = Annotated[
    str, Param("the column of the judgments that says which documents the user knew before: yes or no, 1 or 0")
]
Wanted = Annotated[
    int, Param("the number of relevant documents that the user wants; all of them, if fewer are relevant", low=1)
]


def _knows(judged: JudgedRankings, column: str) -> Mask:
    """For each judgment, True if the user knew the document before."""
    judgments = judged.judgments
    if judgments is None or column not in judgments.columns:
        there = ", ".join(judgments.columns) if judgments and judgments.columns else "none"
        raise MetricError(
            f"the judgments have no column {column!r} (other columns: {there}); add it to a table of judgments, with "
            "yes for each document that the user knew before"
        )
    cells = [str(cell).strip().lower() for cell in judgments.columns[column]]
    if odd := next((row for row, cell in enumerate(cells) if cell not in KNOWN), None):
        cell = judgments.columns[column][odd]
        raise MetricError(
            f"{judgments.place(odd)}: {column} is {cell!r}; allowed are yes and no, true and false, 1 and 0"
        )
    return np.array([KNOWN[cell] for cell in cells], bool)


def _known_steps(of_known: bool, judged: JudgedRankings, *, rel: float, column: str, cutoff: int | None) -> Steps:
    listed, knows = listed_as(judged, {"cutoff": cutoff}), _knows(judged, column)
    known = np.zeros(listed.rank.size)
    hits = judged.hits
    inside = hits.rank <= listed.rank.size
    known[hits.rank[inside] - 1] = knows[hits.judgment[inside]]
    relevant = listed.relevant(rel).astype(np.float64)
    adds = relevant * (known if of_known else 1 - known)
    expected = knows[judged.ideal.judgment[judged.ideal.grade >= rel]].sum() if of_known else relevant.sum()
    facts = [
        f"{shown_number(float(expected))} relevant documents that the user knew before"
        if of_known
        else f"{shown_number(float(expected))} relevant documents are found"
    ]
    return shared_steps(listed, {"relevant": relevant, "known": known, "adds": adds}, adds, float(expected), facts)


KNOWLEDGE = "the documents that the user knew decide which ranking is good"
TEXTBOOKS = (
    "R. Korfhage, Information storage and retrieval, 1997; R. Baeza-Yates, B. Ribeiro-Neto, Modern information "
    "retrieval, 2011."
)
known_metric = partial(
    metric,
    needs=("judgments",),
    not_promised={"perfect_is_best": KNOWLEDGE, "promotion_never_harms": KNOWLEDGE},
    reference=TEXTBOOKS,
)


@known_metric(name="CoverageRatio", steps=partial(_known_steps, True))
def coverage_ratio(judged: JudgedRankings, *, cutoff: Depth = None, rel: Rel = 1, column: Column = "known") -> Floats:
    """Share of the relevant documents that the user knew before which are found.

    Formula: CoverageRatio = known relevant documents found (at ranks 1 to k) / known relevant documents; 0 if she
        knew none
    Example: CoverageRatio of A b - | C = 1 / 2 = 0.5
    """
    knows = _knows(judged, column)
    ideal = judged.ideal
    known = knows[ideal.judgment] & (ideal.grade >= rel)
    found = judged.sum(knows[judged.hits.judgment] & found_within(judged, rel, cutoff))
    return ratio(found, np.bincount(ideal.query[known], minlength=judged.count))


@known_metric(name="NoveltyRatio", steps=partial(_known_steps, False))
def novelty_ratio(judged: JudgedRankings, *, cutoff: Depth = None, rel: Rel = 1, column: Column = "known") -> Floats:
    """Share of the relevant documents found that are new to the user.

    Formula: NoveltyRatio = relevant documents found (at ranks 1 to k) that the user did not know / relevant ones found;
        0 if none is found
    Example: NoveltyRatio of A b - | C = 1 / 2 = 0.5
    """
    found = found_within(judged, rel, cutoff)
    return ratio(judged.sum(~_knows(judged, column)[judged.hits.judgment] & found), judged.sum(found))


def _wanted(judged: JudgedRankings, wanted: int, rel: float) -> Integers:
    """Per query, the number of relevant documents that make the user stop."""
    return np.minimum(judged.relevant_count(rel), wanted)


def _last(judged: JudgedRankings, wanted: int, rel: float) -> tuple[Integers, Integers]:
    """The query and the row of the hit that completes what the user wants, of each query that has it."""
    so_far = judged.relevant_so_far(rel)
    goal = _wanted(judged, wanted, rel)[judged.hits.query]
    rows = np.flatnonzero(judged.relevant(rel) & (so_far == goal))
    return judged.hits.query[rows], rows


def _relative_recall_steps(judged: JudgedRankings, *, wanted: int, rel: float, cutoff: int | None) -> Steps:
    listed = listed_as(judged, {"cutoff": cutoff})
    relevant = listed.relevant(rel)
    goal = int(_wanted(judged, wanted, rel)[0])
    adds = (relevant & (np.cumsum(relevant) <= goal)).astype(np.float64)
    return shared_steps(listed, {"relevant": relevant, "adds": adds}, adds, goal, [f"{goal} documents are wanted"])


@metric(name="RelativeRecall", steps=_relative_recall_steps, reference=TEXTBOOKS, binary=True)
def relative_recall(judged: JudgedRankings, *, wanted: Wanted, cutoff: Depth = None, rel: Rel = 1) -> Floats:
    """Share of the relevant documents that the user wants which are found; more than she wants count no more.

    Formula: RelativeRecall = min(relevant documents found (at ranks 1 to k), w) / w, with w = min(wanted, R)
    Example: RelativeRecall(wanted=3) of 1 0 1 0 | 1 1 = 2 / 3 = 0.6667
    """
    goal = _wanted(judged, wanted, rel)
    return ratio(np.minimum(judged.sum(found_within(judged, rel, cutoff)), goal), goal)


def _recall_effort_steps(judged: JudgedRankings, *, wanted: int, rel: float) -> Steps:
    listed = listed_as(judged, {})
    relevant = listed.relevant(rel)
    goal, (_, rows) = int(_wanted(judged, wanted, rel)[0]), _last(judged, wanted, rel)
    read = int(judged.hits.rank[rows[0]]) if rows.size else 0
    adds = (relevant & (listed.rank <= read)).astype(np.float64)
    fact = f"{goal} documents are wanted; {f'they are read down to rank {read}' if read else 'the list has fewer'}"
    return shared_steps(listed, {"relevant": relevant, "adds": adds}, adds, read, [fact])


@metric(name="RecallEffort", steps=_recall_effort_steps, reference=TEXTBOOKS, binary=True)
def recall_effort(judged: JudgedRankings, *, wanted: Wanted, rel: Rel = 1) -> Floats:
    """Relevant documents that the user wants, divided by the documents that she reads to find them.

    Formula: RecallEffort = w / rank of the w-th relevant document, with w = min(wanted, R); 0 if the list has fewer
    Example: RecallEffort(wanted=2) of 0 1 0 1 1 = 2 / 4 = 0.5
    """
    query, rows = _last(judged, wanted, rel)
    found = np.zeros(judged.count)
    found[query] = _wanted(judged, wanted, rel)[query] / judged.hits.rank[rows]
    return found


def _search_length(judged: JudgedRankings, wanted: int, rel: float) -> tuple[Integers, Any, Any, Floats]:
    """Of each query that has what is wanted: irrelevant documents of higher scores, and of the same score as the last.

    And the share of the latter that is read on average, over all orders of equal scores.
    """
    query, rows = _last(judged, wanted, rel)
    hits, relevant = judged.hits, judged.relevant(rel)
    tied_from, tied_to = hits.tied_from[rows], hits.tied_to[rows]
    number = np.full(judged.count, -1)
    number[query] = np.arange(query.size)
    at = number[hits.query]
    known = relevant & (at >= 0)
    above = np.bincount(at[known], hits.rank[known] < tied_from[at[known]], minlength=query.size)
    same = np.bincount(
        at[known], (hits.rank[known] >= tied_from[at[known]]) & (hits.rank[known] <= tied_to[at[known]]), query.size
    )
    needed = _wanted(judged, wanted, rel)[query] - above
    return query, tied_from - 1 - above, tied_to - tied_from + 1 - same, needed / (same + 1)


def _search_length_steps(judged: JudgedRankings, *, wanted: int, cutoff: int, rel: float) -> Steps:
    listed, goal = listed_as(judged, {"cutoff": cutoff}), int(_wanted(judged, wanted, rel)[0])
    value = float(expected_search_length.batch(judged, wanted=wanted, cutoff=cutoff, rel=rel)[0])
    _, above, same, share = _search_length(judged, wanted, rel)
    text, fact = str(cutoff), f"the first {cutoff} documents count as read: {goal} relevant ones take no less"
    if not goal:
        text, fact = "0", "there are no relevant documents to look for"
    elif above.size and value < cutoff:
        text = shown_number(float(above[0])) + (
            f" + {same[0]:.0f} * {shown_number(float(share[0]))}" if same[0] else ""
        )
        fact = f"irrelevant documents before {goal} relevant ones; of those with the same score as the last, a share"
    return steps_of(listed, {"relevant": listed.relevant(rel)}, arithmetic=text, value=value, facts=[fact])


@metric(
    name="ESL",
    direction="lower",
    range=lambda settings: (0.0, float(settings.get("cutoff", np.inf))),
    no_relevant=None,
    binary=True,
    needs=("ties",),
    steps=_search_length_steps,
    spellings={"expected_search_length": {}},
)
def expected_search_length(judged: JudgedRankings, *, wanted: Wanted = 1, cutoff: Cutoff, rel: Rel = 1) -> Floats:
    """Expected search length: irrelevant documents that the user reads before she has the relevant ones she wants.

    Formula: ESL@k = j + i s / (r + 1), at most k: j irrelevant documents have higher scores than the w-th relevant one,
        i have the same score, and so do r relevant ones, s of which are still wanted; w = min(wanted, R); k if the
        list has fewer than w, 0 if R = 0
    Reference: W. Cooper, Expected search length: a single measure of retrieval effectiveness based on the weak ordering
        action of retrieval systems, American Documentation 19, 1968.
    Example: ESL(wanted=2)@10 of 0 1 0 0 1 = 3 + 0 = 3.0
    """
    query, above, same, share = _search_length(judged, wanted, rel)
    found = np.where(judged.relevant_count(rel) > 0, float(cutoff), 0.0)
    found[query] = np.minimum(above + same * share, cutoff)
    return found


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


def _place(judged: JudgedRankings) -> tuple[Integers, Floats, int]:
    """The session of each query (-1: none), its position there as a number from 1, and the number of sessions."""
    sessions = judged.sessions
    if sessions is None:
        raise MetricError("the queries have no sessions")
    return sessions.session, np.maximum(sessions.position, 1).astype(np.float64), len(sessions.names)


def _documents(judged: JudgedRankings) -> Integers:
    """For each judgment a number of its document: the same one in all queries."""
    judgments = judged.judgments
    if judgments is None:
        raise MetricError("the queries have no judgments")

    def numbered() -> Integers:
        known: dict[str, int] = {}
        return np.array([known.setdefault(text, len(known)) for text in judgments.documents.texts()], np.int64)

    return judged.remember_ideal("documents", numbered)


def _first_of_each(*keys: Integers | Floats) -> Integers:
    """The rows with the least last key among those whose other keys are equal; sorted by these keys."""
    order = np.lexsort(keys[::-1])
    new = np.ones(order.size, bool)
    new[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys[:-1]], axis=0)
    return order[new]


def _gaining(judged: JudgedRankings, repeats: str, cutoff: int | None = None) -> Integers:
    """The hits that gain: within the cutoff, of a grade above 0, and not again for a later query of the session."""
    hits, (session, position, _) = judged.hits, _place(judged)
    gains = (session[hits.query] >= 0) & (hits.grade > 0)
    rows = np.flatnonzero(gains if cutoff is None else gains & (hits.rank <= cutoff))
    if repeats == "count":
        return rows
    query, document = hits.query[rows], _documents(judged)[hits.judgment[rows]]
    return rows[_first_of_each(session[query], document, position[query])]


def _query_weight(position: Floats, bq: float) -> Floats:
    weight: Floats = 1.0 / (1.0 + np.log(position) / np.log(bq))
    return weight


def _session_dcg(judged: JudgedRankings, cutoff: int, gain: str, bq: float, repeats: str) -> Floats:
    session, position, count = _place(judged)
    rows = _gaining(judged, repeats, cutoff)
    query, rank = judged.hits.query[rows], judged.hits.rank[rows]
    adds = gain_of(judged.hits.grade[rows], gain) / discount_at(rank, "log2", 2) * _query_weight(position[query], bq)
    return np.bincount(session[query], adds, minlength=count).astype(np.float64)


def _best_session_dcg(judged: JudgedRankings, cutoff: int, gain: str, bq: float, repeats: str) -> Floats:
    """The sum of the best orders of all queries; with every document once, at most that of the best places."""
    session, position, count = _place(judged)
    weight, inside = _query_weight(position, bq), session >= 0
    best = discounted(*best_of_judged(judged, gain, None)[:3], judged.count, cutoff, "log2", 2) * weight
    by_query = np.bincount(session[inside], best[inside], minlength=count).astype(np.float64)
    if repeats == "count":
        return by_query
    ideal = judged.ideal
    rows = np.flatnonzero((ideal.grade > 0) & (session[ideal.query] >= 0))
    worth = gain_of(ideal.grade[rows], gain)
    of, document = session[ideal.query[rows]], _documents(judged)[ideal.judgment[rows]]
    once = _first_of_each(of, document, -worth)
    of, worth = of[once], worth[once]
    size = np.bincount(of, minlength=count)
    places = np.where(inside, np.minimum(cutoff, size[session]), 0)
    query = np.repeat(np.arange(judged.count), places)
    rank = np.arange(query.size) - np.repeat(np.cumsum(places) - places, places) + 1
    place_worth = weight[query] / discount_at(rank, "log2", 2)
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
    judged: JudgedRankings, *, cutoff: Cutoff, gain: Gain = "linear", bq: QueryBase = 4, repeats: Repeats = "ignore"
) -> Floats:
    """Sum of the DCG of the queries of a session, each discounted by its position: reformulating costs effort.

    Formula: SessionDCG@k = sum over the queries q = 1, 2, ... of a session of DCG@k(q) / (1 + log_bq(q)); documents
        that gained for an earlier query have no gain, unless repeats='count'
    Reference: K. Järvelin et al., Discounted cumulated gain based evaluation of multiple-query IR sessions, ECIR 2008
        (sDCG there; here letter case does not matter, and sDCG is read as SDCG).
    Example: SessionDCG@2 of a b, a c = (1 + 1/1.585) + (0 + 1/1.585) / 1.5 = 2.0515
    """
    return _session_dcg(judged, cutoff, gain, bq, repeats)


@session_metric(name="nSessionDCG", spellings={"nsDCG": {}})
def normalized_session_dcg(
    judged: JudgedRankings, *, cutoff: Cutoff, gain: Gain = "linear", bq: QueryBase = 4, repeats: Repeats = "ignore"
) -> Floats:
    """SessionDCG divided by the highest that its judged documents allow.

    Formula: nSessionDCG@k = SessionDCG@k / the best SessionDCG@k: the sum of the best orders of the queries; unless
        repeats='count', no more than all documents of the session, each once with its highest grade, at the places that
        count most
    Reference: E. Kanoulas et al., Evaluating multi-query sessions, SIGIR 2011; TREC Session tracks (nsDCG).
    Example: nSessionDCG@2 of a b, a c = 2.0515 / (1 + 1/1.5 + 1/1.585) = 0.8929
    """
    best = _best_session_dcg(judged, cutoff, gain, bq, repeats)
    return ratio(_session_dcg(judged, cutoff, gain, bq, repeats), best)


@session_metric(name="SessionRBP", spellings={"sRBP": {}})
def session_rbp(
    judged: JudgedRankings,
    *,
    p: Persistence = 0.8,
    b: Annotated[
        float,
        Param("how a reader goes on: 1 down the list, 0 always to the next query, between them either", low=0, high=1),
    ] = 0.5,
    max_grade: MaxGrade = None,
    repeats: Repeats = "ignore",
) -> Floats:
    """RBP of a session: a reader who goes on takes the next document, or the first one of the next query.

    Formula: SessionRBP = (1 - p) sum over queries q of ((p - bp) / (1 - bp))^(q - 1) sum over ranks i of (bp)^(i - 1)
        gain; gain = grade / max_grade, 0 for documents that gained for an earlier query (not in the paper)
    Reference: A. Lipani, B. Carterette, E. Yilmaz, From a user model for query sessions to session rank biased
        precision (sRBP), ICTIR 2019.
    Example: SessionRBP(p=0.5) of a b, a c = 0.5 * ((1 + 0.25) + 1/3 * (0 + 0.25)) = 0.6667
    """
    session, position, count = _place(judged)
    rows = _gaining(judged, repeats)
    query, rank = judged.hits.query[rows], judged.hits.rank[rows]
    reaches = np.power((p - b * p) / (1 - b * p), position[query] - 1) * np.power(b * p, rank - 1.0)
    gain = judged.hits.grade[rows] / scale_top(max_grade, judged)
    return np.bincount(session[query], (1 - p) * gain * reaches, minlength=count).astype(np.float64)
