"""Chance that is the same for the same data: a number for each name, whatever order the names come in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.rules.side import Floats
from pytest_ireval.rules.slices import Mask


@dataclass(frozen=True, eq=False)
class Urn:
    """Names from which is drawn, and what the draws depend on besides them."""

    names: tuple[str, ...]
    order: NDArray[np.int64]
    """The place of each name, from the first in alphabetical order to the last."""
    seed: str


def urn_of(names: Sequence[str], seed: str) -> Urn:
    """Draws for these names; another ``seed`` gives others."""
    order = sorted(range(len(names)), key=names.__getitem__)
    return Urn(tuple(names), np.array(order, np.int64), seed)


def drawn(urn: Urn, *what: object) -> Floats:
    """A number from 0 to 1 for each name, in their order; ``what`` is drawn tells one draw from another."""
    text = "\n".join(map(str, (urn.seed, *what))).encode("utf-8", "surrogatepass")
    generator = np.random.Generator(np.random.PCG64(int.from_bytes(sha256(text).digest(), "big")))
    numbers = np.empty(len(urn.names))
    numbers[urn.order] = generator.random(len(urn.names))
    return numbers


def chosen(numbers: Floats, among: Mask, share: float) -> Mask:
    """The names with the lowest numbers: such a share of those that may be chosen, at least one of them."""
    count = int(np.count_nonzero(among))
    wanted = min(count, max(1, round(share * count)))
    first = np.argsort(np.where(among, numbers, np.inf), kind="stable")[:wanted]
    found = np.zeros(numbers.size, bool)
    found[first] = True
    return found
