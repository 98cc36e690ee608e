"""Plain causes of a change: functions look at all rankings on both sides, and what they explain is named first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pytest_ireval.errors import PluginError, one_line, raised, shown
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.plugin_types import DiagnosisKind, Part
from pytest_ireval.results.outcome import Diagnosis
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.side import Floats, Population, Side
from pytest_ireval.text_table import escape_unprintable, truncate
from pytest_ireval.words import format_count

LEAST_QUERIES, LEAST_SHARE = 2, 0.02
"""A cause of fewer queries is not named: it would be read as the cause of everything."""
LEAST_EXPLAINED = 0.2
"""Nor one that explains less of the loss."""
SAME_QUERIES = 0.8
"""A cause that adds fewer new queries than this leaves is part of one that was named before it."""
NAMED = 10
"""The number of queries of a cause that are listed."""
LOOKED_AT = 20_000
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


@dataclass(frozen=True, eq=False)
class RankingChange:
    """All rankings of a suite, current and of the baseline, and the loss of each query. Waived queries are left out."""

    population: Population
    now_side: Side
    baseline_side: Side
    metric: Metric | None = None
    source_changed: bool = False
    """True if the suite describes its source in other words than the baseline's."""
    ranked_lines: Callable[[], Mapping[str, list[str]]] = dict
    """By query the documents in the order of the file's rank column, where it contradicts the scores."""
    titles: Callable[[Collection[str]], Mapping[str, str]] = lambda wanted: {}  # noqa: ARG005 - there are none
    """The titles of documents by id, as far as the suite or its source has them."""
    gone: frozenset[str] = frozenset()
    """Relevant documents that the index no longer has, as far as the source can tell."""
    _lists: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def compared(self) -> tuple[str, ...]:
        """All queries that have a ranking in the baseline, in the order of the suite."""
        ids, counting = self.population.queries.ids, self.population.counting.tolist()
        return tuple(
            query
            for query, counts in zip(ids, counting, strict=True)
            if counts and self.baseline_side.position.get(query, -1) >= 0
        )

    @cached_property
    def queries(self) -> tuple[str, ...]:
        """The same, in which causes are looked for; of more than 20,000, that number of them."""
        if len(self.compared) <= LOOKED_AT:
            return self.compared
        drawn = np.random.default_rng(0).choice(len(self.compared), LOOKED_AT, replace=False)
        return tuple(self.compared[i] for i in np.sort(drawn).tolist())

    def out_of(self, number: int) -> str:
        """A number of queries, and of how many they were drawn: ``30 queries``, ``400 queries (drawn from 40000)``."""
        return f"{format_count(number, 'query')}{f' (drawn from {len(self.compared)})' if self.is_drawn else ''}"

    @property
    def is_drawn(self) -> bool:
        """True if not all queries are looked at."""
        return len(self.queries) < len(self.compared)

    @cached_property
    def unchanged(self) -> bool:
        """True if the ranking of every query is that of the baseline."""
        return all(self.now_side.documents(each) == self.baseline_side.documents(each) for each in self.compared)

    @cached_property
    def moved(self) -> tuple[str, ...]:
        """Queries whose ranking is not that of the baseline."""
        return tuple(query for query in self.queries if self.now(query) != self.baseline(query))

    def named(self, query: str) -> str:
        """The id of a query, with its text: ``'q152' "blue clock"``."""
        text = self.population.queries.text_of(query)
        return f'{shown(query)} "{truncate(escape_unprintable(text), LONGEST_TEXT)}"' if text else shown(query)

    def listed_now(self, query: str) -> int:
        """The number of documents in the current ranking; quick, for it reads no ids."""
        return _listed(self.now_side, query)

    def listed_before(self, query: str) -> int:
        """The same in the baseline."""
        return _listed(self.baseline_side, query)

    def now(self, query: str) -> tuple[str, ...]:
        """The documents of the current ranking, down to the depth of the suite."""
        return self._documents("now", self.now_side, query)

    def baseline(self, query: str) -> tuple[str, ...]:
        """Those of the baseline's ranking."""
        return self._documents("baseline", self.baseline_side, query)

    def _documents(self, name: str, side: Side, query: str) -> tuple[str, ...]:
        if (name, query) not in self._lists:
            self._lists[name, query] = tuple(side.documents(query))
        return self._lists[name, query]

    def grades(self, query: str) -> Mapping[str, float]:
        """The judgments of a query: grades by document."""
        return self.population.grades(query)

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
        context = RuleContext(self.population, self.now_side, self.baseline_side, Part(metric=self.metric))
        values = context.paired()
        losses: Floats = -context.sign * values.gain
        found = dict(zip(values.names, losses.tolist(), strict=True))
        if self.is_drawn:
            found = {query: found[query] for query in self.queries if query in found}
        return found

    @cached_property
    def loss(self) -> float:
        """The sum of all losses, without what other queries gained."""
        return float(np.sum([loss for loss in self.losses.values() if loss > 0]))

    def explained(self, queries: Sequence[str]) -> float | None:
        """The share of the loss that lies on some queries; None where nothing was lost."""
        if not self.loss:
            return None
        return sum(max(0.0, self.losses.get(query, 0.0)) for query in queries) / self.loss

    def worst_first(self, queries: Sequence[str]) -> list[str]:
        """The same queries, those that lost most first."""
        return sorted(queries, key=lambda query: -self.losses.get(query, 0.0))


def _listed(side: Side, query: str) -> int:
    place = side.position.get(query, -1)
    first = side.rankings[0].first
    return 0 if place < 0 else int(first[place + 1] - first[place])


class Diagnosed(NamedTuple):
    """The causes that were found, the one that explains most first; and what went wrong in functions of plugins."""

    causes: tuple[Diagnosis, ...]
    complaints: tuple[str, ...]


def diagnosed(change: RankingChange, kinds: Mapping[str, DiagnosisKind], *, certain: bool) -> Diagnosed:
    """Ask every kind, or with ``certain`` only those that are always asked.

    A cause is left out if it concerns few queries, explains little, or concerns only queries of one before it.
    """
    found, complaints = [], []
    for number, kind in enumerate(kinds.values()):
        if certain and not kind.certain:
            continue
        try:
            symptom = _asked(kind, change)
        except PluginError as error:
            complaints.append(one_line(error))
            continue
        if symptom is not None:
            explained = change.explained(symptom.queries)
            if _is_enough(change, kind, symptom, explained):
                found.append((-round(explained or 0.0, 1), number, kind, symptom, explained))
    named: dict[frozenset[str], Diagnosis] = {}
    for *_, kind, symptom, explained in sorted(found, key=lambda each: each[:2]):
        queries = frozenset(symptom.queries)
        if not any(len(queries & other) >= SAME_QUERIES * len(queries) for other in named):
            named[queries] = Diagnosis(
                kind=kind.name,
                headline=symptom.headline,
                advice=symptom.advice,
                queries=tuple(change.worst_first(symptom.queries)[:NAMED]),
                affected=len(queries),
                compared=len(change.queries),
                metric=str(change.metric) if change.metric is not None and explained is not None else "",
                explained=explained,
                locates=symptom.locates,
            )
    return Diagnosed(tuple(named.values()), tuple(complaints))


def _asked(kind: DiagnosisKind, change: RankingChange) -> Symptom | None:
    try:
        found = kind.diagnose(change)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin's code may raise anything; the message names it
        raise PluginError(raised(f"diagnosis {kind.name!r} of {kind.source}", error)) from error
    if found is not None and not isinstance(found, Symptom):
        raise PluginError(f"diagnosis {kind.name!r} of {kind.source} returned {type(found).__name__}, not a Symptom")
    return found


def _is_enough(change: RankingChange, kind: DiagnosisKind, symptom: Symptom, explained: float | None) -> bool:
    if len(symptom.queries) < max(LEAST_QUERIES, LEAST_SHARE * len(change.queries)):
        return False
    return kind.certain if explained is None else explained >= LEAST_EXPLAINED or kind.certain
