"""The rules that gates decide by, each over many query sets at once: which of them fail, and which pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.rules.hard_limit import default_hard_limit
from pytest_ireval.statistics.mean_evidence import mean_evidence, p_of_fall_within, paired_t
from pytest_ireval.statistics.sign_flip import net_severe
from pytest_ireval.suite.quantities import Tolerance

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

LEVEL, TOLERANCE, CUT = 0.05, 0.02, 0.3


class Shares(NamedTuple):
    """How often a rule failed and passed, of so many query sets."""

    fails: float
    passes: float
    tries: int


class Decided(NamedTuple):
    """For each query set, whether the rule fails and whether it passes; neither: it says that it cannot tell."""

    fails: Mask
    passes: Mask


def default(before: Floats, differences: Floats) -> Decided:
    """Passes within the tolerance; beyond it fails when shown worse, or beyond the hard limit: our default."""
    means, falls = before.mean(axis=1), -differences.mean(axis=1)
    over = falls > TOLERANCE * means
    worse = np.array([mean_evidence(row).p_worse for row in differences]) < LEVEL
    queries = differences.shape[1]
    hard = [default_hard_limit(Tolerance(TOLERANCE), mean, mean, queries).allowed(mean) for mean in means.tolist()]
    return Decided(over & (worse | (falls > np.array(hard))), ~over)


def fell_by(share: float) -> Callable[[Floats, Floats], Decided]:
    """Fails when the mean of the query set fell by more than a share of itself."""

    def rule(before: Floats, differences: Floats) -> Decided:
        return _yes_or_no(differences.mean(axis=1) < -share * before.mean(axis=1))

    return rule


def significant(_before: Floats, differences: Floats) -> Decided:
    """Fails when a paired t test says worse."""
    tests = [paired_t(row) for row in differences]
    return _yes_or_no(np.array([each.t < 0 and each.p / 2 < LEVEL for each in tests]))


def fell_and_significant(before: Floats, differences: Floats) -> Decided:
    """Fails when the mean fell by more than the tolerance and a paired t test says worse."""
    return _yes_or_no(fell_by(TOLERANCE)(before, differences).fails & significant(before, differences).fails)


def not_shown_safe(before: Floats, differences: Floats) -> Decided:
    """Fails unless shown not to have fallen by the tolerance."""
    p = [p_of_fall_within(*each) for each in zip(differences, TOLERANCE * before, strict=True)]
    return _yes_or_no(np.array(p) >= LEVEL)


def wilcoxon(_before: Floats, differences: Floats) -> Decided:
    """Fails when Wilcoxon's signed ranks say worse: normal approximation, ties share ranks, no change has none."""
    return _yes_or_no(np.array([_signed_ranks(row[row != 0]) for row in differences]) < -1.6448536269514722)


def severe(_before: Floats, differences: Floats) -> Decided:
    """Fails when more queries lost 0.3 or more than gained as much, by more than chance."""
    return _yes_or_no(np.array([net_severe(row, CUT).p for row in differences]) < LEVEL)


def _signed_ranks(changes: Floats) -> float:
    """Wilcoxon's statistic in standard deviations."""
    _, place, counts = np.unique(np.abs(changes), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    spread = float(np.sqrt((ranks * ranks).sum()))
    return float((np.sign(changes) * ranks).sum()) / spread if spread else 0.0


def _yes_or_no(fails: Mask) -> Decided:
    return Decided(fails, ~fails)


RULES: dict[str, Callable[[Floats, Floats], Decided]] = {
    "the mean fell by more than 1%": fell_by(0.01),
    "the mean fell by more than 2%": fell_by(TOLERANCE),
    "paired t test": significant,
    "fell by more than 2%, and t test": fell_and_significant,
    "Wilcoxon": wilcoxon,
    "not shown to be within 2%": not_shown_safe,
    "more severe losses than gains": severe,
    "default, tolerance 2%": default,
}
OURS = "default, tolerance 2%"
