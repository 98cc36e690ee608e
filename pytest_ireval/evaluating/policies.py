"""What an evaluation can be told to do where the data leave it open, and which of it makes sense."""

from __future__ import annotations

from numbers import Integral, Real
from typing import get_args

import numpy as np

from pytest_ireval.errors import IrevalError, Problem, did_you_mean
from pytest_ireval.results.evaluation import MissingQueries, NoRelevant, Policies, Ties, Unjudged
from pytest_ireval.retrieval.formats.reader import Grades

__all__ = ["ALLOWED", "DEEPEST", "MissingQueries", "NoRelevant", "Ties", "Unjudged", "checked_policies"]

DEEPEST = 10**9
"""No ranking is longer."""

ALLOWED = {
    "ties": get_args(Ties),
    "missing_queries": get_args(MissingQueries),
    "no_relevant": get_args(NoRelevant),
    "unjudged": get_args(Unjudged),
    "grades": get_args(Grades),
}


def checked_policies(policies: Policies) -> Policies:
    """``policies``, if all of them can be followed."""
    for name, allowed in ALLOWED.items():
        value = getattr(policies, name)
        if value not in allowed:
            raise IrevalError(
                Problem(
                    f"{name}={value!r} is unknown",
                    suggestion=did_you_mean(str(value), allowed),
                    allowed="allowed: " + ", ".join(allowed),
                )
            )
    depth, scale = policies.depth, policies.scale
    if depth is not None and not (_is(depth, Integral) and 1 <= depth <= DEEPEST):
        raise IrevalError(f"depth={depth!r} is not a whole number from 1 to {DEEPEST:,}")
    size = policies.collection
    if size is not None and not (_is(size, Integral) and size >= 1):
        raise IrevalError(f"collection={size!r} is not a number of documents")
    if scale is not None and not (_is(scale, Real) and 0 < scale < np.inf):
        raise IrevalError(f"scale={scale!r} is not a number above 0")
    return policies


def _is(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
