"""Asks the sources of a suite, and reads their answers: rankings, fields and the facts of an index."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval.baseline.changes import find_changed_queries
from pytest_ireval.baseline.index_facts import IndexFacts
from pytest_ireval.data.aliases import renamed
from pytest_ireval.data.coerce import some
from pytest_ireval.data.formats.input_file import near
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.side_data import Fields, read_fields
from pytest_ireval.data.views import first_documents, of_queries
from pytest_ireval.errors import InputError, IrevalError, Problem, SourceError
from pytest_ireval.gate.inputs import Gathered, Names, relevant_from
from pytest_ireval.gate.scoring import metrics_asked_again, noise_of, side_of
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.suite_result import RecordedAnswers
from pytest_ireval.rules.planning import compares_with_baseline
from pytest_ireval.sources.answers import fetch_answers
from pytest_ireval.sources.request import Request
from pytest_ireval.statistics.noise import noise_floor
from pytest_ireval.suite.suite import SourceAsked, Suite
from pytest_ireval.words import format_count

SAMPLE = 50
"""The most queries that are asked a second time."""


class Answered(NamedTuple):
    """The rankings of a source, once or several times, and the queries that it ranked unasked."""

    rankings: tuple[Rankings, ...]
    not_asked: tuple[str, ...]
    described: Mapping[str, Mapping[str, Any]]
    """Fields of documents, if the source returns some."""
    about: Mapping[str, str]
    """Facts on the system, if the source returns some."""
    failed: Mapping[str, str]
    """Queries without an answer, with the reason; their rankings are empty."""
    notes: tuple[str, ...]
    facts: IndexFacts
    """The facts of the index, if the source reports some."""
    gone: tuple[str, ...]
    """Relevant documents that the index does not have, if the source looks them up."""
    recorded: RecordedAnswers | None
    """The answers that are recordings, of all times that it was asked; None where all are from the system."""
    unknown_fields: tuple[str, ...] = ()
    """Fields that the request searches and the index does not have."""


def request_of(suite: Suite, registry: Registry, queries: Queries) -> Request:
    """Make the request to the source of a suite."""
    by_id = suite.policies.ties != "input"
    return Request(queries, suite.depth, suite.path.parent, suite.name, registry.readers, by_id=by_id)


def rankings_of_suite(
    source: SourceAsked,
    suite: Suite,
    registry: Registry,
    material: Gathered,
    progress: Progress = SILENT,
    repetition: int = 1,
    reference: int = 0,
) -> Answered:
    """Ask the source, as often as the suite says; its rankings are under the current names."""
    request = replace(
        request_of(suite, registry, material.population.queries),
        keep_all=bool(material.names.groups or material.names.passages),
        relevant=(lambda: _relevant(suite, material)) if source is suite.source and repetition == 1 else tuple,
        repetition=repetition,
        reference=reference,
        progress=progress,
        timed=any("timings" in metric.needs for metric in suite.metrics),
    )
    found = fetch_answers(source, request)
    fields = _fields_returned(source, suite, [answer.rankings for answer in found])
    names = material.names
    answered = [replace(answer.rankings, fields=fields) for answer in found]
    rankings = [names.in_rankings(each) for each in answered]
    if names.passages is not None:
        from pytest_ireval.data.aliases import refuse_without_span

        for each in rankings:
            refuse_without_span(each.documents, each.origin)
    cut = [first_documents(each, suite.depth) for each in rankings]
    described = cut[0].fields or {}
    cut = _with_fields(suite, names, answered, cut)
    not_asked = tuple(dict.fromkeys(query for answer in found for query in answer.not_asked))
    about = {name: text for answer in reversed(found) for name, text in answer.about.items()}
    failed = {query: why for answer in reversed(found) for query, why in answer.failed.items()}
    notes = tuple(dict.fromkeys(note for answer in found for note in answer.notes))
    notes += tuple(_counts_of_names(names, answered[0], rankings[0]))
    (index,) = found[0].facts
    about |= {"index": str(index)} if index.known else {}
    first = found[0]
    recorded = _add_recorded(answer.recorded for answer in found)
    more = (first.gone, recorded, first.unknown_fields)
    return Answered(tuple(cut), not_asked, described, about, failed, notes, index, *more)


def _add_recorded(askings: Iterable[RecordedAnswers | None]) -> RecordedAnswers | None:
    """Those of all askings together."""
    recorded = [each for each in askings if each is not None]
    if not recorded:
        return None
    return RecordedAnswers(sum(each.count for each in recorded), min(each.date for each in recorded))


def _relevant(suite: Suite, material: Gathered) -> list[str]:
    """The relevant documents by the ids that the index has; empty where a group or a passage may be no document."""
    if material.written is None or material.names.groups or material.names.passages:
        return []
    judged = renamed(material.written, material.names.aliases)
    return list(dict.fromkeys(judged.documents.texts(np.flatnonzero(judged.grade >= relevant_from(suite)))))


def _counts_of_names(names: Names, answered: Rankings, known: Rankings) -> Iterator[str]:
    """Count what aliases and groups did to the documents of an answer."""
    old = sum(map(names.aliases.__contains__, answered.documents.texts())) if names.aliases else 0
    if old:
        yield f"{format_count(old, 'ranked document')} with an old id (documents: aliases)"
    if names.groups and (left := len(answered.documents) - len(known.documents)):
        yield f"{format_count(left, 'ranked variant')} of a document above left out (documents: collapse)"


def field_user(suite: Suite) -> Callable[[str], bool]:
    """Tells whether a metric of the suite uses a field of documents."""
    metrics = [metric for metric in suite.metrics if "fields" in metric.needs]
    names = {name for metric in metrics if metric.uses for name in metric.uses(metric.settings)}
    every = any(metric.uses is None for metric in metrics)
    return lambda name: every or name in names


def _fields_returned(source: SourceAsked, suite: Suite, rankings: Iterable[Rankings]) -> Fields | None:
    """The fields of all answers; SourceError if two of them differ in a field that a metric uses."""
    given = [each.fields for each in rankings if each.fields is not None]
    if len(given) < 2:
        return given[0] if given else None
    uses, merged, differ = field_user(suite), dict[str, dict[str, Any]](), list[str]()
    for document, fields in (each for returned in given for each in returned.items()):
        known = merged.setdefault(document, {})
        for name, value in fields.items():
            if known.setdefault(name, value) != value and uses(name):
                differ.append(f"{name!r} of document {document!r} ({known[name]!r} and {value!r})")
    if differ:
        more = f" and {len(differ) - 1} more" if len(differ) > 1 else ""
        complaint = f"the answers differ in fields that metrics use: {differ[0]}{more}"
        suggestion = "return the same fields each time, or write repeat: 1"
        raise SourceError(Problem(complaint, str(source.place), suggestion=suggestion))
    return merged


def _with_fields(suite: Suite, names: Names, answered: list[Rankings], rankings: list[Rankings]) -> list[Rankings]:
    """The rankings with the fields of their documents: those that the source returned, then those of the file.

    A document that has another name in the answer has the fields of either; the file may have old ids, or variants.
    """
    file = suite.documents.fields
    if file is None or not any("fields" in metric.needs for metric in suite.metrics):
        return rankings
    renamed_too = answered if names.aliases or names.groups else []
    wanted = {document for each in (*rankings, *renamed_too) for document in each.documents.texts()}
    found_there = read_fields(near(file.path), wanted)
    known: dict[str, Mapping[str, Any]] = {}
    for document in sorted(found_there, key=lambda each: names.called(each) != each):  # current names first
        known.setdefault(names.called(document), found_there[document])
    found = []
    for each in rankings:
        returned = each.fields or {}
        more = {document: {**known.get(document, {}), **fields} for document, fields in returned.items()}
        found.append(replace(each, fields={**known, **more}))
    return found


def refuse_missing_queries(
    suite: Suite, source: SourceAsked, material: Gathered, rankings: Iterable[Rankings]
) -> tuple[str, ...]:
    """Queries that count and have no ranking; they raise InputError unless ``missing_queries`` allows them."""
    population = material.population
    judged_alone = population.judgments is not None and material.plain is None
    queries = population.judgments.queries if judged_alone and population.judgments else population.queries.ids
    wanted = [query for query in queries if query not in population.waived]
    missing: dict[str, str] = {}
    for each in rankings:
        there = set(each.queries)
        missing |= {query: each.origin for query in wanted if query not in there}
    if missing and suite.policies.missing_queries == "error":
        origin, of = next(iter(missing.values())), len(wanted)
        judged = "judged queries" if judged_alone else "queries"
        raise InputError(
            Problem(
                f"{origin} ranks {of - len(missing)} of {of} {judged}; without a ranking: {some(list(missing))}",
                place=str(source.place),
                suggestion="missing_queries: zero in the suite gives them the worst score, ignore leaves them out; "
                "an empty ranking counts as a ranking",
            )
        )
    return tuple(missing)


Others = Mapping[int, Answered | IrevalError]
"""Answers of other sources, or their errors, by the place of the rule that compares with them."""


def asked_together(
    suite: Suite, source: SourceAsked, registry: Registry, gathered: Gathered, progress: Progress = SILENT
) -> tuple[Answered, Others]:
    """The answer of the suite's source, and those of the sources that rules compare with; each is asked once.

    Two sources may differ in nothing but an option that no report shows, such as a header.
    """
    first = rankings_of_suite(source, suite, registry, gathered, progress)
    asked: list[SourceAsked] = []
    answers: list[Answered | IrevalError] = []
    others: dict[int, Answered | IrevalError] = {}
    for number, rule in enumerate(suite.rules):
        other = rule.options.facts.reference.source
        if other is None:
            continue
        alike = (i for i, known in enumerate(asked) if (known.kind, known.options) == (other.kind, other.options))
        place = next(alike, len(asked))
        if place == len(asked):
            asked.append(other)
            try:
                answers.append(rankings_of_suite(other, suite, registry, gathered, progress, reference=place + 1))
            except IrevalError as error:
                answers.append(error)
        others[number] = answers[place]
    return first, others


def unsteady(
    suite: Suite, source: SourceAsked, registry: Registry, gathered: Gathered, answered: Answered, progress: Progress
) -> tuple[str, str]:
    """The finding that answers differ, and how much; empty where they are the same, or where no baseline is stored.

    Without ``repeat`` a single answer would become the baseline, and its noise would look like a change later.
    """
    if not source.options.asks_each_query or source.repeat > 1 or not any(map(compares_with_baseline, suite.rules)):
        return "", ""
    from pytest_ireval.sources.live.recording import OFFLINE  # only live systems need that module

    if os.environ.get(OFFLINE):
        return "", f"the source was not asked a second time: {OFFLINE} is set"
    queries = gathered.population.queries
    rows = range(0, len(queries), -(-len(queries) // SAMPLE))
    sample = replace(
        queries,
        ids=tuple(queries.ids[row] for row in rows),
        text=tuple(queries.text[row] for row in rows),
        columns={name: tuple(values[row] for row in rows) for name, values in queries.columns.items()},
        places=(),
    )
    fewer = replace(gathered, population=replace(gathered.population, queries=sample))
    again = rankings_of_suite(source, suite, registry, fewer, progress, repetition=2)
    asked = set(sample.ids) - answered.failed.keys() - again.failed.keys()
    both = [of_queries(each.rankings[0], asked.__contains__)[0] for each in (answered, again)]
    changed = find_changed_queries(both[:1], both[1:], suite.depth)
    if not changed:
        return "", ""
    unknown = frozenset(query for query in queries.ids if query not in asked)
    side = side_of(suite, gathered, both, answered.rankings[0].origin, unknown=unknown).side
    population = gathered.population

    def floors() -> Iterator[str]:
        for name in metrics_asked_again(side):
            noise = noise_of(side, name, population.counting)
            if noise.moved:
                yield f"{name} {noise_floor(noise.within, int(population.counting.sum())):.2g}"

    floor = ", ".join(floors())
    differ = (
        f"{len(changed)} of {format_count(len(asked), 'query')} asked twice got another answer: {some(list(changed))}"
    )
    noise = f"; two runs of this system may differ by {floor} (noise floor, 95%)" if floor else "; no metric moved"
    return "the source does not answer the same twice", (
        f"{differ}{noise}; set repeat: 3 in the source, or make its answers stable: exact search, one replica"
    )
