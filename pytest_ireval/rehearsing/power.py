"""From which share of the queries on a suite notices damage, and which of its rules does."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.rehearsing.damage import Mutant, mutants_of
from pytest_ireval.rehearsing.draws import chosen, drawn
from pytest_ireval.rehearsing.stage import Stage, as_now_in_part, outcomes, red_rules, scored
from pytest_ireval.results.rehearsal import Level, MutantNoticed
from pytest_ireval.rules.side import Side
from pytest_ireval.rules.slices import Mask

SHARES = (0.05, 0.1, 0.2, 0.5, 1.0)
TRIALS = 20
"""So often damage is done to another choice of so many queries."""
NOTICED = 0.8
"""Damage is noticed that makes the suite red in such a share of the trials."""


class _Tried(NamedTuple):
    level: Level
    rules: tuple[str, ...]


def noticed(stage: Stage, already_red: frozenset[str], progress: Progress = SILENT) -> tuple[MutantNoticed, ...]:
    """For each kind of damage; rules that are ``already_red`` without any notice nothing."""
    mutants = list(mutants_of(stage))
    progress.expect(len(mutants) * TRIALS, "damage")
    found = []
    for mutant in mutants:
        found.append(_noticed(stage, mutant, already_red))
        progress.advance(TRIALS)
    return tuple(found)


def _noticed(stage: Stage, mutant: Mutant, already_red: frozenset[str]) -> MutantNoticed:
    other = scored(stage, [mutant.done(each) for each in stage.accepted.rankings])
    among = _can_be_damaged(stage, mutant)
    levels: list[Level] = []
    rules: tuple[str, ...] = ()
    for share in (1.0,) if mutant.everywhere else SHARES:
        level, rules = _tried(stage, mutant, other, among, share, already_red)
        levels.append(level)
        if level.red >= NOTICED * level.trials:
            break
    last = levels[-1]
    return MutantNoticed(
        name=mutant.name,
        queries=int(np.count_nonzero(among)),
        levels=tuple(levels),
        noticed_from=last.share if last.red >= NOTICED * last.trials else None,
        rules=rules,
        unnoticed_is_right=mutant.unnoticed_is_right,
    )


def _can_be_damaged(stage: Stage, mutant: Mutant) -> Mask:
    """Queries of its slice that count, have a ranking, and are judged if anything is."""
    population, ranked = stage.material.population, stage.accepted.position
    judged = None if population.judgments is None else set(population.judgments.queries)
    there = [query in ranked and (judged is None or query in judged) for query in population.queries.ids]
    among: Mask = population.mask(mutant.within) & np.array(there, bool)
    return among


def _tried(stage: Stage, mutant: Mutant, other: Side, among: Mask, share: float, already_red: frozenset[str]) -> _Tried:
    """One share of the queries, several times; all of them are the same each time."""
    trials = 1 if share == 1 else TRIALS
    count, red, inconclusive = 0, 0, 0
    rules: Counter[str] = Counter()
    for trial in range(trials):
        marked = chosen(drawn(stage.urn, mutant.name, trial), among, share)
        count = int(np.count_nonzero(marked))
        found = [o for o in outcomes(stage, as_now_in_part(stage, other, marked)) if o.id not in already_red]
        failed = red_rules(found)
        rules.update(failed)
        red += bool(failed)
        inconclusive += not failed and any(outcome.verdict == "inconclusive" for outcome in found)
    often = sorted((check.id for check in stage.checks if rules[check.id]), key=lambda rule: -rules[rule])
    level = Level(share, count, trials, red, inconclusive)
    return _Tried(level, tuple(often) if red >= NOTICED * trials else ())
