"""Metrics of what a user knows and wants, and RBP of sessions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from pytest_ireval import JudgedRankings, MetricError, Param, list_session, make_steps, metric, ratio, steps_for
from pytest_ireval_metrics.sessions import (
    Repeats,
    find_gaining_hits,
    find_places_in_sessions,
    list_positions,
    mark_gaining,
    session_metric,
)
from pytest_ireval_metrics.vocabulary import (
    Cutoff,
    Depth,
    Floats,
    Integers,
    Mask,
    MaxGrade,
    Persistence,
    Rel,
    find_top_grade,
    format_number,
    list_as_scored,
    make_sum_steps,
    mark_found,
)

if TYPE_CHECKING:
    from pytest_ireval import Steps

KNOWN = {"1": True, "yes": True, "true": True, "0": False, "no": False, "false": False, "": False}
"""The cells of a column that says what the user knew before."""

Column = Annotated[
    str, Param("the column of the judgments that says which documents the user knew before: yes or no, 1 or 0")
]
Wanted = Annotated[
    int, Param("the number of relevant documents that the user wants; all of them, if fewer are relevant", low=1)
]


def _mark_known(judged: JudgedRankings, column: str) -> Mask:
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


def _show_known(of_known: bool, judged: JudgedRankings, *, rel: float, column: str, cutoff: int | None) -> Steps:
    listed, knows = list_as_scored(judged, {"cutoff": cutoff}), _mark_known(judged, column)
    known = np.zeros(listed.rank.size)
    hits = judged.hits
    inside = hits.rank <= listed.rank.size
    known[hits.rank[inside] - 1] = knows[hits.judgment[inside]]
    relevant = listed.relevant(rel).astype(np.float64)
    adds = relevant * (known if of_known else 1 - known)
    expected = knows[judged.ideal.judgment[judged.ideal.grade >= rel]].sum() if of_known else relevant.sum()
    facts = [
        f"{format_number(float(expected))} relevant documents that the user knew before"
        if of_known
        else f"{format_number(float(expected))} relevant documents are found"
    ]
    return make_sum_steps(listed, {"relevant": relevant, "known": known, "adds": adds}, adds, float(expected), facts)


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


@known_metric(name="CoverageRatio")
def coverage_ratio(judged: JudgedRankings, *, cutoff: Depth = None, rel: Rel = 1, column: Column = "known") -> Floats:
    """Share of the relevant documents that the user knew before which are found.

    Formula: CoverageRatio = known relevant documents found (at ranks 1 to k) / known relevant documents; 0 if she
        knew none
    Example: CoverageRatio of A b - | C = 1 / 2 = 0.5
    """
    knows = _mark_known(judged, column)
    ideal = judged.ideal
    known = knows[ideal.judgment] & (ideal.grade >= rel)
    found = judged.sum(knows[judged.hits.judgment] & mark_found(judged, rel, cutoff))
    return ratio(found, np.bincount(ideal.query[known], minlength=judged.count))


steps_for(coverage_ratio)(partial(_show_known, True))


@known_metric(name="NoveltyRatio")
def novelty_ratio(judged: JudgedRankings, *, cutoff: Depth = None, rel: Rel = 1, column: Column = "known") -> Floats:
    """Share of the relevant documents found that are new to the user.

    Formula: NoveltyRatio = relevant documents found (at ranks 1 to k) that the user did not know / relevant ones found;
        0 if none is found
    Example: NoveltyRatio of A b - | C = 1 / 2 = 0.5
    """
    found = mark_found(judged, rel, cutoff)
    return ratio(judged.sum(~_mark_known(judged, column)[judged.hits.judgment] & found), judged.sum(found))


steps_for(novelty_ratio)(partial(_show_known, False))


def _find_wanted(judged: JudgedRankings, wanted: int, rel: float) -> Integers:
    """Per query, the number of relevant documents that make the user stop."""
    return np.minimum(judged.relevant_count(rel), wanted)


def _find_last(judged: JudgedRankings, wanted: int, rel: float) -> tuple[Integers, Integers]:
    """The query and the row of the hit that completes what the user wants, of each query that has it."""
    so_far = judged.relevant_so_far(rel)
    goal = _find_wanted(judged, wanted, rel)[judged.hits.query]
    rows = np.flatnonzero(judged.relevant(rel) & (so_far == goal))
    return judged.hits.query[rows], rows


@metric(name="RelativeRecall", reference=TEXTBOOKS, binary=True)
def relative_recall(judged: JudgedRankings, *, wanted: Wanted, cutoff: Depth = None, rel: Rel = 1) -> Floats:
    """Share of the relevant documents that the user wants which are found; more than she wants count no more.

    Formula: RelativeRecall = min(relevant documents found (at ranks 1 to k), w) / w, with w = min(wanted, R)
    Example: RelativeRecall(wanted=3) of 1 0 1 0 | 1 1 = 2 / 3 = 0.6667
    """
    goal = _find_wanted(judged, wanted, rel)
    return ratio(np.minimum(judged.sum(mark_found(judged, rel, cutoff)), goal), goal)


@steps_for(relative_recall)
def _relative_recall_steps(judged: JudgedRankings, *, wanted: int, rel: float, cutoff: int | None) -> Steps:
    listed = list_as_scored(judged, {"cutoff": cutoff})
    relevant = listed.relevant(rel)
    goal = int(_find_wanted(judged, wanted, rel)[0])
    adds = (relevant & (np.cumsum(relevant) <= goal)).astype(np.float64)
    return make_sum_steps(listed, {"relevant": relevant, "adds": adds}, adds, goal, [f"{goal} documents are wanted"])


@metric(name="RecallEffort", reference=TEXTBOOKS, binary=True)
def recall_effort(judged: JudgedRankings, *, wanted: Wanted, rel: Rel = 1) -> Floats:
    """Relevant documents that the user wants, divided by the documents that she reads to find them.

    Formula: RecallEffort = w / rank of the w-th relevant document, with w = min(wanted, R); 0 if the list has fewer
    Example: RecallEffort(wanted=2) of 0 1 0 1 1 = 2 / 4 = 0.5
    """
    query, rows = _find_last(judged, wanted, rel)
    found = np.zeros(judged.count)
    found[query] = _find_wanted(judged, wanted, rel)[query] / judged.hits.rank[rows]
    return found


@steps_for(recall_effort)
def _recall_effort_steps(judged: JudgedRankings, *, wanted: int, rel: float) -> Steps:
    listed = list_as_scored(judged, {})
    relevant = listed.relevant(rel)
    goal, (_, rows) = int(_find_wanted(judged, wanted, rel)[0]), _find_last(judged, wanted, rel)
    read = int(judged.hits.rank[rows[0]]) if rows.size else 0
    adds = (relevant & (listed.rank <= read)).astype(np.float64)
    fact = f"{goal} documents are wanted; {f'they are read down to rank {read}' if read else 'the list has fewer'}"
    return make_sum_steps(listed, {"relevant": relevant, "adds": adds}, adds, read, [fact])


def _compute_search_length(judged: JudgedRankings, wanted: int, rel: float) -> tuple[Integers, Any, Any, Floats]:
    """Of each query that has what is wanted: irrelevant documents of higher scores, and of the same score as the last.

    And the share of the latter that is read on average, over all orders of equal scores.
    """
    query, rows = _find_last(judged, wanted, rel)
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
    needed = _find_wanted(judged, wanted, rel)[query] - above
    return query, tied_from - 1 - above, tied_to - tied_from + 1 - same, needed / (same + 1)


@metric(
    name="ESL",
    direction="lower",
    range=lambda settings: (0.0, float(settings.get("cutoff", np.inf))),
    no_relevant=None,
    binary=True,
    needs=("ties",),
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
    query, above, same, share = _compute_search_length(judged, wanted, rel)
    found = np.where(judged.relevant_count(rel) > 0, float(cutoff), 0.0)
    found[query] = np.minimum(above + same * share, cutoff)
    return found


@steps_for(expected_search_length)
def _search_length_steps(judged: JudgedRankings, *, wanted: int, cutoff: int, rel: float) -> Steps:
    listed, goal = list_as_scored(judged, {"cutoff": cutoff}), int(_find_wanted(judged, wanted, rel)[0])
    value = float(expected_search_length.batch(judged, wanted=wanted, cutoff=cutoff, rel=rel)[0])
    _, above, same, share = _compute_search_length(judged, wanted, rel)
    text, fact = str(cutoff), f"the first {cutoff} documents count as read: {goal} relevant ones take no less"
    if not goal:
        text, fact = "0", "there are no relevant documents to look for"
    elif above.size and value < cutoff:
        text = format_number(float(above[0])) + (
            f" + {same[0]:.0f} * {format_number(float(share[0]))}" if same[0] else ""
        )
        fact = f"irrelevant documents before {goal} relevant ones; of those with the same score as the last, a share"
    return make_steps(listed, {"relevant": listed.relevant(rel)}, arithmetic=text, value=value, facts=[fact])


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
    session, position, count = find_places_in_sessions(judged)
    rows = find_gaining_hits(judged, repeats)
    query, rank = judged.hits.query[rows], judged.hits.rank[rows]
    reaches = _reach_in_session(position[query], rank, p, b)
    gain = judged.hits.grade[rows] / find_top_grade(max_grade, judged)
    return np.bincount(session[query], (1 - p) * gain * reaches, minlength=count).astype(np.float64)


@steps_for(session_rbp)
def _session_rbp_steps(judged: JudgedRankings, *, p: float, b: float, max_grade: float | None, repeats: str) -> Steps:
    listed = list_session(judged)
    reaches = _reach_in_session(list_positions(listed), listed.rank, p, b)
    gain = np.where(mark_gaining(listed, repeats), listed.grade, 0.0) / find_top_grade(max_grade, judged)
    columns = {"gain": gain, "reaches": reaches}
    total = float((gain * reaches).sum())
    return make_steps(
        listed,
        columns,
        arithmetic=f"(1 - {p:g}) * {format_number(total)}",
        value=(1 - p) * total,
        facts=["gain: the grade as a share of the top grade; reaches: the chance that a reader comes to the document"],
        shares=(1 - p) * gain * reaches,
    )


def _reach_in_session(position: Integers | Floats, rank: Integers, p: float, b: float) -> Floats:
    """The chance that a reader of a session comes to a document."""
    reaches: Floats = np.power((p - b * p) / (1 - b * p), position - 1.0) * np.power(b * p, rank - 1.0)
    return reaches
