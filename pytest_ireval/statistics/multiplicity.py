"""Corrections for testing many things at once: p-values that keep the chance of any false alarm at its level."""

from __future__ import annotations

import numpy as np

from pytest_ireval.statistics.differences import TIE, Floats

COUNTED = 13
"""Up to so many changed queries all sign patterns are taken."""

DRAWS = 10_000
"""Beyond, so many, what was observed included."""

PART = 1 << 22
"""So many signs are held at once."""


def holm(p: Floats) -> Floats:
    """Holm's adjusted p-values of one family; NaN, a test that could not be made, is none of the family."""
    adjusted = np.full(p.shape, np.nan)
    made = np.flatnonzero(~np.isnan(p))
    order = made[np.argsort(p[made], kind="stable")]
    factor = np.arange(order.size, 0, -1)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, factor * p[order]))
    return adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """Adjusted p-values that keep the share of false alarms among all alarms; NaN is none of the family.

    For looking, which slices are worth a look; not for blocking a change.
    """
    adjusted = np.full(p.shape, np.nan)
    made = np.flatnonzero(~np.isnan(p))
    order = made[np.argsort(p[made], kind="stable")][::-1]
    factor = order.size / np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum.accumulate(np.minimum(1.0, factor * p[order]))
    return adjusted


def max_t(rows: Floats, *, seed: int = 0, step_down: bool = True) -> Floats:
    """One-sided adjusted p-values that know how tests go together: "fell" for each row, queries in columns.

    The scores of a query are swapped in all rows at once (P. Westfall, S. Young 1993, Resampling-based multiple
    testing). A sum counts by its own p among the swaps, so that rows of any shape compare and no adjusted p is more
    than the number of rows times its own. Where a query is not in a row, its difference there is 0.
    """
    own = _own_shares(_swapped_sums(rows, seed))
    order = np.argsort(own[0], kind="stable")
    own = own[:, order]
    smallest = np.minimum.accumulate(own[:, ::-1], axis=1)[:, ::-1]  # of each row and those that fell less
    shares = (smallest if step_down else smallest[:, :1]) <= own[0]
    adjusted = np.empty(len(rows))
    adjusted[order] = np.maximum.accumulate(shares.mean(axis=0))
    return adjusted


def _swapped_sums(rows: Floats, seed: int) -> Floats:
    """The sum of each row (columns) as observed, first, and under other signs; the order of queries changes nothing."""
    largest = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    scaled = rows / np.where(largest > 0, largest, 1.0)
    changed = scaled[:, (np.abs(rows) >= TIE).any(axis=0)].T
    changed = changed[np.lexsort(changed.T)] if changed.size else changed
    queries = len(changed)
    if queries <= COUNTED:
        patterns = np.arange(2**queries)[:, None] >> np.arange(queries)
        sums = (1.0 - 2.0 * (patterns & 1)) @ changed
    else:
        draw = np.random.default_rng(seed)
        parts = np.array_split(np.arange(DRAWS - 1), -(-DRAWS * queries // PART))
        drawn = [(1.0 - 2.0 * draw.integers(0, 2, (part.size, queries))) @ changed for part in parts]
        sums = np.concatenate((changed.sum(axis=0)[None], *drawn))
    found: Floats = np.round(sums, 10)
    return found


def _own_shares(sums: Floats) -> Floats:
    """For each sum the share of its column that is as low or lower."""
    shares: Floats = np.empty(sums.shape)
    for column in range(sums.shape[1]):
        ordered = np.sort(sums[:, column])
        shares[:, column] = np.searchsorted(ordered, sums[:, column], side="right") / len(sums)
    return shares
