"""The queries that explain a verdict, as reports show them: their values and their documents on both sides."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from pytest_ireval.results.outcome import Placed, QueryChange
from pytest_ireval.rules.context import PairedValues, RuleContext, Values


def list_query_changes(
    context: RuleContext, values: Values, indices: Iterable[int], *, documents: bool = True
) -> tuple[QueryChange, ...]:
    """The changes of some units of ``values``, such as its three lowest, with their documents unless not wanted."""
    # A metric such as Overlap@10 already compares both sides: the baseline's lists have no value of their own.
    paired = values if isinstance(values, PairedValues) and not context.metric.compares_lists else None
    documents = documents and not context.metric.stage  # those of the ranking say nothing of an earlier stage
    changes = []
    for index in indices:
        if context.metric.unit == "query":
            change = make_query_change(context, int(values.rows[index]), documents=documents)
        else:
            change = QueryChange(values.all_names[values.rows[index]], "", None)
        baseline = None if paired is None else float(paired.baseline[index])
        changes.append(replace(change, now=float(values.current[index]), baseline=baseline))
    return tuple(changes)


def make_query_change(context: RuleContext, row: int, *, documents: bool = True) -> QueryChange:
    """One query, by its row among the queries of the suite, with its documents unless they are not wanted."""
    queries, weights = context.population.queries, context.population.weights
    query = queries.ids[row]
    placed = place_documents(context, query) if documents else ()
    best = find_best_document(placed) if context.baseline is None else _find_costliest_document(context, placed)
    return QueryChange(
        query=query,
        text=queries.text[row],
        now=None,
        weight=None if weights is None else float(weights[row]),
        best=best,
        top=tuple(document for document in placed[:3] if document.now is not None),
    )


def place_documents(context: RuleContext, query: str) -> tuple[Placed, ...]:
    """The documents of a query on both sides, with grades; those of the current ranking first."""

    def place() -> tuple[Placed, ...]:
        grades = context.population.grades(query)
        current = context.current.documents(query)
        baseline = context.baseline.documents(query) if context.baseline is not None else []
        current_ranks = {document: rank for rank, document in enumerate(current, 1)}
        baseline_ranks = {document: rank for rank, document in enumerate(baseline, 1)}
        return tuple(
            Placed(document, grades.get(document), current_ranks.get(document), baseline_ranks.get(document))
            for document in dict.fromkeys((*current, *baseline))
        )

    # Remembered, as rules and slices list the same worst queries. The key names the query and the other side.
    return context.current.remember(("placed documents", query, context.baseline), place)


def find_best_document(documents: Iterable[Placed], *, in_baseline: bool = False) -> Placed | None:
    """The first document with the highest grade above 0, in the current ranking or in that of the baseline."""
    listed = [
        (-(document.grade or 0.0), rank, document)
        for document in documents
        if (document.grade or 0.0) > 0 and (rank := document.baseline if in_baseline else document.now) is not None
    ]
    return min(listed, key=lambda entry: entry[:2])[2] if listed else None


def _find_costliest_document(context: RuleContext, documents: Iterable[Placed]) -> Placed | None:
    """The relevant document whose fall weighs most, by grade and rank; None if none fell where the metric looks.

    An estimate for any metric: ``point_to_documents`` replaces it where the metric says what each document adds.
    """
    metric = context.part.metric
    if metric is not None and not metric.judged and not metric.compares_lists:
        return None  # such as a time, which no relevant document costs
    cutoff = metric.settings.get("cutoff") if metric is not None else None
    limit = cutoff if isinstance(cutoff, int) else context.current.depth

    def weigh(rank: int | None) -> float:
        # The discount of DCG stands for any metric: higher ranks weigh more.
        return 0.0 if rank is None or rank > limit else 1 / math.log2(1 + rank)

    losses = [
        ((document.grade or 0.0) * (weigh(document.baseline) - weigh(document.now)), document) for document in documents
    ]
    loss, document = max(losses, key=lambda pair: pair[0], default=(0.0, None))
    return document if loss > 0 else None
