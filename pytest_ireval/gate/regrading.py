"""Finds judgments that were graded anew in favour of a change, by what both rankings are worth under the old grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pytest_ireval.baseline.record import Baseline
from pytest_ireval.data.from_objects import convert_judgments
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.errors import InputError, IrevalError
from pytest_ireval.gate.collect import Inputs
from pytest_ireval.gate.lowered_figures import SAME, ComparedFigure, add_loss, compare_figure, format_line
from pytest_ireval.gate.planning import MetricOnSlice, plan_checks, select_rule_checks
from pytest_ireval.gate.queries_and_judgments import Collection
from pytest_ireval.gate.score import Scores
from pytest_ireval.gate.score_rankings import score_rankings
from pytest_ireval.gate.suite_at_base import find_suite_at_base, read_judgments_at_base
from pytest_ireval.plugins.plugin_types import Part
from pytest_ireval.repositories.tree import Tree
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.sides.population import Population
from pytest_ireval.sides.side import Side
from pytest_ireval.sides.slices import WHOLE
from pytest_ireval.words import format_count


class GradedDocument(NamedTuple):
    """What a judge has graded: a document for a query or, with judgments of subtopics, for one of these."""

    query: str
    document: str
    subtopic: str = ""

    def __str__(self) -> str:
        return f"{self.query} {self.document}{f' subtopic {self.subtopic}' if self.subtopic else ''}"


Grades = Mapping[GradedDocument, float]


class Regraded(NamedTuple):
    """A figure that moved in favour of a change because judgments have other grades than before."""

    held: MetricOnSlice
    edits: tuple[str, ...]
    """Judgments whose grade is another one, or that are gone: ``q10 d3: 0 -> 2``."""
    baseline: ComparedFigure
    """The baseline under the old and the current grades."""
    now: ComparedFigure | None
    """The current rankings under both."""
    share: float
    """How far it moved, as a share of the figure."""

    def describe(self, when: str) -> str:
        """The number of judgments, and the change of the figure with the new and the old grades, if they differ."""
        count = format_count(len(self.edits), "judgment")
        regraded = f"{count} {'was' if len(self.edits) == 1 else 'were'} regraded {when}"
        name = f"{self.held.metric}{'' if self.held.slice == WHOLE else f' on {self.held.slice}'}"
        baseline, run = self.baseline.figures, None if self.now is None else self.now.figures
        new, old = (
            (0.0, 0.0)
            if run is None
            else ((run.now or 0.0) - (baseline.now or 0.0), (run.baseline or 0.0) - (baseline.baseline or 0.0))
        )
        if f"{new:.4f}" == f"{old:.4f}":
            return f"{regraded}: {name} of the baseline {self.baseline.moved}"
        return f"{regraded}: {name} changes by {new:+.4f} with the new grades, by {old:+.4f} with the old ones"


def list_grades(judgments: Judgments) -> dict[GradedDocument, float]:
    """The judgments as a mapping."""
    queries = [judgments.queries[place] for place in judgments.query.tolist()]
    documents = judgments.documents.texts()
    parts = judgments.subtopics
    if parts is None:
        return dict(zip(map(GradedDocument, queries, documents), judgments.grade.tolist(), strict=True))
    return {
        GradedDocument(queries[row], documents[row], parts.names[name]): grade
        for row, name, grade in zip(parts.row.tolist(), parts.subtopic.tolist(), parts.grade.tolist(), strict=True)
    }


def list_kept_grades(stored: Baseline) -> dict[GradedDocument, float]:
    """The grades that a baseline keeps, one of each document; empty where it keeps none."""
    return {
        GradedDocument(query, document): grade
        for query, grades in (stored.judgments.grades or {}).items()
        for document, grade in grades.items()
    }


def restore_old_grades(collection: Collection, edits: Grades, now: Grades) -> Collection | None:
    """The collection with the old grades of edited judgments, and the current ones of all others; None without any."""
    if collection.setting is None:
        return None
    grades: dict[str, dict[str, Any]] = {}
    for (query, document, subtopic), grade in {**now, **edits}.items():
        of_query = grades.setdefault(query, {})
        of_query[document] = {**of_query.get(document, {}), subtopic: grade} if subtopic else grade
    judgments = collection.population.names.in_judgments(
        convert_judgments(grades, grades="float", origin="the judgments of then")
    )
    return replace(
        collection,
        population=replace(collection.population, judgments=judgments),
        setting=replace(collection.setting, judgments=judgments),
        written_judgments=judgments,
    )


def find_regraded(
    scores: Scores, then: Grades, reference: Sequence[Rankings], held: Sequence[MetricOnSlice]
) -> Regraded | None:
    """The figure that gained most by grades that are not those of ``then``; None if no figure gained.

    It gained if grades that fell make the reference worth less, or if this run was worse than the reference under the
    old grades and is less so now. Grades that only rose make it harder for both.
    """
    collection, queries = scores.collection, scores.population.queries
    if collection.written_judgments is None or not held:
        return None
    now = list_grades(collection.written_judgments)
    # A document that was not judged then is no edit; one whose judgment is gone is.
    edits = {of: grade for of, grade in then.items() if of.query in queries.position and now.get(of) != grade}
    if not edits:
        return None
    raised = {of: grade for of, grade in edits.items() if of in now and now[of] > grade}
    try:
        old, without_raised = (restore_old_grades(collection, old_grades, now) for old_grades in (edits, raised))
    except InputError:  # two names of one document had two grades
        return None
    if old is None or without_raised is None:
        return None
    metrics = [*{str(each.metric): each.metric for each in held}.values()]
    ranked = {query for rankings in reference for query in rankings.queries}
    unknown = frozenset(query for query in queries.ids if query not in ranked)

    def score(under: Collection, rankings: Sequence[Rankings]) -> Side:
        return score_rankings(under, rankings, "", unknown=unknown, metrics=metrics).side

    sides = _Sides(
        reference=(score(old, reference), score(collection, reference)),
        without_raised=score(without_raised, reference),
        run=(score(old, scores.current.rankings), scores.current),
    )
    lines = tuple(f"{of}: {grade:g} -> {f'{now[of]:g}' if of in now else 'not judged'}" for of, grade in edits.items())
    gains = [sides.find_gain(scores.population, figure, lines) for figure in held]
    return max(filter(None, gains), key=lambda gain: gain.share, default=None)


class _Sides(NamedTuple):
    """Both rankings under the old grades, then under the current ones."""

    reference: tuple[Side, Side]
    without_raised: Side
    """The reference under the current grades, but for those that rose."""
    run: tuple[Side, Side]

    def find_gain(self, population: Population, held: MetricOnSlice, edits: tuple[str, ...]) -> Regraded | None:
        """What a figure gained by the edits; None if nothing."""
        name = str(held.metric)
        if not all(side.has_values(name) for side in (*self.reference, self.without_raised, *self.run)):
            return None
        part, (old, _) = Part(metric=held.metric), self.reference
        reference, fallen, run, lead = (
            compare_figure(RuleContext(population, now, before, part, held.slice), held)
            for before, now in (self.reference, (old, self.without_raised), self.run, (old, self.run[0]))
        )
        if reference is None or fallen is None:
            return None
        gained = reference.drop - (run.drop if run is not None else 0.0)
        in_favour = lead is not None and lead.lowered and gained > SAME
        if not fallen.lowered and not in_favour:
            return None
        share = max(fallen.drop_as_share, gained if in_favour else 0.0)
        return Regraded(held, edits, reference, run, share)


def find_regraded_since_baseline(inputs: Inputs, scores: Scores) -> Regraded | None:
    """What grades that changed since the stored baseline was accepted moved in favour of this run."""
    stored, cause, comparison = inputs.reference.baseline, scores.baseline.cause, scores.baseline.trusted
    written = inputs.collection.written_judgments
    if stored is None or stored.judgments.grades is None or comparison is None or cause is None or not cause.judgments:
        return None
    if written is None or written.subtopics is not None:
        return None  # a baseline keeps one grade a document
    return find_regraded(scores, list_kept_grades(stored), comparison.baseline.rankings, _list_judged_figures(scores))


def find_regraded_since_base(inputs: Inputs, scores: Scores, tree: Tree) -> Regraded | None:
    """What grades that changed since the merge base moved in favour of this branch."""
    at = inputs.merge_base.at if inputs.merge_base is not None else None
    stored = None if at is None else at.baseline
    others = (each.comparison.baseline for each in scores.others.values() if each.comparison is not None)
    try:
        then = _read_grades_at_base(inputs, tree, stored)
    except IrevalError:  # the comparison of the suites says so
        return None
    if stored is not None:
        reference: Sequence[Rankings] = [*map(inputs.collection.population.names.in_rankings, stored.rankings)]
    else:
        reference = next((each.rankings for each in others), ())
    return find_regraded(scores, then, reference, _list_judged_figures(scores)) if then and reference else None


def _read_grades_at_base(inputs: Inputs, tree: Tree, stored: Baseline | None) -> Grades:
    """The grades at the merge base: of the file there or, where git does not have it, of the baseline.

    Empty if they are those of now.
    """
    suite, registry, prints = inputs.suite, inputs.collection.registry, inputs.judgment_prints
    then = find_suite_at_base(suite, registry, tree)
    if then is None or then.judgments is None or suite.judgments is None:
        return {}
    file = then.judgments.file.path
    path = tree.path_from_top(file)
    if path in tree.changes or file != suite.judgments.file.path:
        judgments = read_judgments_at_base(then, registry, tree)
        return {} if judgments is None else list_grades(judgments)
    if stored is None or prints is None or stored.judgments.grades_of == prints.grades_of:
        return {}
    return {} if tree.has_file(path) else list_kept_grades(stored)


def _list_judged_figures(scores: Scores) -> list[MetricOnSlice]:
    """Each metric of judgments that a rule compares, over all queries and on the slices of its rules."""
    checks = plan_checks(scores.collection.suite, scores.population.queries)
    about = [
        (check.part.metric, check.slice)
        for check in select_rule_checks(checks)
        if check.rule.compares and check.part.metric is not None
    ]
    judged = [(metric, each) for metric, each in about if metric.reads_judgments and not metric.compares_lists]
    metrics = {str(metric): metric for metric, _ in judged}
    every = dict.fromkeys([*((name, WHOLE) for name in metrics), *((str(metric), each) for metric, each in judged)])
    return [MetricOnSlice(metrics[name], each) for name, each in every]


NAMED = 10
"""The most regraded judgments that are named."""


def add_regraded(outcome: Outcome, regraded: Regraded | None, *, fails: bool) -> Outcome:
    """Add the grades that a branch changed in its own favour."""
    if regraded is None:
        return outcome
    line = format_line(regraded.baseline, several=True)
    return add_loss(
        outcome,
        regraded.describe("in this branch"),
        fails=fails,
        sentence="Baseline is what was accepted at the base, under the grades of then; now is it under those of now.",
        facts=_list_edits(regraded),
        worst=regraded.baseline,
        figures=(replace(line, slice=f"{line.slice}, regraded"),),
    )


def _list_edits(regraded: Regraded) -> tuple[str, ...]:
    """The judgments, with their grades."""
    more = (f"and {len(regraded.edits) - NAMED} more",) if len(regraded.edits) > NAMED else ()
    return (*regraded.edits[:NAMED], *more)


def add_regraded_inputs(outcome: Outcome, regraded: Regraded | None) -> Outcome:
    """Add to the outcome of the inputs that grades changed in favour of this run since the baseline was accepted."""
    if regraded is None:
        return outcome
    return replace(
        outcome,
        warning=True,
        headline=regraded.describe("since the baseline was accepted"),
        facts=(*_list_edits(regraded), outcome.headline, *outcome.facts),
        numbers=regraded.baseline.numbers,
    )
