"""Asks a source as often as its suite says: answers become rankings, and errors name the line of the suite."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from pytest_ireval.baseline.index_facts import IndexFacts, check_index_facts, describe_new_count, merge_index_facts
from pytest_ireval.data.coerce import coerce_rankings
from pytest_ireval.data.formats.reader import Reading
from pytest_ireval.data.rankings import Rankings, Total
from pytest_ireval.data.side_data import flatten_fields, simplify_field
from pytest_ireval.data.views import keep_first_documents, split_queries
from pytest_ireval.errors import IrevalError, Problem, SourceError, make_exception_problem
from pytest_ireval.masking import mask_error, mask_values
from pytest_ireval.progress import SILENT
from pytest_ireval.results.suite_result import RecordedAnswers
from pytest_ireval.sources.calls import make_calls
from pytest_ireval.sources.describing import describe_source
from pytest_ireval.sources.request import Answer, Request
from pytest_ireval.suite.suite import SourceSpec
from pytest_ireval.words import describe_contradicted_ranks, format_count, format_some

UNPLACED = ("", "rankings")
"""The places of problems that were found in what Python returned."""


SAME_RUN = "all stages must come from one run; an empty ranking counts as a ranking"


class CheckedAnswer(NamedTuple):
    """The result of one asking."""

    rankings: Rankings
    """Rankings of the requested queries; at most ``depth`` documents of each, unless all are wanted."""
    not_asked: tuple[str, ...]
    """Other queries that it ranked; their rankings are left out."""
    about: Mapping[str, str]
    """Facts on the system."""
    failed: Mapping[str, str]
    """Queries without an answer, with the reason; their rankings are empty."""
    notes: tuple[str, ...]
    facts: tuple[IndexFacts, ...]
    """Facts of the index, in the order of the time."""
    gone: tuple[str, ...]
    """Relevant documents that the index does not have."""
    recorded: RecordedAnswers | None
    """The answers that are recordings."""
    unknown_fields: tuple[str, ...] = ()
    """Fields that the request searches and the index does not have."""
    stages: Mapping[str, Rankings] = MappingProxyType({})
    """The whole rankings of the earlier stages, in their order."""


def fetch_answers(source: SourceSpec, request: Request) -> tuple[CheckedAnswer, ...]:
    """The result of every asking, in order."""
    request = replace(request, public_texts=source.public_texts)
    first = _fetch_answer(source, request)
    again = replace(request, relevant=tuple)
    later = (_fetch_answer(source, replace(again, repetition=number)) for number in range(2, source.repeat + 1))
    found = (first, *later)
    with _name_source_in_errors(source, request):
        facts_in_time = [facts for answer in found for facts in answer.facts]
        index = merge_index_facts(facts_in_time)
    notes = describe_new_count(index, facts_in_time[-1], "before it was asked") if facts_in_time else ()
    return (first._replace(facts=(index,), notes=(*first.notes, *notes)), *found[1:])


def _fetch_answer(source: SourceSpec, request: Request) -> CheckedAnswer:
    name = describe_source(source, request.folder)
    with _name_source_in_errors(source, request):
        fetched = _fetch(source, request)
        answer = fetched if isinstance(fetched, Answer) else Answer(fetched)
        found = _check_data(_read_rankings(answer.rankings, request), answer)
        rankings, others = split_queries(replace(found, origin=name), request.queries.position.__contains__)
        if not len(rankings):
            raise SourceError(_describe_nothing_ranked(others, request))
        rankings = rankings if request.keep_all else keep_first_documents(rankings, request.depth)
        stages = {name: _read_stage(name, rankings, answer, request) for name in source.stages[:-1]}
        failed = {query: _make_one_line(why) for query, why in _list_entries(answer.failed, "failed")}
        index = tuple(map(check_index_facts, [answer.index] if isinstance(answer.index, Mapping) else answer.index))
        ranks = describe_contradicted_ranks(len(rankings.contradicted), len(rankings))
        notes = tuple(filter(None, (*map(_make_one_line, answer.notes), ranks)))
        gone = tuple(map(str, answer.gone))
        fields = tuple(map(_make_one_line, answer.unknown_fields))
        return CheckedAnswer(
            rankings, others, _shorten_facts(answer.about), failed, notes, index, gone, answer.recorded, fields, stages
        )


def _read_stage(name: str, rankings: Rankings, answer: Answer, request: Request) -> Rankings:
    """The whole rankings of an earlier stage, for every query that the last stage ranks."""
    if name not in answer.stages:
        raise SourceError(f"the answer has no stage {name!r}")
    whole = _read_rankings(answer.stages[name], replace(request, keep_all=True))
    found, _ = split_queries(whole, request.queries.position.__contains__)
    lacking = set(rankings.queries).difference(found.queries)
    if lacking:
        without = f"{format_count(len(lacking), 'query')} that the last stage ranks: {format_some(sorted(lacking))}"
        raise SourceError(Problem(f"stage {name!r} has no ranking of {without}", suggestion=SAME_RUN))
    return found


def _check_data(rankings: Rankings, answer: Answer) -> Rankings:
    """The rankings with the timings, fields and totals of the answer, checked and as plain values."""
    timings, fields, totals = answer.timings, answer.fields, dict[str, Total]()
    for query, found in _list_entries(answer.totals, "totals"):
        total = read_total(found)
        if total is None:
            raise SourceError(f"totals: query {query!r} has {found!r}, which is not a number of documents")
        totals[str(query)] = total
    for query, seconds in _list_entries(timings, "timings"):
        number = simplify_field(seconds)
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number < float("inf"):
            raise SourceError(f"timings: query {query!r} took {seconds!r}, which is not a number of seconds")
    for document, known in _list_entries(fields, "fields"):
        if not isinstance(known, Mapping):
            raise SourceError(f"fields: document {document!r} has {known!r}, not a mapping of names and values")
    if timings is not None:
        timings = {str(query): round(float(simplify_field(each)), 6) for query, each in timings.items()}
    if fields is not None:
        named = {str(each): flatten_fields(known) for each, known in fields.items()}
        fields = mask_values(
            {each: {name: simplify_field(value) for name, value in known} for each, known in named.items()}
        )
    timings = rankings.timings if timings is None else timings
    fields = rankings.fields if fields is None else fields
    return replace(rankings, timings=timings, fields=fields, totals=totals or None)


def read_total(found: Any) -> Total | None:
    """The number of documents that match, as a number or as engines say it; None if it is neither.

    Elasticsearch and OpenSearch have ``{"value": 10000, "relation": "gte"}``, Solr ``{"numFound": …, "numFoundExact":
    false}``: there may be more.
    """
    is_capped = False
    if isinstance(found, Mapping):
        is_capped = found.get("relation") == "gte" or found.get("numFoundExact") is False
        found = found.get("value", found.get("numFound"))
    number = simplify_field(found)
    is_count = isinstance(number, int) and not isinstance(number, bool) and number >= 0
    return Total(number, is_capped) if is_count else None


def _list_entries(mapping: Any, what: str) -> list[tuple[Any, Any]]:
    if mapping is not None and not isinstance(mapping, Mapping):
        raise SourceError(f"{what} of the answer are {type(mapping).__name__}, not a mapping")
    return [] if mapping is None else list(mapping.items())


MOST_FACTS, LONGEST_FACT = 20, 200


def _shorten_facts(about: Any) -> dict[str, str]:
    """The facts as short lines; secrets are hidden."""
    entries = _list_entries(about, "about")
    if len(entries) > MOST_FACTS:
        raise SourceError(Problem(f"about has {len(entries)} facts", allowed=f"at most {MOST_FACTS}"))
    return {_make_one_line(name): _make_one_line(text) for name, text in entries}


def _make_one_line(text: object) -> str:
    return mask_error(" ".join(str(text).split()))[:LONGEST_FACT]


def _fetch(source: SourceSpec, request: Request) -> Any:
    """The return value of the kind's function, which may be async."""
    found = source.kind.fetch(source.options, request)
    if not inspect.isawaitable(found):
        return found
    from pytest_ireval.sources.event_loop import await_in_loop  # brings asyncio, which most suites can do without

    (outcome,) = make_calls(lambda _: await_in_loop(found), 1, 1, float("inf"), SILENT)
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


def _read_rankings(found: Any, request: Request) -> Rankings:
    if found is None:
        raise SourceError("it returned None: is a return statement missing?")
    if isinstance(found, str):
        found = request.folder / found
    depth = None if request.keep_all else request.depth
    how = Reading(depth=depth, by_id=request.by_id, progress=request.progress)
    return coerce_rankings(found, request.readers, None, how)


def _describe_nothing_ranked(others: tuple[str, ...], request: Request) -> Problem:
    number = format_count(len(request.queries), "query")
    if not others:
        return Problem(f"it returned no ranking for {number}")
    return Problem(
        f"it ranks none of the requested queries ({number} of {request.queries.origin})",
        suggestion=f"ranked: {format_some(others)}; requested: {format_some(request.queries.ids)}",
    )


@contextmanager
def _name_source_in_errors(source: SourceSpec, request: Request) -> Iterator[None]:
    """Every exception becomes an error that names the source and its line, unless it names a better place."""
    try:
        yield
    except IrevalError as error:
        if error.problems and error.problems[0].place not in UNPLACED:
            raise
        problems = [_place_problem(problem, source) for problem in error.problems]
        raise SourceError(*problems) from error.__cause__
    except KeyboardInterrupt:
        raise
    # A foreign function may raise anything; sys.exit() and a test's skip are no Exceptions, and would end a run green.
    except BaseException as error:
        raise SourceError(_place_problem(make_exception_problem("it", error, folder=request.folder), source)) from error


def _place_problem(problem: Problem, source: SourceSpec) -> Problem:
    """The problem on the suite's line; for a source of a plugin, with the name of the plugin."""
    if problem.place not in UNPLACED or problem.complaint.startswith("…"):
        return problem
    kind = source.kind
    brought = "" if kind.fetch.__module__.startswith(f"{__package__}.") else f"the source comes from {kind.source}"
    allowed = "\n  ".join(filter(None, (problem.allowed, brought)))
    place = str(source.place) if source.place.file else ""
    return replace(problem, place=place, path=("source", kind.name, *problem.path), allowed=allowed)
