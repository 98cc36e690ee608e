"""Reads and checks the inputs of a suite: queries, judgments, rankings and waivers, with their fingerprints."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_ireval.baselines.files import (
    JudgmentPrints,
    fingerprint_of_policies,
    fingerprint_of_queries,
    fingerprint_of_text,
    fingerprints_of_judgments,
)
from pytest_ireval.baselines.index_facts import IndexFacts
from pytest_ireval.baselines.record import Fingerprints
from pytest_ireval.errors import InputError, Problem, SourceError, SuiteError, shown
from pytest_ireval.evaluating.setting import Companions, Setting, set_up
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.retrieval.aliases import Groups, collapsed, group_of, read_aliases, read_groups, renamed
from pytest_ireval.retrieval.companions import Fields, Preferences, read_fields, read_preferences
from pytest_ireval.retrieval.doors import as_judgments, as_queries, some
from pytest_ireval.retrieval.formats.input_file import near
from pytest_ireval.retrieval.formats.reader import Reading
from pytest_ireval.retrieval.judgments import Judgments, no_judgments
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.tables import Unfit
from pytest_ireval.retrieval.views import first_documents
from pytest_ireval.rules.planning import drawing_of, drawing_problems
from pytest_ireval.rules.side import Floats, Population
from pytest_ireval.sources.asking import answers
from pytest_ireval.sources.request import Request
from pytest_ireval.suites.suite import Budget, SourceAsked, Suite, Waiver
from pytest_ireval.text_table import counted

if TYPE_CHECKING:
    from pytest_ireval.retrieval.chunks import Passages

ORDERS_BY_JUDGMENTS = ("pessimistic", "optimistic")
"""Ways to order equal scores for which documents below the depth have to be known."""


@dataclass(frozen=True, eq=False)
class Names:
    """Other names of documents: renamed ids, and groups of variants that count as one."""

    aliases: Mapping[str, str]
    groups: Groups
    passages: Passages | None = None
    """The judged passages that chunks count as; None: ids have no spans."""

    def called(self, document: str) -> str:
        """The current name of a document."""
        return group_of(self.aliases.get(document, document), self.groups)

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


def queries_of_suite(suite: Suite, registry: Registry, path: Path | None = None) -> Queries | None:
    """Read the queries file, or the one at ``path``; None if the suite names none."""
    asked = suite.queries
    if asked is None:
        return None
    return as_queries(near(path or asked.path), registry.readers, asked.format, "queries: {file: …, format: …}")


def gathered(
    suite: Suite, registry: Registry, today: date, progress: Progress = SILENT, queries: Queries | None = None
) -> Gathered:
    """Queries and judgments, checked to belong together; ``queries`` are those that were read already."""
    documents = suite.documents
    by_pattern = re.compile(documents.pattern) if documents.pattern else None
    names = Names(
        read_aliases(near(documents.aliases.path)) if documents.aliases else {},
        by_pattern or (read_groups(near(documents.collapse.path)) if documents.collapse else {}),
    )
    queries = queries if queries is not None else queries_of_suite(suite, registry)
    written = judgments_of_suite(suite, registry, progress)
    judgments = None if written is None else names.in_judgments(written)
    if documents.spans is not None and judgments is not None:
        from pytest_ireval.retrieval.chunks import passages_of  # most suites judge documents

        names = replace(names, passages=passages_of(judgments, documents.spans))
    if queries is None:
        if judgments is None:
            raise InputError(Problem("names neither queries nor judgments", place=str(suite.place)))
        queries = Queries(judgments.queries, ("",) * len(judgments.queries), origin=judgments.origin)
    elif judgments is not None:
        _refuse_unknown(judgments, queries)
    refuse_missing_needs(suite, written, queries)
    waived = frozenset(waiver.query for waiver in suite.waivers if waiver.until >= today)
    weights = weights_of_suite(suite, queries)
    if problems := list(drawing_problems(suite, queries)):
        raise InputError(*problems)
    population = Population(queries, judgments, weights, waived, names.called, drawing_of(suite, queries))
    companions = Companions(preferences=_preferences(suite, names), queries=queries if needs_columns(suite) else None)
    plain = no_judgments(queries.ids, queries.origin)
    return Gathered(
        population,
        None if judgments is None else _setting(suite, registry, judgments, companions, progress),
        names,
        written,
        _setting(suite, registry, plain, companions, progress),
    )


def _preferences(suite: Suite, names: Names) -> Preferences | None:
    file = suite.judgments.preferences if suite.judgments else None
    if file is None:
        return None
    found = read_preferences(near(file.path))
    return {query: [(names.called(a), names.called(b)) for a, b in pairs] for query, pairs in found.items()}


def judgments_of_suite(
    suite: Suite, registry: Registry, progress: Progress = SILENT, path: Path | None = None
) -> Judgments | None:
    """Read the judgments file, or the one at ``path``; None if the suite names none."""
    if suite.judgments is None:
        return None
    file = suite.judgments.file
    how = Reading("float" if suite.policies.grades == "float" else "integer", progress=progress)
    keys = ("judgments: {file: …, format: …}", "judgments: {file: …, grades: float}")
    return as_judgments(near(path or file.path), registry.readers, file.format, how, *keys)


FROM_FILES = ("run", "command")
"""Sources that return nothing but rankings."""


def needs_columns(suite: Suite) -> bool:
    """Tell whether a metric of the suite looks at columns of the queries."""
    return any(metric.needs & {"queries", "sessions"} or metric.unit == "session" for metric in suite.metrics)


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
            lacks = _lacks(need, suite, judgments, queries)
            if lacks is not None:
                problems.append(Problem(f"{metric} needs {need}, {lacks[0]}", place, (), lacks[1], lacks[2]))
    budget, kind = suite.documents.budget, suite.source.kind.name if suite.source else ""
    if budget is not None and kind in FROM_FILES and suite.documents.fields is None:
        complaint = f"the budget needs the field {budget.field!r}, and the source {kind} returns only rankings"
        problems.append(Problem(complaint, str(suite.place), suggestion="write documents: {fields: FILE}"))
    if problems:
        raise SuiteError(*problems)


def _lacks(
    need: str, suite: Suite, judgments: Judgments | None, queries: Queries | None
) -> tuple[str, str, str] | None:
    """The lack, the remedy, and what is allowed; None if the data are there or only the source's answer can tell."""
    source, judged_by = suite.source, suite.judgments
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
    suite: Suite, registry: Registry, judgments: Judgments, companions: Companions, progress: Progress
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
    keep_all = suite.policies.ties in ORDERS_BY_JUDGMENTS  # the order of equal scores needs all documents
    how = setting.how._replace(depth=None if keep_all else suite.depth)
    return replace(setting, how=how, companions=companions)


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
        raise InputError(
            Problem(
                f"{len(unknown)} of {counted(len(judgments.queries), 'judged query')} are not in {queries.origin}: "
                f"{some(unknown)}",
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
    weights, problems = [], []
    for row, text in enumerate(queries.columns[suite.weight]):
        try:
            weight = float(text)
        except ValueError:
            weight = -1.0
        if not 0 <= weight < np.inf:
            problems.append(Problem(f"{suite.weight} is {text!r}; a weight is 0 or more", queries.place(row)))
        weights.append(weight)
    if problems:
        raise InputError(*problems[:5], *([f"… and {len(problems) - 5} more"] if len(problems) > 5 else []))
    return np.array(weights, np.float64)


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
) -> Answered:
    """Ask the source, as often as the suite says; its rankings are under the current names."""
    keeps_all = suite.policies.ties in ORDERS_BY_JUDGMENTS
    request = replace(
        request_of(suite, registry, material.population.queries),
        keep_all=keeps_all or bool(material.names.groups or material.names.passages),
        relevant=(lambda: _relevant(suite, material)) if source is suite.source and repetition == 1 else tuple,
        repetition=repetition,
        progress=progress,
        timed=any("timings" in metric.needs for metric in suite.metrics),
    )
    found = answers(source, request)
    fields = _fields_returned(source, suite, [answer.rankings for answer in found])
    names, budget = material.names, suite.documents.budget
    answered = [replace(answer.rankings, fields=fields) for answer in found]
    if budget is not None:
        from pytest_ireval.retrieval.chunks import within_budget

        answered = [within_budget(each, _sizes(suite, budget, each, names), budget.at_most) for each in answered]
    rankings = [names.in_rankings(each) for each in answered]
    if names.passages is not None:
        from pytest_ireval.retrieval.chunks import refuse_without_span

        for each in rankings:
            refuse_without_span(each.documents, lambda _, origin=each.origin: origin)  # type: ignore[misc]
    cut = rankings if keeps_all else [first_documents(each, suite.depth) for each in rankings]
    described = cut[0].fields or {}
    cut = _with_fields(suite, cut)
    not_asked = tuple(dict.fromkeys(query for answer in found for query in answer.not_asked))
    about = {name: text for answer in reversed(found) for name, text in answer.about.items()}
    failed = {query: why for answer in reversed(found) for query, why in answer.failed.items()}
    notes = tuple(dict.fromkeys(note for answer in found for note in answer.notes))
    notes += tuple(_counts_of_names(names, answered[0], rankings[0]))
    (index,) = found[0].facts
    about |= {"index": str(index)} if index.known else {}
    return Answered(tuple(cut), not_asked, described, about, failed, notes, index, found[0].gone)


def _relevant(suite: Suite, material: Gathered) -> list[str]:
    """The relevant documents by the ids that the index has; empty where a group may be no document."""
    if material.written is None or material.names.groups:
        return []
    judged = renamed(material.written, material.names.aliases)
    return list(dict.fromkeys(judged.documents.texts(np.flatnonzero(judged.grade >= relevant_from(suite)))))


def _counts_of_names(names: Names, answered: Rankings, known: Rankings) -> Iterator[str]:
    """Count what aliases and groups did to the documents of an answer."""
    old = sum(map(names.aliases.__contains__, answered.documents.texts())) if names.aliases else 0
    if old:
        yield f"{counted(old, 'ranked document')} with an old id (documents: aliases)"
    if names.groups and (left := len(answered.documents) - len(known.documents)):
        yield f"{counted(left, 'ranked variant')} of a document above left out (documents: collapse)"


def _sizes(suite: Suite, budget: Budget, rankings: Rankings, names: Names) -> Callable[[str], float]:
    """The size of a document: from the fields that the source returned, or else from the file of fields."""
    returned, file = rankings.fields or {}, suite.documents.fields
    lacking = {each for each in rankings.documents.texts() if budget.field not in returned.get(each, ())}
    known = read_fields(near(file.path), lacking | {*map(names.called, lacking)}) if file and lacking else {}

    def size(document: str) -> float:
        places = (returned.get(document, {}), known.get(document, {}), known.get(names.called(document), {}))
        value = next((place[budget.field] for place in places if budget.field in place), None)
        if value is None:
            remedy = "return it from the source, or write documents: {fields: FILE} with the field"
            raise Unfit(f"document {shown(document)} has no field {budget.field!r}, which the budget needs", remedy)
        if budget.is_text and isinstance(value, str):
            return -(len(value) // -4)
        try:
            found = -1.0 if budget.is_text or isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            found = -1.0
        if not 0 <= found < np.inf:
            wanted = "a text" if budget.is_text else "a number of 0 or more"
            raise Unfit(f"the field {budget.field!r} of document {shown(document)} is {value!r:.60}, not {wanted}")
        return found

    return size


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


def _with_fields(suite: Suite, rankings: list[Rankings]) -> list[Rankings]:
    """The rankings with the fields of their documents: those that the source returned, then those of the file."""
    file = suite.documents.fields
    if file is None or not any("fields" in metric.needs for metric in suite.metrics):
        return rankings
    known = read_fields(near(file.path), {document for each in rankings for document in each.documents.texts()})
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


def prints_of(suite: Suite, gathered: Gathered, source: str, judged: JudgmentPrints | None) -> Fingerprints:
    """The fingerprints of everything but the rankings that may change."""
    lowest = suite.judgments.relevant_from if suite.judgments else None
    policies = fingerprint_of_policies(suite.policies)
    return Fingerprints(
        queries=fingerprint_of_queries(gathered.population.queries),
        judgments="" if judged is None else judged.whole,
        source=fingerprint_of_text(source),
        policies=policies if lowest is None else fingerprint_of_text(f"{policies} relevant from {lowest:g}"),
        documents=suite.documents.definition(),
    )


def judgment_prints(gathered: Gathered) -> JudgmentPrints | None:
    """The fingerprints of the judgments as they are written; None for a suite without judgments."""
    return None if gathered.written is None else fingerprints_of_judgments(gathered.written)


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
    return ("today", "tomorrow")[days] if days < 2 else f"in {counted(days, 'day')}"
