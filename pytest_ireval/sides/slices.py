"""Slices of the queries of a suite, those whose columns have certain values, and their names in the ids of tests."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from pytest_ireval.data.queries import Queries, normalize_text
from pytest_ireval.statistics.differences import Mask


@dataclass(frozen=True)
class Slice:
    """Queries whose columns have one of these values each; without conditions: all of them."""

    conditions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    value: str = ""
    """The value of the column that the rule makes slices of (``per``)."""

    def __str__(self) -> str:
        return ", ".join(f"{column}={'|'.join(values)}" for column, values in self.conditions) or "all"

    @property
    def slug(self) -> str:
        """For ids: ``segment-tail``; nothing for all queries."""
        return ".".join(slug(f"{column}-{'-'.join(values)}", at=False) for column, values in self.conditions)

    def mask(self, queries: Queries) -> Mask:
        """The queries that belong to it."""
        inside = np.ones(len(queries), bool)
        for column, values in self.conditions:
            inside &= np.isin(np.array(queries.composed[column], str), np.array(values, str))
        return inside

    def split(self, queries: Queries, column: str, first: Iterable[str] = ()) -> list[Slice]:
        """Its parts by the values of a column: those of ``first`` in their order, such as head, middle, tail."""
        inside = self.mask(queries).tolist()
        there = dict.fromkeys(
            value for value, is_inside in zip(queries.composed[column], inside, strict=True) if is_inside
        )
        values = dict.fromkeys([*(value for value in first if value in there), *there])
        return [Slice((*self.conditions, (column, (value,))), value) for value in values]


WHOLE = Slice()


def slice_where(where: Mapping[str, tuple[str, ...]]) -> Slice:
    """The slice that ``where`` describes."""
    return Slice(tuple(where.items()))


def slug(text: str, *, at: bool = True) -> str:
    """``nDCG@10`` is ``nDCG_10``; a name that loses more than its ``at`` sign ends in a short hash of the whole.

    Letters of all scripts stay, in their composed form.
    """
    plain = text.replace("@", "_") if at else text
    fits = _fits_environment(plain)
    letters = normalize_text(plain) if fits else plain.encode("ascii", "replace").decode()
    kept = re.sub(" +", "_", "".join(letter if _is_kept(letter) else " " for letter in letters))
    if plain and kept == plain:
        return plain
    digest = hashlib.sha256(text.encode()).hexdigest()[:6]
    return f"{kept.strip('_')}-{digest}".strip("-")


def _is_kept(character: str) -> bool:
    """Marks are parts of letters, such as vowels of Hindi and Thai."""
    return character in "_.-" or character.isalnum() or unicodedata.category(character).startswith("M")


def _fits_environment(text: str) -> bool:
    """Tell whether a variable of the environment can hold it; pytest puts the id of each test into one."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True
