"""How a level of recall becomes a number of documents."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
LEVELS = tuple(i / 10 for i in range(11))
ALMOST = 1e-9
"""Recall times R that is this close to a whole number is that number."""


def needed_documents(wanted: Floats, rounding: str) -> Floats:
    """So many relevant documents reach a level of recall, of which ``wanted`` is recall times R."""
    if rounding == "up":
        rounded: Floats = np.ceil(wanted - ALMOST)
        return rounded
    below: Floats = np.floor(wanted)
    return below + (wanted - below >= 0.5)
