"""One way to get evidence for all comparisons, in one process: the seconds it takes are printed, once a round.

    python evidence_ways.py WAY [--queries N]

Slow ways are timed for one comparison and told for all.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

METRICS, SLICES = 10, 10
COMPARISONS = METRICS * SLICES
FEW = 20
SWAPS = 10_000

Scores = tuple[Floats, Floats]
"""Before and now; a row a comparison."""


def scores(queries: int) -> Scores:
    """In each fourth comparison 20 queries changed, in the others three in ten."""
    draw = np.random.default_rng(4)
    before = draw.random((COMPARISONS, queries))
    touched = draw.random(before.shape) < 0.3
    touched[::4] = np.arange(queries) < FEW
    now = np.where(touched, np.clip(before + draw.normal(-0.002, 0.16, before.shape), 0, 1), before)
    return before, now


def importing(_: Scores) -> float:
    """What it takes to import scipy.special."""
    start = perf_counter()
    import scipy.special  # noqa: F401 - that it is imported is what is timed

    return perf_counter() - start


def all_evidence(given: Scores) -> float:
    """Ours: bounds, worse and safe by t, Hall and sign flip, severe losses, what the queries can show, corrections."""
    start = perf_counter()
    from pytest_ireval.statistics.binomial import upper_limit
    from pytest_ireval.statistics.differences import differences
    from pytest_ireval.statistics.mean_evidence import equivalence, mean_evidence
    from pytest_ireval.statistics.multiplicity import holm
    from pytest_ireval.statistics.resolution import queries_needed, resolution
    from pytest_ireval.statistics.sign_flip import net_severe

    worse, severe = np.ones(COMPARISONS), np.ones(COMPARISONS)
    for place, (before, now) in enumerate(zip(*given, strict=True)):
        change = differences(now, before)
        found = mean_evidence(change)
        equivalence(change, 0.02 * before)
        losses = net_severe(change, 0.3)
        upper_limit(losses.losses, found.queries)
        resolution(found.sd, found.queries)
        queries_needed(found.sd, 0.01)
        worse[place], severe[place] = found.p_worse, losses.p
    holm(np.concatenate((worse, severe)))
    return perf_counter() - start


def all_signs(given: Scores) -> float:
    """Ours: the sign flip of all changed queries, computed and not drawn."""
    from pytest_ireval.statistics.sign_flip import sign_flip

    start = perf_counter()
    sign_flip(given[1][1] - given[0][1])
    return COMPARISONS * (perf_counter() - start)


def scipy_t(given: Scores) -> float:
    """`ttest_rel`, one comparison after the other."""
    from scipy.stats import ttest_rel

    start = perf_counter()
    for before, now in zip(*given, strict=True):
        ttest_rel(now, before, alternative="less").confidence_interval(0.9)
    return perf_counter() - start


def scipy_permutations(given: Scores) -> float:
    """`permutation_test` of the mean difference."""
    from scipy.stats import permutation_test

    def mean(values: Floats, axis: int) -> Floats:
        found: Floats = values.mean(axis=axis)
        return found

    start = perf_counter()
    change = given[1][1] - given[0][1]
    permutation_test(
        (change,), mean, permutation_type="samples", vectorized=True, n_resamples=SWAPS, batch=500, alternative="less"
    )
    return COMPARISONS * (perf_counter() - start)


def ranx_t(given: Scores) -> float:
    """`paired_student_t_test`, one comparison after the other."""
    from ranx.statistical_tests import paired_student_t_test

    start = perf_counter()
    for before, now in zip(*given, strict=True):
        paired_student_t_test(before, now, 0.05)
    return perf_counter() - start


def ranx_fisher(given: Scores) -> float:
    """`fisher_randomization_test`, compiled before."""
    from ranx.statistical_tests import fisher_randomization_test

    before, now = given[0][1], given[1][1]
    fisher_randomization_test(before[:10], now[:10], 10, 0.05, 42)
    start = perf_counter()
    fisher_randomization_test(before, now, SWAPS, 0.05, 42)
    return COMPARISONS * (perf_counter() - start)


WAYS: dict[str, Callable[[Scores], float]] = {
    "importing scipy.special": importing,
    "all evidence": all_evidence,
    "all sign flips": all_signs,
    "scipy ttest_rel": scipy_t,
    "ranx paired t": ranx_t,
    "scipy permutation_test": scipy_permutations,
    "ranx fisher": ranx_fisher,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("--queries", type=int, default=7000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(WAYS[options.way](scores(options.queries)))
