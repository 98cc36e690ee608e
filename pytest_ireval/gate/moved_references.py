"""Finds rules that compare with another reference than at the merge base: an anchor or a file that a branch moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from pytest_ireval.baseline.at_base import BaselineAtBase, find_anchor_at_base
from pytest_ireval.errors import BaselineError, IrevalError, Problem
from pytest_ireval.gate.collect import Inputs
from pytest_ireval.gate.fetching import fetch_rankings
from pytest_ireval.gate.lowered_figures import ComparedFigure, add_loss, can_fail, compare_figure, format_line
from pytest_ireval.gate.merge_base import refuse_too_little, score_baseline
from pytest_ireval.gate.planning import MetricOnSlice, RuleCheck, plan_checks
from pytest_ireval.gate.score import Scores
from pytest_ireval.gate.score_rankings import score_rankings, share_queries
from pytest_ireval.gate.suite_at_base import (
    find_files_at_base,
    find_suite_at_base,
    name_in_git,
    read_queries_at_base,
    write_source_files,
)
from pytest_ireval.gate.weaker_suite import pair_checks
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.repositories.merge_base import MergeBase
from pytest_ireval.repositories.tree import BaseRef, Tree
from pytest_ireval.results.outcome import Outcome, SliceFigures
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.sides.side import Side
from pytest_ireval.sources.describing import describe_source
from pytest_ireval.sources.run import RunOptions, find_files
from pytest_ireval.suite.suite import Reference, SourceSpec, Suite


class MovedReference(NamedTuple):
    """What a check compares with now, beside what it compared with at the merge base."""

    check: str
    """Its id."""
    words: str
    """The reference now and, if it is called otherwise, then."""
    figure: ComparedFigure | None = None
    why: str = ""
    """The reason why the two cannot be compared; empty too for a rule that compares lists alone."""


def find_moved_references(inputs: Inputs, scores: Scores, base: BaseRef) -> tuple[MovedReference, ...]:
    """Every check whose reference is not that of the merge base; a rule about the stored baseline is not looked at."""
    suite, registry = inputs.suite, inputs.collection.registry
    tree = base.find_tree(suite.path.parent)
    try:
        then = find_suite_at_base(suite, registry, tree)
        if then is None or not any(map(_names_a_reference, (then, suite))):
            return ()
        queries = scores.population.queries
        before = plan_checks(then, read_queries_at_base(then, registry, tree, queries))
    except IrevalError:  # the comparison of the suites says so
        return ()
    comparer = _ReferenceComparer(inputs, scores, base, tree, then)
    return tuple(
        comparer.compare(check, other)
        for check, other in pair_checks(before, plan_checks(suite, queries))
        if other is not None and comparer.is_moved(check, other)
    )


def _names_a_reference(suite: Suite) -> bool:
    return any(not asked.traits.reference.stored for asked in suite.rules)


class _ReferenceComparer(NamedTuple):
    """The suite now and at the merge base."""

    inputs: Inputs
    scores: Scores
    base: BaseRef
    tree: Tree
    then: Suite

    def is_moved(self, check: RuleCheck, other: RuleCheck) -> bool:
        """Tell whether the reference of a check is another one now."""
        before, now = check.rule.traits.reference, other.rule.traits.reference
        if before.stored and now.stored:
            return False
        if before.anchored and now.anchored:
            at = self._find_anchor_at_base()
            return at.baseline is not None and not at.unchanged
        if before.source is None or now.source is None:
            return True
        if (before.source.kind.name, before.source.options) != (now.source.kind.name, now.source.options):
            return True
        paths = find_files_at_base(before.source, self.tree)
        here = [name_in_git(file, self.tree) for file in find_files(now.source.options, self.inputs.suite.path.parent)]
        return bool(paths) and (paths != here or any(path in self.tree.changes for path in paths))

    def compare(self, check: RuleCheck, other: RuleCheck) -> MovedReference:
        """Score both references by the metric of the check, on its slice."""
        before, now = check.rule.traits.reference, other.rule.traits.reference
        words, was = self._describe_reference(now, self.inputs.suite), self._describe_reference(before, self.then)
        moved = MovedReference(other.id, words if words == was else f"{words}; at the base: {was}")
        metric = other.part.metric
        if metric is None or metric.compares_lists:
            return moved
        try:
            return moved._replace(figure=self._compare_figures(before, other, metric))
        except IrevalError as error:
            return moved._replace(why=" ".join(str(error).split()))

    def _compare_figures(self, before: Reference, other: RuleCheck, metric: Metric) -> ComparedFigure | None:
        collection = self.inputs.collection
        if other.rule.traits.reference.stored:
            stored = self.inputs.stored.baseline
            if stored is None:
                raise BaselineError("there is no baseline now")
            ours = score_baseline(collection, stored, "the baseline now", [metric])
        else:
            usable = self.scores.find_reference(other.rule).trusted
            if usable is None:
                return None  # the rule itself is an error
            ours = usable.baseline
        theirs = self._score_at_base(before, metric)
        queries = collection.population.queries.ids
        unknown = frozenset(query for query in queries if query not in theirs.position)
        ours, theirs = share_queries(collection, ours, theirs, unknown)
        context = RuleContext(collection.population, ours, theirs, other.part, other.slice)
        return compare_figure(context, MetricOnSlice(metric, other.slice))

    def _score_at_base(self, reference: Reference, metric: Metric) -> Side:
        """The reference of the base, scored; IrevalError if it is not known."""
        if reference.source is not None:
            return self._score_source_at_base(reference.source, metric)
        beginning = self.inputs.merge_base
        at = self._find_anchor_at_base() if reference.anchored else beginning.at if beginning is not None else None
        if at is None or at.baseline is None:
            raise BaselineError(f"there was none at {self.tree.base}")
        stored = self.inputs.anchor if reference.anchored else self.inputs.stored
        if stored is not None and stored.baseline is not None:
            refuse_too_little(self.inputs.suite, metric, at, stored.baseline)
        return score_baseline(self.inputs.collection, at.baseline, f"that of {at.base}", [metric])

    def _find_anchor_at_base(self) -> BaselineAtBase:
        suite, beginning, anchor = self.inputs.suite, self.inputs.merge_base, self.inputs.anchor
        at = beginning.at if beginning is not None else None
        stored = anchor.baseline if anchor is not None else None
        return find_anchor_at_base(self.base, suite.baselines, suite.name, stored, at)

    def _score_source_at_base(self, source: SourceSpec, metric: Metric) -> Side:
        """Rankings in files that git has; the answer of another source of then cannot be had any more."""
        collection, options = self.inputs.collection, source.options
        if not isinstance(options, RunOptions):
            raise BaselineError(f"what {source.kind.name} answered then is not known")
        with write_source_files(source, self.tree) as files:
            if not files:
                place = describe_source(source, self.then.path.parent)
                raise BaselineError(Problem("git has no such file", place=place))
            then = replace(source, options=options.model_copy(update={"run": tuple(files), "timings": None}))
            answer = fetch_rankings(then, collection, reference=-1)
        ranked = set(answer.rankings[0].queries)
        unknown = frozenset(query for query in collection.population.queries.ids if query not in ranked)
        words = f"that of {self.tree.base}"
        return score_rankings(collection, answer.rankings, words, unknown=unknown, metrics=[metric]).side

    def _describe_reference(self, reference: Reference, suite: Suite) -> str:
        if reference.source is not None:
            return describe_source(reference.source, suite.path.parent)
        return "the anchor" if reference.anchored else "the baseline"


NAMED = 10
"""The most checks that are named."""


def add_moved_references(
    outcome: Outcome, moved: Sequence[MovedReference], suite: Suite, base: MergeBase, *, fails: bool
) -> Outcome:
    """Add the rules that compare with another reference than at the base.

    A lower one, and one that nobody can compare, is as a lowered baseline; any other is only named.
    """
    figures = [(reference, reference.figure) for reference in moved if reference.figure is not None]
    lowered = [(reference, figure) for reference, figure in figures if figure.lowered]
    lowered.sort(key=lambda pair: -pair[1].drop_as_share)
    unknown = [reference for reference in moved if reference.why]
    named = {
        f"also changed: what {reference.check} compares with ({reference.words}): {figure}"
        for reference, figure in figures
        if not figure.lowered
    }
    named |= {
        f"also changed: what {reference.check} compares with ({reference.words})"
        for reference in moved
        if not reference.why and reference.figure is None
    }
    facts = [f"{reference.check} compares with {reference.words}: {figure}" for reference, figure in lowered[1:]]
    facts += [
        f"{reference.check} compares with {reference.words}, which cannot be compared: {reference.why}"
        for reference in unknown
    ]
    facts = [*facts[:NAMED], *sorted(named)[:NAMED]]
    if not lowered and not unknown:
        return replace(outcome, facts=(*outcome.facts, *facts))
    others = len(lowered) + len(unknown) - 1
    more = f", and {others} more" if others else ""
    if not lowered:
        first = unknown[0]
        headline = f"{first.check} compares with another reference than at {base}: {first.words}{more}"
        return add_loss(outcome, headline, fails=fails, facts=tuple(facts))
    first, worst = lowered[0]
    return add_loss(
        outcome,
        f"the branch lowers what {first.check} compares with ({first.words}): {worst}{more}",
        fails=fails and (bool(unknown) or any(can_fail(figure.held.metric, suite) for _, figure in lowered)),
        sentence=f"Baseline is the reference at {base}; now is that of this branch.",
        facts=tuple(facts),
        worst=worst,
        figures=tuple(_format_reference_line(figure) for _, figure in lowered),
        lists_queries=True,
    )


def _format_reference_line(figure: ComparedFigure) -> SliceFigures:
    line = format_line(figure, several=True)
    return replace(line, slice=f"{line.slice}, reference")
