"""Reads and checks the inputs of a suite: queries, judgments, rankings and waivers, with their fingerprints."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_ireval.baseline.fingerprints import (
    fingerprint,
    fingerprint_judgments,
    fingerprint_policies,
    fingerprint_queries,
    fingerprint_text,
)
from pytest_ireval.baseline.record import Fingerprints, JudgmentPrints
from pytest_ireval.data.aliases import Groups, collapsed, group_of, read_aliases, read_groups, renamed
from pytest_ireval.data.coerce import as_judgments, as_queries, how_ids_differ, some
from pytest_ireval.data.formats.input_file import near
from pytest_ireval.data.formats.reader import Reading
from pytest_ireval.data.judgments import Judgments, make_empty_judgments
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.side_data import Preferences, SideData, WeightedPair, read_preferences
from pytest_ireval.errors import InputError, Problem, SuiteError
from pytest_ireval.evaluating.evaluation import Setting, set_up
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.suite_result import JudgmentAges
from pytest_ireval.rules.planning import check_clusters, number_clusters
from pytest_ireval.rules.population import Population
from pytest_ireval.sources.run import reads_files_of
from pytest_ireval.statistics.differences import Floats
from pytest_ireval.suite.suite import RuleAsked, SourceAsked, Suite, Waiver
from pytest_ireval.words import format_count

if TYPE_CHECKING:
    from pytest_ireval.data.aliases import Passages


@dataclass(frozen=True, eq=False)
class Names:
    """Other names of documents: renamed ids, and groups of variants that count as one."""

    aliases: Mapping[str, str]
    groups: Groups
    passages: Passages | None = None
    """The judged passages that chunks count as; None: ids have no spans."""

    def called(self, document: str, query: str = "") -> str:
        """The current name of a document; with a query, a chunk is called like the passage that it counts as."""
        found = group_of(self.aliases.get(document, document), self.groups)
        return self.passages.name(found, query) if self.passages and query else found

    def in_rankings(self, rankings: Rankings) -> Rankings:
        """Rankings under the current names, with the first of several variants only."""
        if rankings.fields and (self.aliases or self.groups):
            fields: dict[str, Mapping[str, Any]] = {}
            for document, known in rankings.fields.items():
                fields.setdefault(self.called(document), known)
            rankings = replace(rankings, fields=fields)
        rankings = renamed(rankings, self.aliases) if self.aliases else rankings
        rankings = collapsed(rankings, self.groups) if self.groups else rankings
        return self.passages.in_rankings(rankings) if self.passages else rankings

    def in_judgments(self, judgments: Judgments) -> Judgments:
        """Judgments under the current names, with the first of several variants only."""
        judgments = renamed(judgments, self.aliases) if self.aliases else judgments
        return collapsed(judgments, self.groups) if self.groups else judgments


@dataclass(frozen=True, eq=False)
class Gathered:
    """The inputs of a suite, without its rankings."""

    population: Population
    setting: Setting | None
    names: Names
    written: Judgments | None = None
    """The judgments as the file has them, under its own names."""
    plain: Setting | None = None
    """The metrics that look at no judgments, over all queries; None without such metrics."""


def queries_of_suite(suite: Suite, registry: Registry, path: Path | None = None) -> Queries | None:
    """Read the queries file, or the one at ``path``; None if the suite names none."""
    asked = suite.queries
    if asked is None:
        return None
    file = near(path or asked.file.path)
    return as_queries(file, registry.readers, asked.format or None, "queries: {file: …, format: …}")


def gathered(
    suite: Suite, registry: Registry, today: date, progress: Progress = SILENT, queries: Queries | None = None
) -> Gathered:
    """Queries and judgments, checked to belong together; ``queries`` are those that were read already."""
    documents = suite.documents
    by_pattern = re.compile(documents.collapse_pattern) if documents.collapse_pattern else None
    names = Names(
        read_aliases(near(documents.aliases.path)) if documents.aliases else {},
        by_pattern or (read_groups(near(documents.collapse_file.path)) if documents.collapse_file else {}),
    )
    queries = queries if queries is not None else queries_of_suite(suite, registry)
    written = judgments_of_suite(suite, registry, progress)
    judgments = None if written is None else names.in_judgments(written)
    if documents.spans is not None and judgments is not None:
        from pytest_ireval.data.aliases import passages_of  # most suites judge documents

        names = replace(names, passages=passages_of(judgments, documents.spans))
    if queries is None:
        if judgments is None:
            raise InputError(Problem("names neither queries nor judgments", place=str(suite.place)))
        queries = Queries(judgments.queries, ("",) * len(judgments.queries), origin=judgments.origin)
    elif judgments is not None:
        _refuse_unknown(judgments, queries)
    refuse_missing_needs(suite, written, queries)
    refuse_wrong_requests(suite, queries)
    waived = frozenset(waiver.query for waiver in suite.waivers if waiver.until >= today)
    weights = weights_of_suite(suite, queries)
    if problems := list(check_clusters(suite, queries)):
        raise InputError(*problems)
    population = Population(queries, judgments, weights, waived, names.called, number_clusters(suite, queries))
    side_data = SideData(
        collection=suite.documents.size,
        preferences=_preferences(suite, names),
        queries=queries if needs_columns(suite) else None,
    )
    plain = make_empty_judgments(queries.ids, queries.origin)
    return Gathered(
        population,
        None if judgments is None else _setting(suite, registry, judgments, side_data, progress),
        names,
        written,
        _setting(suite, registry, plain, side_data, progress),
    )


def _preferences(suite: Suite, names: Names) -> Preferences | None:
    file = suite.judgments.preferences if suite.judgments else None
    if file is None:
        return None
    found = read_preferences(near(file.path))
    return {
        query: [
            WeightedPair((names.called(each, query) for each in pair), getattr(pair, "weight", 1.0)) for pair in pairs
        ]
        for query, pairs in found.items()
    }


def judgments_of_suite(
    suite: Suite, registry: Registry, progress: Progress = SILENT, path: Path | None = None
) -> Judgments | None:
    """Read the judgments file, or the one at ``path``; None if the suite names none."""
    if suite.judgments is None:
        return None
    file = suite.judgments.file
    how = Reading("float" if suite.policies.grades == "float" else "integer", progress=progress)
    keys = ("judgments: {file: …, format: …}", "judgments: {file: …, grades: float}")
    return as_judgments(near(path or file.path), registry.readers, suite.judgments.format or None, how, *keys)


FROM_FILES = ("run", "command")
"""Sources that return nothing but rankings."""


def needs_columns(suite: Suite) -> bool:
    """Tell whether a metric of the suite looks at columns of the queries."""
    return any(metric.needs & {"queries", "sessions"} or metric.unit == "session" for metric in suite.metrics)


def needs_columns_of_requests(suite: Suite) -> bool:
    """Tell whether a request of a source names a column of the queries, or something that is none."""
    return any(source.options.columns_used() for source in _sources(suite))


def refuse_wrong_requests(suite: Suite, queries: Queries | None) -> None:
    """Raise SuiteError for requests whose mistakes show without asking; ``queries`` are None if they were not read."""
    if suite.queries is None:
        queries = queries or Queries((), (), origin="the suite names none")
    problems = [
        replace(problem, place=str(source.place), path=("source", source.kind.name))
        for source in _sources(suite)
        for problem in source.options.find_request_mistakes(queries, suite.depth)
    ]
    if problems:
        raise SuiteError(*dict.fromkeys(problems))


def _sources(suite: Suite) -> Iterator[SourceAsked]:
    """The source of the suite, and those that rules compare with."""
    references = (rule.options.facts.reference.source for rule in suite.rules)
    yield from (each for each in (suite.source, *references) if each is not None)


def refuse_missing_needs(suite: Suite, judgments: Judgments | None, queries: Queries | None) -> None:
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
            lacks = _lacks(need, suite, suite.source, judgments, queries)
            if lacks is not None:
                problems.append(Problem(f"{metric} needs {need}, {lacks[0]}", place, (), lacks[1], lacks[2]))
    problems += (problem for asked in suite.rules for problem in _other_times(asked, suite))
    problems += _compared_with_itself(suite)
    if problems:
        raise SuiteError(*problems)


def _compared_with_itself(suite: Suite) -> Iterator[Problem]:
    """Rules whose reference is the suite's own source."""
    own = suite.source
    for asked in suite.rules:
        reference = asked.options.facts.reference.source
        if own is None or reference is None:
            continue
        timed = any(part.timed for part in asked.parts)  # the same rankings may have other times
        same = reference.kind.name == own.kind.name and reference.options == own.options
        if same or (not timed and reads_files_of(own.options, reference.options, suite.path.parent)):
            yield Problem(
                "against names the rankings of this suite itself: a comparison with itself cannot fail",
                str(reference.place),
                suggestion="name rankings of another version of the search, or compare with the baseline",
            )


def _other_times(asked: RuleAsked, suite: Suite) -> Iterator[Problem]:
    """Times that a reference lacks, or that are measured in another way than those of the suite's source."""
    source, timed = asked.options.facts.reference.source, next((each.timed for each in asked.parts if each.timed), None)
    if source is None or timed is None:
        return
    place, ours, theirs = str(source.place), _times(suite.source), _times(source)
    if lacks := _lacks("timings", suite, source, None, None):
        yield Problem(f"{timed} needs timings, {lacks[0]}", place, (), lacks[1], lacks[2])
    if ours and theirs and ours != theirs:
        complaint = f"{timed} compares times: {ours} of the source with times: {theirs} of against"
        yield Problem(complaint, place, suggestion="write the same times: in both, for they are two measures")


def _times(source: SourceAsked | None) -> str:
    """The kind of times of a live source; empty for other sources."""
    return getattr(source and source.options, "times", "")


def _lacks(
    need: str, suite: Suite, source: SourceAsked | None, judgments: Judgments | None, queries: Queries | None
) -> tuple[str, str, str] | None:
    """The lack, the remedy, and what is allowed; None if the data are there or only the source's answer can tell."""
    judged_by = suite.judgments
    kind = source.kind.name if source else ""
    lacks: dict[str, tuple[str, str, str]] = {}
    if judgments is not None and judgments.subtopics is None:
        remedy = "if its second column is the subtopic, write judgments: {file: …, format: trec-diversity}"
        lacks["subtopics"] = (
            f"and {judgments.origin} names none",
            remedy,
            "a table has the subtopic in the column subtopic",
        )
    if queries is not None and not {"session", "position"} <= set(queries.columns):
        columns = f"its columns: {', '.join(queries.columns) or 'only id and text'}"
        lacks["sessions"] = f"and {queries.origin} lacks the column session or position", "add both columns", columns
    if suite.queries is None:
        lacks["sessions"] = lacks["queries"] = "and the suite names no queries", "write queries: FILE", ""
    if judged_by is None or judged_by.preferences is None:
        allowed = "the file has the columns query, better and worse"
        lacks["preferences"] = "and the suite names none", "write judgments: {file: …, preferences: FILE}", allowed
    if kind in FROM_FILES and suite.documents.fields is None:
        allowed = "the file has the id of a document and its fields: CSV, TSV, JSON lines, Parquet"
        lacks["fields"] = f"and the source {kind} returns only rankings", "write documents: {fields: FILE}", allowed
    if kind in FROM_FILES and getattr(source and source.options, "timings", None) is None:
        remedy = "write source: {run: …, timings: FILE}" if kind == "run" else "use a python source that returns them"
        allowed = "the file has the columns query and seconds, or query and milliseconds"
        lacks["timings"] = f"and the source {kind} returns only rankings", remedy, allowed
    if getattr(source and source.options, "batch", 1) > 1:
        lacks["timings"] = "and a batch has one time for several queries", "remove batch: from the source", ""
    return lacks.get(need)


def _setting(
    suite: Suite, registry: Registry, judgments: Judgments, side_data: SideData, progress: Progress
) -> Setting | None:
    """The metrics that need judgments; for judgments without a judged document, those that need none."""
    plain = not len(judgments)
    metrics = [
        metric_of_suite(suite, metric)
        for metric in suite.metrics
        if (not metric.judged if plain else metric.reads_judgments)
    ]
    if not metrics:
        return None
    policies = replace(suite.policies, unjudged="irrelevant") if plain else suite.policies
    setting = set_up(judgments, metrics, policies, registry, progress)
    return replace(setting, how=setting.how._replace(depth=suite.depth), side_data=side_data)


def relevant_from(suite: Suite) -> float:
    """The lowest relevant grade: the suite's, or 1 as for metrics."""
    lowest = suite.judgments.relevant_from if suite.judgments else None
    return 1.0 if lowest is None else lowest


def metric_of_suite(suite: Suite, metric: Metric) -> Metric:
    """The metric with the lowest relevant grade that the judgments of the suite declare, unless it has its own."""
    lowest = suite.judgments.relevant_from if suite.judgments else None
    if lowest is None or metric.parameter("rel") is None or "rel" in metric.arguments:
        return metric
    return metric(rel=int(lowest) if float(lowest).is_integer() else lowest)


def _refuse_unknown(judgments: Judgments, queries: Queries) -> None:
    unknown = [query for query in judgments.queries if query not in queries.position]
    if unknown:
        unjudged = [query for query in queries.ids if query not in judgments.position]
        raise InputError(
            Problem(
                f"{len(unknown)} of {format_count(len(judgments.queries), 'judged query')} are not in "
                f"{queries.origin}: {some(unknown)}{how_ids_differ(unknown, unjudged)}",
                place=judgments.origin,
                suggestion="add them there, or remove their judgments: queries outside the file belong to no slice",
            )
        )


def weights_of_suite(suite: Suite, queries: Queries) -> Floats | None:
    """The weights of the queries: the column that says how much traffic each has."""
    if not suite.weight:
        return None
    if suite.weight not in queries.columns:
        columns = ", ".join(queries.columns) or "only id and text"
        raise InputError(
            Problem(f"has no column {suite.weight!r}", place=queries.origin, allowed=f"columns: {columns}")
        )
    weights, problems = [], list[Problem]()
    for row, text in enumerate(queries.columns[suite.weight]):
        try:
            weight = float(text)
        except ValueError:
            weight = -1.0
        if not 0 <= weight < np.inf:
            why = "" if problems else f"weight: {suite.weight} in {suite.shown} chooses this column"
            complaint = f"{suite.weight} is {text!r}; a weight is 0 or more"
            problems.append(Problem(complaint, queries.place(row), suggestion=why))
        weights.append(weight)
    if problems:
        raise InputError(*problems[:5], *([f"… and {len(problems) - 5} more"] if len(problems) > 5 else []))
    return np.array(weights, np.float64)


def prints_of(suite: Suite, gathered: Gathered, source: str, judged: JudgmentPrints | None) -> Fingerprints:
    """The fingerprints of everything but the rankings that may change."""
    lowest = suite.judgments.relevant_from if suite.judgments else None
    policies = fingerprint_policies(suite.policies, suite.documents.size)
    engine = _times(suite.source) == "engine" and any("timings" in metric.needs for metric in suite.metrics)
    return Fingerprints(
        queries=fingerprint_queries(gathered.population.queries),
        judgments="" if judged is None else judged.whole,
        source=fingerprint_text(source),
        policies=policies if lowest is None else fingerprint_text(f"{policies} relevant from {lowest:g}"),
        documents=", ".join(filter(None, (suite.documents.definition, "times: engine" if engine else ""))),
        side_files=_fingerprint_side_files(suite),
    )


def _fingerprint_side_files(suite: Suite) -> str:
    """Of the files that name documents anew and of preferences; empty for a suite without them."""
    named = [suite.documents.aliases, suite.documents.collapse_file, suite.judgments and suite.judgments.preferences]
    paths = [near(each.path) if each else None for each in named]
    # the line ends of a checkout on Windows change nothing; a pipe was read already, and is empty now
    contents = [path.read_bytes().replace(b"\r\n", b"\n") if path and path.is_file() else b"" for path in paths]
    parts = [*map(fingerprint, contents), suite.documents.collapse_pattern]
    return fingerprint_text("\n".join(parts)) if any(paths) or suite.documents.collapse_pattern else ""


def judgment_prints(gathered: Gathered) -> JudgmentPrints | None:
    """The fingerprints of the judgments as they are written; None for a suite without judgments."""
    return None if gathered.written is None else fingerprint_judgments(gathered.written)


def judgment_ages(judgments: Judgments, today: date) -> JudgmentAges | None:
    """The ages of the judgments that have a date; one that was made from several is as old as the newest of them."""
    counts = Counter(judgments.columns.get("date", ()))
    days = {text: max(filter(None, map(_day, text.split(";"))), default=None) for text in counts}
    dated = sorted((day, counts[text]) for text, day in days.items() if day is not None)
    if not dated:
        return None
    ages = np.repeat([max(0, (today - day).days) for day, _ in dated], [count for _, count in dated])
    ends = dated[0][0].isoformat(), dated[-1][0].isoformat()
    older = float((ages > YEAR).mean())
    return JudgmentAges(*ends, int(np.median(ages)), older, int(ages.size), counts.total() - int(ages.size))


YEAR = 365


def _day(text: str) -> date | None:
    """The day of a date or a time in ISO 8601; None for other text."""
    try:
        return date.fromisoformat(text.strip()[:10])
    except ValueError:
        return None


def endings(suite: Suite, today: date) -> Iterator[str]:
    """Report each waiver that ends soon; one that has ended is red by itself."""
    for waiver in suite.waivers:
        if left := time_left(waiver, today):
            yield f"the waiver of {waiver.query} ends on {waiver.until}, {left}"


def time_left(waiver: Waiver, today: date) -> str:
    """The time until a waiver ends, if that is within 14 days; empty otherwise."""
    days = (waiver.until - today).days
    if not 0 <= days <= 14:
        return ""
    return ("today", "tomorrow")[days] if days < 2 else f"in {format_count(days, 'day')}"
