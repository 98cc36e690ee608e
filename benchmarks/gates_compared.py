"""The rules that gates decide by, each over many query sets at once: which of them fail, and which pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.rules.evidence import decided
from pytest_ireval.statistics.mean_evidence import mean_evidences
from pytest_ireval.statistics.sign_flip import net_severe
from pytest_ireval.statistics.student import paired_t

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


def evidence(before: Floats, differences: Floats) -> Decided:
    """Fails when shown worse, passes when shown not to have fallen by the tolerance: what pytest-ireval does."""
    found = mean_evidences(differences, TOLERANCE * before, alpha=LEVEL)
    verdicts = np.array([decided(each, 1.0, LEVEL).verdict for each in found])
    return Decided(verdicts == "fail", verdicts == "pass")


def fell_by(share: float) -> Callable[[Floats, Floats], Decided]:
    """Fails when the mean of the query set fell by more than a share of itself."""

    def rule(before: Floats, differences: Floats) -> Decided:
        return _yes_or_no(differences.mean(axis=1) < -share * before.mean(axis=1))

    return rule


def significant(_before: Floats, differences: Floats) -> Decided:
    """Fails when a paired t test says worse."""
    return _yes_or_no(paired_t(differences.T).p_lower < LEVEL)


def fell_and_significant(before: Floats, differences: Floats) -> Decided:
    """Fails when the mean fell by more than the tolerance and a paired t test says worse."""
    return _yes_or_no(fell_by(TOLERANCE)(before, differences).fails & significant(before, differences).fails)


def not_shown_safe(before: Floats, differences: Floats) -> Decided:
    """Fails unless shown not to have fallen by the tolerance."""
    return _yes_or_no(~evidence(before, differences).passes)


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
    "evidence, tolerance 2%": evidence,
}
OURS = "evidence, tolerance 2%"
