"""The error of a judge against human judgments: kappa with an interval, an audit per slice, and corrected figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np

from pytest_ireval.judging.agreement import cohen
from pytest_ireval.judging.pairs import PairRows, distinct_pairs
from pytest_ireval.judging.rating import Pair
from pytest_ireval.retrieval.judged import Floats, Integers
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.statistics.student import t_quantile

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


def agreement_with(
    machine: Floats | Sequence[float], human: Floats | Sequence[float], query: Integers | Sequence[str], seed: int
) -> HumanAgreement:
    """Cohen's kappa with its bootstrap interval: of whole queries, because judgments of one query are alike."""
    machine, human = np.asarray(machine, np.float64), np.asarray(human, np.float64)
    same, kappa = cohen(machine, human)
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


def shuffled(things: Sequence[T], seed: int) -> list[T]:
    """The things in a random order."""
    order = np.random.Generator(np.random.PCG64(seed)).permutation(len(things))
    return [things[place] for place in order.tolist()]


def drawn_per_slice(pairs: Sequence[Pair], slices: Mapping[Pair, str], count: int, seed: int) -> list[Pair]:
    """A random sample of ``count`` pairs of each slice, or all of a smaller one; in random order."""
    order = shuffled(pairs, seed)
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


def audit_of(machine: Judgments, human: Judgments, slices: Mapping[str, str]) -> Audit:
    """Match both by query and document; ``slices`` has the slice of each query, or nothing."""
    parts = [PairRows(each.queries, each.query, each.documents) for each in (machine, human)]
    number = distinct_pairs(parts).number
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


def agreement_by_slice(audit: Audit, seed: int) -> Iterator[SliceAgreement]:
    """All judgments first, then each slice if there are several."""
    machine, human = audit.grades[audit.code[audit.rows]], audit.grades[audit.human]
    query, of_slice = audit.judgments.query[audit.rows], audit.slice[audit.rows]
    yield SliceAgreement("all", len(audit.judgments), agreement_with(machine, human, query, seed))
    for place, name in enumerate(audit.slices if len(audit.slices) > 1 else ()):
        there = of_slice == place
        found = agreement_with(machine[there], human[there], query[there], seed)
        yield SliceAgreement(name, int((audit.slice == place).sum()), found)


def redrawn(audit: Audit, count: int, seed: int) -> Iterator[Judgments]:
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


def with_error(
    values: Sequence[Sequence[float | None]], less: Sequence[Sequence[float | None]] | None = None
) -> tuple[Figure, Figure] | None:
    """The mean as the judge has it (the first row), and over redrawn judgments (the others); None without a query.

    Each row has the values of the same queries; those of ``less`` are subtracted. A query that lacks one is left out.
    """
    rows = np.array(values, np.float64) - (0.0 if less is None else np.array(less, np.float64))
    kept = rows[:, ~np.isnan(rows).any(axis=0)]
    return (combined(kept[:1]), combined(kept[1:])) if kept.shape[1] else None


def combined(draws: Floats) -> Figure:
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
