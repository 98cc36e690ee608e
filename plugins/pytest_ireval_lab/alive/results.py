"""What the rankings of a suite say of its components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["guarded", "unguarded", "harmful", "neutral", "dead", "error"]


@dataclass
class Guard:
    """A rule that is red without a component."""

    rule: str
    """Its id."""
    slice: str
    headline: str


@dataclass
class Move:
    """The figure of a metric on a slice, with and without a component."""

    metric: str
    slice: str
    where: Mapping[str, tuple[str, ...]]
    """The columns and values of the slice; empty for all queries."""
    queries: int
    with_it: float
    without_it: float
    gain: float
    """How much better it is without the component, as a share; below 0 it is worse, and 0 if that may be noise."""


@dataclass
class ComponentResult:
    """What was found of one component."""

    name: str
    place: str
    """``file:line``."""
    verdict: Verdict
    changed: int = 0
    """The number of queries with another ranking without it."""
    main: Move | None = None
    """The first metric of the suite, on all queries."""
    largest: Move | None = None
    """The largest loss without it; if nothing is lost, the largest gain."""
    guards: tuple[Guard, ...] = ()
    warnings: tuple[str, ...] = ()
    """The rules that would only warn."""
    rule: str = ""
    """A rule that would guard it, as a line of the suite."""
    note: str = ""
    """The error, or a reason to doubt the verdict."""


@dataclass
class ProofOfLife:
    """What was found of all components of a suite."""

    suite: str
    file: str
    source: str
    queries: int
    unstable: int
    """The number of queries whose ranking differed between two askings with everything on."""
    red: tuple[str, ...]
    """Rules that are red with everything on, so that they guard nothing."""
    components: tuple[ComponentResult, ...]
