"""A run that is checked again: its kept rankings under the judgments of now. No source is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.baseline.index_facts import NO_INDEX
from pytest_ireval.baseline.rankings_file import CURRENT, VERSUS, LastRun, read_last_run
from pytest_ireval.baseline.record import Baseline, Search
from pytest_ireval.errors import InputError, Problem
from pytest_ireval.gate.apply import apply_checks
from pytest_ireval.gate.collect import (
    Inputs,
    OtherReference,
    StoredReference,
    compute_fingerprints,
    fingerprint_suite_judgments,
    list_other_sources,
    read_anchor,
    read_stored_reference,
)
from pytest_ireval.gate.fetching import FetchedRankings
from pytest_ireval.gate.grade_bounds import GradeBounds, bound_outcomes
from pytest_ireval.gate.last_run import identify_baseline, list_changed_inputs, name_reference
from pytest_ireval.gate.queries_and_judgments import Collection, read_collection
from pytest_ireval.gate.regrading import GradedDocument, list_grades, restore_old_grades
from pytest_ireval.gate.run import Plan, make_plan
from pytest_ireval.gate.run_context import RunContext
from pytest_ireval.gate.score import Scores, score_inputs
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.suite.suite import Suite
from pytest_ireval.words import format_count, format_some


class CheckedAgain(NamedTuple):
    """The outcomes of a run under the judgments of now."""

    outcomes: tuple[Outcome, ...]
    """Those of the run, in its order."""
    scores: Scores
    bounds: dict[str, GradeBounds]
    """By outcome, what further grades can do; of red and doubtful ones that compare a metric."""


@dataclass(eq=False)
class KeptRun:
    """A suite in a run whose rankings were kept."""

    suite: Suite
    registry: Registry
    result: SuiteResult
    """What the run found."""
    last: LastRun
    plan: Plan
    unrepeatable: tuple[str, ...] = ()
    """Checks that have another verdict if they are repeated under the judgments of then; they keep that of the run."""
    added: int = 0
    """Judgments that were added since the run."""

    @property
    def doubtful(self) -> list[Outcome]:
        """The red and inconclusive outcomes of the run, and its warnings."""
        return [each for each in self.result.outcomes if each.verdict != "pass" or each.broken]

    @property
    def today(self) -> date:
        """The day of the run, on which waivers count."""
        return date.fromisoformat(self.last.date[:10])

    def read_collection(self) -> Collection:
        """Read queries and judgments, as they are now."""
        return read_collection(self.suite, self.registry, self.today)

    def check_again(self) -> CheckedAgain:
        """Check the run under the judgments that the file has now."""
        inputs = restore_inputs(self, self.read_collection())
        scores = score_inputs(inputs)
        outcomes = self.apply(inputs, scores)
        doubtful = {each.id for each in self.doubtful} - {*self.unrepeatable}
        wanted = tuple(each for each in outcomes if each.id in doubtful)
        return CheckedAgain(outcomes, scores, bound_outcomes(self.plan.checks, scores, wanted))

    def apply(self, inputs: Inputs, scores: Scores) -> tuple[Outcome, ...]:
        """The outcomes of the checks of the run; of one that cannot be repeated, that of the run."""
        ids = {each.id for each in self.result.outcomes} - {*self.unrepeatable}
        outcomes = apply_checks(self.plan.checks, inputs, scores, RunContext(self.today), ids)
        by_id = {each.id: each for each in outcomes}
        return tuple(by_id.get(each.id, each) for each in self.result.outcomes)


def open_kept_run(suite: Suite, registry: Registry, result: SuiteResult, file: Path) -> KeptRun:
    """Open the rankings of a run; InputError if its inputs are not those of now, apart from grades that were added."""
    if not file.is_file():
        hint = "keep the whole folder of the report as the artifact of the job; --ireval-report none keeps nothing"
        raise InputError(Problem("the rankings of the run were not kept", str(file), suggestion=hint))
    last = read_last_run(file, suite.name)
    if last is None:
        raise InputError(Problem(f"holds no rankings of the suite {suite.name}: it was an error", str(file)))
    run = KeptRun(suite, registry, result, last, make_plan(suite, registry))
    collection = run.read_collection()
    inputs = restore_inputs(run, collection)
    if changed := list(_list_changes(last, inputs)):
        complaint = f"{' and '.join(changed)} changed since {last}, so its checks cannot be repeated"
        restore = f"check out {last.commit[:10]}, or run again: " if last.commit else "run again: "
        raise InputError(Problem(complaint, suite.shown, suggestion=f"{restore}pytest --ireval {suite.shown}"))
    if inputs.fingerprints.judgments == last.record["judgments"]:
        return _note_unrepeatable(run, inputs)
    added = _count_added(run, collection)
    then = {GradedDocument(query, document): grade for query, document, grade in _list_kept_grades(last)}
    old = restore_old_grades(collection, {}, then)
    assert old is not None  # noqa: S101 - a suite whose judgments changed has some
    return _note_unrepeatable(replace(run, added=added), restore_inputs(run, old))


def restore_inputs(run: KeptRun, collection: Collection) -> Inputs:
    """The inputs of a run with the kept rankings, and with the queries and judgments of ``collection``."""
    suite, last, judged = run.suite, run.last, fingerprint_suite_judgments(collection)
    prints = compute_fingerprints(collection, last.record["source"], judged)
    versus = None
    if VERSUS in last.sides:
        asked = Baseline(suite.name, suite.depth, last.sides[VERSUS], fingerprints=prints)
        versus = StoredReference(asked, versus=last.record["versus"])
    return Inputs(
        collection=collection,
        today=run.today,
        current=FetchedRankings(last.sides[CURRENT], NO_INDEX),
        source=last.record["source"],
        missing_queries=(),
        stored=read_stored_reference(suite, suite.name),
        anchor=read_anchor(suite),
        others=tuple(_restore_references(suite, last)),
        merge_base=None,
        fingerprints=prints,
        judgment_prints=judged,
        search=Search(last.record["source"]),
        versus=versus,
    )


def _restore_references(suite: Suite, last: LastRun) -> Iterator[OtherReference]:
    for number, (source, rule_indexes) in enumerate(list_other_sources(suite), 1):
        rankings = last.sides.get(name_reference(number))
        if rankings is None:
            yield OtherReference(source, rule_indexes, problem=InputError("the run has no rankings of this source"))
        else:
            yield OtherReference(source, rule_indexes, FetchedRankings(rankings, NO_INDEX))


def _list_changes(last: LastRun, inputs: Inputs) -> Iterator[str]:
    """Name the inputs that are not those of the run, without its judgments."""
    prints, anchor = inputs.fingerprints, None if inputs.anchor is None else inputs.anchor.baseline
    yield from (each for each in list_changed_inputs(last, inputs.suite, prints) if each != "the judgments")
    now = {
        "queries": (prints.queries, "the queries"),
        "side_files": (prints.side_files, "the aliases, variants or preferences"),
        "baseline": (identify_baseline(inputs.stored.baseline), "the baseline"),
        "anchor": (identify_baseline(anchor), "the anchor"),
    }
    yield from (name for key, (value, name) in now.items() if last.record[key] != value)


def _count_added(run: KeptRun, collection: Collection) -> int:
    """The number of judgments that the run did not have; InputError if others changed or are gone."""
    written, then = collection.written_judgments, list(_list_kept_grades(run.last))
    assert written is not None  # noqa: S101 - the judgments are not those of then
    now = {(each.query, each.document): grade for each, grade in list_grades(written).items()}
    changed = [(query, document, grade) for query, document, grade in then if now.get((query, document)) != grade]
    again = f"run again: pytest --ireval {run.suite.shown}"
    if not then:
        complaint = f"the judgments changed since {run.last}; they are too many to tell which"
        raise InputError(Problem(complaint, written.origin, suggestion=again))
    if changed:
        lines = [f"{q} {d}: {grade:g} -> {_format_grade(now.get((q, d)))}" for q, d, grade in changed]
        complaint = f"{format_count(len(changed), 'judgment')} changed since {run.last}: {format_some(lines)}"
        hint = f"grades may be added since a run, not changed: restore them, or {again}"
        raise InputError(Problem(complaint, written.origin, suggestion=hint))
    return len(now) - len(then)


def _format_grade(grade: float | None) -> str:
    return "gone" if grade is None else f"{grade:g}"


def _list_kept_grades(last: LastRun) -> Iterator[tuple[str, str, float]]:
    for query, grades in (last.grades or {}).items():
        yield from ((query, document, grade) for document, grade in grades.items())


def _note_unrepeatable(run: KeptRun, inputs: Inputs) -> KeptRun:
    """The run, with the checks that differ when they are repeated under the judgments of then.

    A check of a plugin may look at what no run keeps, and that of a merge base is not repeated.
    """
    repeated: Sequence[Outcome] = run.apply(inputs, score_inputs(inputs))
    pairs = zip(run.result.outcomes, repeated, strict=True)
    differ = (then.id for then, now in pairs if (then.verdict, then.broken) != (now.verdict, now.broken))
    return replace(run, unrepeatable=tuple(differ))
