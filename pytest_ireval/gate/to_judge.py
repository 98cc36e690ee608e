"""Lists the unjudged documents to judge first, on which red or undecided comparisons depend."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pytest_ireval.gate.apply import make_context
from pytest_ireval.gate.check_inputs import find_changed_ids
from pytest_ireval.gate.planning import INPUTS, Check, RuleCheck, select_rule_checks
from pytest_ireval.gate.score import Scores
from pytest_ireval.results.outcome import Diagnosis, Outcome
from pytest_ireval.results.suite_result import ToJudge
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.metric_change import has_no_weight, select_weights, weighted_mean
from pytest_ireval.sides.unjudged_effect import UnjudgedEffect
from pytest_ireval.suite.quantities import Tolerance
from pytest_ireval.words import format_count

MOST_TO_JUDGE = 500
"""The most that are listed for a suite: more than a team judges before the next run."""


class PossibleEffect(NamedTuple):
    """The possible effect of unjudged documents on one outcome."""

    context: RuleContext
    unjudged: UnjudgedEffect
    documents: tuple[ToJudge, ...]
    """Those of its slice."""
    weighted: bool
    tolerance: Tolerance
    """The allowed fall of the figure; 0 where the rule does not say."""


class JudgingAdvice(NamedTuple):
    """What to judge, and the outcomes with what unjudged documents may change in them."""

    outcomes: tuple[Outcome, ...]
    to_judge: tuple[ToJudge, ...] = ()


def advise_judging(
    scores: Scores, checks: Sequence[Check], outcomes: Sequence[Outcome], causes: Sequence[Diagnosis] = ()
) -> JudgingAdvice:
    """Add to the outcomes facts about unjudged documents, and list the documents to judge.

    Where ids were changed, or a plain cause explains most of the loss, judging does not help: nothing is listed.
    """
    by_id = {outcome.id: outcome for outcome in outcomes}
    depending = [
        check
        for check in select_rule_checks(checks)
        if check.id in by_id and _depends_on_judgments(by_id[check.id], check)
    ]
    if depending and find_changed_ids(scores) is not None:
        ids = {check.id for check in depending}
        renamed = (_report_renamed_ids(outcome) if outcome.id in ids else outcome for outcome in outcomes)
        return JudgingAdvice(tuple(renamed))
    if any(cause.is_most and not cause.locates for cause in causes):
        return JudgingAdvice(tuple(outcomes))
    effects = {check.id: find_possible_effect(check, scores) for check in depending}
    listed = [document for effect in effects.values() if effect is not None for document in effect.documents]
    with_facts = tuple(_add_facts(outcome, effects.get(outcome.id)) for outcome in outcomes)
    return JudgingAdvice(with_facts, _choose_most_influential(listed))


def _add_facts(outcome: Outcome, found: PossibleEffect | None) -> Outcome:
    if found is None:
        return outcome
    if found.unjudged.error:
        error = f"the effect of unjudged documents cannot be computed: {found.unjudged.error}"
        return replace(outcome, facts=(*outcome.facts, error))
    if found.context.metric.aggregate != "mean":  # changes of queries do not add up to that of a sum or a percentile
        return outcome
    even = tuple(_describe_break_even(found))
    fall, allowed = _measure_fall(found)
    before, after = (even, ()) if fall > allowed else ((), even)
    return replace(outcome, facts=(*before, *outcome.facts, *after, *_describe_effect(found)))


def _depends_on_judgments(outcome: Outcome, check: RuleCheck) -> bool:
    """Tell whether it compares a metric of queries, and is against the change, or cannot tell."""
    metric = check.part.metric
    if not check.rule.compares or metric is None or metric.unit != "query":
        return False
    return not outcome.missing_baseline and (outcome.verdict in ("fail", "inconclusive") or outcome.warning)


def _report_renamed_ids(outcome: Outcome) -> Outcome:
    """Say that the failure does not describe the ranking."""
    sentence = "Almost no ranked document has a known id, so this figure does not describe the ranking."
    facts = (f"see the outcome of {INPUTS}: were ids renamed?", *outcome.facts)
    return replace(outcome, sentence=sentence, facts=facts)


def find_possible_effect(check: RuleCheck, scores: Scores) -> PossibleEffect | None:
    """The possible effect on a check; None where no unjudged document matters."""
    context = make_context(check, scores)
    found = None if context is None else context.unjudged_effect()
    if context is None or found is None:
        return None
    inside = set(np.array(context.population.queries.ids, object)[context.population.mask(context.slice)].tolist())
    documents = tuple(each for each in found.documents if each.query in inside)
    traits = check.rule.traits
    return PossibleEffect(
        context, found, documents, traits.weighted, traits.tolerance_on(context.slice.value) or Tolerance()
    )


def _describe_break_even(found: PossibleEffect) -> Iterator[str]:
    """The share of new unjudged documents that would have to be relevant, and the share that judges found relevant.

    Each of them is relevant by the same chance. A query's gain is exact for one such document, and for more where
    they add up; else it has the right slope at 0 and the right end at 1.
    """
    context, values, unjudged = found.context, found.context.paired_values(), found.unjudged
    new = [each for each in found.documents if each.now and not each.baseline and context.sign * each.effect > 0]
    weights = select_weights(context, values, weighted=found.weighted)
    if not new or unjudged.all_new is None or not values.rows.size or has_no_weight(weights):
        return
    alone = np.zeros(len(context.population.queries))
    np.add.at(
        alone, [context.population.queries.position[each.query] for each in new], [abs(each.effect) for each in new]
    )
    alone = alone[values.rows]
    together = np.maximum(0.0, np.nan_to_num(context.sign * (unjudged.all_new[values.rows] - values.gain)))
    chances = np.where(together > 0, alone / np.where(together > 0, together, 1.0), 1.0)
    fall, allowed = _measure_fall(found)
    wanted = fall - allowed if fall > allowed else fall
    low, high = 0.0, 1.0
    if wanted <= 0 or weighted_mean(together, weights) < wanted:
        return
    for _ in range(40):  # halvings
        middle = (low + high) / 2
        enough = weighted_mean(together * (1.0 - (1.0 - middle) ** chances), weights) >= wanted
        low, high = (low, middle) if enough else (middle, high)
    yield f"break-even: {_describe_needed(found, new, high, fall, allowed)}; {_describe_judged(found, new)}"


def _measure_fall(found: PossibleEffect) -> tuple[float, float]:
    """The fall of the figure, and the allowed fall."""
    values = found.context.paired_values()
    weights = select_weights(found.context, values, weighted=found.weighted)
    if not values.rows.size or has_no_weight(weights):
        return 0.0, 0.0
    fall = -found.context.sign * weighted_mean(values.gain, weights)
    return fall, found.tolerance.allowed(weighted_mean(values.baseline, weights))


def _describe_needed(found: PossibleEffect, new: Sequence[ToJudge], share: float, fall: float, allowed: float) -> str:
    count = math.ceil(share * len(new) - 1e-6)  # the share may be off by rounding
    grade = found.unjudged.top_grade
    metric, verb = found.context.metric, "fall" if found.context.sign > 0 else "rise"
    within = f"would {verb} by no more than the tolerance" if fall > allowed > 0 else f"would not {verb}"
    documents, be = "the new unjudged document", "was relevant"
    if len(new) > 1:
        documents, be = f"about {count} of {len(new)} new unjudged documents ({count / len(new):.0%})", "were relevant"
    return f"{metric} {within} if {documents} {be if grade is None else f'had the top grade {grade:g}'}"


def _describe_judged(found: PossibleEffect, new: Sequence[ToJudge]) -> str:
    """The share among judged documents at those ranks, each rank as often as new documents have it."""
    there = found.unjudged.peers
    ranks = np.array([each.now for each in new], np.int64)
    size = int(ranks.max()) + 1
    often = np.bincount(ranks, minlength=size)
    judged = relevant = np.zeros(size, np.int64)
    if there is not None:
        inside = found.context.population.mask(found.context.slice)[there.row] & (there.rank < size)
        judged = np.bincount(there.rank[inside], minlength=size)
        relevant = np.bincount(there.rank[inside & there.relevant], minlength=size)
    known = (often > 0) & (judged > 0)
    where = "at that rank" if np.count_nonzero(often) == 1 else "at those ranks"
    if not known.any():
        return f"no document {where} is judged"
    share = float((often[known] * relevant[known] / judged[known]).sum() / often[known].sum())
    if found.unjudged.top_grade is None:
        return f"judges found {share:.0%} of the documents {where} relevant"
    return f"judges gave that grade to {share:.0%} of the documents {where}"


def _describe_effect(found: PossibleEffect) -> Iterator[str]:
    """The part of a fall that depends on unjudged documents."""
    context, values = found.context, found.context.paired_values()
    helping = sum(context.sign * each.effect > 0 for each in found.documents)
    weights = select_weights(context, values, weighted=found.weighted)
    if not helping or not values.rows.size or has_no_weight(weights):
        return
    best = found.unjudged.best[values.rows]
    gain = weighted_mean(np.nan_to_num(context.sign * (best - values.gain)), weights)
    fall = -context.sign * weighted_mean(values.gain, weights)
    documents, it = format_count(helping, "unjudged document"), "it" if helping == 1 else "them"
    if fall <= 0:
        yield f"{documents} could add {gain:.3f}: judge {it} first (to_judge.tsv)"
        return
    count = "counts" if helping == 1 else "count"
    fell = "falls" if context.sign > 0 else "rises"
    left = f"; even with the best grades the figure {fell} by {fall - gain:.3f}" if gain < fall else ""
    yield f"{documents} {count} as irrelevant, and good grades would help: judge {it} first (to_judge.tsv){left}"


def _choose_most_influential(documents: Sequence[ToJudge]) -> tuple[ToJudge, ...]:
    """Each pair once, under the metric that it moves most as a share of what any document moves there."""
    largest: dict[str, float] = {}
    for each in documents:
        largest[each.metric] = max(largest.get(each.metric, 0.0), abs(each.effect))
    largest = {metric: effect or 1.0 for metric, effect in largest.items()}  # 0: documents that count only together
    order = sorted(documents, key=lambda each: (-abs(each.effect) / largest[each.metric], -abs(each.effect)))
    once: dict[tuple[str, str], ToJudge] = {}
    for each in order:
        once.setdefault((each.query, each.document), each)
    return tuple(once.values())[:MOST_TO_JUDGE]
