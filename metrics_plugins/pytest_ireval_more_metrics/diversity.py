"""Metrics of diversity: judgments say which subtopics of a query a document is about."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, MetricError, Param, metric, ratio, steps_for
from pytest_ireval_metrics.cumulated_gain import order_by_gain, sum_discounted
from pytest_ireval_metrics.vocabulary import (
    Cutoff,
    Floats,
    Gain,
    Integers,
    Rel,
    compute_discount,
    compute_gain,
    condensable_metric,
    condense_if_asked,
    format_number,
    list_as_scored,
    make_sum_steps,
)

if TYPE_CHECKING:
    from pytest_ireval import Steps

Columns = dict[str, NDArray[Any]]
Discount = Callable[[Integers], Floats]

Alpha = Annotated[float, Param("the share of its worth that a subtopic loses with each document on it", low=0, high=1)]
Patience = Annotated[float, Param("the probability that a reader goes on to the next document", low=0, below=1)]
Share = Annotated[float, Param("the weight of iRec; D_nDCG has the rest", low=0, high=1)]

MOST_OVER_GREEDY = math.e / (math.e - 1)
"""The best order is found greedily: after any rank it has at least 1 - 1/e of what is possible, so a ranking can have
no more than this many times its value."""
TAKES_LAST_ID = "among equally good documents the best order takes the last id, as ndeval does"
DIVERSE: dict[str, Any] = {"needs": ("subtopics",)}
GREEDY = {**DIVERSE, "range": (0, MOST_OVER_GREEDY), "not_promised": {"names_of_documents": TAKES_LAST_ID}}
NEGLIGIBLE = 1e-20
"""Weights below this share of the first one change no sum."""


class _FoundPairs(NamedTuple):
    """Pairs of a retrieved document and a subtopic that it is relevant to, by query and subtopic, then by rank.

    ``seen`` counts the documents above that are relevant to the same subtopic, ``relevant`` all such documents.
    """

    query: Integers
    rank: Integers
    seen: Integers
    relevant: Integers


class _Subtopics(NamedTuple):
    """The pairs found, and per query the number of subtopics that have a relevant document."""

    found: _FoundPairs
    known: Integers


def _find_subtopics(judged: JudgedRankings, rel: float) -> _Subtopics:
    return judged.remember(("subtopics", rel), lambda: _count_subtopics(judged, rel))


def _list_pairs(judged: JudgedRankings) -> Any:
    if judged.subtopics is None:
        raise MetricError("the judgments have no subtopics")
    return judged.subtopics


def _list_relevant_pairs(judged: JudgedRankings, rel: float) -> Any:
    pairs = _list_pairs(judged)
    return pairs.at(pairs.grade >= rel)


def _count_subtopics(judged: JudgedRankings, rel: float) -> _Subtopics:
    pairs, hits = _list_relevant_pairs(judged, rel), judged.hits
    names = max(1, len(pairs.names))
    known, relevant = np.unique(pairs.query * names + pairs.subtopic, return_counts=True)
    entry, hit = _find_entries(pairs.row, hits.judgment)
    key = hits.query[hit] * names + pairs.subtopic[entry]
    order = np.argsort(key, kind="stable")  # hits are in order of rank, and so are those of one subtopic
    key, hit = key[order], hit[order]
    place = np.arange(key.size)
    new = np.ones(key.size, bool)
    new[1:] = key[1:] != key[:-1]
    seen = place - np.maximum.accumulate(np.where(new, place, 0))
    found = _FoundPairs(hits.query[hit], hits.rank[hit], seen, relevant[np.searchsorted(known, key)])
    return _Subtopics(found, np.bincount(known // names, minlength=judged.count))


def _find_entries(row: Integers, judgment: Integers) -> tuple[Integers, Integers]:
    """The places in ``row``, which is sorted, where each judgment stands; and the number of the judgment."""
    low, high = np.searchsorted(row, judgment), np.searchsorted(row, judgment, "right")
    size = high - low
    entry = np.repeat(low - np.cumsum(size) + size, size) + np.arange(int(size.sum()))
    return entry, np.repeat(np.arange(size.size), size)


def _sum_worth(
    judged: JudgedRankings, rel: float, worth: Callable[[_FoundPairs], Floats], cutoff: int | None = None
) -> Floats:
    """Per query, the sum of what pairs within the cutoff are worth."""
    found, known = _find_subtopics(judged, rel)
    values = worth(found)
    within = slice(None) if cutoff is None else found.rank <= cutoff
    return np.bincount(found.query[within], values[within], minlength=known.size).astype(np.float64)


def _weigh_novelty(discount: Discount, alpha: float) -> Callable[[_FoundPairs], Floats]:
    return lambda found: np.power(1.0 - alpha, found.seen) * discount(found.rank)


def _discount_by_log(rank: Integers) -> Floats:
    return 1.0 / compute_discount(rank, "log2", 2)


def _discount_by_rank(rank: Integers) -> Floats:
    return 1.0 / rank


def _discount_by_patience(beta: float) -> Discount:
    return lambda rank: np.power(beta, rank - 1.0)


def _find_depth(beta: float) -> int:
    """The rank below which a patient reader hardly ever comes."""
    return 1 if beta == 0 else 1 + math.ceil(math.log(NEGLIGIBLE) / math.log(beta))


BLOCK = 1_000_000
"""The number of ranks that are added up at a time."""


def _compute_most(discount: Discount, alpha: float, cutoff: int) -> float:
    """The value of one subtopic if every document is about it; a ranking is divided by it for each subtopic."""
    if 0 < alpha < 1:
        cutoff = min(cutoff, 1 + math.ceil(math.log(NEGLIGIBLE) / math.log1p(-alpha)))
    ranks = (np.arange(first, min(first + BLOCK, cutoff + 1)) for first in range(1, cutoff + 1, BLOCK))
    return math.fsum(float((np.power(1.0 - alpha, rank - 1.0) * discount(rank)).sum()) for rank in ranks)


def _compute_best(judged: JudgedRankings, discount: Discount, alpha: float, rel: float, depth: int) -> Floats:
    """Per query, what the best order of all judged documents adds up to."""
    gains = _find_best_gains(judged, alpha, rel, depth)
    best: Floats = (gains * discount(np.arange(1, gains.shape[0] + 1))[:, None]).sum(axis=0)
    return best


def _find_best_gains(judged: JudgedRankings, alpha: float, rel: float, depth: int) -> Floats:
    """A row for each rank of the best order, a column for each query: what the document there gains."""
    key = ("best of subtopics", alpha, rel, depth)

    def made() -> Floats:
        gains = [*_choose_greedily(judged, alpha, rel, depth)]
        return np.array(gains, np.float64).reshape(len(gains), judged.count)

    return judged.remember_ideal(key, made)


SAME = 12
"""Decimals to which equal gains agree, whatever the order in which they were added."""


def _choose_greedily(judged: JudgedRankings, alpha: float, rel: float, depth: int) -> Iterator[Floats]:
    """The gains at one rank after the other, of all queries at once; each choice depends on those above it."""
    pairs = _list_relevant_pairs(judged, rel)
    pairs = pairs.at(np.lexsort((pairs.subtopic, pairs.document, pairs.query)))
    new = np.ones(pairs.row.size, bool)
    new[1:] = pairs.row[1:] != pairs.row[:-1]
    document, query = np.cumsum(new) - 1, pairs.query[new]
    _, subtopic = np.unique(pairs.query * max(1, len(pairs.names)) + pairs.subtopic, return_inverse=True)
    places = np.arange(query.size)
    first = np.flatnonzero(np.diff(query, prepend=-1))
    size = np.diff(first, append=query.size)
    left, worth = np.ones(query.size, bool), np.ones(subtopic.size)
    for _ in range(min(depth, int(size.max(initial=0)))):
        gain = np.bincount(document, worth[subtopic], minlength=query.size)
        compared = np.where(left, np.round(gain, SAME), -1.0)
        best = np.repeat(np.maximum.reduceat(compared, first), size)
        chosen = np.maximum.reduceat(np.where(left & (compared == best), places, -1), first)
        there = chosen >= 0
        chosen, gains = chosen[there], np.zeros(judged.count)
        gains[query[first[there]]] = gain[chosen]
        left[chosen] = False
        taken = np.zeros(query.size, bool)
        taken[chosen] = True
        worth[subtopic[taken[document]]] *= 1.0 - alpha
        yield gains


def _make_pair_steps(
    judged: JudgedRankings,
    settings: dict[str, Any],
    worth: Callable[[_FoundPairs], Floats],
    below: Callable[[int], float],
    facts: list[str],
    best: Columns | None = None,
) -> Steps:
    """The value of each document by its subtopics, divided by what ``below`` makes of the number of subtopics."""
    listed = list_as_scored(judged, settings)
    found, known = _find_subtopics(condense_if_asked(judged, settings), settings["rel"])
    within = found.rank <= listed.rank.size
    place = found.rank[within] - 1
    adds = np.bincount(place, worth(found)[within], minlength=listed.rank.size).astype(np.float64)
    return make_sum_steps(
        listed,
        {"subtopics": np.bincount(place, minlength=listed.rank.size), "adds": adds, "sum": np.cumsum(adds)},
        adds,
        below(int(known[0])),
        [f"{known[0]} subtopics have a relevant document (grade {settings['rel']:g} or more)", *facts],
        terms=False,
        second_title="the best order of all judged documents, found greedily",
        second_table=best,
    )


def _make_cascade_steps(
    words: str, discount: Discount | None = None, *, normalized: bool = False
) -> Callable[..., Steps]:
    """Steps of a metric that counts repetitions less; without a discount, a rank counts by the reader's patience."""

    def steps(judged: JudgedRankings, *, alpha: float, **settings: Any) -> Steps:
        if discount is not None:
            of_rank, depth, most = discount, settings["cutoff"], _compute_most(discount, alpha, settings["cutoff"])
        else:
            beta = settings["beta"]
            of_rank, depth, most = _discount_by_patience(beta), _find_depth(beta), 1 / (1 - (1 - alpha) * beta)
        said = words.format(**settings)
        facts = [f"adds = sum over its subtopics of {format_number(1 - alpha)}^(documents above about it) {said}"]
        worth = _weigh_novelty(of_rank, alpha)
        if not normalized:
            facts.append(f"the sum is divided by the number of subtopics times {format_number(most)}")
            return _make_pair_steps(judged, settings, worth, lambda count: count * most, facts)
        gain = _find_best_gains(judged, alpha, settings["rel"], depth)[:, 0]
        best = _make_discount_columns(gain, of_rank)
        return _make_pair_steps(judged, settings, worth, lambda _: float(best["adds"].sum()), facts, best)

    return steps


def _make_discount_columns(gain: Floats, discount: Discount) -> Columns:
    rank = np.arange(1, gain.size + 1)
    adds = gain * discount(rank)
    return {"rank": rank, "gain": gain, "adds": adds, "sum": np.cumsum(adds)}


def _refuse_cutoff_1(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of ir_measures, where the value at cutoff 1 is another one."""
    if given.get("cutoff") == 1:
        raise MetricError("at cutoff 1, ir_measures does not divide by the number of subtopics; take another cutoff")
    return {**given}


@condensable_metric(name="ERR_IA", dialects={"ir_measures": _refuse_cutoff_1}, **DIVERSE)
def err_ia(judged: JudgedRankings, *, cutoff: Cutoff, alpha: Alpha = 0.5, rel: Rel = 1) -> Floats:
    """ERR of each subtopic, averaged over subtopics, divided by the value of documents about every subtopic.

    Formula: ERR_IA@k = sum over ranks i to k, subtopics s of i of (1 - alpha)^seen(s, i) / i, divided by S sum of
        (1 - alpha)^(i - 1) / i; S subtopics have a relevant document, seen(s, i) documents above i are about s
    Reference: O. Chapelle et al., Intent-based diversification of web search results, Information Retrieval 14, 2011.
    Example: ERR_IA@2 of ab a = (2 + 0.5/2) / (2 * (1 + 0.5/2)) = 0.9
    """
    reached = _sum_worth(judged, rel, _weigh_novelty(_discount_by_rank, alpha), cutoff)
    return ratio(reached, _find_subtopics(judged, rel).known * _compute_most(_discount_by_rank, alpha, cutoff))


steps_for(err_ia)(_make_cascade_steps("/ rank", _discount_by_rank))


@condensable_metric(name="nERR_IA", **GREEDY)
def nerr_ia(judged: JudgedRankings, *, cutoff: Cutoff, alpha: Alpha = 0.5, rel: Rel = 1) -> Floats:
    """ERR_IA divided by that of the best order, which is found greedily: a value can be slightly above 1.

    Formula: nERR_IA@k = ERR_IA@k / ERR_IA@k of the order in which each next document has the most new gain
    Reference: C. Clarke et al., A comparative analysis of cascade measures for novelty and diversity, WSDM 2011.
    Example: nERR_IA@2 of a a | ab = (1 + 0.5/2) / (2 + 0.5/2) = 0.5556
    """
    reached = _sum_worth(judged, rel, _weigh_novelty(_discount_by_rank, alpha), cutoff)
    return ratio(reached, _compute_best(judged, _discount_by_rank, alpha, rel, cutoff))


steps_for(nerr_ia)(_make_cascade_steps("/ rank", _discount_by_rank, normalized=True))


@condensable_metric(
    name="alpha_DCG",
    spellings={"\N{GREEK SMALL LETTER ALPHA}_DCG": {}},
    dialects={"ir_measures": _refuse_cutoff_1},
    **DIVERSE,
)
def alpha_dcg(judged: JudgedRankings, *, cutoff: Cutoff, alpha: Alpha = 0.5, rel: Rel = 1) -> Floats:
    """DCG in which each repetition of a subtopic counts less, divided by the value of documents about every subtopic.

    Formula: alpha_DCG@k = sum over ranks i to k, subtopics s of i of (1 - alpha)^seen(s, i) / log2(i + 1), divided by
        S sum of (1 - alpha)^(i - 1) / log2(i + 1); S and seen as in ERR_IA
    Reference: C. Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR 2008; ndeval.
    Example: alpha_DCG@2 of ab a = (2 + 0.5/1.585) / (2 * (1 + 0.5/1.585)) = 0.8801
    """
    reached = _sum_worth(judged, rel, _weigh_novelty(_discount_by_log, alpha), cutoff)
    return ratio(reached, _find_subtopics(judged, rel).known * _compute_most(_discount_by_log, alpha, cutoff))


steps_for(alpha_dcg)(_make_cascade_steps("/ log2(rank + 1)", _discount_by_log))


@condensable_metric(name="alpha_nDCG", spellings={"\N{GREEK SMALL LETTER ALPHA}_nDCG": {}}, **GREEDY)
def alpha_ndcg(judged: JudgedRankings, *, cutoff: Cutoff, alpha: Alpha = 0.5, rel: Rel = 1) -> Floats:
    """alpha_DCG divided by that of the best order, which is found greedily: a value can be slightly above 1.

    Formula: alpha_nDCG@k = alpha_DCG@k / alpha_DCG@k of the order in which each next document has the most new gain
    Reference: C. Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR 2008; ndeval.
    Example: alpha_nDCG@2 of a a | ab = (1 + 0.5/1.585) / (2 + 0.5/1.585) = 0.5681
    """
    reached = _sum_worth(judged, rel, _weigh_novelty(_discount_by_log, alpha), cutoff)
    return ratio(reached, _compute_best(judged, _discount_by_log, alpha, rel, cutoff))


steps_for(alpha_ndcg)(_make_cascade_steps("/ log2(rank + 1)", _discount_by_log, normalized=True))


@metric(name="NRBP", **DIVERSE)
def nrbp(judged: JudgedRankings, *, alpha: Alpha = 0.5, beta: Patience = 0.5, rel: Rel = 1) -> Floats:
    """RBP in which each repetition of a subtopic counts less, averaged over subtopics.

    Formula: NRBP = (1 - (1 - alpha) beta) / S sum over ranks i, subtopics s of i of (1 - alpha)^seen(s, i) beta^(i - 1)
    Reference: C. Clarke, M. Kolla, O. Vechtomova, An effectiveness measure for ambiguous and underspecified queries,
        ICTIR 2009; ndeval.
    Example: NRBP of ab a = 0.75 / 2 * (2 + 0.5 * 0.5) = 0.8438
    """
    reached = _sum_worth(judged, rel, _weigh_novelty(_discount_by_patience(beta), alpha))
    return ratio(reached * (1 - (1 - alpha) * beta), _find_subtopics(judged, rel).known)


steps_for(nrbp)(_make_cascade_steps("* {beta:g}^(rank - 1)"))


@metric(name="nNRBP", **GREEDY)
def nnrbp(judged: JudgedRankings, *, alpha: Alpha = 0.5, beta: Patience = 0.5, rel: Rel = 1) -> Floats:
    """NRBP divided by that of the best order, which is found greedily: a value can be slightly above 1.

    Formula: nNRBP = NRBP / NRBP of the order in which each next document has the most new gain
    Reference: C. Clarke, M. Kolla, O. Vechtomova, ICTIR 2009; ndeval.
    Example: nNRBP of a a | ab = (1 + 0.5 * 0.5) / (2 + 0.5 * 0.5 + 0.25 * 0.25) = 0.5405
    """
    reached = _sum_worth(judged, rel, _weigh_novelty(_discount_by_patience(beta), alpha))
    return ratio(reached, _compute_best(judged, _discount_by_patience(beta), alpha, rel, _find_depth(beta)))


steps_for(nnrbp)(_make_cascade_steps("* {beta:g}^(rank - 1)", normalized=True))


def _weigh_by_precision(found: _FoundPairs) -> Floats:
    share: Floats = (found.seen + 1) / found.rank / found.relevant
    return share


def _weigh_equally(found: _FoundPairs) -> Floats:
    return np.ones(found.rank.size)


def _weigh_first(found: _FoundPairs) -> Floats:
    return np.where(found.seen == 0, 1.0, 0.0)


def _make_counting_steps(worth: Callable[[_FoundPairs], Floats], adds: str, by: str = "") -> Callable[..., Steps]:
    """Steps of a metric that divides by the number of subtopics, and by the setting ``by`` if there is one."""

    def steps(judged: JudgedRankings, **settings: Any) -> Steps:
        times = settings.get(by, 1)
        facts = [f"adds = {adds}", f"the sum is divided by the number of subtopics{f' times {times}' if by else ''}"]
        return _make_pair_steps(judged, settings, worth, lambda count: float(count * times), facts)

    return steps


AVERAGE_STEPS = _make_counting_steps(
    _weigh_by_precision, "sum over its subtopics of (documents about it so far) / rank / (all documents about it)"
)
PRECISION_STEPS = _make_counting_steps(_weigh_equally, "the number of its subtopics", "cutoff")
RECALL_STEPS = _make_counting_steps(_weigh_first, "the number of its subtopics that no document above is about")


@condensable_metric(name="AP_IA", spellings={"MAP_IA": {}}, **DIVERSE)
def ap_ia(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Average precision of each subtopic, averaged over the subtopics that have a relevant document.

    Formula: AP_IA = (1/S) sum over subtopics s of AP with the documents about s as relevant ones
    Reference: R. Agrawal et al., Diversifying search results, WSDM 2009; ndeval's MAP-IA.
    Example: AP_IA of ab - a = ((1 + 2/3) / 2 + 1) / 2 = 0.9167
    """
    return ratio(_sum_worth(judged, rel, _weigh_by_precision), _find_subtopics(judged, rel).known)


steps_for(ap_ia)(AVERAGE_STEPS)


@condensable_metric(name="P_IA", **DIVERSE)
def p_ia(judged: JudgedRankings, *, cutoff: Cutoff, rel: Rel = 1) -> Floats:
    """Precision of each subtopic, averaged over the subtopics that have a relevant document.

    Formula: P_IA@k = (1/S) sum over subtopics s of (documents about s at ranks 1 to k) / k
    Reference: R. Agrawal et al., Diversifying search results, WSDM 2009; ndeval.
    Example: P_IA@3 of ab - a = (2/3 + 1/3) / 2 = 0.5
    """
    return ratio(_sum_worth(judged, rel, _weigh_equally, cutoff), _find_subtopics(judged, rel).known * cutoff)


steps_for(p_ia)(PRECISION_STEPS)


@metric(name="StRecall", spellings={"strec": {}, "iRec": {}}, **DIVERSE)
def st_recall(judged: JudgedRankings, *, cutoff: Cutoff, rel: Rel = 1) -> Floats:
    """Share of the subtopics that the first documents are about (intent recall, I-rec, at NTCIR).

    Formula: StRecall@k = (subtopics of the documents at ranks 1 to k) / S
    Reference: C. Zhai, W. Cohen, J. Lafferty, Beyond independent relevance, SIGIR 2003; ndeval's strec.
    Example: StRecall@2 of a a b | c = 1 / 3 = 0.3333
    """
    return ratio(_sum_worth(judged, rel, _weigh_first, cutoff), _find_subtopics(judged, rel).known)


steps_for(st_recall)(RECALL_STEPS)


def _compute_global_gains(judged: JudgedRankings, gain: str) -> tuple[Integers, Floats, Floats]:
    """Query and gain of each judged document that has subtopics, and the gain of each hit: sums over its subtopics."""
    pairs = _list_pairs(judged)
    worth = compute_gain(pairs.grade, gain)
    row, first, place = np.unique(pairs.row, return_index=True, return_inverse=True)
    entry, hit = _find_entries(pairs.row, judged.hits.judgment)
    of_hits = np.bincount(hit, worth[entry], minlength=judged.hits.rank.size).astype(np.float64)
    return pairs.query[first], np.bincount(place, worth, minlength=row.size).astype(np.float64), of_hits


def _compute_d_ndcg(judged: JudgedRankings, cutoff: int, gain: str) -> Floats:
    query, worth, of_hits = _compute_global_gains(judged, gain)
    hits = judged.hits
    reached = sum_discounted(hits.query, hits.rank, of_hits, judged.count, cutoff, "log2", 2)
    best = order_by_gain(query, worth, judged.count)
    return ratio(reached, sum_discounted(*best[:3], judged.count, cutoff, "log2", 2))


@condensable_metric(name="D_nDCG", **DIVERSE)
def d_ndcg(judged: JudgedRankings, *, cutoff: Cutoff, gain: Gain = "linear") -> Floats:
    """The nDCG in which a document's gain is the sum of its gains for the subtopics, all of which are equally likely.

    Formula: D_nDCG@k = sum over ranks i to k of G_i / log2(i + 1), divided by the same of the judged documents sorted
        by G; G = sum over subtopics s of gain(grade for s)
    Reference: T. Sakai, R. Song, Evaluating diversified search results using per-intent graded relevance, SIGIR 2011.
    Example: D_nDCG@2 of a ab = (1 + 2/1.585) / (2 + 1/1.585) = 0.8597
    """
    return _compute_d_ndcg(judged, cutoff, gain)


@steps_for(d_ndcg)
def _d_ndcg_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed = list_as_scored(judged, settings)
    judged = condense_if_asked(judged, settings)
    query, worth, of_hits = _compute_global_gains(judged, settings["gain"])
    within = judged.hits.rank <= listed.rank.size
    gain = np.zeros(listed.rank.size)
    gain[judged.hits.rank[within] - 1] = of_hits[within]
    columns = _make_discount_columns(gain, _discount_by_log)
    best = _make_discount_columns(order_by_gain(query, worth, 1).gain[: settings["cutoff"]], _discount_by_log)
    among, shown = float(best["adds"].sum()), {name: columns[name] for name in ("gain", "adds", "sum")}
    facts = ["gain = sum of the gains for its subtopics; adds = gain / log2(rank + 1)"]
    return make_sum_steps(
        listed,
        shown,
        columns["adds"],
        among,
        facts,
        terms=False,
        second_title="the best order of all judged documents",
        second_table=best,
    )


@condensable_metric(name="Dsharp_nDCG", **DIVERSE)
def d_sharp_ndcg(
    judged: JudgedRankings, *, cutoff: Cutoff, gamma: Share = 0.5, gain: Gain = "linear", rel: Rel = 1
) -> Floats:
    """Weighted mean of iRec (StRecall), the share of subtopics found, and D_nDCG.

    Formula: Dsharp_nDCG@k = gamma iRec@k + (1 - gamma) D_nDCG@k
    Reference: T. Sakai, R. Song, Evaluating diversified search results using per-intent graded relevance, SIGIR 2011.
    Example: Dsharp_nDCG@1 of a ab = 0.5 * 1/2 + 0.5 * 1/2 = 0.5
    """
    recall = ratio(_sum_worth(judged, rel, _weigh_first, cutoff), _find_subtopics(judged, rel).known)
    return gamma * recall + (1 - gamma) * _compute_d_ndcg(judged, cutoff, gain)


@steps_for(d_sharp_ndcg)
def _d_sharp_steps(judged: JudgedRankings, *, gamma: float, rel: float, **settings: Any) -> Steps:
    recall, worth = RECALL_STEPS(judged, rel=rel, **settings), _d_ndcg_steps(judged, **settings)
    if recall.shares is None or worth.shares is None:
        raise MetricError("the steps of StRecall and D_nDCG must have shares")
    pairs = zip(recall.shares.values, worth.shares.values, strict=True)
    shares = tuple(gamma * (new or 0.0) + (1 - gamma) * (gained or 0.0) for new, gained in pairs)
    return replace(
        worth,
        columns=(replace(recall.shares, name="new"), *worth.columns),
        arithmetic=f"{gamma:g} * {format_number(recall.value)} + {1 - gamma:g} * {worth.arithmetic}",
        value=gamma * recall.value + (1 - gamma) * worth.value,
        facts=("new = its share of all subtopics that no document above is about; their sum is iRec", *worth.facts),
        shares=replace(worth.shares, values=shares),
    )
