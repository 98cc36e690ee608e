"""Checks whether a branch lowers what later changes are compared with: baseline, anchor, grades and rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from pytest_ireval.baseline.at_base import BaselineAtBase
from pytest_ireval.baseline.changes import find_changed_queries
from pytest_ireval.baseline.reading import format_checkout
from pytest_ireval.baseline.record import Acceptance, Baseline
from pytest_ireval.errors import BaselineError, IrevalError
from pytest_ireval.gate.collect import Inputs
from pytest_ireval.gate.lowered_figures import ComparedFigure, add_worst_queries, can_fail, compare_figure, format_line
from pytest_ireval.gate.merge_base import MergeBaseScores, find_lack_at_base, refuse_too_little
from pytest_ireval.gate.moved_references import add_moved_references, find_moved_references
from pytest_ireval.gate.outcomes import report_exception
from pytest_ireval.gate.planning import MetricOnSlice, compares_with_baseline
from pytest_ireval.gate.regrading import add_regraded, find_regraded_since_base
from pytest_ireval.gate.run_context import RunContext
from pytest_ireval.gate.score import Scores
from pytest_ireval.gate.weaker_suite import Weakening, find_weakening
from pytest_ireval.plugins.plugin_types import Part
from pytest_ireval.repositories.merge_base import MergeBase
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.sides.population import Population
from pytest_ireval.sides.slices import WHOLE
from pytest_ireval.suite.suite import Suite
from pytest_ireval.words import format_count, format_some


def check_merge_base(
    outcome: Outcome, held: Sequence[MetricOnSlice], inputs: Inputs, scores: Scores, run: RunContext
) -> Outcome:
    """Compare what later changes are compared with - the baseline, references, judgments, the suite - with the base.

    A branch that lowers any of it fails where the run says so, else that is a warning.
    """
    fails = run.lowering_fails
    begun = outcome
    try:
        outcome = _check_baseline(outcome, held, inputs, scores, fails=fails)
        if run.base is None:
            return outcome
        tree = run.base.find_tree(inputs.suite.path.parent)
        at = None if inputs.merge_base is None else inputs.merge_base.at
        ranked = () if at is None or at.baseline is None else at.baseline.rankings[0].queries
        moved = find_moved_references(inputs, scores, run.base)
        outcome = add_moved_references(outcome, moved, inputs.suite, tree.base, fails=fails)
        outcome = add_regraded(outcome, find_regraded_since_base(inputs, scores, tree), fails=fails)
        weakening = find_weakening(inputs.suite, inputs.collection.registry, tree, scores.population.queries, ranked)
        return _add_weakening(outcome, weakening, tree.base, fails=fails)
    except IrevalError as error:
        return report_exception(begun, error)


def _check_baseline(
    outcome: Outcome, held: Sequence[MetricOnSlice], inputs: Inputs, scores: Scores, *, fails: bool
) -> Outcome:
    """Compare the stored baseline with the base's; ``fails`` makes a lower one red. Raises IrevalError if it cannot."""
    beginning, both, stored = inputs.merge_base, scores.merge_base, inputs.stored.baseline
    if beginning is None or both is None:
        raise BaselineError("the baseline was not compared with that of another branch")
    at = beginning.at
    if at is None:
        raise beginning.problem or BaselineError("the commit where this branch began is unknown")
    if inputs.stored.problem is not None:
        raise inputs.stored.problem
    if not any(compares_with_baseline(rule) for rule in inputs.suite.rules):
        headline = f"no rule compares with the baseline; the suite is as strict as at {at.base}"
        return replace(outcome, verdict="pass", headline=headline)
    if at.baseline is None:
        return _report_new_baseline(outcome, at, stored)
    if stored is None:
        return _report_deleted_baseline(outcome, at, fails=fails)
    lacks = {each: find_lack_at_base(each.metric, both, at, stored) for each in held}
    comparable = [each for each in held if not lacks[each]]
    figures = list(_compare_figures(comparable, inputs.suite, scores, at, stored))
    lowered = sorted((each for each in figures if each.lowered), key=lambda each: -each.drop_as_share)
    lost = tuple(_find_lost_queries(scores.population, at, both))
    fails = fails and any(can_fail(each.held.metric, inputs.suite) for each in lowered)
    if lowered:
        outcome = _report_lowered(outcome, lowered, figures, at, fails=fails)
        facts = (*_list_acceptances(at, stored), *lost)
    else:
        outcome = _report_not_lowered(outcome, comparable, figures, at, stored)
        facts = (*lost, *_list_acceptances(at, stored))
    compared = [each.held for each in figures]
    unpaired = [
        f"{each.metric} on {each.slice} has no figure over queries that both baselines have"
        for each in (comparable if figures else ())
        if each not in compared
    ]
    notes = (
        *_list_missing_plugins(at, inputs.collection.registry.distributions),
        *dict.fromkeys(filter(None, lacks.values())),
        *unpaired,
        *at.base.notes,
    )
    warning = outcome.warning or (outcome.verdict == "pass" and bool(lost))
    return replace(outcome, facts=(*facts, *notes), warning=warning)


def _report_new_baseline(outcome: Outcome, at: BaselineAtBase, stored: Baseline | None) -> Outcome:
    """Decide on a suite that had no baseline at the base; git also knows which other baselines are gone."""
    here = "this branch has none either" if stored is None else "it is new on this branch"
    names = ", ".join(at.removed)
    gone = [f"removed since then, and not continued by a baseline of this branch: {names}"] if names else []
    headline = f"the suite had no baseline at {at.base}; {here}"
    facts = (*gone, *at.base.notes)
    return replace(outcome, verdict="pass", headline=headline, facts=facts, warning=bool(gone))


def _report_deleted_baseline(outcome: Outcome, at: BaselineAtBase, *, fails: bool) -> Outcome:
    facts = (f"{format_checkout(at.base.short, at.base.top / at.file)} restores it", *at.base.notes)
    headline = f"the branch deleted the baseline that it had at {at.base}"
    return replace(outcome, verdict="fail" if fails else "pass", headline=headline, facts=facts, warning=not fails)


def _compare_figures(
    held: Sequence[MetricOnSlice], suite: Suite, scores: Scores, at: BaselineAtBase, stored: Baseline
) -> Iterator[ComparedFigure]:
    """Each figure that both baselines have, over the queries that both have."""
    both = scores.merge_base
    if both is None or both.branch is None:
        return
    for each in held:
        refuse_too_little(suite, each.metric, at, stored)
        context = RuleContext(scores.population, both.branch, both.base, Part(metric=each.metric), each.slice)
        if (found := compare_figure(context, each)) is not None:
            yield found


def _report_lowered(
    outcome: Outcome,
    lowered: Sequence[ComparedFigure],
    figures: Sequence[ComparedFigure],
    at: BaselineAtBase,
    *,
    fails: bool,
) -> Outcome:
    worst = lowered[0]
    more = f", and {len(lowered) - 1} more" if len(lowered) > 1 else ""
    shown = [*lowered, *(figure for figure in figures if figure not in lowered and figure.held.slice == WHOLE)]
    several = len({str(figure.held.metric) for figure in shown}) > 1
    outcome = replace(
        outcome,
        verdict="fail" if fails else "pass",
        headline=f"the branch lowers its baseline: {worst}{more}",
        sentence=f"Baseline is what was accepted at {at.base}; now is what this branch has accepted.",
        figures=tuple(format_line(figure, several=several) for figure in shown),
        warning=not fails,
        numbers=worst.numbers,
    )
    return add_worst_queries(outcome, worst)


def _report_not_lowered(
    outcome: Outcome,
    held: Sequence[MetricOnSlice],
    figures: Sequence[ComparedFigure],
    at: BaselineAtBase,
    stored: Baseline,
) -> Outcome:
    if at.unchanged:
        headline = f"the baseline is the one of {at.base}"
    elif figures:
        headline = f"the branch lowers nothing of the baseline at {at.base}"
    elif held:
        headline = f"no query has a value both in this baseline and in the one at {at.base}"
        return replace(outcome, verdict="inconclusive", headline=headline)
    else:
        before = at.baseline.rankings if at.baseline is not None else ()
        changed = format_count(len(find_changed_queries(before, stored.rankings, stored.depth)), "query")
        headline = f"lists have no figure to lower; the lists of {changed} differ from those at {at.base}"
    whole = [figure for figure in figures if figure.held.slice == WHOLE]
    if whole:
        headline += f": {', '.join(map(str, whole))}"
    lines = tuple(format_line(figure, several=len(whole) > 1) for figure in whole)
    return replace(outcome, verdict="pass", headline=headline, figures=lines)


NAMED = 10
"""The most acceptances to name, the last ones."""


def _list_acceptances(at: BaselineAtBase, stored: Baseline) -> Iterator[str]:
    """The events on the branch: acceptances, the newest first, and another name of the baseline."""
    before = at.baseline
    if before is None or at.unchanged:
        return
    new = [each for each in stored.acceptances if each not in before.acceptances]
    yield from map(_format_acceptance, new[: -NAMED - 1 : -1])
    if len(new) > NAMED:
        yield f"and {format_count(len(new) - NAMED, 'earlier acceptance')} on this branch"
    unknown = [each for each in before.acceptances if each not in stored.acceptances]
    if unknown:
        verb = "is" if len(unknown) == 1 else "are"
        last = f"the last one on {unknown[-1].date[:10]}"
        yield f"{format_count(len(unknown), 'acceptance')} of the base {verb} not part of this baseline, {last}"
    if at.renamed:
        yield f"the baseline was called {at.file} then"


def _list_missing_plugins(at: BaselineAtBase, plugins: Sequence[str]) -> Iterator[str]:
    """Distributions that were active when the base was accepted and are not now; another version is not a loss."""
    now = {each.partition(" ")[0] for each in plugins}
    for each in at.baseline.plugins if at.baseline is not None else ():
        if each.partition(" ")[0] not in now:
            yield f"plugin {each} was active when the base was accepted, but is not active now"


def _format_acceptance(acceptance: Acceptance) -> str:
    """``accepted 2026-11-20 abc1234: synonyms v2``."""
    commit = f" {acceptance.commit[:7]}" if acceptance.commit else ""
    dirty = " with uncommitted changes" if acceptance.dirty else ""
    forced = ", forced" if acceptance.forced else ""
    return f"accepted {acceptance.date[:10]}{commit}{dirty}{forced}: {acceptance.reason or 'no reason was given'}"


def _find_lost_queries(population: Population, at: BaselineAtBase, both: MergeBaseScores) -> Iterator[str]:
    """Queries that have a value at the base and none here: figures over the others do not show their loss."""
    if at.unchanged or at.baseline is None or both.branch is None or both.base is None:
        return
    lost = dict.fromkeys(
        query
        for name, before in both.base.scored.items()
        if before.metric.unit == "query" and name in both.branch.scored
        for lacks in [~np.isnan(before.values) & np.isnan(both.branch.scored[name].values) & population.counted_queries]
        for query in np.array(before.names, object)[lacks].tolist()
    )
    if lost:
        queries = format_count(len(lost), "query")
        yield f"{queries} of the base without a value in this baseline: {format_some(list(lost))}"


def _add_weakening(outcome: Outcome, weakening: Weakening, base: MergeBase, *, fails: bool) -> Outcome:
    """Add the changes that make the suite weaker; they fail if ``fails`` is set, else they are a warning."""
    other = tuple(f"also changed: {change}" for change in weakening.other)
    if not weakening.weaker:
        return replace(outcome, facts=(*outcome.facts, *other))
    if outcome.verdict != "pass" or outcome.warning:
        headline = f"{outcome.headline}; the suite is also weaker"
        return replace(outcome, headline=headline, facts=(*weakening.weaker, *other, *outcome.facts))
    first, *rest = weakening.weaker
    return replace(
        outcome,
        verdict="fail" if fails else "pass",
        headline=f"the suite is weaker than at {base}: {first}{f', and {len(rest)} more' if rest else ''}",
        sentence="A weaker suite can pass changes that the stricter one would have failed.",
        facts=(*rest, *other, outcome.headline, *outcome.facts),
        warning=not fails,
    )
