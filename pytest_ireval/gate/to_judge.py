"""What to judge first: unjudged documents on which red and undecided comparisons of a suite hang."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pytest_ireval.gate.changed_ids import changed_ids
from pytest_ireval.gate.material import Material
from pytest_ireval.gate.references import seen_of
from pytest_ireval.plurals import counted
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.to_judge import ToJudge
from pytest_ireval.rules.planning import INPUTS, Check
from pytest_ireval.rules.question import mean_of, weightless, weights_of
from pytest_ireval.rules.seen import Seen
from pytest_ireval.rules.unjudged import Unjudged

MOST = 500
"""So many are listed for a suite: more than anybody judges before the next run."""


class Open(NamedTuple):
    """What unjudged documents leave open for one outcome."""

    seen: Seen
    unjudged: Unjudged
    documents: tuple[ToJudge, ...]
    """Those of its slice."""
    weighted: bool
    """Whether its mean is."""


def with_what_to_judge(
    material: Material, checks: Sequence[Check], outcomes: Sequence[Outcome]
) -> tuple[tuple[Outcome, ...], tuple[ToJudge, ...]]:
    """The outcomes with a fact about what is open, and the documents to judge.

    Where ids were changed nobody can judge that away: failures say so instead of what they look like.
    """
    by_id = {check.id: check for check in checks}
    asked = {each.id: by_id[each.id] for each in outcomes if _hangs(each, by_id[each.id])}
    if asked and changed_ids(material) is not None:
        return tuple(_renamed(each) if each.id in asked else each for each in outcomes), ()
    told: list[Outcome] = []
    listed: list[ToJudge] = []
    for each in outcomes:
        outcome = each
        if each.id in asked:
            found = _open(asked[each.id], material)
            listed += found.documents if found else ()
            outcome = replace(each, facts=(*each.facts, *(_facts(found) if found else ())))
        told.append(outcome)
    return tuple(told), _most_influential(listed)


def _hangs(outcome: Outcome, check: Check) -> bool:
    """Whether it compares a metric of queries, and is against the change, or cannot tell."""
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
    sentence = "Hardly any document listed now is known under its id: this says nothing of the ranking."
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
    return Open(seen, found, documents, weighted=bool(getattr(check.asked and check.asked.options, "weighted", False)))


def _facts(found: Open) -> Iterator[str]:
    """How much of a fall hangs on documents that nobody judged."""
    if found.unjudged.error:
        yield f"what unjudged documents leave open cannot be said: {found.unjudged.error}"
    seen, values = found.seen, found.seen.paired()
    helping = sum(seen.sign * each.effect > 0 for each in found.documents)
    weights = weights_of(seen, values, weighted=found.weighted)
    if not helping or not values.place.size or weightless(weights):
        return
    best = found.unjudged.best[values.place]
    gain = mean_of(np.nan_to_num(seen.sign * (best - values.gain)), weights)
    fall = -seen.sign * mean_of(values.gain, weights)
    word = "fall" if seen.sign > 0 else "rise"
    hold = "holds" if helping == 1 else "hold"
    it = "it" if helping == 1 else "them"
    much = f"up to {gain:.3f} of the {word} of {fall:.3f}" if gain < fall else f"all of the {word} of {fall:.3f}"
    if fall > 0:
        yield f"{counted(helping, 'unjudged document')} {hold} {much}: judge {it} first (to_judge.tsv)"
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
    return tuple(once.values())[:MOST]
