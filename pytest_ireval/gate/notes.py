"""What a reader of a result should know beside the verdicts: a line for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

import numpy as np

from pytest_ireval.baseline.index_facts import describe_any_change
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.stages import find_unknown_judgments
from pytest_ireval.gate.collect import Inputs
from pytest_ireval.gate.noise import UNSTABLE, note_noise
from pytest_ireval.gate.score import Scores
from pytest_ireval.results.outcome import Cause
from pytest_ireval.sides.side import Side
from pytest_ireval.suite.suite import Suite, Waiver
from pytest_ireval.words import format_count, format_some

WELL_JUDGED = 0.8
"""If a smaller share of the documents is judged, figures say little of what people see."""
LARGE_FIELDS = 200_000
"""Characters in fields of documents; a baseline is read in reviews, and kept by git."""
MUCH_LESS_JUDGED = 0.05
"""A baseline whose share of judged documents is larger by more than this is at an advantage."""


def list_notes(inputs: Inputs, scores: Scores) -> tuple[str, ...]:
    """Everything worth a line, what concerns the comparison with the baseline first."""
    comparison = scores.baseline.comparison
    anchors = [reference for index, reference in scores.others.items() if _is_anchored(inputs.suite, index)]
    return (
        *scores.baseline.notes,
        *_note_equal_rankings(scores.baseline.cause, inputs.source),
        *(note for anchor in anchors[:1] for note in anchor.notes),
        *_note_cut_rankings(inputs.suite, scores.current),
        *_note_short_stages(inputs.suite, scores.current),
        *_note_judged_later(inputs.suite, scores),
        *_note_extra_queries(inputs.current.extra_queries),
        *note_failures(inputs),
        *inputs.current.notes,
        *_note_references(inputs),
        *_note_missing_documents(inputs.current.missing_documents),
        *inputs.notes,
        *([f"{UNSTABLE}: {scores.instability}"] if scores.instability else []),
        *_note_unranked_queries(scores),
        *_note_similar_values(inputs.suite, scores.population.queries),
        *_note_large_fields(inputs),
        *_note_judged_shares(inputs.suite, scores),
        *scores.notes,
        *note_noise(scores.population, scores.current, None if comparison is None else comparison.baseline),
        *_note_ending_waivers(inputs.suite, inputs.today),
    )


def _is_anchored(suite: Suite, index: int) -> bool:
    return bool(suite.rules[index].traits.reference.anchored)


def _note_equal_rankings(cause: Cause | None, source: str) -> Iterator[str]:
    """A change of the search may not have reached the source."""
    if cause is not None and cause.compared and not cause.rankings:
        yield f"all {format_count(cause.compared, 'ranking')} equal those of the baseline (source: {source})"


def _note_cut_rankings(suite: Suite, current: Side) -> Iterator[str]:
    deeper = int(np.count_nonzero(current.rankings[0].retrieved >= suite.depth))
    uncut = [
        str(metric)
        for metric in suite.metrics
        if metric.unit == "query" and not metric.stage
        if metric.parameter("cutoff") is not None and metric.settings.get("cutoff") is None
    ]
    if deeper and uncut:
        look = "looks" if len(uncut) == 1 else "look"
        yield f"{', '.join(uncut)} {look} at whole rankings, but {deeper} rankings are cut at depth {suite.depth}"


def _note_short_stages(suite: Suite, current: Side) -> Iterator[str]:
    """A metric looks further down than an earlier stage ever returns."""
    for metric in suite.metrics:
        answers, cutoff = current.rankings[0].stages.get(metric.stage, {}), metric.settings.get("cutoff")
        most = max((answer.retrieved for answer in answers.values()), default=0)
        if metric.stage and isinstance(cutoff, int) and most < cutoff:
            yield f"{metric} looks at {cutoff} documents, and {metric.stage} returns at most {most} for a query"


def _note_judged_later(suite: Suite, scores: Scores) -> Iterator[str]:
    """Documents whose ranks in an earlier stage nobody kept, because they were not judged then."""
    names, judgments = [str(metric) for metric in suite.metrics if metric.stage], scores.population.judgments
    reference = scores.trusted_baseline_side
    if names and judgments is not None and reference is not None:
        unknown = len(find_unknown_judgments(judgments, reference.rankings))
        if unknown:
            what = f"{format_count(unknown, 'document')} judged later: their earlier ranks were not kept"
            yield f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} compared without {what}"


def _note_extra_queries(queries: Sequence[str]) -> Iterator[str]:
    if queries:
        ranked = f"{format_count(len(queries), 'query')} ranked"
        yield f"{ranked} that the suite does not have, left out: {format_some(queries)}"


def note_failures(inputs: Inputs) -> Iterator[str]:
    """Queries that the source did not answer, whose rankings are empty."""
    failures = inputs.current.failures
    if failures:
        query, reason = next(iter(failures.items()))
        what = f"{format_count(len(failures), 'query')} without an answer of the source, counted as empty"
        more = f", and {len(failures) - 1} more" if len(failures) > 1 else ""
        yield f"{what}: {query} ({reason}){more}"


def _note_references(inputs: Inputs) -> Iterator[str]:
    """Notes of the sources that rules compare with, and another build or mapping of an index of the same name."""
    for other in inputs.others:
        answer, index = other.answer, inputs.current.index
        if answer is None:
            continue
        change = describe_any_change(answer.index, index) if answer.index.name == index.name else ""
        notes = [
            *([] if answer.recorded is None else [str(answer.recorded)]),
            *answer.notes,
            *([f"it searched another index than the source: {change}"] if change else []),
        ]
        line = inputs.suite.rules[other.rule_indexes[0]].place.line
        yield from (f"against, line {line}: {note}" for note in notes)


def _note_missing_documents(documents: Sequence[str]) -> Iterator[str]:
    if documents:
        what = format_count(len(documents), "relevant document")
        yield f"{what} of the judgments not in the index: {format_some(documents)}"


def _note_unranked_queries(scores: Scores) -> Iterator[str]:
    queries, judgments = scores.population.queries, scores.population.judgments
    judged = judgments.position if judgments is not None else queries.position
    lacking = [query for query in queries.ids if query not in judged and query not in scores.current.position]
    if lacking:
        verb = "has" if len(lacking) == 1 else "have"
        yield f"{format_count(len(lacking), 'query')} without judgments {verb} no ranking: {format_some(lacking)}"


def _note_similar_values(suite: Suite, queries: Queries) -> Iterator[str]:
    """Values of a column that look alike and make slices of their own, most often by mistake."""
    for column in dict.fromkeys(column for column in suite.columns() if column != suite.weight):
        alike: dict[str, list[str]] = {}
        for value in dict.fromkeys(queries.composed.get(column, ())):
            alike.setdefault("".join(value.split()).casefold(), []).append(value)
        for values in alike.values():
            if len(values) > 1:
                differ = "has values that differ only by case or blanks, and count as different"
                yield f"{column} {differ}: {format_some(values)}"


def _note_large_fields(inputs: Inputs) -> Iterator[str]:
    """A baseline keeps all fields of documents, bodies among them, where a metric does not say which it reads."""
    metrics = [str(metric) for metric in inputs.suite.metrics if "fields" in metric.needs and metric.uses is None]
    fields = inputs.current.rankings[0].fields if metrics else None
    size = sum(len(str(value)) for values in (fields or {}).values() for value in values.values())
    if size > LARGE_FIELDS:
        unsaid = f"{', '.join(metrics)} {'does' if len(metrics) == 1 else 'do'} not say which fields to keep"
        yield f"the baseline keeps {size / 1e6:.1f} MB of fields of documents: {unsaid}; declare uses= in the metric"


def _note_judged_shares(suite: Suite, scores: Scores) -> Iterator[str]:
    """Warn if so little is judged that figures say little of what people see, or so much less that they mislead."""
    counts = scores.counts
    now, before = counts.judged_share, counts.judged_share_before
    if now is None or (now >= WELL_JUDGED and (before is None or before - now <= MUCH_LESS_JUDGED)):
        return
    then = "" if before is None else f" (baseline: {before:.0%})"
    others = "are removed" if suite.policies.unjudged == "removed" else "count as irrelevant"
    yield f"{now:.0%} of the first {counts.judged_depth} documents are judged{then}; the others {others}"


def _note_ending_waivers(suite: Suite, today: date) -> Iterator[str]:
    """Waivers that end soon; one that has ended is red by itself."""
    for waiver in suite.waivers:
        if left := describe_time_left(waiver, today):
            yield f"the waiver of {waiver.query} ends on {waiver.until}, {left}"


def describe_time_left(waiver: Waiver, today: date) -> str:
    """The time until a waiver ends, if that is within 14 days; empty otherwise."""
    days = (waiver.until - today).days
    if not 0 <= days <= 14:
        return ""
    return ("today", "tomorrow")[days] if days < 2 else f"in {format_count(days, 'day')}"
