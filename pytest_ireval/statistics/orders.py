"""How far two orders of the same systems agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.statistics.differences import differences

Floats = NDArray[np.float64]


class OrderComparison(NamedTuple):
    """One order of systems against another one; None where an order is not defined."""

    tau: float | None
    """Kendall's tau-b."""
    tau_ap: float | None
    """AP correlation down ``one``, as the metric TauAP has it: exchanges at the top count more.

    The mean over all orders of equal figures.
    """
    shift: int
    """The greatest change of a rank; equal figures have the best rank of their group."""
    swaps: int
    """Pairs of systems in the opposite order."""


def compare_orders(one: Sequence[float | None], truth: Sequence[float | None], sign: int = 1) -> OrderComparison:
    """Compare figures of the same systems with those that are taken for true; ``sign`` is -1 if lower is better.

    Systems without a figure are left out.
    """
    pairs = [(a, b) for a, b in zip(one, truth, strict=True) if a is not None and b is not None]
    columns = np.array(pairs, np.float64).reshape(len(pairs), 2).T * sign
    mine, true = (np.sign(differences(figures[:, None], figures)) for figures in columns)
    net, ordered = float((mine * true).sum()), float((mine**2).sum()) * float((true**2).sum())
    ranks = [(signs < 0).sum(axis=1) for signs in (mine, true)]
    return OrderComparison(
        tau=net / ordered**0.5 if ordered else None,
        tau_ap=_compute_tau_ap(mine, true) if true.any() else None,
        shift=int(np.abs(ranks[0] - ranks[1]).max(initial=0)),
        swaps=int((mine * true < 0).sum()) // 2,
    )


def _compute_tau_ap(mine: Floats, true: Floats) -> float:
    """For each system: the share of those above it that belong there, averaged over the orders of equal systems."""
    size = len(mine)
    belongs = (np.sign(true) + 1) / 2  # [i, j]: i is above j; one half where both are equal
    total = 0.0
    for j in range(size):
        above, tied = mine[:, j] > 0, mine[:, j] == 0
        tied[j] = False
        before = np.arange(int(tied.sum()) + 1)
        others = belongs[tied, j].mean() if tied.any() else 0.0
        length = above.sum() + before
        share = np.where(length > 0, (belongs[above, j].sum() + before * others) / np.maximum(length, 1), 0.0)
        total += float(share.mean())
    return 2 * total / (size - 1) - 1
