"""Online tests: the searches that an A/B test needs, and simulated users who decide between two rankings.

The users click and stop as in simulations of interleaving (K. Hofmann, S. Whiteson, M. de Rijke 2013, Fidelity,
soundness, and efficiency of interleaved comparison methods, TOIS 31(4)). Their outcomes are computed, not drawn: for
each query the exact distribution over the clicks, averaged over the coins of the interleaving. Experiments are then
drawn from these distributions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from statistics import NormalDist
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import Judgments, Policies, Rankings, compare
from pytest_ireval.plugin_api import SILENT, Progress, Registry, heads_at_most
from pytest_ireval_lab.interleaving import Interleaved, Lists, compute_two_sided_p, find_same_ranks, interleave

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

NORMAL = NormalDist()
TIE = 1e-12
"""A smaller difference is rounding."""


class Design(NamedTuple):
    """An A/B test of a rate; ``new`` and ``old`` are the shares of all searches that its two arms get.

    ``variance`` is the variance of its difference as a multiple of that of independent searches.
    """

    rate: float
    new: float
    old: float
    alpha: float = 0.05
    power: float = 0.80
    two_sided: bool = True
    variance: float = 1.0

    @property
    def distance(self) -> float:
        """The difference that the test finds, in standard errors."""
        return NORMAL.inv_cdf(1 - self.alpha / (1 + self.two_sided)) + NORMAL.inv_cdf(self.power)

    def sample(self, change: float) -> tuple[int, int]:
        """The searches of both arms that show a change of the rate by this amount."""
        single = self.distance**2 * self.rate * (1 - self.rate) * self.variance / change**2
        new, old = single * (1 + self.new / self.old), single * (1 + self.old / self.new)
        return math.ceil(new), math.ceil(old)

    def change(self, searches: float) -> float:
        """The smallest change that shows when there are this many searches in all, in the test or not."""
        spread = self.rate * (1 - self.rate) * self.variance
        return self.distance * math.sqrt(spread * (1 / self.new + 1 / self.old) / searches)

    def days(self, change: float, searches_per_day: float) -> int:
        """The days until both arms have their sample."""
        new, old = self.sample(change)
        return math.ceil(max(new / self.new, old / self.old) / searches_per_day)


class Users(NamedTuple):
    """Users who read from the top; ``click`` and ``stop`` are chances for a document of grade 0 and of the top grade.

    A user clicks on a document that is seen with the first chance, is satisfied by a click and stops with the second
    one, and otherwise goes on with the chance ``patience``. If ``by_position``, the document at rank r is seen with
    the chance ``patience ** (r - 1)``, whatever was clicked before.
    """

    click: tuple[float, float]
    stop: tuple[float, float]
    patience: float = 1.0
    by_position: bool = False


KINDS = {
    "perfect": Users((0.0, 1.0), (0.0, 0.0)),
    "navigational": Users((0.05, 0.95), (0.2, 0.9)),
    "informational": Users((0.4, 0.9), (0.1, 0.5)),
    "noisy": Users((0.4, 0.6), (0.5, 0.5)),
}
"""The users of the literature, with their chances for documents that are not relevant and for relevant ones."""


def compute_attraction(grades: Floats, highest: float) -> Floats:
    """``(2^grade - 1) / (2^highest - 1)``: the gain of ERR, from 0 to 1."""
    if highest <= 0:
        return np.zeros_like(grades)
    attraction: Floats = np.expm1(np.clip(grades, 0, highest) * math.log(2)) / math.expm1(highest * math.log(2))
    return attraction


class Outcomes(NamedTuple):
    """The shares of searches with each outcome; the last four are those of users who see one ranking."""

    prefer_a: float
    prefer_b: float
    clicked_a: float
    clicked_b: float
    satisfied_a: float
    satisfied_b: float


BLOCK, CELLS = 200, 1 << 22
"""The queries that are computed at a time, and the most numbers that they need."""
ALL_COINS, SOME_COINS = 6, 32
"""Up to this many rounds all coins are tried; for more, this many draws and their opposites."""


def simulate_outcomes(
    a: Lists,
    b: Lists,
    grades: Mapping[str, Mapping[str, float]],
    users: Users,
    *,
    depth: int = 10,
    highest: float = 1.0,
    ignore_same_rank: bool = False,
    seed: int = 7,
    progress: Progress = SILENT,
) -> Outcomes:
    """The outcomes of a search for one of the queries of ``grades``, all equally frequent.

    A document without a grade has grade 0; a query that a ranking lacks has an empty list there.
    """
    queries = list(grades)
    depth = min(depth, max((len(a.get(query, ())) + len(b.get(query, ())) for query in queries), default=0) or 1)
    coins, shares = _choose_coins(depth, seed), list[Floats]()
    size = min(BLOCK, max(1, CELLS // (len(coins) * (2 * depth + 1))))
    progress.expect(len(queries), "simulating")
    for start in range(0, len(queries), size):
        block = queries[start : start + size]
        lists, sides = [], []
        for query in block:
            one, other = a.get(query, ()), b.get(query, ())
            ignored = find_same_ranks(one, other) if ignore_same_rank else frozenset()
            for flips in coins:
                interleaved = interleave(one, other, flips, depth)
                lists.append(_pad_grades(interleaved.documents, grades[query], depth))
                sides.append(_number_sides(interleaved, ignored, depth))
        preferred = _share_preferences(_find_chances(np.array(lists), highest, users), np.array(sides))
        columns = [preferred.reshape(len(block), -1, 2).mean(axis=1)]
        for side in (a, b):
            seen = [_pad_grades(side.get(query, ())[:depth], grades[query], depth) for query in block]
            columns.append(_share_clicks(_find_chances(np.array(seen), highest, users)))
        shares.append(np.column_stack(columns))
        progress.advance(len(block))
    prefer_a, prefer_b, clicked_a, satisfied_a, clicked_b, satisfied_b = np.concatenate(shares).mean(axis=0).tolist()
    return Outcomes(prefer_a, prefer_b, clicked_a, clicked_b, satisfied_a, satisfied_b)


def _choose_coins(depth: int, seed: int) -> list[tuple[bool, ...]]:
    """The coins of the lists that are averaged: with each its opposite, so that neither ranking is favored."""
    rounds = -(-depth // 2)
    if rounds <= ALL_COINS:
        return list(product((True, False), repeat=rounds))
    coins = np.random.Generator(np.random.PCG64(seed)).random((SOME_COINS, rounds)) < 0.5
    return [tuple(flips) for flips in np.concatenate((coins, ~coins)).tolist()]


def _pad_grades(documents: Sequence[str], grades: Mapping[str, float], depth: int) -> list[float]:
    """The grade at each rank; NaN where the list has ended."""
    return [*(grades.get(document, 0.0) for document in documents), *[math.nan] * (depth - len(documents))]


def _number_sides(interleaved: Interleaved, ignored: frozenset[str], depth: int) -> list[int]:
    """1 for B, -1 for A at each rank; 0 where a click counts for neither."""
    numbers = {"A": -1, "B": 1}
    pairs = zip(interleaved.documents, interleaved.teams, strict=True)
    sides = [0 if document in ignored else numbers.get(team, 0) for document, team in pairs]
    return [*sides, *[0] * (depth - len(sides))]


class _Chances(NamedTuple):
    """For each list and rank the chance of a click if it is seen, and of being satisfied by the click."""

    click: Floats
    stop: Floats
    patience: float
    independent: bool
    """Clicks do not depend on each other: the chance of a click contains that of being seen."""


def _find_chances(grades: Floats, highest: float, users: Users) -> _Chances:
    attraction = compute_attraction(grades, highest)
    click, stop = (low + (high - low) * attraction for low, high in (users.click, users.stop))
    click, stop = np.where(np.isnan(attraction), 0.0, click), np.where(np.isnan(attraction), 0.0, stop)
    if users.by_position:
        click = click * users.patience ** np.arange(grades.shape[1])
    return _Chances(click, stop, users.patience, users.by_position)


def _share_preferences(chances: _Chances, sides: Integers) -> Floats:
    """For each list the shares of users who give A more credit, and B.

    A column of ``reading`` and ``finished`` is a difference of credit, from -depth to depth.
    """
    lists, depth = chances.click.shape
    reading = np.zeros((lists, 2 * depth + 1))
    reading[:, depth] = 1.0
    finished = np.zeros_like(reading)
    for rank in range(depth):
        clicked = reading * chances.click[:, rank, None]
        reading = reading - clicked
        for side in (-1, 0, 1):
            rows = sides[:, rank] == side
            clicked[rows] = np.roll(clicked[rows], side, axis=1)
        satisfied = 0.0 if chances.independent else clicked * chances.stop[:, rank, None]
        staying = (reading + clicked - satisfied) * (1.0 if chances.independent else chances.patience)
        finished += reading + clicked - staying
        reading = staying
    finished += reading
    return np.column_stack((finished[:, :depth].sum(axis=1), finished[:, depth + 1 :].sum(axis=1)))


def _share_clicks(chances: _Chances) -> Floats:
    """For each list the shares of users who click at all, and who are satisfied."""
    shares = np.zeros((len(chances.click), 2))
    for column, chance in enumerate((chances.click, chances.click * chances.stop)):
        reading = np.ones(len(chances.click))
        for rank in range(chance.shape[1]):
            reached = reading * chance[:, rank]
            shares[:, column] += reached
            reading = (reading - reached) * (1.0 if chances.independent else chances.patience)
    return shares


class Method(NamedTuple):
    """One way to decide online: its figure for each ranking, and the searches that find the better one.

    ``needed`` counts all searches of the test, of both arms together; None where the figures are equal.
    """

    method: str
    measured: str
    a: float
    b: float
    needed: int | None


def compare_methods(outcomes: Outcomes, alpha: float = 0.05, power: float = 0.80) -> list[Method]:
    """Interleaving, and A/B tests of two halves."""
    needed = count_searches_needed(outcomes.prefer_a, outcomes.prefer_b, alpha, power)
    methods = [Method("interleaving", "preferred", outcomes.prefer_a, outcomes.prefer_b, needed)]
    for measured, a, b in (
        ("clicked", outcomes.clicked_a, outcomes.clicked_b),
        ("satisfied", outcomes.satisfied_a, outcomes.satisfied_b),
    ):
        methods.append(Method("A/B test", measured, a, b, _count_searches_of_both_arms(a, b, alpha, power)))
    return methods


def count_searches_needed(a: float, b: float, alpha: float = 0.05, power: float = 0.80) -> int | None:
    """The searches for an exact sign test if these shares of them prefer A and B; None if both are equal.

    It has the correction for continuity of J. Fleiss, B. Levin, M. Paik 2003, Statistical methods for rates and
    proportions. With a few searches the exact test cannot be significant, whatever they prefer.
    """
    if abs(b - a) < TIE:
        return None
    share, z = b / (a + b), NORMAL.inv_cdf(1 - alpha / 2)
    size = ((z / 2 + NORMAL.inv_cdf(power) * math.sqrt(share * (1 - share))) / (share - 0.5)) ** 2
    size *= ((1 + math.sqrt(1 + 2 / (size * abs(share - 0.5)))) / 2) ** 2
    return math.ceil(max(size, math.log2(2 / alpha)) / (a + b))


def _count_searches_of_both_arms(a: float, b: float, alpha: float, power: float) -> int | None:
    """The searches for a test of two rates."""
    if abs(b - a) < TIE:
        return None
    middle = (a + b) / 2
    spread = NORMAL.inv_cdf(1 - alpha / 2) * math.sqrt(2 * middle * (1 - middle))
    spread += NORMAL.inv_cdf(power) * math.sqrt(a * (1 - a) + b * (1 - b))
    return 2 * math.ceil((spread / (b - a)) ** 2)


class OfflineVerdict(NamedTuple):
    """One metric of both rankings; ``p`` is that of the paired evidence of a gate, two-sided.

    ``better`` is A or B if the difference is significant; empty if it is not, or if it cannot be tested: then ``p`` is
    None.
    """

    metric: str
    a: float | None
    b: float | None
    difference: float | None
    p: float | None
    better: str
    leads: str
    """The same whether it is significant or not; empty where both are equal."""


def compare_offline(
    judgments: Judgments, a: Rankings, b: Rankings, metrics: Sequence[str], alpha: float, registry: Registry
) -> Iterator[OfflineVerdict]:
    """The verdict of judgments; a judged query that a ranking lacks has the worst value there."""
    policies = Policies(missing_queries="zero")
    rankings = {"A": a, "B": b}
    comparison = compare(judgments, rankings, metrics, alpha=alpha, extremes=0, policies=policies, registry=registry)
    for metric in comparison.metrics:
        one, other = (comparison.rankings[name][metric.name].values for name in "AB")
        values = np.array([other[unit] - value for unit, value in one.items() if unit in other])
        sign = -1 if metric.direction == "lower" else 1
        p = None if metric.untested else compute_two_sided_p(values)
        mean = None if metric.untested else float(values.mean())
        leads = "" if mean is None or abs(mean) < TIE else "B" if mean * sign > 0 else "A"
        better = leads if p is not None and p < alpha else ""
        yield OfflineVerdict(metric.name, metric.values["A"], metric.values["B"], mean, p, better, leads)


class Decisions(NamedTuple):
    """The shares of simulated experiments of this size that decide for A, for B, and for neither."""

    method: str
    measured: str
    searches: int
    a: float
    b: float
    neither: float


def simulate_decisions(
    outcomes: Outcomes, searches: Sequence[int], experiments: int = 2000, alpha: float = 0.05, seed: int = 7
) -> Iterator[Decisions]:
    """The shares for each method and size, at this two-sided level."""
    draws = np.random.Generator(np.random.PCG64(seed))
    for size in searches:
        for method in compare_methods(outcomes):
            if method.method == "interleaving":
                shares = np.array((method.a, method.b, max(0.0, 1 - method.a - method.b)))
                counts = draws.multinomial(size, shares / sum(shares), experiments)
                better = _run_sign_tests(counts[:, 0], counts[:, 1], alpha)
            else:
                halves = (size // 2, size - size // 2)
                a, b = (
                    draws.binomial(half, min(1.0, rate), experiments)
                    for half, rate in zip(halves, (method.a, method.b), strict=True)
                )
                better = _run_rate_tests(a, b, *halves, alpha)
            decided = (float((better == side).mean()) for side in (-1, 1, 0))
            yield Decisions(method.method, method.measured, size, *decided)


EXACT = 1000
"""Up to this many searches with a preference the sign test is exact; the normal distribution is as good for more."""


def _run_sign_tests(a: Integers, b: Integers, alpha: float) -> Integers:
    """1 where B won significantly more often, -1 where A did, otherwise 0."""
    decided, fewer = a + b, np.minimum(a, b)
    spread = np.sqrt(np.maximum(decided, 1))
    significant = (decided - 2 * fewer - 1) / spread >= NORMAL.inv_cdf(1 - alpha / 2)
    exact = np.flatnonzero(decided <= EXACT)
    pairs, place = np.unique(np.column_stack((fewer, decided))[exact], axis=0, return_inverse=True)
    p = np.array([2 * heads_at_most(*pair) for pair in pairs.tolist()])
    if exact.size:
        significant[exact] = p[place.ravel()] <= alpha
    return np.where(significant, np.sign(b - a), 0)


def _run_rate_tests(a: Integers, b: Integers, of_a: int, of_b: int, alpha: float) -> Integers:
    """1 where B's rate is significantly higher, -1 where A's is, otherwise 0."""
    if not (of_a and of_b):
        return np.zeros_like(a)
    pooled = (a + b) / (of_a + of_b)
    error = np.sqrt(pooled * (1 - pooled) * (1 / of_a + 1 / of_b))
    difference = b / of_b - a / of_a
    significant = np.abs(difference) >= NORMAL.inv_cdf(1 - alpha / 2) * error
    return np.where(significant & (error > 0), np.sign(difference).astype(np.int64), 0)
