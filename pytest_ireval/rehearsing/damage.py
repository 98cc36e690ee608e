"""Which damage is tried on a suite: what its rules, its metrics and its slices are there to notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from pytest_ireval.rehearsing.mutants import (
    emptied,
    first_reversed,
    first_two_swapped,
    renamed,
    truncated,
    with_unrelated_first,
    without_first_relevant,
)
from pytest_ireval.rehearsing.stage import Stage
from pytest_ireval.retrieval.join import grades_of
from pytest_ireval.retrieval.judged import is_relevant
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.rules.slices import WHOLE, Slice, one_value

LEFT = 5
"""So many documents are left of a ranking that is cut."""
TOP = 10
"""So many documents are reversed where no metric has a cutoff."""
MOST_VALUES = 20
"""A column with more values has no slices that somebody thinks of."""
MOST_SLICES = 12
"""So many slices are emptied, one after the other; the smallest ones, which go unnoticed first."""


@dataclass(frozen=True, eq=False)
class Mutant:
    """One kind of damage."""

    name: str
    done: Callable[[Rankings], Rankings]
    """To all queries; it is spread over some of them elsewhere."""
    everywhere: bool = False
    """Whether it comes as a whole or not at all, as a broken component would."""
    within: Slice = WHOLE
    unnoticed_is_right: bool = False


def mutants_of(stage: Stage) -> Iterator[Mutant]:
    """What is tried, in the order in which it is told."""
    judgments = stage.material.population.judgments
    top = top_of(stage)
    yield Mutant("the first two documents swapped", first_two_swapped, everywhere=True)
    if judgments is not None:
        asked = stage.material.suite.judgments
        yield Mutant(
            "the first relevant document gone",
            partial(_without_first_relevant, judgments=judgments, lowest=asked.relevant_from if asked else None),
        )
    yield Mutant(f"the first {top} documents reversed", partial(first_reversed, top=top))
    yield Mutant(f"only {LEFT} documents left", partial(truncated, length=LEFT), everywhere=True)
    for each in slices_of(stage):
        yield Mutant(f"nothing found: {each}", emptied, everywhere=True, within=each)
    yield Mutant("an unrelated document on top", partial(with_unrelated_first, seed=stage.urn.seed))
    yield Mutant("documents with other ids", renamed, unnoticed_is_right=True)


def _without_first_relevant(rankings: Rankings, judgments: Judgments, lowest: float | None) -> Rankings:
    return without_first_relevant(rankings, is_relevant(grades_of(judgments, rankings), lowest))


def top_of(stage: Stage) -> int:
    """The deepest cutoff of the metrics that rules are about."""
    metrics = [check.part.metric for check in stage.checks if check.part.metric is not None]
    cutoffs = [metric.settings.get("cutoff") for metric in metrics]
    return max((each for each in cutoffs if isinstance(each, int)), default=min(TOP, stage.material.suite.depth))


def slices_of(stage: Stage) -> list[Slice]:
    """Of the columns that rules name; where none does, of all columns with few values. The smallest come first."""
    population, suite = stage.material.population, stage.material.suite
    named = [name for asked in suite.rules for name in (*asked.options.where, asked.options.per) if name]
    columns = population.queries.columns
    few = [name for name, values in columns.items() if name != suite.weight and 1 < len(set(values)) <= MOST_VALUES]
    found = [
        one_value(WHOLE, name, value)
        for name in sorted(set(named) & set(columns) or set(few))
        for value in sorted(_values(columns, name))
    ]
    sizes = {each: int(np.count_nonzero(population.mask(each))) for each in found}
    return sorted((each for each in found if sizes[each]), key=lambda each: (sizes[each], str(each)))[:MOST_SLICES]


def _values(columns: Mapping[str, tuple[str, ...]], name: str) -> set[str]:
    return set(columns[name])
