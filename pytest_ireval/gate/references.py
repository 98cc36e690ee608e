"""What rules compare with: the stored baseline, an anchor, or another source; each is scored and checked to fit."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pytest_ireval.baseline.changes import find_cause
from pytest_ireval.baseline.index_facts import describe_new_count
from pytest_ireval.baseline.reading import format_checkout
from pytest_ireval.baseline.record import (
    Baseline,
    Fingerprints,
    JudgmentPrints,
    describe_anchor,
    list_acceptances_since,
)
from pytest_ireval.errors import (
    BaselineError,
    BaselineMisfitError,
    IrevalError,
    MissingAnchorError,
    NothingToCompareError,
    Problem,
    SourceError,
    format_inline,
)
from pytest_ireval.gate.collect import Inputs, OtherReference, StoredReference
from pytest_ireval.gate.comparison import ScoredReference, compare
from pytest_ireval.gate.fetching import refuse_missing_queries
from pytest_ireval.gate.queries_and_judgments import Collection
from pytest_ireval.gate.score_rankings import QueryIds, find_unknown_queries, score_rankings
from pytest_ireval.gate.stored_metrics import (
    NEW_VERSION,
    SCORES,
    ScoredAgain,
    find_lacks,
    find_redefined_metrics,
    find_restated,
    list_definitions,
    read_definition,
)
from pytest_ireval.gate.versus import NEW_HERE
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.results.outcome import Cause
from pytest_ireval.sides.population import Population
from pytest_ireval.sides.side import Side
from pytest_ireval.sources.describing import describe_source
from pytest_ireval.suite.suite import Suite
from pytest_ireval.words import format_count, format_some

MOST_REMOVED = 0.05
"""A larger share of queries or values that are gone is no change of the suite, but a mistake."""


class _StoredKind(NamedTuple):
    """The kind of a stored reference in words, and the way to make it again."""

    noun: str
    action: str
    """What to do where it does not fit: ``accept the baseline again``."""
    command: str
    condition: str = ""
    """What comes before that, where the current baseline does not fit either."""
    checks_lock: bool = True
    """True if locked judgments have to be those of it."""

    @property
    def remedy(self) -> str:
        return f"{self.action}: {self.command}"

    def describe_misfit(self, complaint: str, question: str = "") -> Problem:
        """The problem of something that does not fit, with the way to make the reference again."""
        return Problem(complaint, suggestion=f"{question}{self.remedy}", allowed=self.condition)


def _describe_baseline(suite: Suite) -> _StoredKind:
    node = "::".join(filter(None, (suite.shown, ".".join(suite.values.values()))))
    command = f'pytest --ireval {node} --ireval-update --ireval-reason "…"'
    return _StoredKind("baseline", "accept the baseline again", command)


def _describe_anchor_kind(suite: Suite) -> _StoredKind:
    return _StoredKind(
        "anchor",
        "pin the current baseline instead",
        _format_anchor_command(suite),
        condition="first accept the baseline with --ireval-force if it does not fit either: "
        "this rule blocks accepting it",
        checks_lock=False,
    )


def _format_anchor_command(suite: Suite) -> str:
    named = f" --named {suite.name}" if suite.values else ""
    return f'ireval baseline anchor {suite.shown}{named} --reason "…"'


def compare_with_baseline(inputs: Inputs, current: Side) -> ScoredReference:
    """Score the stored baseline with the current judgments and metrics; without one, there is nothing to compare."""
    if inputs.stored.baseline is None:
        return ScoredReference(problem=inputs.stored.problem, deleted=inputs.stored.deleted)
    return _compare_with_stored(inputs, current, inputs.stored.baseline, _describe_baseline(inputs.suite))


def compare_with_anchor(inputs: Inputs, current: Side) -> ScoredReference:
    """Score the anchor with the current judgments and metrics; a missing one is a problem of its rules."""
    assert inputs.anchor is not None  # noqa: S101 - only asked for where a rule compares with it
    anchor = inputs.anchor.baseline
    if anchor is None:
        return ScoredReference(
            problem=inputs.anchor.problem or _report_missing_anchor(inputs.suite, inputs.anchor.deleted)
        )
    try:
        reference = _compare_with_stored(inputs, current, anchor, _describe_anchor_kind(inputs.suite))
    except BaselineError as error:
        return ScoredReference(problem=error)
    if reference.comparison is None or reference.problem is not None:
        return ScoredReference(problem=reference.problem or BaselineError("the anchor was not scored"))
    side = replace(reference.comparison.baseline, origin=describe_anchor(anchor.accepted))
    stored = inputs.stored.baseline
    return replace(
        reference,
        comparison=replace(reference.comparison, baseline=side),
        acceptances=() if stored is None else tuple(list_acceptances_since(anchor, stored)),
    )


def compare_with_source(inputs: Inputs, current: Side, other: OtherReference) -> ScoredReference:
    """Score another source; a missing query is an error or is not compared, so that the source does not lose by it."""
    collection, answer = inputs.collection, other.answer
    if answer is None:
        return ScoredReference(problem=other.problem)
    try:
        if answer.failures:  # empty lists of the reference would hide a loss
            query, reason = next(iter(answer.failures.items()))
            lost = format_count(len(answer.failures), "query")
            complaint = f"{lost} without an answer, such as {query!r} ({reason})"
            suggestion = "in a source of against, no query may fail"
            raise SourceError(Problem(complaint, str(other.source.place), suggestion=suggestion))
        refuse_missing_queries(other.source, collection, answer.rankings)
        ranked = set(answer.rankings[0].queries).intersection(*(each.queries for each in answer.rankings))
        unknown = frozenset(query for query in collection.population.queries.ids if query not in ranked)
        words = describe_source(other.source, inputs.suite.path.parent)
        side = score_rankings(collection, answer.rankings, words, unknown=unknown).side
        return ScoredReference(compare(collection, current, side, unknown))
    except IrevalError as error:
        return ScoredReference(problem=error)


def compare_with_versus(inputs: Inputs, current: Side, versus: StoredReference) -> ScoredReference:
    """Score the rankings of another commit with the judgments and metrics of this one.

    What the branch brings anew, such as a metric that needs fields, has nothing to be compared with: a warning.
    """
    if versus.baseline is None:
        return ScoredReference(problem=versus.problem, is_versus=True)
    collection = inputs.collection
    rankings = tuple(map(collection.population.names.in_rankings, versus.baseline.rankings))
    asked = replace(versus.baseline, rankings=rankings)
    unknown = find_unknown_queries(collection, asked)
    side = score_rankings(collection, asked.rankings, versus.versus, unknown=unknown, curves=True).side
    sound = [metric for metric in inputs.suite.metrics if str(metric) not in current.errors]
    lacks = {
        str(metric): NothingToCompareError(f"{NEW_HERE}: the other commit {lack}")
        for metric, lack in find_lacks(sound, asked, inputs.fingerprints.documents)
    }
    cause = _find_cause(inputs, current, asked, side, unknown, (), None)
    return ScoredReference(
        comparison=compare(collection, current, replace(side, errors={**side.errors, **lacks}), unknown),
        problem=_find_versus_misfit(inputs, asked),
        cause=cause,
        notes=tuple(_note_versus_queries(cause)),
        is_versus=True,
    )


def _find_versus_misfit(inputs: Inputs, asked: Baseline) -> IrevalError | None:
    """The reason why nothing can be compared with these rankings."""
    suite, stored = inputs.suite, inputs.stored.baseline
    unlocked = None if stored is None else _find_unlocked_judgments(suite, stored, None, inputs.fingerprints)
    if unlocked is not None:
        return BaselineError(unlocked)
    if asked.depth < suite.depth:
        complaint = f"the other commit was asked for {asked.depth} documents of each query, and depth is {suite.depth}"
        again = f"ask it again: ireval rank {suite.shown} --depth {suite.depth} -o FOLDER"
        return BaselineError(Problem(complaint, suggestion=again))
    then, now = map(read_definition, (asked.fingerprints.documents, inputs.fingerprints.documents))
    if then != now:
        return NothingToCompareError(f"{NEW_HERE}: the other commit has {then}, and the suite has {now}")
    return None


def _note_versus_queries(cause: Cause) -> Iterator[str]:
    if cause.added:
        new = format_count(len(cause.added), "query")
        yield f"{new} that the other commit was not asked, and not compared: {format_some(cause.added)}"
    if cause.removed:
        yield f"{format_count(len(cause.removed), 'query')} of the other commit gone: {format_some(cause.removed)}"


def _compare_with_stored(inputs: Inputs, current: Side, stored: Baseline, kind: _StoredKind) -> ScoredReference:
    """Score a stored reference, note what changed since it was accepted, and check that it still fits."""
    collection, prints = inputs.collection, inputs.fingerprints
    stored = replace(stored, rankings=tuple(map(collection.population.names.in_rankings, stored.rankings)))
    unknown = find_unknown_queries(collection, stored)
    origin = f"the {kind.noun} of {stored.accepted.date}"
    side = score_rankings(collection, stored.rankings, origin, unknown=unknown, curves=True).side
    lacking = _find_lacking_metrics(inputs.suite, current, stored, side, prints, kind)
    again = ScoredAgain(stored, collection, prints, inputs.judgment_prints)
    redefined = _find_redefined(again, side, kind)
    cause = _find_cause(inputs, current, stored, side, unknown, redefined, inputs.judgment_prints)
    redefined = {name: error for name, error in redefined.items() if name not in lacking}
    # Only the first error of a metric is reported: missing data, then another version, then another definition.
    errors = ChainMap(lacking, _find_other_versions(stored, list_definitions(current), kind), redefined)
    notes = [*_note_changed_queries(cause, len(collection.population.queries), kind)]
    if not cause.index:
        notes += describe_new_count(stored.search.index, inputs.search.index, f"when the {kind.noun} was accepted")
    return ScoredReference(
        comparison=compare(collection, current, replace(side, errors={**side.errors, **errors}), unknown),
        problem=_find_misfit(collection, stored, current, cause, prints, kind),
        cause=cause,
        redefined=redefined,
        notes=tuple(notes),
    )


def _find_redefined(again: ScoredAgain, side: Side, kind: _StoredKind) -> dict[str, IrevalError]:
    """Metrics whose definition is not that of the acceptance, although their version is."""
    hint = f"{kind.condition}; {kind.remedy}" if kind.condition else kind.remedy
    complaints = find_redefined_metrics(again, side, kind.noun)
    return {
        name: BaselineMisfitError(Problem(complaint, suggestion=hint, allowed=NEW_VERSION))
        for name, complaint in complaints.items()
    }


def _find_lacking_metrics(
    suite: Suite, current: Side, stored: Baseline, side: Side, prints: Fingerprints, kind: _StoredKind
) -> dict[str, IrevalError]:
    """Metrics for which the reference has no data, or on which they fail; accepting mends no error of today's side."""
    sound = [metric for metric in suite.metrics if str(metric) not in current.errors]
    missing = _find_missing_needs(sound, stored, prints, kind)
    return {
        **_find_new_failures(sound, stored, side, kind),
        **{name: BaselineMisfitError(problem) for name, problem in missing.items()},
    }


def _find_cause(
    inputs: Inputs,
    current: Side,
    stored: Baseline,
    side: Side,
    unknown: QueryIds,
    redefined: Iterable[str],
    judgments: JudgmentPrints | None,
) -> Cause:
    """The changes since a reference was accepted or asked; ``judgments`` are None where it keeps none."""
    population = inputs.collection.population
    cause = find_cause(
        stored,
        rankings=current.rankings,
        judgments=judgments,
        queries=population.queries,
        metrics=list_definitions(current),
        fingerprints=inputs.fingerprints,
        search=inputs.search,
    )
    ignored = unknown | population.waived
    on_one_side = (side.position.keys() ^ current.position.keys()) & population.queries.position.keys()
    return replace(
        cause,
        rankings=cause.rankings + len(on_one_side - ignored),
        restated=find_restated(stored, side),
        added=tuple(q for q in cause.added if q in current.position and q not in population.waived),
        metrics=tuple(sorted({*cause.metrics, *redefined})),
    )


def _find_misfit(
    collection: Collection, stored: Baseline, now: Side, cause: Cause, prints: Fingerprints, kind: _StoredKind
) -> BaselineError | None:
    """The reason why a stored reference does not fit; None if it fits."""
    suite = collection.suite
    unlocked = _find_unlocked_judgments(suite, stored, cause, prints) if kind.checks_lock else None
    if unlocked is not None:
        return BaselineError(unlocked)
    problems = [
        *_find_gaps(suite, stored, cause, prints, kind),
        *_find_lost_values(collection, stored, now, cause, kind),
    ]
    return BaselineMisfitError(*problems) if problems else None


def needs_scores(suite: Suite) -> bool:
    """Tell whether the scores of documents are part of what is compared."""
    return any(metric.needs & SCORES for metric in suite.metrics)


def _find_other_versions(
    stored: Baseline, now: Mapping[str, tuple[int, str]], kind: _StoredKind
) -> dict[str, IrevalError]:
    """Metrics that changed since this was accepted; ``now`` has version and origin."""
    errors: dict[str, IrevalError] = {}
    for name, (version, origin) in now.items():
        then = stored.metrics.get(name)
        if then is not None and (then.version, then.origin) != (version, origin):
            complaint = (
                f"{name} is version {version} of {origin} now; the {kind.noun} was accepted with version "
                f"{then.version} of {then.origin}"
            )
            errors[name] = BaselineMisfitError(kind.describe_misfit(complaint))
    return errors


def _note_changed_queries(cause: Cause, queries: int, kind: _StoredKind) -> Iterator[str]:
    if cause.added:
        much = f": more than a tenth, so {kind.action}" if len(cause.added) > 0.1 * queries else ""
        new = format_count(len(cause.added), "query")
        yield f"{new} not yet in the {kind.noun}, and not compared{much}: {format_some(cause.added)}"
    if cause.removed:
        yield f"{format_count(len(cause.removed), 'query')} of the {kind.noun} gone: {format_some(cause.removed)}"


def _find_unlocked_judgments(
    suite: Suite, stored: Baseline, cause: Cause | None, prints: Fingerprints
) -> Problem | None:
    if suite.judgments is None or not suite.judgments.lock or stored.fingerprints.judgments == prints.judgments:
        return None
    edits = "; ".join(
        f"{e.query} {e.document}: {_format_grade(e.before)} -> {_format_grade(e.now)}"
        for e in (cause.edits[:5] if cause else ())
    )
    queries = f"those of {format_count(cause.judgments, 'query')}" if cause and cause.judgments else "they"
    return Problem(
        f"judgments are locked, and {queries} are not what they were when the baseline was accepted"
        f"{': ' + edits if edits else ''}",
        place=str(suite.judgments.file.place),
        suggestion="restore the judgments, or remove lock: true from the suite",
    )


def _format_grade(grade: float | None) -> str:
    return "none" if grade is None else f"{grade:g}"


def _find_gaps(
    suite: Suite, stored: Baseline, cause: Cause, prints: Fingerprints, kind: _StoredKind
) -> Iterator[Problem]:
    """Documents or scores that were not kept; other passages; queries that the suite no longer has."""
    yield from _find_missing_depth(suite, stored, kind)
    then, now = map(read_definition, (stored.fingerprints.documents, prints.documents))
    if then != now:
        complaint = f"the {kind.noun} was accepted with {then}, and the suite has {now}"
        yield kind.describe_misfit(complaint)
    count = len(stored.rankings[0].queries)
    if len(cause.removed) > MOST_REMOVED * count:
        removed = f"{len(cause.removed)} of {format_count(count, 'query')}"
        gone = f"{removed} of the {kind.noun} are gone: {format_some(cause.removed)}"
        yield kind.describe_misfit(gone)


def find_missing_data(suite: Suite, stored: Baseline, prints: Fingerprints) -> Iterator[Problem]:
    """Documents, scores, timings or fields that count now and that the baseline does not keep."""
    kind = _describe_baseline(suite)
    yield from _find_missing_depth(suite, stored, kind)
    yield from _find_missing_needs(suite.metrics, stored, prints, kind).values()


def _find_missing_depth(suite: Suite, stored: Baseline, kind: _StoredKind) -> Iterator[Problem]:
    if stored.depth < suite.depth:
        complaint = f"the {kind.noun} holds {stored.depth} documents of each query, and depth is {suite.depth} now"
        yield kind.describe_misfit(complaint)


def _find_missing_needs(
    metrics: Iterable[Metric], stored: Baseline, prints: Fingerprints, kind: _StoredKind
) -> dict[str, Problem]:
    """By metric, the data that it alone needs and that were not kept."""
    return {
        str(metric): kind.describe_misfit(f"the {kind.noun} {lack}")
        for metric, lack in find_lacks(metrics, stored, prints.documents)
    }


def _find_lost_values(
    collection: Collection, stored: Baseline, now: Side, cause: Cause, kind: _StoredKind
) -> Iterator[Problem]:
    """Queries or sessions that had a value in the baseline and have none now: judgments or rankings were lost."""
    excused = {
        "query": collection.population.waived | set(cause.removed),
        "session": _find_waived_sessions(collection.population),
    }
    for name, scored in now.scored.items():
        unit = scored.metric.unit
        if name not in stored.metrics or unit not in excused:
            continue
        if name in cause.metrics:  # another definition may give no value where the old one did
            continue
        accepted = stored.metrics[name].values
        lost = set(accepted).difference(compress(scored.names, (~np.isnan(scored.values)).tolist()), excused[unit])
        if len(lost) > MOST_REMOVED * len(accepted):
            units = format_count(len(accepted), unit)
            some = format_some([unit_id for unit_id in accepted if unit_id in lost])
            complaint = f"{len(lost)} of {units} have no {name} any more: {some}"
            moved = ", or queries moved to other sessions" if unit == "session" else ""
            yield kind.describe_misfit(complaint, f"were judgments deleted, or rankings left out{moved}? ")
            return  # the values of other metrics are lost by the same cause


def _find_waived_sessions(population: Population) -> set[str]:
    """The sessions all of whose queries are waived."""
    sessions = population.queries.columns.get("session", ())
    if not sessions:
        return set()
    queries = zip(sessions, population.queries.ids, strict=True)
    return set(sessions) - {session for session, query in queries if query not in population.waived}


def _find_new_failures(
    metrics: Iterable[Metric], stored: Baseline, side: Side, kind: _StoredKind
) -> dict[str, BaselineMisfitError]:
    """Metrics that the reference was accepted without, and that fail on it: it may lack what only they look at."""
    errors = {}
    for name in map(str, metrics):
        if name in side.errors and name not in stored.metrics:
            reason = format_inline(side.errors[name])
            complaint = f"the {kind.noun} was accepted without {name}, which fails on it: {reason}"
            errors[name] = BaselineMisfitError(kind.describe_misfit(complaint))
    return errors


def _report_missing_anchor(suite: Suite, deleted: Path | None) -> MissingAnchorError:
    """The error with the command that restores the anchor, or pins it for the first time."""
    if deleted is not None:
        remedy = f"it was deleted: {describe_restoring(deleted)}"
    else:
        remedy = f"pin what is accepted now: {_format_anchor_command(suite)}"
    return MissingAnchorError(Problem("no anchor to compare with", suggestion=remedy))


def describe_restoring(deleted: Path) -> str:
    """The command that restores a deleted file."""
    return f"{format_checkout('HEAD', deleted)} restores it"
