"""The test collection of a suite: its queries and judgments, read and checked to belong together."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np

from pytest_ireval.data.aliases import read_aliases, read_groups
from pytest_ireval.data.coerce import coerce_judgments, coerce_queries, describe_id_difference
from pytest_ireval.data.document_names import DocumentNames
from pytest_ireval.data.formats.input_file import shorten_path
from pytest_ireval.data.formats.reader import Reading
from pytest_ireval.data.judgments import Judgments, make_empty_judgments
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.side_data import Preferences, SideData, WeightedPair, read_preferences
from pytest_ireval.errors import InputError, Problem
from pytest_ireval.evaluating.evaluation import EvaluationSetup, prepare_evaluation
from pytest_ireval.gate.needs import needs_columns, refuse_unmet_needs, refuse_wrong_requests
from pytest_ireval.gate.planning import check_clusters, number_clusters
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.sides.population import Population
from pytest_ireval.statistics.differences import Floats
from pytest_ireval.suite.suite import Suite
from pytest_ireval.words import format_count, format_some


@dataclass(eq=False)
class Collection:
    """The queries and judgments of a suite, with the metrics that score rankings by them."""

    suite: Suite
    registry: Registry
    population: Population
    setting: EvaluationSetup | None
    """The metrics that need judgments; None for a suite without judgments, or without such metrics."""
    plain_setting: EvaluationSetup | None = None
    """The metrics that look at no judgments, over all queries; None without such metrics."""
    written_judgments: Judgments | None = None
    """The judgments as the file has them, under its own names."""


def read_suite_queries(suite: Suite, registry: Registry, path: Path | None = None) -> Queries | None:
    """Read the queries file, or the one at ``path``; None if the suite names none."""
    asked = suite.queries
    if asked is None:
        return None
    file = shorten_path(path or asked.file.path)
    return coerce_queries(file, registry.readers, asked.format or None, "queries: {file: …, format: …}")


def read_collection(
    suite: Suite, registry: Registry, today: date, progress: Progress = SILENT, queries: Queries | None = None
) -> Collection:
    """Queries and judgments, checked to belong together; ``queries`` are those that were read already."""
    documents = suite.documents
    by_pattern = re.compile(documents.collapse_pattern) if documents.collapse_pattern else None
    names = DocumentNames(
        read_aliases(shorten_path(documents.aliases.path)) if documents.aliases else {},
        by_pattern or (read_groups(shorten_path(documents.collapse_file.path)) if documents.collapse_file else {}),
    )
    queries = queries if queries is not None else read_suite_queries(suite, registry)
    written = read_suite_judgments(suite, registry, progress)
    judgments = None if written is None else names.in_judgments(written)
    if documents.spans is not None and judgments is not None:
        from pytest_ireval.data.aliases import collect_passages  # most suites judge documents

        names = replace(names, passages=collect_passages(judgments, documents.spans))
    if queries is None:
        if judgments is None:
            raise InputError(Problem("names neither queries nor judgments", place=str(suite.place)))
        queries = Queries(judgments.queries, ("",) * len(judgments.queries), origin=judgments.origin)
    elif judgments is not None:
        _refuse_unknown(judgments, queries)
    refuse_unmet_needs(suite, written, queries)
    refuse_wrong_requests(suite, queries)
    waived = frozenset(waiver.query for waiver in suite.waivers if waiver.until >= today)
    weights = read_weights(suite, queries)
    if problems := list(check_clusters(suite, queries)):
        raise InputError(*problems)
    population = Population(queries, judgments, weights, waived, names, number_clusters(suite, queries))
    side_data = SideData(
        collection=documents.size,
        preferences=_read_preferences(suite, names),
        queries=queries if needs_columns(suite) else None,
    )
    plain = make_empty_judgments(queries.ids, queries.origin)
    return Collection(
        suite=suite,
        registry=registry,
        population=population,
        setting=None if judgments is None else _set_up_metrics(suite, registry, judgments, side_data, progress),
        plain_setting=_set_up_metrics(suite, registry, plain, side_data, progress),
        written_judgments=written,
    )


def _read_preferences(suite: Suite, names: DocumentNames) -> Preferences | None:
    file = suite.judgments.preferences if suite.judgments else None
    if file is None:
        return None
    found = read_preferences(shorten_path(file.path))
    return {
        query: [
            WeightedPair((names.find_current_name(each, query) for each in pair), getattr(pair, "weight", 1.0))
            for pair in pairs
        ]
        for query, pairs in found.items()
    }


def read_suite_judgments(
    suite: Suite, registry: Registry, progress: Progress = SILENT, path: Path | None = None
) -> Judgments | None:
    """Read the judgments file, or the one at ``path``; None if the suite names none."""
    if suite.judgments is None:
        return None
    file = suite.judgments.file
    how = Reading("float" if suite.policies.grades == "float" else "integer", progress=progress)
    keys = ("judgments: {file: …, format: …}", "judgments: {file: …, grades: float}")
    return coerce_judgments(
        shorten_path(path or file.path), registry.readers, suite.judgments.format or None, how, *keys
    )


def _set_up_metrics(
    suite: Suite, registry: Registry, judgments: Judgments, side_data: SideData, progress: Progress
) -> EvaluationSetup | None:
    """The metrics that need judgments; for judgments without a judged document, those that need none."""
    plain = not len(judgments)
    metrics = [
        adapt_metric(suite, metric)
        for metric in suite.metrics
        if (not metric.judged if plain else metric.reads_judgments)
    ]
    if not metrics:
        return None
    policies = replace(suite.policies, unjudged="irrelevant") if plain else suite.policies
    setting = prepare_evaluation(judgments, metrics, policies, registry, progress)
    return replace(setting, how=setting.how._replace(depth=suite.depth), side_data=side_data)


def lowest_relevant_grade(suite: Suite) -> float:
    """The lowest relevant grade: the suite's, or 1 as for metrics."""
    lowest = suite.judgments.relevant_from if suite.judgments else None
    return 1.0 if lowest is None else lowest


def adapt_metric(suite: Suite, metric: Metric) -> Metric:
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
                f"{queries.origin}: {format_some(unknown)}{describe_id_difference(unknown, unjudged)}",
                place=judgments.origin,
                suggestion="add them there, or remove their judgments: queries outside the file belong to no slice",
            )
        )


SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-15, 1e15
"""Squares and sums of weights beyond these leave the range of numbers."""


def read_weights(suite: Suite, queries: Queries) -> Floats | None:
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
        if weight and not SMALLEST_WEIGHT <= weight <= LARGEST_WEIGHT:
            why = "" if problems else f"weight: {suite.weight} in {suite.shown} chooses this column"
            is_far = 0 < weight < np.inf
            wanted = f"is 0, or from {SMALLEST_WEIGHT:g} to {LARGEST_WEIGHT:g}" if is_far else "is 0 or more"
            complaint = f"{suite.weight} is {text!r}; a weight {wanted}"
            problems.append(Problem(complaint, queries.place(row), suggestion=why))
        weights.append(weight)
    if problems:
        raise InputError(*problems[:5], *([f"… and {len(problems) - 5} more"] if len(problems) > 5 else []))
    return np.array(weights, np.float64)
