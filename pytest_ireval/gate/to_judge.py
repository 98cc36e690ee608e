"""What to judge first: unjudged documents on which red or undecided comparisons depend; and ids that changed form."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.gate.material import Material, seen_of
from pytest_ireval.results.outcome import Diagnosis, Outcome
from pytest_ireval.results.suite_result import ToJudge
from pytest_ireval.retrieval.doors import some
from pytest_ireval.retrieval.ids import Ids
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.scan.tokens import Words
from pytest_ireval.rules.context import Seen, Unjudged
from pytest_ireval.rules.planning import INPUTS, Check
from pytest_ireval.rules.question import mean_of, weightless, weights_of
from pytest_ireval.rules.side import Side
from pytest_ireval.suites.options import RuleFacts
from pytest_ireval.suites.quantities import Tolerance
from pytest_ireval.text_table import counted

MOST_TO_JUDGE = 500
"""The most that are listed for a suite: more than anybody judges before the next run."""
MOST_EXPLAINED = 0.5
"""A plain cause that explains so much of the loss is to be removed first."""
STEPS = 40
"""This many halvings find a share."""
SLACK = 1e-6
"""A share of a number of documents may be off by rounding."""


class Open(NamedTuple):
    """What unjudged documents leave open for one outcome."""

    seen: Seen
    unjudged: Unjudged
    documents: tuple[ToJudge, ...]
    """Those of its slice."""
    weighted: bool
    """Whether its mean is."""
    tolerance: Tolerance
    """How far the figure may fall; not at all where the rule does not say."""


def with_what_to_judge(
    material: Material, checks: Sequence[Check], outcomes: Sequence[Outcome], causes: Sequence[Diagnosis] = ()
) -> tuple[tuple[Outcome, ...], tuple[ToJudge, ...]]:
    """The outcomes with a fact about what is open, and the documents to judge.

    Where ids were changed, or a plain cause explains most of the loss, judging does not help: nothing is listed.
    """
    by_id = {check.id: check for check in checks}
    asked = {each.id: by_id[each.id] for each in outcomes if _hangs(each, by_id[each.id])}
    if asked and changed_ids(material) is not None:
        return tuple(_renamed(each) if each.id in asked else each for each in outcomes), ()
    if any((cause.explained or 0) >= MOST_EXPLAINED and not cause.locates for cause in causes):
        return tuple(outcomes), ()
    told: list[Outcome] = []
    listed: list[ToJudge] = []
    for each in outcomes:
        outcome = each
        if each.id in asked:
            found = _open(asked[each.id], material)
            listed += found.documents if found else ()
            if found is not None:
                said = tuple(_break_even(found))
                before, after = (said, ()) if _is_beyond(found) else ((), said)
                outcome = replace(each, facts=(*before, *each.facts, *after, *_facts(found)))
        told.append(outcome)
    return tuple(told), _most_influential(listed)


def _hangs(outcome: Outcome, check: Check) -> bool:
    """Tell whether it compares a metric of queries, and is against the change, or cannot tell."""
    compares = check.asked is not None and check.asked.kind.compares and not outcome.missing_baseline
    metric = check.part.metric
    return (
        compares
        and metric is not None
        and metric.unit == "query"
        and (outcome.verdict in ("fail", "inconclusive") or outcome.warning)
    )


def _renamed(outcome: Outcome) -> Outcome:
    """A failure that says nothing of the ranking."""
    sentence = "Almost no ranked document has a known id, so this figure does not describe the ranking."
    return replace(
        outcome, sentence=sentence, facts=(f"see the outcome of {INPUTS}: were ids renamed?", *outcome.facts)
    )


def _open(check: Check, material: Material) -> Open | None:
    """None where nothing is open."""
    seen = seen_of(check, material)
    found = seen.unjudged(seen.metric)
    if found is None:
        return None
    inside = set(np.array(seen.population.queries.ids, object)[seen.population.mask(seen.slice)].tolist())
    documents = tuple(each for each in found.documents if each.query in inside)
    facts = check.asked.options.facts if check.asked else RuleFacts()
    return Open(seen, found, documents, facts.weighted, facts.tolerance_on(seen.slice.value) or Tolerance())


def _break_even(found: Open) -> Iterator[str]:
    """How many of the new unjudged documents would have to be relevant, and how many judges found to be.

    Each of them is relevant by the same chance. What a query gains by that is exact for one such document, and for
    more where they add up; else it has the right slope at 0 and the right end at 1.
    """
    seen, values, unjudged = found.seen, found.seen.paired(), found.unjudged
    new = [each for each in found.documents if each.now and not each.baseline and seen.sign * each.effect > 0]
    weights = weights_of(seen, values, weighted=found.weighted)
    if not new or unjudged.all_new is None or not values.place.size or weightless(weights):
        return
    alone = np.zeros(len(seen.population.queries))
    np.add.at(alone, [seen.population.queries.position[each.query] for each in new], [abs(each.effect) for each in new])
    alone = alone[values.place]
    together = np.maximum(0.0, np.nan_to_num(seen.sign * (unjudged.all_new[values.place] - values.gain)))
    chances = np.where(together > 0, alone / np.where(together > 0, together, 1.0), 1.0)
    fall, allowed = _fall(found)
    wanted = fall - allowed if fall > allowed else fall
    low, high = 0.0, 1.0
    if wanted <= 0 or mean_of(together, weights) < wanted:
        return
    for _ in range(STEPS):
        middle = (low + high) / 2
        enough = mean_of(together * (1.0 - (1.0 - middle) ** chances), weights) >= wanted
        low, high = (low, middle) if enough else (middle, high)
    yield f"break-even: {_needed_words(found, new, high, fall, allowed)}; {_judges_words(found, new)}"


def _fall(found: Open) -> tuple[float, float]:
    """How far the figure fell, and how far it may."""
    values = found.seen.paired()
    weights = weights_of(found.seen, values, weighted=found.weighted)
    if not values.place.size or weightless(weights):
        return 0.0, 0.0
    fall = -found.seen.sign * mean_of(values.gain, weights)
    return fall, found.tolerance.allowed(mean_of(values.before, weights))


def _is_beyond(found: Open) -> bool:
    fall, allowed = _fall(found)
    return fall > allowed


def _needed_words(found: Open, new: Sequence[ToJudge], share: float, fall: float, allowed: float) -> str:
    count = math.ceil(share * len(new) - SLACK)
    grade = found.unjudged.top_grade
    be = "be relevant" if grade is None else f"have the top grade {grade:g}"
    metric, verb = found.seen.metric, "fall" if found.seen.sign > 0 else "rise"
    what = f"{metric} to {verb} by no more than the tolerance" if fall > allowed > 0 else f"{metric} not to {verb}"
    if len(new) == 1:
        return f"the new unjudged document would have to {be} for {what}"
    of = f"{count} of {len(new)} new unjudged documents ({count / len(new):.0%})"
    return f"{of} would have to {be} for {what}"


def _judges_words(found: Open, new: Sequence[ToJudge]) -> str:
    """The share among judged documents at those ranks, each rank as often as new documents stand there."""
    there = found.unjudged.there
    ranks = np.array([each.now for each in new], np.int64)
    size = int(ranks.max()) + 1
    often = np.bincount(ranks, minlength=size)
    judged = relevant = np.zeros(size, np.int64)
    if there is not None:
        inside = found.seen.population.mask(found.seen.slice)[there.place] & (there.rank < size)
        judged = np.bincount(there.rank[inside], minlength=size)
        relevant = np.bincount(there.rank[inside & there.relevant], minlength=size)
    known = (often > 0) & (judged > 0)
    where = "at that rank" if np.count_nonzero(often) == 1 else "at those ranks"
    if not known.any():
        return f"no document {where} is judged"
    share = float((often[known] * relevant[known] / judged[known]).sum() / often[known].sum())
    if found.unjudged.top_grade is None:
        return f"judges found {share:.0%} relevant {where}"
    return f"judges gave it to {share:.0%} {where}"


def _facts(found: Open) -> Iterator[str]:
    """How much of a fall hangs on documents that nobody judged."""
    if found.unjudged.error:
        yield f"the effect of unjudged documents cannot be computed: {found.unjudged.error}"
    seen, values = found.seen, found.seen.paired()
    helping = sum(seen.sign * each.effect > 0 for each in found.documents)
    weights = weights_of(seen, values, weighted=found.weighted)
    if not helping or not values.place.size or weightless(weights):
        return
    best = found.unjudged.best[values.place]
    gain = mean_of(np.nan_to_num(seen.sign * (best - values.gain)), weights)
    fall = -seen.sign * mean_of(values.gain, weights)
    word = "fall" if seen.sign > 0 else "rise"
    it = "it" if helping == 1 else "them"
    much = f"up to {gain:.3f} of the {word} of {fall:.3f}" if gain < fall else f"all of the {word} of {fall:.3f}"
    if fall > 0:
        yield f"{counted(helping, 'unjudged document')} could explain {much}: judge {it} first (to_judge.tsv)"
    else:
        yield f"{counted(helping, 'unjudged document')} could add {gain:.3f}: judge {it} first (to_judge.tsv)"


def _most_influential(documents: Sequence[ToJudge]) -> tuple[ToJudge, ...]:
    """Each pair once, under the metric that it moves most as a share of what any document moves there."""
    largest: dict[str, float] = {}
    for each in documents:
        largest[each.metric] = max(largest.get(each.metric, 0.0), abs(each.effect))
    order = sorted(documents, key=lambda each: (-abs(each.effect) / largest[each.metric], -abs(each.effect)))
    once: dict[tuple[str, str], ToJudge] = {}
    for each in order:
        once.setdefault((each.query, each.document), each)
    return tuple(once.values())[:MOST_TO_JUDGE]


COLLAPSED = 1 / 3
"""What is left of the share of judged documents when most ids are others."""
ONCE_JUDGED = 0.2
"""Where less was judged before, nothing can be learnt from how much is now."""
MOST_CHANGED = 0.8
"""A ranker that breaks lists documents that somebody knows; so many strangers have other names."""
SHOWN = 3


def changed_ids(material: Material) -> InputError | None:
    """The error that says so; None where enough of the listed documents are known."""
    share = _share_of_strangers(material) if _collapsed(material) else 0.0
    if share < MOST_CHANGED:
        return None
    counts, judgments = material.counts, material.population.judgments
    assert judgments is not None  # noqa: S101 - without them there is no share that could collapse
    listed = _listed(material.now.rankings[0], counts.judged_depth)
    return InputError(
        Problem(
            f"{share:.0%} of the documents listed now stand neither in the judgments nor in the baseline's rankings; "
            f"were ids renamed? judged: {counts.judged_share:.0%} now, {counts.judged_share_before:.0%} in the "
            "baseline",
            place=material.now.origin,
            suggestion=f"listed: {some(listed.texts(np.arange(min(len(listed), SHOWN))))}; "
            f"judged: {some(judgments.documents.texts(np.arange(min(len(judgments), SHOWN))))}",
            allowed="list renamed documents in the suite: documents: {aliases: FILE}",
        )
    )


def _collapsed(material: Material) -> bool:
    """Tell whether far less is judged now than was in the baseline."""
    now, before = material.counts.judged_share, material.counts.judged_share_before
    return now is not None and before is not None and before >= ONCE_JUDGED and now < COLLAPSED * before


def _share_of_strangers(material: Material) -> float:
    """Which share of the documents listed now occurs for no query of the judgments or of the baseline."""
    judgments, before = material.population.judgments, material.baseline
    listed = _listed(material.now.rankings[0], material.counts.judged_depth)
    if judgments is None or before is None or not len(listed):
        return 0.0
    known = np.concatenate([judgments.documents.keys(), *_keys(before)])
    return float(1.0 - np.isin(listed.keys(), known).mean())


def _keys(side: Side) -> list[Words]:
    return [rankings.documents.keys() for rankings in side.rankings]


def _listed(rankings: Rankings, depth: int) -> Ids:
    """The first documents of all queries."""
    rank = np.arange(int(rankings.first[-1])) - np.repeat(rankings.first[:-1], np.diff(rankings.first))
    return rankings.documents.some(np.flatnonzero(rank < depth))
