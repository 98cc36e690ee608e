"""Step 2: give each side its values by query, with today's judgments and metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.gate.collect import Inputs
from pytest_ireval.gate.comparison import ComparedSides, ScoredReference, compare
from pytest_ireval.gate.noise import describe_instability
from pytest_ireval.gate.queries_and_judgments import Collection
from pytest_ireval.gate.references import (
    compare_with_anchor,
    compare_with_baseline,
    compare_with_source,
    compare_with_versus,
)
from pytest_ireval.gate.score_rankings import ScoredRankings, add_judged_shares, score_rankings
from pytest_ireval.results.evaluation import describe_ties
from pytest_ireval.results.suite_result import Counts
from pytest_ireval.sides.population import Population
from pytest_ireval.sides.side import Side
from pytest_ireval.statistics.differences import Mask
from pytest_ireval.suite.suite import RuleSpec
from pytest_ireval.words import format_some

if TYPE_CHECKING:
    from pytest_ireval.gate.merge_base import MergeBaseScores

NOTHING_STORED = ScoredReference()


@dataclass(eq=False)
class Scores:
    """The values of the current rankings and of everything that rules compare them with, query by query."""

    collection: Collection
    current: Side
    baseline: ScoredReference = NOTHING_STORED
    """The accepted rankings, scored by today's judgments: a changed judgment must not look like a changed ranking."""
    others: Mapping[int, ScoredReference] = field(default_factory=dict)
    """The references of rules that compare with an anchor or another source, by the rule's index in the suite."""
    merge_base: MergeBaseScores | None = None
    """The baselines of the branch and of its base; None where no base was given."""
    counts: Counts = field(default_factory=Counts)
    listed_documents: int = 0
    """Of the current rankings, over all judged queries, down to the suite's depth."""
    instability: str = ""
    """How the source answers differently when it is asked twice; empty if it does not, or was not asked."""
    notes: tuple[str, ...] = ()
    """Notes on equal scores, and of metrics."""

    @property
    def population(self) -> Population:
        """The queries, with their judgments, weights and waivers."""
        return self.collection.population

    @property
    def baseline_side(self) -> Side | None:
        """The stored baseline, scored; None where it does not exist or could not be scored.

        Reports show it, and rules look up in it which documents are known: that needs no comparison.
        """
        comparison = self.baseline.comparison
        return None if comparison is None else comparison.baseline

    @property
    def trusted_baseline_side(self) -> Side | None:
        """The stored baseline, scored; None also where there is a reason not to compare with it. Figures rest on it."""
        trusted = self.baseline.trusted
        return None if trusted is None else trusted.baseline

    @property
    def current_with_overlaps(self) -> Side:
        """The current side, with the metrics that compare its lists with those of the baseline."""
        comparison = self.baseline.comparison
        return self.current if comparison is None else comparison.current

    def find_reference(self, rule: RuleSpec) -> ScoredReference:
        """What a rule compares with: the stored baseline, unless it names an anchor or another source."""
        return self.others.get(rule.index, self.baseline)

    @property
    def references(self) -> tuple[ScoredReference, ...]:
        """The baseline and all others, each once."""
        return tuple({id(each): each for each in (self.baseline, *self.others.values())}.values())

    # What if: other scores are made of these, for ireval self-test and notebooks. What is measured stays as it is.

    def swap(self, marked: Mask, *, lists: bool = True) -> Scores:
        """Exchange the sides of every comparison for the marked queries, as if the other side were the change.

        Without ``lists`` the sides keep values only: rules that do not look at documents are checked faster.
        """
        from pytest_ireval.gate.what_if import mirror, mix  # only what plugins ask for needs it

        queries = self.population.queries
        return self.map_comparisons(lambda each: mix(each, mirror(each), marked, queries, lists=lists))

    def take(self, rows: Sequence[int]) -> Scores:
        """Keep these rows of the queries, in this order; a repeated one counts as often, as in a bootstrap.

        Only rules about values of queries have something to look at: lists of repeated queries are not repeated.
        Counts and notes stay those of all queries.
        """
        from pytest_ireval.gate.what_if import take_comparison, take_population, take_values

        place = np.array(rows, np.int64)
        population = take_population(self.population, place)
        queries = population.queries
        taken = self.map_comparisons(lambda each: take_comparison(each, place, queries))
        collection = replace(self.collection, population=population)
        return replace(taken, collection=collection, current=take_values(self.current, place, queries))

    def replace_current(self, current: Side) -> Scores:
        """Put other current rankings in the place of those that the source returned."""
        changed = self.map_comparisons(lambda each: compare(self.collection, current, each.baseline, frozenset()))
        return replace(changed, current=current)

    def fill_baseline(self) -> Scores:
        """Take the current rankings for the baseline where none has been accepted yet."""
        if self.baseline.comparison is not None:
            return self
        accepted = replace(self.current, origin="the current rankings")
        comparison = compare(self.collection, self.current, accepted, frozenset())
        return replace(self, baseline=replace(self.baseline, comparison=comparison))

    def map_comparisons(self, change: Callable[[ComparedSides], ComparedSides]) -> Scores:
        """The scores with every comparison changed; a reference that several rules share stays shared."""
        changed: dict[int, ScoredReference] = {}
        for each in self.references:
            comparison = None if each.comparison is None else change(each.comparison)
            changed[id(each)] = replace(each, comparison=comparison)
        others = {index: changed[id(each)] for index, each in self.others.items()}
        return replace(self, baseline=changed[id(self.baseline)], others=others)


def score_inputs(inputs: Inputs) -> Scores:
    """Score the current rankings, the stored baseline, and every other reference of a rule.

    Raises InputError where no ranked document is judged, and nothing could be compared all the same.
    """
    collection = inputs.collection
    scored = score_rankings(collection, inputs.current.rankings, inputs.source, curves=True)
    current = replace(scored.side, gone_documents=inputs.current.gone_documents)
    if inputs.versus is None:
        baseline = compare_with_baseline(inputs, current)
    else:
        baseline = compare_with_versus(inputs, current, inputs.versus)
    others: dict[int, ScoredReference] = {}
    if inputs.anchor is not None:
        anchor = compare_with_anchor(inputs, current)
        others |= {rule.index: anchor for rule in inputs.suite.rules if rule.traits.reference.anchored}
    for other in inputs.others:
        others |= dict.fromkeys(other.rule_indexes, compare_with_source(inputs, current, other))
    reference = None if baseline.comparison is None else baseline.comparison.baseline
    counts = add_judged_shares(_count_inputs(inputs, scored), collection, current, reference)
    merge_base: MergeBaseScores | None = None
    if inputs.merge_base is not None:
        from pytest_ireval.gate.merge_base import score_merge_base  # most runs are compared with no base

        merge_base = score_merge_base(collection, inputs.merge_base, inputs.stored.baseline)
    scores = Scores(
        collection=collection,
        current=current,
        baseline=baseline,
        others=others,
        merge_base=merge_base,
        counts=counts,
        listed_documents=scored.listed,
        instability=describe_instability(inputs),
        notes=(*filter(None, [describe_ties(scored.tied, inputs.suite.policies)]), *scored.metric_notes),
    )
    problem = find_unknown_ids(scores)
    is_alone = inputs.reference.baseline is None and not inputs.others  # there is nothing else to compare with
    if problem is not None and is_alone:
        raise problem
    return scores


def find_unknown_ids(scores: Scores) -> InputError | None:
    """The error of rankings none of whose documents is judged, which usually have other ids."""
    judgments, current = scores.population.judgments, scores.current
    if judgments is None or not scores.listed_documents or scores.counts.unjudged < scores.listed_documents:
        return None
    ids = next((ids for query in judgments.queries if (ids := current.documents(query))), [])
    judged_ids = judgments.documents.texts(np.arange(min(5, len(judgments))))
    return InputError(
        Problem(
            f"none of the {scores.listed_documents} ranked documents is judged in {judgments.origin}; "
            "do the ids match?",
            place=current.origin,
            suggestion=f"ranked: {format_some(ids)}; judged: {format_some(judged_ids)}",
            allowed="list renamed documents in the suite: documents: {aliases: FILE}",
        )
    )


def _count_inputs(inputs: Inputs, scored: ScoredRankings) -> Counts:
    population, rankings = inputs.collection.population, scored.side.rankings[0]
    judgments = population.judgments
    without, known = np.flatnonzero(rankings.retrieved == 0).tolist(), population.queries.position
    return Counts(
        queries=len(population.queries),
        judged=len(judgments.queries) if judgments is not None else 0,
        missing=inputs.missing_queries,
        empty=tuple(rankings.queries[i] for i in without if rankings.queries[i] in known),
        without_judgments=scored.without_judgments,
        no_relevant=scored.no_relevant,
        unjudged=scored.unjudged,
        waived=tuple(sorted(population.waived)),
    )
