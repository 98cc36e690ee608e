"""Agreement of judges with each other and of a judge with humans, and the orders of systems under different judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple, TypeVar

import numpy as np

from pytest_ireval import Judgments
from pytest_ireval.plugin_api import number_pairs, t_quantile
from pytest_ireval_judgments.arrays import Floats, Integers, Mask
from pytest_ireval_judgments.panel import JudgePanel, Votes
from pytest_ireval_judgments.rating import Pair

LEVELS = ("nominal", "ordinal", "interval")
"""Levels of measurement: grades are different, in order, or numbers with distances."""

ALL = "all"
"""The name of the row of all queries."""


@dataclass
class TwoJudges:
    """Agreement of two judges on the documents that both judged; None where a figure is not defined."""

    judge: str
    other: str
    both: int
    agreement: float | None
    """The share of documents with the same grade."""
    kappa: float | None
    """Cohen's kappa."""
    overlap: float | None
    """Documents that both find relevant, as a share of those that one of them does."""


@dataclass
class AllJudges:
    """Agreement of all judges."""

    judges: int
    judged: int
    """Documents with two judges or more; a document counts once for each query."""
    by_all: int
    agreement: float | None
    """The share of pairs of judges with the same grade, of the documents with two judges or more."""
    fleiss: float | None
    """Fleiss' kappa of the documents that all judges judged."""
    nominal: float | None
    """Krippendorff's alpha, at three levels of measurement."""
    ordinal: float | None
    interval: float | None
    overlap: float | None
    """Of the documents that all judged: those relevant to all, as a share of those relevant to one."""


@dataclass
class QueryAgreement:
    """Disagreements about relevance on one query, among documents with two judges or more.

    With two judges the first one finds ``not_relevant`` documents not relevant, the other one does, and ``relevant``
    the reverse. With more judges most of them decide; ``even`` counts documents with as many judges for each.
    """

    query: str
    judged: int
    agreement: float
    """The share of documents on which all of its judges agree."""
    disagreements: int
    not_relevant: int
    relevant: int
    even: int


def compare_pairs_of_judges(panel: JudgePanel, rel: float) -> list[TwoJudges]:
    """Each pair of judges, in their order."""
    votes = panel.votes
    columns = [votes.of(judge) for judge in range(len(votes.names))]
    found = []
    for (a, one), (b, other) in combinations(enumerate(columns), 2):
        both = ~np.isnan(one) & ~np.isnan(other)
        agreement, kappa = compute_cohen(one[both], other[both])
        relevant = np.array([one[both] >= rel, other[both] >= rel])
        names = votes.names[a], votes.names[b]
        found.append(TwoJudges(*names, int(both.sum()), agreement, kappa, _compute_overlap(relevant)))
    return found


def compare_all_judges(panel: JudgePanel, rel: float) -> AllJudges:
    """The figures of all judges together."""
    votes = panel.votes
    judges, voters = len(votes.names), votes.voters()
    several, complete = votes.of_things(voters >= 2), votes.of_things(voters == judges)
    yes = np.bincount(complete.thing, complete.grade >= rel, minlength=votes.size)
    alike, pairs = _pair_votes(several)
    return AllJudges(
        judges,
        judged=int((voters >= 2).sum()),
        by_all=int((voters == judges).sum()),
        agreement=_divide(float(alike.sum()), float(pairs.sum())),
        fleiss=compute_fleiss(complete),
        **{level: compute_krippendorff(several, level) for level in LEVELS},
        overlap=_divide(float((yes == judges).sum()), float((yes > 0).sum())),
    )


def compare_judges_by_query(panel: JudgePanel, rel: float) -> Iterator[QueryAgreement]:
    """The queries on which a document has two judges or more, in order of appearance; then all of them."""
    votes = panel.votes
    voters = np.bincount(votes.thing, minlength=votes.size)
    yes = np.bincount(votes.thing, votes.grade >= rel, minlength=votes.size)
    several, split = voters >= 2, (yes > 0) & (yes < voters)
    if len(votes.names) == 2:
        first = votes.of(0) >= rel  # False where there is no grade, and there nothing is split
        kinds = [split & ~first, split & first, split & False]
    else:
        kinds = [split & (2 * yes < voters), split & (2 * yes > voters), split & (2 * yes == voters)]
    query, size = panel.pairs.query, len(panel.pairs.queries)
    columns = [np.bincount(query[mask], minlength=size).tolist() for mask in (several, split, *kinds)]
    whole = map(sum, columns)
    for name, judged, differing, *numbers in (*zip(panel.pairs.queries, *columns, strict=True), (ALL, *whole)):
        if judged:
            yield QueryAgreement(name, judged, (judged - differing) / judged, differing, *numbers)


def compute_cohen(one: Floats, other: Floats) -> tuple[float | None, float | None]:
    """The share of equal grades of two judges, and Cohen's kappa: both judged all of these documents."""
    if not one.size:
        return None, None
    grades, code = np.unique(np.concatenate((one, other)), return_inverse=True)
    share = [np.bincount(part, minlength=grades.size) / one.size for part in (code[: one.size], code[one.size :])]
    agreement = float((one == other).mean())
    return agreement, _beyond_chance(agreement, float(share[0] @ share[1]))


def compute_fleiss(votes: Votes) -> float | None:
    """Fleiss' kappa of documents with the same number of judges, two or more."""
    alike, pairs = _pair_votes(votes)
    judged = pairs > 0
    if not judged.any():
        return None
    share = np.unique(votes.grade, return_counts=True)[1] / votes.grade.size
    return _beyond_chance(float((alike[judged] / pairs[judged]).mean()), float(share @ share))


def compute_krippendorff(votes: Votes, level: str) -> float | None:
    """Krippendorff's alpha of documents with two judges or more.

    The sum of squared distances of all pairs of some values is the number of values, times the sum of their squares,
    less the square of their sum; so no table of pairs of grades is needed.
    """
    if not votes.grade.size:
        return None
    grades, code, number = np.unique(votes.grade, return_inverse=True, return_counts=True)
    judges = np.bincount(votes.thing, minlength=votes.size)
    if level == "nominal":
        alike, pairs = _pair_votes(votes)
        distance, every = pairs - alike, float(votes.grade.size**2 - (number**2).sum())
    else:
        place = grades if level == "interval" else np.cumsum(number) - number / 2
        place = place / (np.abs(place).max() or 1.0)  # alpha does not change, and no square overflows
        value = (place - place.mean())[code]
        total, squares = (np.bincount(votes.thing, each, minlength=votes.size) for each in (value, value**2))
        distance = 2 * (judges * squares - total**2)
        every = 2 * float(value.size * squares.sum() - total.sum() ** 2)
    observed = float((distance[judges > 1] / (judges[judges > 1] - 1)).sum())
    return None if grades.size < 2 else 1 - observed * (votes.grade.size - 1) / every


def _pair_votes(votes: Votes) -> tuple[Integers, Integers]:
    """For each thing the number of ordered pairs of votes with the same grade, and of all ordered pairs."""
    order, first = votes.groups()
    count = np.diff(first, append=order.size)
    alike = np.bincount(votes.thing[order[first]], count * (count - 1), minlength=votes.size).astype(np.int64)
    judges = np.bincount(votes.thing, minlength=votes.size)
    return alike, judges * (judges - 1)


def _compute_overlap(relevant: Mask) -> float | None:
    return _divide(float(relevant.all(axis=0).sum()), float(relevant.any(axis=0).sum()))


def _divide(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _beyond_chance(agreement: float, chance: float) -> float | None:
    """Agreement beyond that of chance; not defined where all grades are the same."""
    return None if chance >= 1 - 1e-12 else (agreement - chance) / (1 - chance)


T = TypeVar("T")
DRAWS = 2000
LEVEL = 0.95
ENOUGH = 10
"""Queries from which on an interval is over queries; with fewer it is over documents."""


class HumanAgreement(NamedTuple):
    """Agreement of a judge with humans on documents that both judged; None where a figure is not defined."""

    documents: int
    same: float | None
    """The share of equal grades."""
    kappa: float | None
    low: float | None
    high: float | None
    over: str
    """The interval draws queries or documents."""


def compare_with_humans(
    machine: Floats | Sequence[float], human: Floats | Sequence[float], query: Integers | Sequence[str], seed: int
) -> HumanAgreement:
    """Cohen's kappa with its bootstrap interval: of whole queries, because judgments of one query are alike."""
    machine, human = np.asarray(machine, np.float64), np.asarray(human, np.float64)
    same, kappa = compute_cohen(machine, human)
    grades, code = np.unique(np.concatenate((machine, human)), return_inverse=True)
    size, cell = grades.size, code[: machine.size] * grades.size + code[machine.size :]
    names, group = np.unique(query, return_inverse=True)
    over = "queries" if names.size >= ENOUGH else "documents"
    if kappa is None:
        return HumanAgreement(machine.size, same, None, None, None, over)
    rng = np.random.Generator(np.random.PCG64(seed))
    if over == "documents":
        share = np.bincount(cell, minlength=size * size) / cell.size
        drawn = rng.multinomial(cell.size, share, DRAWS).astype(np.float64)
    else:
        tables = np.zeros((names.size, size * size))
        np.add.at(tables, (group, cell), 1.0)
        drawn = rng.multinomial(names.size, np.full(names.size, 1 / names.size), DRAWS) @ tables
    share = (drawn / drawn.sum(axis=1, keepdims=True)).reshape(-1, size, size)
    chance = (share.sum(axis=1) * share.sum(axis=2)).sum(axis=1)
    defined = chance < 1 - 1e-12
    kappas = (share.trace(axis1=1, axis2=2)[defined] - chance[defined]) / (1 - chance[defined])
    low, high = np.quantile(kappas, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist() if kappas.size else (None, None)
    return HumanAgreement(machine.size, same, kappa, low, high, over)


def shuffle(things: Sequence[T], seed: int) -> list[T]:
    """The things in a random order."""
    order = np.random.Generator(np.random.PCG64(seed)).permutation(len(things))
    return [things[place] for place in order.tolist()]


def draw_per_slice(pairs: Sequence[Pair], slices: Mapping[Pair, str], count: int, seed: int) -> list[Pair]:
    """A random sample of ``count`` pairs of each slice, or all of a smaller one; in random order."""
    order = shuffle(pairs, seed)
    by_slice: dict[str, list[Pair]] = {}
    for pair in order:
        by_slice.setdefault(slices[pair], []).append(pair)
    chosen = {pair for part in by_slice.values() for pair in part[:count]}
    return [pair for pair in order if pair in chosen]


class Audit(NamedTuple):
    """Judgments of a judge, of which humans judged a random sample; all arrays but ``rows`` have an entry a judgment.

    ``rows`` are the audited judgments, ``human`` their grades by humans. ``code`` is a position in ``grades``.
    """

    judgments: Judgments
    grades: Floats
    code: Integers
    slices: tuple[str, ...]
    slice: Integers
    rows: Integers
    human: Integers
    not_judged: int
    """Human judgments of documents that the judge did not judge."""


def match_audit(machine: Judgments, human: Judgments, slices: Mapping[str, str]) -> Audit:
    """Match both by query and document; ``slices`` has the slice of each query, or nothing."""
    _, number = number_pairs([machine, human])
    mine, theirs = number[: len(machine)], number[len(machine) :]
    _, rows, other = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
    grades, code = np.unique(np.concatenate((machine.grade, human.grade)), return_inverse=True)
    of_query = [slices.get(query, "") for query in machine.queries]
    names = tuple(dict.fromkeys(of_query))
    place = {name: i for i, name in enumerate(names)}
    of_slice = np.array([place[name] for name in of_query], np.int64)[machine.query]
    code = code.astype(np.int64)
    human_code = code[len(machine) :][other]
    return Audit(machine, grades, code[: len(machine)], names, of_slice, rows, human_code, len(human) - rows.size)


class SliceAgreement(NamedTuple):
    """Agreement on one slice."""

    slice: str
    judgments: int
    agreement: HumanAgreement


def compare_slices(audit: Audit, seed: int) -> Iterator[SliceAgreement]:
    """All judgments first, then each slice if there are several."""
    machine, human = audit.grades[audit.code[audit.rows]], audit.grades[audit.human]
    query, of_slice = audit.judgments.query[audit.rows], audit.slice[audit.rows]
    yield SliceAgreement("all", len(audit.judgments), compare_with_humans(machine, human, query, seed))
    for place, name in enumerate(audit.slices if len(audit.slices) > 1 else ()):
        there = of_slice == place
        found = compare_with_humans(machine[there], human[there], query[there], seed)
        yield SliceAgreement(name, int((audit.slice == place).sum()), found)


def redraw_grades(audit: Audit, count: int, seed: int) -> Iterator[Judgments]:
    """Judgments as humans might have made them, ``count`` times.

    An audited document has its human grade. Each time the chances of human grades, given the judge's grade, are drawn
    for each slice: from a Dirichlet distribution of the audited counts, and of one more document that is like those of
    all slices together. Then each other document draws its grade.
    """
    size, places = audit.grades.size, len(audit.slices)
    counts = np.zeros((places, size, size))
    np.add.at(counts, (audit.slice[audit.rows], audit.code[audit.rows], audit.human), 1.0)
    together = counts.sum(axis=0) + 1 / size
    weights = counts + together / together.sum(axis=1, keepdims=True)
    rng = np.random.Generator(np.random.PCG64(seed))
    for _ in range(count):
        chances = rng.standard_gamma(weights).cumsum(axis=2)
        chances /= chances[:, :, -1:]
        code = (chances[audit.slice, audit.code] < rng.random(audit.code.size)[:, None]).sum(axis=1)
        code[audit.rows] = audit.human
        yield replace(audit.judgments, grade=audit.grades[np.minimum(code, size - 1)])


class Figure(NamedTuple):
    """A mean over queries with its 95% interval; None where there is none."""

    mean: float
    low: float | None
    high: float | None


def estimate_with_error(
    values: Sequence[Sequence[float | None]], less: Sequence[Sequence[float | None]] | None = None
) -> tuple[Figure, Figure] | None:
    """The mean as the judge has it (the first row), and over redrawn judgments (the others); None without a query.

    Each row has the values of the same queries; those of ``less`` are subtracted. A query that lacks one is left out.
    """
    rows = np.array(values, np.float64) - (0.0 if less is None else np.array(less, np.float64))
    kept = rows[:, ~np.isnan(rows).any(axis=0)]
    return (combine_draws(kept[:1]), combine_draws(kept[1:])) if kept.shape[1] else None


def combine_draws(draws: Floats) -> Figure:
    """The mean of several draws (rows) of the values of queries (columns), by Rubin's rules.

    The variance is that of queries, averaged over draws, plus that between draws: the part of the judge. Degrees of
    freedom are those of Barnard and Rubin (1999).
    """
    count, queries = draws.shape
    means = draws.mean(axis=1)
    mean = float(means.mean())
    if queries < 2:
        return Figure(mean, None, None)
    within = float(draws.var(axis=1, ddof=1).mean()) / queries
    between = (1 + 1 / count) * float(means.var(ddof=1)) if count > 1 else 0.0
    total, df = within + between, float(queries - 1)
    if between > 0:
        share = between / total
        observed = (df + 1) / (df + 3) * df * (1 - share)
        old = (count - 1) / share**2
        df = max(1.0, old * observed / (old + observed))
    half = t_quantile((1 + LEVEL) / 2, df) * total**0.5
    return Figure(mean, mean - half, mean + half)
