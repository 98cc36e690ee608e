"""The number of queries for a stable order of systems: by sets of queries, and by components of variance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pytest_ireval.plugin_api import SILENT, Progress, beta_quantile, compare_orders
from pytest_ireval_lab.systems import Floats, subtract

MOST = 1e15
"""No test collection has more queries."""

BIN = 0.01
BINS = 21
"""Differences of two systems are counted in bins of 0.01, as Voorhees and Buckley (2002) do; the last bin is open."""
RELIABLE_SWAPS = 0.05
"""The share of swaps that is small enough."""


class Components(NamedTuple):
    """Mean squares of values (a row a system, a column a query), and the parts of the variance of one value.

    A part whose estimate is below 0 counts as 0.
    """

    systems: int
    queries: int
    mean_square_systems: float
    mean_square_queries: float
    mean_square_rest: float
    system: float
    query: float
    rest: float
    """The interaction of system and query, and everything else."""


def compute_components(values: Floats) -> Components:
    """Components of variance of a G study, by the analysis of variance of both random effects without repetition."""
    systems, queries = values.shape
    of_system, of_query, mean = values.mean(axis=1), values.mean(axis=0), values.mean()
    rest = subtract(values - of_system[:, None] - of_query + mean, np.zeros(1))
    square_systems = queries * float((subtract(of_system, mean) ** 2).sum()) / (systems - 1)
    square_queries = systems * float((subtract(of_query, mean) ** 2).sum()) / (queries - 1)
    square_rest = float((rest**2).sum()) / ((systems - 1) * (queries - 1))
    return Components(
        systems,
        queries,
        square_systems,
        square_queries,
        square_rest,
        system=max(0.0, (square_systems - square_rest) / queries),
        query=max(0.0, (square_queries - square_rest) / systems),
        rest=square_rest,
    )


class Coefficient(NamedTuple):
    """The reliability of means over the queries at hand, with its interval; None where no system differs.

    ``one`` is that of a single query, with its limits.
    """

    value: float
    low: float
    high: float
    one: tuple[float, float, float]

    def needed(self, target: float) -> tuple[int | None, int | None, int | None]:
        """The number of queries for this reliability: by the estimate, and by both ends of the interval."""
        value, low, high = (_count_queries_for(each, target) for each in self.one)
        return value, high, low


def _count_queries_for(one: float, target: float) -> int | None:
    """The number of queries whose mean is this reliable, by that of a single query; None: no number is enough."""
    if one <= 0:
        return None
    many = target / (1 - target) * (1 - one) / one
    return None if many > MOST else max(1, math.ceil(many - 1e-9))


def _project_to_mean(one: float, queries: int) -> float:
    """The reliability of a mean by that of a single query (Spearman and Brown)."""
    return min(1.0, queries * one / (1 + (queries - 1) * one))  # rounding may pass 1


def compute_generalizability(parts: Components, confidence: float = 0.95) -> Coefficient | None:
    """The generalizability coefficient E(rho²), for the order of systems; its interval is Feldt's, by F."""
    if not parts.mean_square_systems:
        return None
    k, tail = parts.queries, (1 - confidence) / 2
    df = parts.systems - 1, (parts.systems - 1) * (parts.queries - 1)
    ratio = parts.mean_square_systems / parts.mean_square_rest if parts.mean_square_rest else math.inf
    ends = ratio, ratio / f_quantile(1 - tail, *df), ratio / f_quantile(tail, *df)
    one = [1.0 if math.isinf(f) else max(0.0, (f - 1) / (f + k - 1)) for f in ends]
    return _make_coefficient(one, k)


def compute_dependability(parts: Components, confidence: float = 0.95) -> Coefficient | None:
    """The dependability Φ, for the values themselves; its interval is that of McGraw and Wong for ICC(A,1)."""
    n, k = parts.systems, parts.queries
    rows, columns, rest = parts.mean_square_systems, parts.mean_square_queries, parts.mean_square_rest
    if not rows:
        return None
    total = parts.system + parts.query + parts.rest
    one = parts.system / total if total else 0.0
    if one in (0.0, 1.0):
        share, df = 0.0, float((n - 1) * (k - 1))
    else:
        share = one / (1 - one)
        a, b = k * share / n, 1 + k * share * (n - 1) / n
        df = (a * columns + b * rest) ** 2 / ((a * columns) ** 2 / (k - 1) + (b * rest) ** 2 / ((n - 1) * (k - 1)))
    tail = (1 - confidence) / 2
    above, below = f_quantile(1 - tail, n - 1, df), f_quantile(1 - tail, df, n - 1)
    others = k * columns + (k * n - k - n) * rest
    low = n * (rows - above * rest) / (above * others + n * rows)
    high = n * (below * rows - rest) / (others + n * below * rows)
    return _make_coefficient([one, min(one, max(0.0, low)), max(one, high)], k)


def _make_coefficient(one: Sequence[float], queries: int) -> Coefficient:
    value, low, high = one
    of_mean = [_project_to_mean(each, queries) for each in one]
    return Coefficient(of_mean[0], of_mean[1], of_mean[2], (value, low, high))


def f_quantile(share: float, df: float, other: float) -> float:
    """The value with ``share`` of an F distribution below it."""
    x = beta_quantile(share, df / 2, other / 2)
    if x <= 0.5:
        return other * x / (df * (1 - x))
    rest = beta_quantile(1 - share, other / 2, df / 2)  # 1 - x would lose digits
    return other * (1 - rest) / (df * rest)


@dataclass
class Agreement:
    """Agreement of the orders of systems by two disjoint sets of queries: means over the draws."""

    queries: int
    """The number of queries in each set."""
    draws: int
    tau: float | None
    """Kendall's tau; None where all systems are equal."""
    tau_sd: float | None
    tau_ap: float | None
    swaps: float | None
    """The share of pairs of systems in opposite order."""
    difference: float | None
    """From this difference of two systems on, at most 5% of pairs are swapped; None: at no difference."""
    bins: tuple[tuple[float, int, int], ...]
    """Differences by one of both sets: the low end of each bin, its pairs, and those in opposite order."""


def compare_halves(
    values: Floats, sign: int, sizes: Sequence[int], draws: int, seed: int, progress: Progress = SILENT
) -> list[Agreement]:
    """The agreement at each size of both sets; ``sign`` is -1 if lower values are better."""
    agreements = []
    for size in sizes:
        generator = np.random.Generator(np.random.PCG64([seed, size]))
        halves = [_draw_halves(values, size, generator) for _ in range(draws)]
        agreements.append(_sum_up(halves, size, sign))
        progress.advance(draws)
    return agreements


def _draw_halves(values: Floats, size: int, generator: np.random.Generator) -> Floats:
    """The means of all systems over two disjoint sets of queries; a row a set."""
    chosen = generator.permutation(values.shape[1])[: 2 * size]
    return np.array([values[:, part].mean(axis=1) for part in (chosen[:size], chosen[size:])])


def _sum_up(halves: Sequence[Floats], size: int, sign: int) -> Agreement:
    orders = [compare_orders(one.tolist(), other.tolist(), sign) for one, other in halves]
    tau, tau_ap = (np.array([each[i] for each in orders if each[i] is not None], np.float64) for i in (0, 1))
    means = np.array(halves)
    above, below = np.triu_indices(means.shape[2], 1)
    one, other = (subtract(means[:, half][:, above], means[:, half][:, below]) for half in (0, 1))
    place = np.minimum(np.abs(one) / BIN + 1e-9, BINS - 1).astype(np.int64)
    pairs = np.bincount(place.ravel(), minlength=BINS)
    swapped = np.bincount(place[one * other < 0], minlength=BINS)
    numbers = zip(pairs.tolist(), swapped.tolist(), strict=True)
    bins = tuple((round(i * BIN, 2), *both) for i, both in enumerate(numbers))
    return Agreement(
        size,
        len(halves),
        tau=float(tau.mean()) if tau.size else None,
        tau_sd=float(tau.std(ddof=1)) if tau.size > 1 else None,
        tau_ap=float(tau_ap.mean()) if tau_ap.size else None,
        swaps=float(swapped.sum() / pairs.sum()) if (one != 0).any() else None,
        difference=_find_safe_difference(bins),
        bins=bins,
    )


def _find_safe_difference(bins: Sequence[tuple[float, int, int]]) -> float | None:
    """The low end of the first bin from which on no bin has more swaps than are acceptable."""
    safe: float | None = None
    for low, pairs, swapped in reversed(bins):
        if pairs and swapped > RELIABLE_SWAPS * pairs:
            break
        safe = low if pairs else safe
    return safe


class TauCurve(NamedTuple):
    """The expected tau of the orders by two sets of ``n`` queries: (2/π) arcsin(n / (n + k))."""

    k: float

    def tau(self, queries: float) -> float:
        """The expected tau at a size of both sets."""
        return 2 / math.pi * math.asin(queries / (queries + self.k))


def find_queries_for_tau(tau: float, agreements: Sequence[Agreement], trend: TauCurve) -> int | None:
    """The size from which on the orders agree as well as that; None: no size is known.

    It is interpolated where the observed taus reach the wanted one. It is never below the smallest observed size. Else
    it is extrapolated by the trend, beyond the largest observed size.
    """
    known = [(each.queries, each.tau) for each in agreements if each.tau is not None]
    for number, (size, reached) in enumerate(known):
        if reached >= tau:
            below, less = known[number - 1] if number else (size, reached)
            share = (tau - less) / (reached - less) if number else 1.0
            return math.ceil(below + share * (size - below) - 1e-9)
    r = math.sin(math.pi * tau / 2)
    many = trend.k * r / (1 - r) if r < 1 else math.inf
    return None if many > MOST else max(known[-1][0] + 1, math.ceil(many - 1e-9))


CURVES = np.logspace(-4, 9, 13_001)


def fit_tau_curve(agreements: Sequence[Agreement]) -> TauCurve | None:
    """The trend nearest to the observed taus, by squares weighted with the size; None without any tau above 0.

    The correlation of means over two sets of n queries is n / (n + k), if k is the ratio of two components of variance:
    the interaction, and the systems. For normal values tau follows from the correlation (Greiner).
    """
    known = [(each.queries, each.tau) for each in agreements if each.tau is not None]
    if not known or max(tau for _, tau in known) <= 0:
        return None
    sizes, taus = np.array(known).T
    expected = 2 / np.pi * np.arcsin(sizes / (sizes + CURVES[:, None]))
    squares: Floats = (expected - taus) ** 2 @ sizes
    return TauCurve(float(CURVES[int(squares.argmin())]))
