"""What a diagnosis looks at, and the choice of the causes that a report names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import NamedTuple

import numpy as np

from pytest_ireval.data.document_texts import DocumentTexts
from pytest_ireval.data.join import compare_first_documents
from pytest_ireval.errors import PluginError, format_inline, make_exception_problem, quote
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.plugin_types import DiagnosisKind, Part
from pytest_ireval.results.outcome import Diagnosis
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.sides.population import Population
from pytest_ireval.sides.side import Side
from pytest_ireval.statistics.differences import Floats
from pytest_ireval.text_table import escape_unprintable, truncate
from pytest_ireval.words import format_count

LEAST_QUERIES, LEAST_SHARE = 2, 0.02
"""A cause of fewer queries is not named: it would be read as the cause of everything."""
LEAST_EXPLAINED = 0.2
"""Nor one that explains less of the loss."""
SAME_QUERIES = 0.8
"""A cause that shares this part of its queries with one that was named before it is part of that one."""
MOST_NAMED = 10
"""The number of queries of a cause that are listed."""
MOST_QUERIES = 20_000
"""The number of queries in which causes are looked for. Of more, this number is drawn, always the same."""
LONGEST_TEXT = 40


class Symptom(NamedTuple):
    """The finding of a function that looks for a cause."""

    headline: str
    """The cause with figures: ``10 of 224 queries return nothing; the baseline has documents for them``."""
    queries: Sequence[str]
    """The queries that it concerns, the worst first if there is an order."""
    advice: str = ""
    """The next thing to look at or to do."""
    locates: bool = False
    """True if it says where the loss is, and not why: then documents are still listed to judge."""


@dataclass(eq=False)
class RankingChange:
    """All rankings of a suite, current and of the baseline, and the loss of each query. Waived queries are left out."""

    population: Population
    current_side: Side
    baseline_side: Side
    metric: Metric | None = None
    """The metric of the first red rule; None without one."""
    source_changed: bool = False
    """True if the suite describes its source in other words than the baseline's."""
    document_texts: DocumentTexts = field(default_factory=DocumentTexts)
    removed_documents: frozenset[str] = frozenset()
    """Relevant documents that the index no longer has, as far as the source can tell."""
    _documents: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def compared_queries(self) -> tuple[str, ...]:
        """All queries that have a ranking in the baseline, in the order of the suite."""
        queries = self.population.queries
        compared = self.population.counted_queries & self.baseline_side.mark_ranked(queries)
        return tuple(compress(queries.ids, compared.tolist()))

    @cached_property
    def queries(self) -> tuple[str, ...]:
        """The same, in which causes are looked for; of more than 20,000, that number of them."""
        if len(self.compared_queries) <= MOST_QUERIES:
            return self.compared_queries
        drawn = np.random.default_rng(0).choice(len(self.compared_queries), MOST_QUERIES, replace=False)
        return tuple(self.compared_queries[i] for i in np.sort(drawn).tolist())

    def format_sample(self, number: int) -> str:
        """A number of queries, and of how many they were drawn: ``30 queries``, ``400 queries (drawn from 40000)``."""
        drawn = f" (drawn from {len(self.compared_queries)})" if self.is_sample else ""
        return f"{format_count(number, 'query')}{drawn}"

    @property
    def is_sample(self) -> bool:
        """True if not all queries are looked at."""
        return len(self.queries) < len(self.compared_queries)

    @cached_property
    def is_unchanged(self) -> bool:
        """True if the ranking of every query is that of the baseline."""
        return self._changed_queries.isdisjoint(self.compared_queries)

    @cached_property
    def moved_queries(self) -> tuple[str, ...]:
        """Queries whose ranking is not that of the baseline."""
        return tuple(query for query in self.queries if query in self._changed_queries)

    @cached_property
    def _changed_queries(self) -> frozenset[str]:
        """All queries of the baseline whose ranking is another one now; causes may be looked for in fewer."""
        baseline, current = self.baseline_side.rankings[0], self.current_side.rankings[0]
        is_same = compare_first_documents(baseline, current, self.current_side.depth)
        changed = (baseline.queries[row] for row in np.flatnonzero(~is_same).tolist())
        # a query without a ranking is as good as one with an empty ranking
        return frozenset(query for query in changed if self.count_baseline(query) or self.count_current(query))

    def quote_query(self, query: str) -> str:
        """The id of a query, with its text: ``'q152' "blue clock"``."""
        text = self.population.queries.text_of(query)
        return f'{quote(query)} "{truncate(escape_unprintable(text), LONGEST_TEXT)}"' if text else quote(query)

    def count_current(self, query: str) -> int:
        """The number of documents in the current ranking; quick, for it reads no ids."""
        return _count_documents(self.current_side, query)

    def count_baseline(self, query: str) -> int:
        """The same in the baseline."""
        return _count_documents(self.baseline_side, query)

    def current(self, query: str) -> tuple[str, ...]:
        """The documents of the current ranking, down to the depth of the suite."""
        return self._list_documents("current", self.current_side, query)

    def baseline(self, query: str) -> tuple[str, ...]:
        """Those of the baseline's ranking."""
        return self._list_documents("baseline", self.baseline_side, query)

    def _list_documents(self, name: str, side: Side, query: str) -> tuple[str, ...]:
        if (name, query) not in self._documents:
            self._documents[name, query] = tuple(side.documents(query))
        return self._documents[name, query]

    def grades(self, query: str) -> Mapping[str, float]:
        """The judgments of a query: grades by document."""
        return self.population.grades(query)

    def titles(self, documents: Collection[str]) -> dict[str, str]:
        """The titles of documents by id, as far as the suite or its source has them."""
        return self.document_texts.find_titles(documents)

    @cached_property
    def columns(self) -> Mapping[str, Mapping[str, str]]:
        """The columns of the queries file: by column, the value of each query."""
        ids = self.population.queries.ids
        return {name: dict(zip(ids, values, strict=True)) for name, values in self.population.queries.composed.items()}

    @cached_property
    def losses(self) -> Mapping[str, float]:
        """By query, how much the metric lost there; below 0 it gained. Queries that have no value are not in it."""
        if self.metric is None:
            return {}
        context = RuleContext(self.population, self.current_side, self.baseline_side, Part(metric=self.metric))
        values = context.paired_values()
        losses: Floats = -context.sign * values.gain
        by_query = dict(zip(values.names, losses.tolist(), strict=True))
        if self.is_sample:
            by_query = {query: by_query[query] for query in self.queries if query in by_query}
        return by_query

    @cached_property
    def loss(self) -> float:
        """The sum of all losses, without what other queries gained."""
        return float(np.sum([loss for loss in self.losses.values() if loss > 0]))

    def explained_share(self, queries: Sequence[str]) -> float | None:
        """The share of the loss that lies on some queries; None where nothing was lost."""
        if not self.loss:
            return None
        return sum(max(0.0, self.losses.get(query, 0.0)) for query in queries) / self.loss

    def sort_by_loss(self, queries: Sequence[str]) -> list[str]:
        """The same queries, those that lost most first."""
        return sorted(queries, key=lambda query: -self.losses.get(query, 0.0))


def _count_documents(side: Side, query: str) -> int:
    row = side.position.get(query, -1)
    first = side.rankings[0].first
    return 0 if row < 0 else int(first[row + 1] - first[row])


class DiagnosesFound(NamedTuple):
    """The causes, the one that explains most first; and what went wrong in diagnoses of plugins."""

    causes: tuple[Diagnosis, ...]
    complaints: tuple[str, ...]


class _Candidate(NamedTuple):
    kind: DiagnosisKind
    symptom: Symptom
    explained_share: float | None


def run_diagnoses(change: RankingChange, kinds: Mapping[str, DiagnosisKind], *, certain: bool) -> DiagnosesFound:
    """Run every diagnosis, or with ``certain`` only those that are always run.

    A cause is left out if it concerns few queries, explains little, or concerns only queries of one before it.
    """
    candidates: list[_Candidate] = []
    complaints: list[str] = []
    for kind in kinds.values():
        if certain and not kind.certain:
            continue
        try:
            symptom = _run_diagnosis(kind, change)
        except PluginError as error:
            complaints.append(format_inline(error))
            continue
        if symptom is None or len(symptom.queries) < max(LEAST_QUERIES, LEAST_SHARE * len(change.queries)):
            continue
        explained_share = change.explained_share(symptom.queries)
        if kind.certain or (explained_share is not None and explained_share >= LEAST_EXPLAINED):
            candidates.append(_Candidate(kind, symptom, explained_share))
    # Sorting keeps the order of the kinds, the more specific first, where causes explain about as much.
    candidates.sort(key=lambda candidate: -round(candidate.explained_share or 0.0, 1))
    causes: dict[frozenset[str], Diagnosis] = {}
    for kind, symptom, explained_share in candidates:
        queries = frozenset(symptom.queries)
        if any(len(queries & named) >= SAME_QUERIES * len(queries) for named in causes):
            continue
        causes[queries] = Diagnosis(
            kind=kind.name,
            headline=symptom.headline,
            advice=symptom.advice,
            queries=tuple(change.sort_by_loss(symptom.queries)[:MOST_NAMED]),
            affected=len(queries),
            compared=len(change.queries),
            metric=str(change.metric) if change.metric is not None and explained_share is not None else "",
            explained=explained_share,
            locates=symptom.locates,
        )
    return DiagnosesFound(tuple(causes.values()), tuple(complaints))


def _run_diagnosis(kind: DiagnosisKind, change: RankingChange) -> Symptom | None:
    try:
        symptom = kind.diagnose(change)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin's code may raise anything; the message names it
        raise PluginError(make_exception_problem(f"diagnosis {kind.name!r} of {kind.source}", error)) from error
    if symptom is not None and not isinstance(symptom, Symptom):
        raise PluginError(f"diagnosis {kind.name!r} of {kind.source} returned {type(symptom).__name__}, not a Symptom")
    return symptom
