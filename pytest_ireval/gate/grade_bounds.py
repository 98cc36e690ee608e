"""What further grades can do to a verdict: it is checked with the best and with the worst ones for the change."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pytest_ireval.gate.apply import apply_rules
from pytest_ireval.gate.comparison import ComparedSides
from pytest_ireval.gate.planning import Check, RuleCheck, select_rule_checks
from pytest_ireval.gate.score import Scores
from pytest_ireval.gate.to_judge import PossibleEffect, find_possible_effect
from pytest_ireval.gate.unjudged import NOT_OF_LABELS
from pytest_ireval.results.outcome import VERDICTS, Outcome, Verdict
from pytest_ireval.sides.side import Side
from pytest_ireval.sides.unjudged_effect import NoEffects
from pytest_ireval.statistics.differences import Mask
from pytest_ireval.words import format_count

ONE_SIDED = ("no_regression", "worsened")
"""Rules that a better grade for the change never makes stricter."""
IN_WORDS = {"pass": "pass", "fail": "fail", "inconclusive": "be inconclusive", "error": "be an error"}


class GradeBounds(NamedTuple):
    """The verdicts that an outcome can have when the documents left are graded."""

    left: int
    """The number of documents that could move its figure."""
    best: Verdict
    """With the best grades for the change."""
    worst: Verdict
    is_final: bool
    """True if no grades of these documents change the verdict."""

    rank: int | None = None
    """Only documents down to this rank were looked at; None: all of them."""

    def __str__(self) -> str:
        among = "" if self.rank is None else f" in the first {format_count(self.rank, 'rank')}"
        left = "no document" if not self.left else "the last ungraded document"
        left = f"the other {self.left:,} ungraded documents" if self.left > 1 else left
        if self.is_final and not self.left:
            return f"Further grades cannot change this verdict: every document{among} that matters is graded."
        if self.is_final:
            return f"Further grades cannot change this verdict, not even the best or the worst for {left}{among}."
        if not self.left:
            return "Ungraded documents that both rankings have at one rank may still move the tolerance."
        best, worst = IN_WORDS[self.best], IN_WORDS[self.worst]
        if self.best == self.worst:
            return f"With the best and the worst grades for {left}{among} it would {best}; others may change that."
        return f"Open: with the best grades for {left}{among} it would {best}, with the worst it would {worst}."


def bound_outcomes(checks: Sequence[Check], scores: Scores, outcomes: Sequence[Outcome]) -> dict[str, GradeBounds]:
    """The bounds of outcomes of rules that compare a metric; none where labels cannot be tried."""
    by_id = {outcome.id: outcome for outcome in outcomes}
    chosen = [check for check in _select_checks(checks) if check.id in by_id]
    corners = {
        (best, low): {
            each.id: each
            for each in apply_rules(
                _assume_grades(scores, chosen, best=best, low=low), checks, by_id, lists_queries=False
            )
        }
        for best in (True, False)
        for low in (True, False)
    }
    bounds = {}
    for check in chosen:
        effect, now = find_possible_effect(check, scores), by_id[check.id]
        if effect is not None and effect.unjudged.error:
            continue
        found = [now, *(corner[check.id] for corner in corners.values())]
        left = 0 if effect is None else len(effect.documents)
        is_final = len({(each.verdict, each.broken) for each in found}) == 1
        if effect is not None and left:
            is_final = is_final and _is_bounded(check, effect) and _is_observed(check, found)
        rank = None if effect is None else effect.unjudged.below
        at_best, at_worst = ([corners[best, low][check.id].verdict for low in (True, False)] for best in (True, False))
        bounds[check.id] = GradeBounds(
            left, min(at_best, key=VERDICTS.index), max(at_worst, key=VERDICTS.index), is_final, rank
        )
    return bounds


def _select_checks(checks: Sequence[Check]) -> Iterator[RuleCheck]:
    """Those of metrics whose values under other labels are known."""
    for check in select_rule_checks(checks):
        metric = check.part.metric
        if metric is None or not check.rule.compares or metric.unit != "query":
            continue
        if metric.judged and not metric.needs & NOT_OF_LABELS:
            yield check


def _assume_grades(scores: Scores, checks: Sequence[RuleCheck], *, best: bool, low: bool) -> Scores:
    """The scores with the best or the worst grades for the change, query by query.

    The value of the baseline under such grades is not known. A tolerance may be a share of it, so it is taken to be as
    low, or as high, as the metric can be, wherever the baseline lists an ungraded document.
    """
    metrics = {str(check.part.metric): check.part.metric for check in checks}

    def change(comparison: ComparedSides) -> ComparedSides:
        current, baseline = dict(comparison.current.scored), dict(comparison.baseline.scored)
        ungraded = _mark_ungraded(scores, comparison.baseline)
        for name, metric in metrics.items():
            if metric is None or not comparison.has_values(name):
                continue
            now, then, effect = current[name].values, baseline[name].values, comparison.effects.measure(metric)
            gain, moves = now - then, ungraded
            if effect is not None and not effect.error:
                known = np.where(np.isnan(effect.best), gain, effect.best if best else effect.worst)
                gain, moves = known, ungraded | (effect.best != effect.worst)
            edge = metric.bounds[0 if low else 1]
            if math.isfinite(edge):
                then = np.where(moves & ~np.isnan(gain), edge, then)
            current[name], baseline[name] = (
                replace(current[name], values=then + gain),
                replace(baseline[name], values=then),
            )
        return ComparedSides(
            replace(comparison.current, scored=current), replace(comparison.baseline, scored=baseline), NoEffects()
        )

    return scores.map_comparisons(change)


def _mark_ungraded(scores: Scores, side: Side) -> Mask:
    """The queries of which the side lists an ungraded document that a metric may look at."""
    judgments, queries, known = scores.population.judgments, scores.population.queries, side.judgedness
    ungraded = np.ones(len(queries), bool)
    if judgments is not None and known is not None:
        ungraded[[queries.position[query] for query in judgments.queries]] = known.listed > known.judged
    return ungraded


def _is_bounded(check: RuleCheck, effect: PossibleEffect) -> bool:
    """Tell whether the verdict lies between those of the corners, whatever the grades are."""
    metric = effect.context.metric
    one_sided = check.rule.kind.is_built_in and check.rule.kind.name in ONE_SIDED
    # Where documents above the cutoff were left out, because they are too many to try, the corners are not known.
    deepest = effect.unjudged.below is None or effect.unjudged.below == metric.settings.get("cutoff")
    are_corners = effect.unjudged.exact and deepest and metric.aggregate == "mean"
    return one_sided and are_corners and all(map(math.isfinite, metric.bounds))


def _is_observed(check: RuleCheck, outcomes: Sequence[Outcome]) -> bool:
    """Tell whether these equal verdicts rest on the observed change, and not on a test.

    A test also looks at the spread of the differences, which may be largest between the corners.
    """
    passes = outcomes[0].verdict == "pass" and not outcomes[0].broken
    return passes or not check.rule.options.by_evidence or all(map(_is_beyond_hard_limit, outcomes))


def _is_beyond_hard_limit(outcome: Outcome) -> bool:
    figures = outcome.figures[0] if outcome.figures else None
    if figures is None or "hard_limit" not in outcome.numbers or figures.now is None or figures.baseline is None:
        return False
    return abs(figures.now - figures.baseline) > max(outcome.numbers["hard_limit"], figures.tolerance or 0.0) + 1e-9
