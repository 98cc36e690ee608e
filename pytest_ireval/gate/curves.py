"""Recall and precision of whole slices, now and in the baseline: the means of their queries' interpolated curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from pytest_ireval.gate.material import Material
from pytest_ireval.results.curves import RecallPrecision, SliceCurves
from pytest_ireval.rules.planning import Check
from pytest_ireval.rules.side import Floats
from pytest_ireval.rules.slices import WHOLE, Slice

MOST_SLICES = 12
"""With all queries; more curves than that nobody tells apart."""


def curves_of(material: Material, checks: Sequence[Check]) -> tuple[SliceCurves, ...]:
    """Of all queries, then of the slices that rules name; over the queries that have a curve on both sides."""
    return tuple(islice(_curves(material, checks), MOST_SLICES))


def _curves(material: Material, checks: Sequence[Check]) -> Iterator[SliceCurves]:
    now = material.now.recall_precision
    before = None if material.comparable is None else material.comparable.recall_precision
    if now is None:
        return
    there = ~np.isnan(now[:, 0])
    if before is not None:
        there &= ~np.isnan(before[:, 0])
    for within in dict.fromkeys((WHOLE, *_slices(checks))):
        rows = np.flatnonzero(material.population.mask(within) & there)
        if rows.size:
            baseline = None if before is None else _mean(before[rows])
            yield SliceCurves(str(within), int(rows.size), _mean(now[rows]), baseline)


def _slices(checks: Sequence[Check]) -> Iterator[Slice]:
    yield from (check.slice for check in checks if check.asked is not None)


def _mean(rows: Floats) -> RecallPrecision:
    *levels, r = rows.mean(axis=0).tolist()
    return RecallPrecision(tuple(levels), r)
