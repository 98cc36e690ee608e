"""The check, before a first baseline, that a system answers the same when it is asked twice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from pytest_ireval.baselines.changes import changed_queries
from pytest_ireval.gate.inputs import Answered, Gathered, rankings_of_suite
from pytest_ireval.gate.scoring import metrics_asked_again, noise_of, side_of
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import Progress
from pytest_ireval.retrieval.doors import some
from pytest_ireval.retrieval.views import of_queries
from pytest_ireval.rules.planning import by_stored
from pytest_ireval.statistics.noise import noise_floor
from pytest_ireval.suites.suite import SourceAsked, Suite
from pytest_ireval.text_table import counted

SAMPLE = 50
"""The most queries that are asked a second time."""


def unsteady(
    suite: Suite, source: SourceAsked, registry: Registry, gathered: Gathered, answered: Answered, progress: Progress
) -> tuple[str, str]:
    """The finding that answers differ, and how much; empty where they are the same, or where no baseline is stored.

    Without ``repeat`` a single answer would become the baseline, and its noise would look like a change later.
    """
    if not source.options.takes_turns or source.repeat > 1 or not any(map(by_stored, suite.rules)):
        return "", ""
    from pytest_ireval.sources.recording import OFFLINE  # only live systems need that module

    if os.environ.get(OFFLINE):
        return "", f"the source was not asked a second time: {OFFLINE} closes the network"
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
    changed = changed_queries(both[:1], both[1:], suite.depth)
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
    differ = f"{len(changed)} of {counted(len(asked), 'query')} asked twice got another answer: {some(list(changed))}"
    noise = f"; two runs of this system may differ by {floor} (noise floor, 95%)" if floor else "; no metric moved"
    return "the source does not answer the same twice", (
        f"{differ}{noise}; set repeat: 3 in the source, or make it steady: exact search, one replica, preference"
    )
