"""Names of metrics in other packages, and what they mean here."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from typing import NamedTuple

PACKAGES = {
    "trec_eval": "trec_eval",
    "ir_measures": "ir_measures",
    "ranx": "ranx",
    "ntcireval": "NTCIREVAL",
    "pyndeval": "pyndeval",
    "cwl-eval": "cwl-eval",
    "scikit-learn": "scikit-learn",
}
"""The name of each package in tables, and its proper name."""
OTHER_MEANINGS = {"rbp": ("trec_eval", "RBP(p=0.9)")}
"""Names of other packages that would be read as another metric here: the package, and what the name means there.

They are refused. The rows of a plugin are not asked for this: they are read only when a name is unknown.
"""


class Elsewhere(NamedTuple):
    """A name of another package for a metric; values are equal unless one of the two reasons is given.

    >>> from pytest_ireval import Elsewhere
    >>> Elsewhere("trec_eval", "ndcg_cut_{cutoff}", "nDCG@{cutoff}").equal
    'yes'
    >>> Elsewhere("ranx", "fresh", "Fresh", but_for="empty lists").equal
    'yes, but for empty lists'
    """

    package: str
    """One of :data:`PACKAGES`."""
    name: str
    """Their name, with the holes of ``ours``: ``ndcg_cut_{cutoff}``."""
    ours: str
    """Our canonical name: ``nDCG@{cutoff}``; empty if there is no such metric here, for the reason in ``differs``."""
    differs: str = ""
    """The reason why values differ, in a line."""
    but_for: str = ""
    """The cases in which values differ, in a line; elsewhere they are equal."""

    @property
    def metric(self) -> str:
        """The name of our metric alone."""
        return re.split(r"[(@]", self.ours)[0]

    @property
    def names(self) -> tuple[str, str]:
        """Theirs and ours as they are shown."""
        theirs, ours = (name.replace("{{", "{").replace("}}", "}") for name in (self.name, self.ours))
        return theirs, ours

    @property
    def equal(self) -> str:
        """The verdict in words."""
        if self.differs:
            return f"no: {self.differs}"
        return f"yes, but for {self.but_for}" if self.but_for else "yes"


def list_counterparts(rows: Iterable[Elsewhere], package: str) -> list[Elsewhere]:
    """The names of a package that mean a metric here, sorted."""
    found = (row for row in rows if row.package == package and row.ours)
    return sorted(found, key=lambda row: (row.name.lower(), row.ours))


def list_without_counterpart(rows: Iterable[Elsewhere], package: str) -> list[Elsewhere]:
    """The names of a package that no metric here has; a row of one plugin may fill the gap of another's."""
    own = [row for row in rows if row.package == package]
    filled = {row.name for row in own if row.ours}
    return [row for row in own if not row.ours and row.name not in filled]


def find_mistake(row: Elsewhere, metrics: Container[str]) -> str:
    """The complaint about a row; empty if it is fine."""
    if row.package not in PACKAGES:
        return f"package {row.package!r} is not one of {', '.join(PACKAGES)}"
    if row.differs and row.but_for:
        return f"{row.name!r} has both differs and but_for; give only one of them"
    if not row.ours:
        return "" if row.differs else f"{row.name!r} names no metric; say in differs why"
    return "" if row.metric in metrics else f"{row.name!r} stands for {row.ours!r}, and there is no such metric"
