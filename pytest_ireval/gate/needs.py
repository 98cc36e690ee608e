"""Checks before anything is asked or scored: the metrics, requests and references of a suite make sense together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.queries import Queries
from pytest_ireval.errors import Problem, SuiteError, quote
from pytest_ireval.gate.planning import list_expectations
from pytest_ireval.sources.run import read_same_files
from pytest_ireval.suite.suite import RuleSpec, SourceSpec, Suite

FROM_FILES = ("run", "command")
"""Sources that return nothing but rankings."""
FIELDS_FILE = "the file has the id of a document and its fields: CSV, TSV, JSON lines, Parquet"


def needs_columns(suite: Suite) -> bool:
    """Tell whether a metric of the suite looks at columns of the queries."""
    return any(metric.needs & {"queries", "sessions"} or metric.unit == "session" for metric in suite.metrics)


def requests_name_columns(suite: Suite) -> bool:
    """Tell whether a request of a source names a column of the queries, or something that is none."""
    return any(source.options.list_columns() for source in _list_sources(suite))


def refuse_wrong_requests(suite: Suite, queries: Queries | None) -> None:
    """Raise SuiteError for requests whose mistakes show without asking; ``queries`` are None if they were not read."""
    if suite.queries is None:
        queries = queries or Queries((), (), origin="the suite names none")
    problems = [
        replace(problem, place=str(source.place), path=("source", source.kind.name))
        for source in _list_sources(suite)
        for problem in source.options.find_request_mistakes(queries, suite.depth)
    ]
    if problems:
        raise SuiteError(*dict.fromkeys(problems))


def _list_sources(suite: Suite) -> Iterator[SourceSpec]:
    """The source of the suite, and those that rules compare with."""
    references = (rule.traits.reference.source for rule in suite.rules)
    yield from (each for each in (suite.source, *references) if each is not None)


def refuse_unmet_needs(suite: Suite, judgments: Judgments | None, queries: Queries | None) -> None:
    """Raise SuiteError for each metric that needs data which the suite does not name, or which its files lack.

    ``judgments`` and ``queries`` are None where they have not been read.
    """
    parts = [each for asked in suite.rules for each in zip(asked.parts, asked.places, strict=True)]
    places = {str(part.metric): str(place) for part, place in reversed(parts) if part.metric is not None}
    problems = []
    for metric in suite.metrics:
        place = places.get(str(metric), str(suite.place))
        needs = metric.needs | ({"sessions"} if metric.unit == "session" else set())
        for need in sorted(needs):
            lack = _find_lack(need, suite, suite.source, judgments, queries)
            if lack is not None:
                complaint = f"{metric} needs {need}, {lack.complaint}"
                problems.append(Problem(complaint, place, (), lack.remedy, lack.allowed))
    problems += (problem for asked in suite.rules for problem in _find_other_times(asked, suite))
    problems += _find_comparisons_with_itself(suite)
    problems += _find_fields_without_source(suite)
    if problems:
        raise SuiteError(*problems)


def find_expected_fields(suite: Suite) -> tuple[str, ...]:
    """The fields of documents that expectations look at."""
    return tuple(dict.fromkeys(name for placed in list_expectations(suite) for name in placed.expectation.field))


def find_highest_total(suite: Suite) -> int:
    """The number up to which documents must be counted, so that every expectation can be checked; 0: not at all."""
    totals = (placed.expectation.total for placed in list_expectations(suite))
    return max((int(total.value) + 1 for total in totals if total is not None), default=0)


def _find_fields_without_source(suite: Suite) -> Iterator[Problem]:
    """Fields that expectations look at, and that neither the source nor a file can bring."""
    if suite.source is None or suite.documents.fields is not None:
        return
    kind, given = suite.source.kind.name, getattr(suite.source.options, "fields", None)
    for expectation, place in list_expectations(suite):
        for name in expectation.field:
            complaint = f"field {quote(name)} is unknown: the source {kind} returns only rankings"
            if kind in FROM_FILES:
                yield Problem(complaint, str(place), suggestion="write documents: {fields: FILE}", allowed=FIELDS_FILE)
            elif isinstance(given, Mapping) and name not in given:
                complaint = f"field {quote(name)} is unknown: the source {kind} does not say where the answer has it"
                yield Problem(complaint, str(place), suggestion=f"write fields: {{{name}: PATH}} in the source")


def _find_comparisons_with_itself(suite: Suite) -> Iterator[Problem]:
    """Rules whose reference is the suite's own source."""
    own = suite.source
    for asked in suite.rules:
        reference = asked.traits.reference.source
        if own is None or reference is None:
            continue
        timed = any(part.time_metric for part in asked.parts)  # the same rankings may have other times
        same = reference.kind.name == own.kind.name and reference.options == own.options
        if same or (not timed and read_same_files(own.options, reference.options, suite.path.parent)):
            yield Problem(
                "against names the rankings of this suite itself: a comparison with itself cannot fail",
                str(reference.place),
                suggestion="name rankings of another version of the search, or compare with the baseline",
            )


def _find_other_times(asked: RuleSpec, suite: Suite) -> Iterator[Problem]:
    """Times that a reference lacks, or that are measured in another way than those of the suite's source."""
    source = asked.traits.reference.source
    timed = next((part.time_metric for part in asked.parts if part.time_metric), None)
    if source is None or timed is None:
        return
    place, ours, theirs = str(source.place), read_kind_of_times(suite.source), read_kind_of_times(source)
    if lack := _find_lack("timings", suite, source, None, None):
        yield Problem(f"{timed} needs timings, {lack.complaint}", place, (), lack.remedy, lack.allowed)
    if ours and theirs and ours != theirs:
        complaint = f"{timed} compares times: {ours} of the source with times: {theirs} of against"
        yield Problem(complaint, place, suggestion="write the same times: in both, for they are two measures")


def read_kind_of_times(source: SourceSpec | None) -> str:
    """The kind of times of a live source; empty for other sources."""
    return getattr(source and source.options, "times", "")


class _Lack(NamedTuple):
    """What a metric needs and a suite does not have."""

    complaint: str
    remedy: str
    allowed: str = ""


def _find_lack(
    need: str, suite: Suite, source: SourceSpec | None, judgments: Judgments | None, queries: Queries | None
) -> _Lack | None:
    """The lack of one need; None if the data are there, or if only the source's answer can tell."""
    kind = source.kind.name if source else ""
    options = source and source.options
    if need == "subtopics" and judgments is not None and judgments.subtopics is None:
        return _Lack(
            f"and {judgments.origin} names none",
            "if its second column is the subtopic, write judgments: {file: …, format: trec-diversity}",
            "a table has the subtopic in the column subtopic",
        )
    if need in ("queries", "sessions") and suite.queries is None:
        return _Lack("and the suite names no queries", "write queries: FILE")
    if need == "sessions" and queries is not None and not {"session", "position"} <= set(queries.columns):
        columns = f"its columns: {', '.join(queries.columns) or 'only id and text'}"
        return _Lack(f"and {queries.origin} lacks the column session or position", "add both columns", columns)
    if need == "preferences" and (suite.judgments is None or suite.judgments.preferences is None):
        allowed = "the file has the columns query, better and worse"
        return _Lack("and the suite names none", "write judgments: {file: …, preferences: FILE}", allowed)
    if need == "fields" and kind in FROM_FILES and suite.documents.fields is None:
        return _Lack(f"and the source {kind} returns only rankings", "write documents: {fields: FILE}", FIELDS_FILE)
    if need == "timings" and getattr(options, "batch", 1) > 1:
        return _Lack("and a batch has one time for several queries", "remove batch: from the source")
    if need == "timings" and kind in FROM_FILES and getattr(options, "timings", None) is None:
        remedy = "write source: {run: …, timings: FILE}" if kind == "run" else "use a python source that returns them"
        allowed = "the file has the columns query and seconds, or query and milliseconds"
        return _Lack(f"and the source {kind} returns only rankings", remedy, allowed)
    return None
