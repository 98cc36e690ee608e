"""Fetches rankings from the sources of a suite, with what their answers say of documents and of the index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from pytest_ireval.baseline.index_facts import IndexFacts
from pytest_ireval.data.aliases import rename_documents
from pytest_ireval.data.document_names import DocumentNames
from pytest_ireval.data.formats.input_file import shorten_path
from pytest_ireval.data.join import join_judgments
from pytest_ireval.data.rankings import Rankings, StageAnswers, Total
from pytest_ireval.data.side_data import Fields, read_fields
from pytest_ireval.data.stages import keep_judged_ranks
from pytest_ireval.data.views import keep_first_documents
from pytest_ireval.errors import InputError, Problem, SourceError
from pytest_ireval.gate.needs import find_expected_fields, find_highest_total
from pytest_ireval.gate.planning import list_expectations
from pytest_ireval.gate.queries_and_judgments import Collection, lowest_relevant_grade
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.suite_result import RecordedAnswers
from pytest_ireval.sources.answers import CheckedAnswer, fetch_answers
from pytest_ireval.sources.request import Request
from pytest_ireval.suite.suite import Place, SourceSpec, Suite
from pytest_ireval.words import format_count, format_some


@dataclass(eq=False)
class FetchedRankings:
    """The rankings that a source returned, and what else its answers say."""

    rankings: tuple[Rankings, ...]
    """One for each time that the source was asked; under the current names of documents, cut to the suite's depth."""
    index: IndexFacts
    """The facts of the searched index, if the source reports some."""
    extra_queries: tuple[str, ...] = ()
    """Queries that it ranked although the suite does not have them."""
    document_fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    system_facts: Mapping[str, str] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    """Queries without an answer, with the reason; their rankings are empty."""
    notes: tuple[str, ...] = ()
    missing_documents: tuple[str, ...] = ()
    """Relevant documents that the index does not have, if the source looks them up."""
    gone_documents: frozenset[str] = frozenset()
    """Documents that rules expect and that the index does not have, under the names of the suite."""
    recorded: RecordedAnswers | None = None
    """The answers that are recordings, of all times that it was asked; None where all are from the system."""
    unknown_fields: tuple[str, ...] = ()
    """Fields that the request searches and the index does not have."""


def make_request(collection: Collection) -> Request:
    """Make the request to a source for all queries of a suite."""
    suite, registry = collection.suite, collection.registry
    by_id = suite.policies.ties != "input"
    queries = collection.population.queries
    return Request(queries, suite.depth, suite.path.parent, suite.name, registry.readers, by_id=by_id)


def fetch_rankings(
    source: SourceSpec, collection: Collection, progress: Progress = SILENT, *, repetition: int = 1, reference: int = 0
) -> FetchedRankings:
    """Ask a source for the rankings of all queries, as often as the suite says.

    ``reference`` numbers the sources that rules compare with, so that each has recordings of its own.
    """
    suite, names = collection.suite, collection.population.names
    looks_up_documents = source is suite.source and repetition == 1
    expected = _list_expected_documents(collection) if looks_up_documents else {}
    request = replace(
        make_request(collection),
        keep_all=bool(names.groups or names.passages),
        relevant=(lambda: _list_relevant_documents(collection)) if looks_up_documents else tuple,
        repetition=repetition,
        reference=reference,
        progress=progress,
        fields=find_expected_fields(suite),
        count_to=find_highest_total(suite),
        expected=lambda: [*expected.values()],
        timed=any("timings" in metric.needs for metric in suite.metrics),
    )
    answers = fetch_answers(source, request)
    fields = _merge_fields(source, suite, [answer.rankings for answer in answers])
    answered = [replace(answer.rankings, fields=fields, totals=_complete_totals(answer, suite)) for answer in answers]
    renamed_rankings = [names.in_rankings(each) for each in answered]
    if names.passages is not None:
        from pytest_ireval.data.aliases import refuse_without_span

        for each in renamed_rankings:
            refuse_without_span(each.documents, each.origin)
    kept_stages = [_keep_stages(collection, answer) for answer in answers]
    cut = [
        replace(keep_first_documents(each, suite.depth), stages=stages)
        for each, stages in zip(renamed_rankings, kept_stages, strict=True)
    ]
    first, newest_first = answers[0], answers[::-1]  # of facts that differ, the first answer decides
    (index,) = first.facts
    system_facts = {name: text for answer in newest_first for name, text in answer.about.items()}
    return FetchedRankings(
        rankings=tuple(_add_fields(collection, answered, cut)),
        index=index,
        extra_queries=tuple(dict.fromkeys(query for answer in answers for query in answer.not_asked)),
        document_fields=cut[0].fields or {},
        system_facts=system_facts | ({"index": str(index)} if index.known else {}),
        failures={query: reason for answer in newest_first for query, reason in answer.failed.items()},
        notes=(
            *dict.fromkeys(note for answer in answers for note in answer.notes),
            *_note_renamed_documents(names, answered[0], renamed_rankings[0]),
            *_note_other_candidates(collection, source, cut[0]),
        ),
        missing_documents=_select_relevant_documents(first.gone, collection) if expected else first.gone,
        gone_documents=frozenset(name for name, document in expected.items() if document in first.gone),
        recorded=_add_recorded(answer.recorded for answer in answers),
        unknown_fields=first.unknown_fields,
    )


def _keep_stages(collection: Collection, answer: CheckedAnswer) -> dict[str, StageAnswers]:
    population = collection.population
    whole = {name: population.names.in_rankings(rankings) for name, rankings in answer.stages.items()}
    return {name: keep_judged_ranks(rankings, population.judgments) for name, rankings in whole.items()}


def _note_other_candidates(collection: Collection, source: SourceSpec, rankings: Rankings) -> Iterator[str]:
    """Judged documents of the ranking that no earlier stage returned: the stages may be of two runs."""
    judgments = collection.population.judgments
    if judgments is None or not rankings.stages:
        return
    hits = join_judgments(judgments, rankings, documents=False).hits
    documents = judgments.documents.texts(hits.judgment)
    stages = list(rankings.stages.values())
    alone = [
        document
        for code, document in zip(hits.query.tolist(), documents, strict=True)
        if not any(answers[judgments.queries[code]].ranks[document] for answers in stages)
    ]
    if alone:
        *earlier, last = source.stages
        what = f"{format_count(len(alone), 'judged document')} of {last} not returned by {' or '.join(earlier)}"
        yield f"{what}: {format_some(alone)}; do all stages come from one run?"


def read_rankings_file(path: Path, collection: Collection, progress: Progress = SILENT) -> FetchedRankings:
    """Read a file of rankings as a suite does whose source is that file."""
    kind = collection.registry.sources["run"]
    options = kind.options.model_construct(run=(path.absolute(),))
    return fetch_rankings(SourceSpec(kind, options, Place("", 0, 0)), collection, progress)


def fetch_sample_again(
    source: SourceSpec, collection: Collection, progress: Progress = SILENT, *, size: int
) -> FetchedRankings:
    """Ask a source a second time for some of the queries, spread evenly over the file."""
    queries = collection.population.queries
    rows = range(0, len(queries), -(-len(queries) // size))
    sample = replace(
        queries,
        ids=tuple(queries.ids[row] for row in rows),
        text=tuple(queries.text[row] for row in rows),
        columns={name: tuple(values[row] for row in rows) for name, values in queries.columns.items()},
        places=(),
    )
    part = replace(collection, population=replace(collection.population, queries=sample))
    return fetch_rankings(source, part, progress, repetition=2)


def _add_recorded(askings: Iterable[RecordedAnswers | None]) -> RecordedAnswers | None:
    """Those of all askings together."""
    recorded = [each for each in askings if each is not None]
    if not recorded:
        return None
    return RecordedAnswers(sum(each.count for each in recorded), min(each.date for each in recorded))


def _list_relevant_documents(collection: Collection) -> list[str]:
    """The relevant documents by the ids that the index has; empty where a group or a passage may be no document."""
    written, names = collection.written_judgments, collection.population.names
    if written is None or names.groups or names.passages:
        return []
    judged = rename_documents(written, names.aliases)
    relevant = np.flatnonzero(judged.grade >= lowest_relevant_grade(collection.suite))
    return list(dict.fromkeys(judged.documents.texts(relevant)))


def _list_expected_documents(collection: Collection) -> dict[str, str]:
    """The documents that rules expect, with their ids in the index; none where a group or a passage may be none."""
    names = collection.population.names
    if names.groups or names.passages:
        return {}
    expectations = (placed.expectation for placed in list_expectations(collection.suite))
    named = (document for each in expectations if not each.never for document in each.documents)
    return {document: names.aliases.get(document, document) for document in named}


def _select_relevant_documents(gone: Sequence[str], collection: Collection) -> tuple[str, ...]:
    """The documents among those that are gone which somebody judged as relevant."""
    relevant = set(_list_relevant_documents(collection)) if gone else set()
    return tuple(document for document in gone if document in relevant)


def _complete_totals(answer: CheckedAnswer, suite: Suite) -> Mapping[str, Total] | None:
    """The numbers of documents that match, if rules look at them.

    A source that gives none has at least the returned documents; there may be more if it returned all that were wanted.
    """
    if not find_highest_total(suite):
        return None
    rankings = answer.rankings
    counts = zip(rankings.queries, rankings.retrieved.tolist(), strict=True)
    returned = {query: Total(count, is_capped=count >= suite.depth) for query, count in counts}
    totals = {**returned, **(rankings.totals or {})}
    return {query: total for query, total in totals.items() if query not in answer.failed}


def _note_renamed_documents(names: DocumentNames, answered: Rankings, current: Rankings) -> Iterator[str]:
    """Count what aliases and groups did to the documents of an answer."""
    old = sum(map(names.aliases.__contains__, answered.documents.texts())) if names.aliases else 0
    if old:
        yield f"{format_count(old, 'ranked document')} with an old id (documents: aliases)"
    if names.groups and (left := len(answered.documents) - len(current.documents)):
        yield f"{format_count(left, 'ranked variant')} of a document above left out (documents: collapse)"


def needs_fields(suite: Suite) -> bool:
    """Tell whether a metric or a rule of the suite looks at fields of documents."""
    return bool(find_expected_fields(suite)) or any("fields" in metric.needs for metric in suite.metrics)


def find_used_fields(suite: Suite) -> Callable[[str], bool]:
    """Tells whether a metric or a rule of the suite uses a field of documents."""
    metrics = [metric for metric in suite.metrics if "fields" in metric.needs]
    names = {name for metric in metrics if metric.uses for name in metric.uses(metric.settings)}
    names.update(find_expected_fields(suite))
    every = any(metric.uses is None for metric in metrics)
    return lambda name: every or name in names


def _merge_fields(source: SourceSpec, suite: Suite, rankings: Iterable[Rankings]) -> Fields | None:
    """The fields of all answers; SourceError if two of them differ in a field that a metric or a rule uses."""
    given = [each.fields for each in rankings if each.fields is not None]
    if len(given) < 2:
        return given[0] if given else None
    uses, merged, differ = find_used_fields(suite), dict[str, dict[str, Any]](), list[str]()
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


def _add_fields(collection: Collection, answered: list[Rankings], rankings: list[Rankings]) -> list[Rankings]:
    """The rankings with the fields of their documents: those that the source returned, then those of the file.

    A document that has another name in the answer has the fields of either; the file may have old ids, or variants.
    """
    suite, names = collection.suite, collection.population.names
    file = suite.documents.fields
    if file is None or not needs_fields(suite):
        return rankings
    renamed_too = answered if names.aliases or names.groups else []
    wanted = {document for each in (*rankings, *renamed_too) for document in each.documents.texts()}
    found_there = read_fields(shorten_path(file.path), wanted)
    known: dict[str, Mapping[str, Any]] = {}
    for document in sorted(found_there, key=lambda each: names.find_current_name(each) != each):  # current names first
        known.setdefault(names.find_current_name(document), found_there[document])
    found = []
    for each in rankings:
        returned = each.fields or {}
        more = {document: {**known.get(document, {}), **fields} for document, fields in returned.items()}
        found.append(replace(each, fields={**known, **more}))
    return found


def refuse_missing_queries(source: SourceSpec, collection: Collection, rankings: Iterable[Rankings]) -> tuple[str, ...]:
    """Queries that count and have no ranking; they raise InputError unless ``missing_queries`` allows them."""
    population = collection.population
    only_judged = population.judgments is not None and collection.plain_setting is None
    queries = population.judgments.queries if only_judged and population.judgments else population.queries.ids
    wanted = [query for query in queries if query not in population.waived]
    missing: dict[str, str] = {}
    for each in rankings:
        ranked = set(each.queries)
        missing |= {query: each.origin for query in wanted if query not in ranked}
    if missing and collection.suite.policies.missing_queries == "error":
        origin, total = next(iter(missing.values())), len(wanted)
        what = "judged queries" if only_judged else "queries"
        raise InputError(
            Problem(
                f"{origin} ranks {total - len(missing)} of {total} {what}; "
                f"without a ranking: {format_some(list(missing))}",
                place=str(source.place),
                suggestion="missing_queries: zero in the suite gives them the worst score, ignore leaves them out; "
                "an empty ranking counts as a ranking",
            )
        )
    return tuple(missing)
