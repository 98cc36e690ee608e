"""Damage that is tried on a suite: its rules, metrics and slices should notice it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pytest_ireval import Rankings, Scores
from pytest_ireval.gate_api import (
    WHOLE,
    Ids,
    Mask,
    RuleCheck,
    Side,
    Slice,
    is_relevant,
    keep_documents,
    look_up_grades,
    number_ids,
    rank_columns,
    take_documents,
)
from pytest_ireval.plugin_api import SILENT, Progress
from pytest_ireval_lab.self_test.rehearsal import (
    Rehearsal,
    choose_lowest,
    draw_numbers,
    list_columns_of_slices,
    list_red,
    make_urn,
    mix_scores,
)
from pytest_ireval_lab.self_test.results import HarmlessChange, Level, NoticedDamage

LEFT = 5
"""The documents that are left of a ranking that is cut."""
MOST_SLICES = 12
"""The most slices that are emptied, one after the other; the smallest ones, which go unnoticed first."""


@dataclass(eq=False)
class _Mutant:
    name: str
    done: Callable[[Rankings], Rankings]
    """To all queries; it is spread over some of them elsewhere."""
    everywhere: bool = False
    """It damages all queries or none, as a broken component would."""
    within: Slice = WHOLE
    unnoticed_is_right: bool = False


def _list_mutants(rehearsal: Rehearsal) -> Iterator[_Mutant]:
    """All kinds of damage, in the order in which they are reported."""
    judgments = rehearsal.scores.population.judgments
    top = _find_deepest_cutoff(rehearsal)
    yield _Mutant("the first two documents swapped", partial(first_reversed, top=2), everywhere=True)
    if judgments is not None:
        asked = rehearsal.scores.collection.suite.judgments
        lowest = asked.relevant_from if asked else None
        yield _Mutant(
            "the first relevant document gone",
            lambda rankings: without_first_relevant(rankings, is_relevant(look_up_grades(judgments, rankings), lowest)),
        )
    yield _Mutant(f"the first {top} documents reversed", partial(first_reversed, top=top))
    yield _Mutant(f"only {LEFT} documents left", partial(truncated, length=LEFT), everywhere=True)
    for each in _list_slices(rehearsal):
        yield _Mutant(f"nothing found: {each}", emptied, everywhere=True, within=each)
    yield _Mutant("an unrelated document on top", partial(with_unrelated_first, seed=rehearsal.urn.seed))
    yield _Mutant("documents with other ids", ids_renamed, unnoticed_is_right=True)


def _find_deepest_cutoff(rehearsal: Rehearsal) -> int:
    """The deepest cutoff of the metrics that rules are about; 10 without any cutoff."""
    metrics = [check.part.metric for check in rehearsal.checks if check.part.metric is not None]
    cutoffs = [metric.settings.get("cutoff") for metric in metrics if not metric.stage]
    return max(
        (each for each in cutoffs if isinstance(each, int)), default=min(10, rehearsal.scores.collection.suite.depth)
    )


def _list_slices(rehearsal: Rehearsal) -> list[Slice]:
    """Slices by the columns that rules name, or else by all columns with few values. The smallest come first."""
    population, suite = rehearsal.scores.population, rehearsal.scores.collection.suite
    named = [name for asked in suite.rules for name in (*asked.options.where, asked.options.per) if name]
    names = set(named) & set(population.queries.composed) or set(list_columns_of_slices(rehearsal.scores))
    found = [part for name in sorted(names) for part in WHOLE.split(population.queries, name)]
    sizes = {each: int(np.count_nonzero(population.mask(each))) for each in found}
    return sorted((each for each in found if sizes[each]), key=lambda each: (sizes[each], str(each)))[:MOST_SLICES]


def first_reversed(rankings: Rankings, top: int) -> Rankings:
    """Reverse the first ``top`` documents."""
    rank = rankings.rank
    length = np.repeat(np.minimum(np.diff(rankings.first), top), np.diff(rankings.first))
    rows = np.arange(rank.size)
    return take_documents(rankings, np.where(rank <= length, rows - rank + (length - rank + 1), rows))


def without_first_relevant(rankings: Rankings, relevant: Mask) -> Rankings:
    """Remove the first document of those that are ``relevant``, by row; the documents below move up."""
    rows = np.flatnonzero(relevant)
    _, first = np.unique(rankings.query[rows], return_index=True)
    kept = np.ones(relevant.size, bool)
    kept[rows[first]] = False
    return keep_documents(rankings, kept)


def truncated(rankings: Rankings, length: int) -> Rankings:
    """Keep only the first ``length`` documents."""
    return keep_documents(rankings, rankings.rank <= length)


def emptied(rankings: Rankings) -> Rankings:
    """Remove all documents."""
    return keep_documents(rankings, np.zeros(int(rankings.first[-1]), bool))


def with_unrelated_first(rankings: Rankings, seed: str) -> Rankings:
    """Put the first document of another query, drawn at random, on top; the last one is gone."""
    length = np.diff(rankings.first)
    order = np.array(sorted(range(len(rankings)), key=rankings.queries.__getitem__), np.int64)
    order = order[length[order] > 0]
    if order.size < 2:
        return rankings
    numbers = draw_numbers(make_urn(rankings.queries, seed), "unrelated")[order]
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
    return take_documents(rankings, np.where(touched, np.where(first, intruder[query], rows - 1), rows))


def ids_renamed(rankings: Rankings) -> Rankings:
    """Give every document another id."""
    return replace(rankings, documents=Ids.of([f"renamed-{text}" for text in rankings.documents.texts()]))


SHARES = (0.05, 0.1, 0.2, 0.5, 1.0)
TRIALS = 20
"""Damage to a share of the queries is repeated this often, each time with other queries."""
NOTICED = 0.8
"""Damage counts as noticed if this share of the trials is red."""


def try_mutants(
    rehearsal: Rehearsal, already_red: frozenset[str], progress: Progress = SILENT
) -> tuple[NoticedDamage, ...]:
    """The rules that notice each kind of damage; rules that are ``already_red`` without any do not count."""
    mutants = list(_list_mutants(rehearsal))
    progress.expect(len(mutants) * TRIALS, "damage")
    found = []
    for mutant in mutants:
        found.append(_try_all_shares(rehearsal, mutant, already_red))
        progress.advance(TRIALS)
    return tuple(found)


def _try_all_shares(rehearsal: Rehearsal, mutant: _Mutant, already_red: frozenset[str]) -> NoticedDamage:
    healthy = rehearsal.scores.replace_current(rehearsal.accepted)
    other = rehearsal.score([mutant.done(each) for each in rehearsal.accepted.rankings])
    damaged = rehearsal.scores.replace_current(other)
    among = _mark_damageable(rehearsal, mutant)
    levels: list[Level] = []
    rules: tuple[str, ...] = ()
    for share in (1.0,) if mutant.everywhere else SHARES:
        level, rules = _try_mutant(rehearsal, mutant, healthy, damaged, among, share, already_red)
        levels.append(level)
        if level.red >= NOTICED * level.trials:
            break
    last = levels[-1]
    return NoticedDamage(
        name=mutant.name,
        queries=int(np.count_nonzero(among)),
        levels=tuple(levels),
        noticed_from=last.share if last.red >= NOTICED * last.trials else None,
        rules=rules,
        unnoticed_is_right=mutant.unnoticed_is_right,
    )


def _mark_damageable(rehearsal: Rehearsal, mutant: _Mutant) -> Mask:
    """Queries of its slice that count, have a ranking, and have judgments if the suite has any."""
    population, ranked = rehearsal.scores.population, rehearsal.accepted.position
    judged = None if population.judgments is None else set(population.judgments.queries)
    there = [query in ranked and (judged is None or query in judged) for query in population.queries.ids]
    among: Mask = population.mask(mutant.within) & np.array(there, bool)
    return among


def _try_mutant(
    rehearsal: Rehearsal,
    mutant: _Mutant,
    healthy: Scores,
    damaged: Scores,
    among: Mask,
    share: float,
    already_red: frozenset[str],
) -> tuple[Level, tuple[str, ...]]:
    """Try one share of the queries several times, but all of them only once: the result is the same each time."""
    trials = 1 if share == 1 else TRIALS
    count, red, inconclusive = 0, 0, 0
    rules: Counter[str] = Counter()
    for trial in range(trials):
        marked = choose_lowest(draw_numbers(rehearsal.urn, mutant.name, trial), among, share)
        count = int(np.count_nonzero(marked))
        found = [o for o in rehearsal.check(mix_scores(healthy, damaged, marked)) if o.id not in already_red]
        failed = list_red(found)
        rules.update(failed)
        red += bool(failed)
        inconclusive += not failed and any(outcome.verdict == "inconclusive" for outcome in found)
    often = sorted((check.id for check in rehearsal.checks if rules[check.id]), key=lambda rule: -rules[rule])
    level = Level(share, count, trials, red, inconclusive)
    return level, tuple(often) if red >= NOTICED * trials else ()


@dataclass(eq=False)
class _Equivalent:
    name: str
    side: Side
    done: Callable[[Rankings], Rankings]
    """To the rankings of that side."""
    why_not: str = ""
    """The reason why it cannot be tried."""
    rules: frozenset[str] | None = None
    """Rules that must stay green; None: all."""


def try_harmless_changes(rehearsal: Rehearsal) -> tuple[HarmlessChange, ...]:
    """All harmless changes, with the rules that are red all the same; the first changes nothing at all."""
    return tuple(_try_harmless(rehearsal, each) for each in _list_harmless_changes(rehearsal))


def _try_harmless(rehearsal: Rehearsal, change: _Equivalent) -> HarmlessChange:
    if change.why_not:
        return HarmlessChange(change.name, tried=False, why=change.why_not)
    red = _list_red_rules(rehearsal, [change.done(each) for each in change.side.rankings])
    anyway = [] if change.side is rehearsal.accepted else _list_red_rules(rehearsal, change.side.rankings)
    minded = [rule for rule in red if rule not in anyway and (change.rules is None or rule in change.rules)]
    return HarmlessChange(change.name, tried=True, red=tuple(minded))


def _list_red_rules(rehearsal: Rehearsal, rankings: Sequence[Rankings]) -> list[str]:
    return list_red(rehearsal.check(rehearsal.scores.replace_current(rehearsal.score(rankings))))


def _list_harmless_changes(rehearsal: Rehearsal) -> Iterator[_Equivalent]:
    accepted = rehearsal.accepted
    yield _Equivalent("the same rankings", accepted, lambda rankings: rankings)
    sides = (accepted, rehearsal.scores.current)  # baselines keep scores only where a metric asks for them
    tied = next((side for side in sides if any(rows_tied(each).any() for each in side.rankings)), None)
    why_not = _explain_no_ties(rehearsal) or ("" if tied else "no query has documents with equal scores")
    yield _Equivalent("equal scores written in another order", tied or accepted, ties_written_otherwise, why_not)
    deepest = _find_deepest_cutoff(rehearsal)
    shallow = [check for check in rehearsal.checks if _looks_no_deeper(check)]
    yield _Equivalent(
        f"documents below rank {deepest} reordered",
        accepted,
        partial(reversed_below, deepest=deepest),
        _explain_nothing_below(rehearsal, deepest, shallow),
        frozenset(check.id for check in shallow),
    )


def _looks_no_deeper(check: RuleCheck) -> bool:
    metric = check.part.metric
    return metric is not None and isinstance(metric.settings.get("cutoff"), int)


def _explain_no_ties(rehearsal: Rehearsal) -> str:
    suite = rehearsal.scores.collection.suite
    if suite.policies.ties == "input":
        return "the suite sets ties: input, so their order counts"
    documents = suite.documents
    if documents.aliases or documents.collapse or documents.definition:
        return "the suite renames or leaves out documents (key documents), so the order of equal scores may change"
    return ""


def _explain_nothing_below(rehearsal: Rehearsal, deepest: int, shallow: Sequence[RuleCheck]) -> str:
    policies = rehearsal.scores.collection.suite.policies
    if not shallow:
        return "no rule uses a metric with a cutoff"
    if policies.unjudged != "irrelevant":
        return f"the suite sets unjudged: {policies.unjudged}, so metrics use documents below their cutoff"
    if all(int(np.diff(each.first).max(initial=0)) < deepest + 2 for each in rehearsal.accepted.rankings):
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
    return take_documents(rankings, np.where(rank > deepest, rows - rank + (length + deepest + 1 - rank), rows))
