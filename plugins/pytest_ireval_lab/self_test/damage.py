"""Damage that is tried on a suite: its rules, metrics and slices should notice it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pytest_ireval.data.ids import Ids, number_ids
from pytest_ireval.data.join import look_up_grades
from pytest_ireval.data.judged import is_relevant
from pytest_ireval.data.rankings import Rankings, rank_columns
from pytest_ireval.gate.replay import (
    Stage,
    as_now,
    as_now_in_part,
    chosen,
    drawn_queries,
    moved_up,
    outcomes,
    red_rules,
    scored,
    urn_of,
    with_documents_at,
)
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.rules.planning import Check
from pytest_ireval.rules.side import Side
from pytest_ireval.rules.slices import WHOLE, Slice, slice_with_value
from pytest_ireval.statistics.differences import Mask
from pytest_ireval_lab.self_test.results import HarmlessChange, Level, MutantNoticed

LEFT = 5
"""The documents that are left of a ranking that is cut."""
MOST_VALUES = 20
"""A column with more values is not taken for slices."""
MOST_SLICES = 12
"""The most slices that are emptied, one after the other; the smallest ones, which go unnoticed first."""


@dataclass(frozen=True, eq=False)
class _Mutant:
    name: str
    done: Callable[[Rankings], Rankings]
    """To all queries; it is spread over some of them elsewhere."""
    everywhere: bool = False
    """It damages all queries or none, as a broken component would."""
    within: Slice = WHOLE
    unnoticed_is_right: bool = False


def _mutants_of(stage: Stage) -> Iterator[_Mutant]:
    """All kinds of damage, in the order in which they are reported."""
    judgments = stage.material.population.judgments
    top = _top_of(stage)
    yield _Mutant("the first two documents swapped", partial(first_reversed, top=2), everywhere=True)
    if judgments is not None:
        asked = stage.material.suite.judgments
        lowest = asked.relevant_from if asked else None
        yield _Mutant(
            "the first relevant document gone",
            lambda rankings: without_first_relevant(rankings, is_relevant(look_up_grades(judgments, rankings), lowest)),
        )
    yield _Mutant(f"the first {top} documents reversed", partial(first_reversed, top=top))
    yield _Mutant(f"only {LEFT} documents left", partial(truncated, length=LEFT), everywhere=True)
    for each in _slices_of(stage):
        yield _Mutant(f"nothing found: {each}", emptied, everywhere=True, within=each)
    yield _Mutant("an unrelated document on top", partial(with_unrelated_first, seed=stage.urn.seed))
    yield _Mutant("documents with other ids", ids_renamed, unnoticed_is_right=True)


def _top_of(stage: Stage) -> int:
    """The deepest cutoff of the metrics that rules are about; 10 without any cutoff."""
    metrics = [check.part.metric for check in stage.checks if check.part.metric is not None]
    cutoffs = [metric.settings.get("cutoff") for metric in metrics]
    return max((each for each in cutoffs if isinstance(each, int)), default=min(10, stage.material.suite.depth))


def _slices_of(stage: Stage) -> list[Slice]:
    """Slices by the columns that rules name, or else by all columns with few values. The smallest come first."""
    population, suite = stage.material.population, stage.material.suite
    named = [name for asked in suite.rules for name in (*asked.options.where, asked.options.per) if name]
    columns = population.queries.composed
    few = [name for name, values in columns.items() if name != suite.weight and 1 < len(set(values)) <= MOST_VALUES]
    found = [
        slice_with_value(WHOLE, name, value)
        for name in sorted(set(named) & set(columns) or set(few))
        for value in sorted(set(columns[name]))
    ]
    sizes = {each: int(np.count_nonzero(population.mask(each))) for each in found}
    return sorted((each for each in found if sizes[each]), key=lambda each: (sizes[each], str(each)))[:MOST_SLICES]


def first_reversed(rankings: Rankings, top: int) -> Rankings:
    """Reverse the first ``top`` documents."""
    rank = rankings.rank
    length = np.repeat(np.minimum(np.diff(rankings.first), top), np.diff(rankings.first))
    rows = np.arange(rank.size)
    return with_documents_at(rankings, np.where(rank <= length, rows - rank + (length - rank + 1), rows))


def without_first_relevant(rankings: Rankings, relevant: Mask) -> Rankings:
    """Remove the first document of those that are ``relevant``, by row; the documents below move up."""
    rows = np.flatnonzero(relevant)
    _, first = np.unique(rankings.query[rows], return_index=True)
    kept = np.ones(relevant.size, bool)
    kept[rows[first]] = False
    return moved_up(rankings, kept)


def truncated(rankings: Rankings, length: int) -> Rankings:
    """Keep only the first ``length`` documents."""
    return moved_up(rankings, rankings.rank <= length)


def emptied(rankings: Rankings) -> Rankings:
    """Remove all documents."""
    return moved_up(rankings, np.zeros(int(rankings.first[-1]), bool))


def with_unrelated_first(rankings: Rankings, seed: str) -> Rankings:
    """Put the first document of another query, drawn at random, on top; the last one is gone."""
    length = np.diff(rankings.first)
    order = np.array(sorted(range(len(rankings)), key=rankings.queries.__getitem__), np.int64)
    order = order[length[order] > 0]
    if order.size < 2:
        return rankings
    numbers = drawn_queries(urn_of(rankings.queries, seed), "unrelated")[order]
    step = 1 + np.floor(numbers * (order.size - 1)).astype(np.int64)
    intruder = np.full(len(rankings), -1, np.int64)
    document = number_ids(rankings.documents).number
    query = rankings.query
    place = np.arange(order.size)
    for more in range(8):  # other queries that are searched for a document that a ranking does not have
        open_ = np.flatnonzero(intruder[order] < 0)
        other = rankings.first[order[(place[open_] + step[open_] + more) % order.size]]
        has = np.zeros(len(rankings), bool)
        wanted = np.zeros(len(rankings), np.int64)
        asked = np.zeros(len(rankings), bool)
        wanted[order[open_]], asked[order[open_]] = document[other], True
        has[query[asked[query] & (document == wanted[query])]] = True
        free = ~has[order[open_]]
        intruder[order[open_[free]]] = other[free]
    rows = np.arange(query.size)
    touched = intruder[query] >= 0
    first = rankings.rank == 1
    return with_documents_at(rankings, np.where(touched, np.where(first, intruder[query], rows - 1), rows))


def ids_renamed(rankings: Rankings) -> Rankings:
    """Give every document another id."""
    return replace(rankings, documents=Ids.of([f"renamed-{text}" for text in rankings.documents.texts()]))


SHARES = (0.05, 0.1, 0.2, 0.5, 1.0)
TRIALS = 20
"""Damage to a share of the queries is repeated this often, each time with other queries."""
NOTICED = 0.8
"""Damage counts as noticed if this share of the trials is red."""


def noticed(stage: Stage, already_red: frozenset[str], progress: Progress = SILENT) -> tuple[MutantNoticed, ...]:
    """The rules that notice each kind of damage; rules that are ``already_red`` without any do not count."""
    mutants = list(_mutants_of(stage))
    progress.expect(len(mutants) * TRIALS, "damage")
    found = []
    for mutant in mutants:
        found.append(_noticed(stage, mutant, already_red))
        progress.advance(TRIALS)
    return tuple(found)


def _noticed(stage: Stage, mutant: _Mutant, already_red: frozenset[str]) -> MutantNoticed:
    other = scored(stage, [mutant.done(each) for each in stage.accepted.rankings])
    among = _can_be_damaged(stage, mutant)
    levels: list[Level] = []
    rules: tuple[str, ...] = ()
    for share in (1.0,) if mutant.everywhere else SHARES:
        level, rules = _tried_mutant(stage, mutant, other, among, share, already_red)
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


def _can_be_damaged(stage: Stage, mutant: _Mutant) -> Mask:
    """Queries of its slice that count, have a ranking, and have judgments if the suite has any."""
    population, ranked = stage.material.population, stage.accepted.position
    judged = None if population.judgments is None else set(population.judgments.queries)
    there = [query in ranked and (judged is None or query in judged) for query in population.queries.ids]
    among: Mask = population.mask(mutant.within) & np.array(there, bool)
    return among


def _tried_mutant(
    stage: Stage, mutant: _Mutant, other: Side, among: Mask, share: float, already_red: frozenset[str]
) -> tuple[Level, tuple[str, ...]]:
    """Try one share of the queries several times, but all of them only once: the result is the same each time."""
    trials = 1 if share == 1 else TRIALS
    count, red, inconclusive = 0, 0, 0
    rules: Counter[str] = Counter()
    for trial in range(trials):
        marked = chosen(drawn_queries(stage.urn, mutant.name, trial), among, share)
        count = int(np.count_nonzero(marked))
        found = [o for o in outcomes(stage, as_now_in_part(stage, other, marked)) if o.id not in already_red]
        failed = red_rules(found)
        rules.update(failed)
        red += bool(failed)
        inconclusive += not failed and any(outcome.verdict == "inconclusive" for outcome in found)
    often = sorted((check.id for check in stage.checks if rules[check.id]), key=lambda rule: -rules[rule])
    level = Level(share, count, trials, red, inconclusive)
    return level, tuple(often) if red >= NOTICED * trials else ()


@dataclass(frozen=True, eq=False)
class _Equivalent:
    name: str
    side: Side
    done: Callable[[Rankings], Rankings]
    """To the rankings of that side."""
    why_not: str = ""
    """The reason why it cannot be tried."""
    rules: frozenset[str] | None = None
    """Rules that must stay green; None: all."""


def harmless_changes(stage: Stage) -> tuple[HarmlessChange, ...]:
    """All harmless changes, with the rules that are red all the same; the first changes nothing at all."""
    return tuple(_tried_harmless(stage, each) for each in _equivalents(stage))


def _tried_harmless(stage: Stage, change: _Equivalent) -> HarmlessChange:
    if change.why_not:
        return HarmlessChange(change.name, tried=False, why=change.why_not)
    red = _red(stage, [change.done(each) for each in change.side.rankings])
    anyway = [] if change.side is stage.accepted else _red(stage, change.side.rankings)
    minded = [rule for rule in red if rule not in anyway and (change.rules is None or rule in change.rules)]
    return HarmlessChange(change.name, tried=True, red=tuple(minded))


def _red(stage: Stage, rankings: Sequence[Rankings]) -> list[str]:
    return red_rules(outcomes(stage, as_now(stage, scored(stage, rankings))))


def _equivalents(stage: Stage) -> Iterator[_Equivalent]:
    accepted = stage.accepted
    yield _Equivalent("the same rankings", accepted, lambda rankings: rankings)
    sides = (accepted, stage.material.now)  # baselines keep scores only where a metric asks for them
    tied = next((side for side in sides if any(rows_tied(each).any() for each in side.rankings)), None)
    why_not = _why_no_ties(stage) or ("" if tied else "no query has documents with equal scores")
    yield _Equivalent("equal scores written in another order", tied or accepted, ties_written_otherwise, why_not)
    deepest = _top_of(stage)
    shallow = [check for check in stage.checks if _looks_no_deeper(check)]
    yield _Equivalent(
        f"documents below rank {deepest} reordered",
        accepted,
        partial(reversed_below, deepest=deepest),
        _why_nothing_below(stage, deepest, shallow),
        frozenset(check.id for check in shallow),
    )


def _looks_no_deeper(check: Check) -> bool:
    metric = check.part.metric
    return metric is not None and isinstance(metric.settings.get("cutoff"), int)


def _why_no_ties(stage: Stage) -> str:
    suite = stage.material.suite
    if suite.policies.ties == "input":
        return "the suite sets ties: input, so their order counts"
    documents = suite.documents
    if documents.aliases or documents.collapse or documents.definition:
        return "the suite renames or leaves out documents (key documents), so the order of equal scores may change"
    return ""


def _why_nothing_below(stage: Stage, deepest: int, shallow: Sequence[Check]) -> str:
    policies = stage.material.suite.policies
    if not shallow:
        return "no rule uses a metric with a cutoff"
    if policies.unjudged != "irrelevant":
        return f"the suite sets unjudged: {policies.unjudged}, so metrics use documents below their cutoff"
    if all(int(np.diff(each.first).max(initial=0)) < deepest + 2 for each in stage.accepted.rankings):
        return "no ranking is longer than that"
    return ""


def rows_tied(rankings: Rankings) -> Mask:
    """Mark the documents that have the score of another one of their query."""
    length = np.repeat(np.diff(rankings.first), np.diff(rankings.first))
    tied: Mask = rankings.tied_from < np.minimum(rankings.tied_to, length)
    return tied


def ties_written_otherwise(rankings: Rankings) -> Rankings:
    """The rankings as read from a file in which documents with equal scores are in reverse order."""
    query = rankings.query
    order = np.lexsort((-rankings.rank, rankings.tied_from, query))
    length = np.diff(rankings.first)
    filled, empty = np.flatnonzero(length), np.flatnonzero(length == 0)
    number = np.zeros(len(rankings), np.int64)
    number[filled] = np.arange(filled.size)
    return rank_columns(
        [rankings.queries[i] for i in filled.tolist()],
        number[query[order]],
        rankings.documents.take(order),
        rankings.score[order],
        rankings.origin,
        by_id=True,
        empty=[rankings.queries[i] for i in empty.tolist()],
    )


def reversed_below(rankings: Rankings, deepest: int) -> Rankings:
    """Reverse the documents below rank ``deepest``."""
    rank = rankings.rank
    length = np.repeat(np.diff(rankings.first), np.diff(rankings.first))
    rows = np.arange(rank.size)
    return with_documents_at(rankings, np.where(rank > deepest, rows - rank + (length + deepest + 1 - rank), rows))
