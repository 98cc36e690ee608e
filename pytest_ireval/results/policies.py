"""The policies of an evaluation: its choices where the data leave one."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import Literal, get_args

from pytest_ireval.errors import IrevalError, Problem, did_you_mean

Grades = Literal["integer", "float"]
Ties = Literal["trec", "input"]
MissingQueries = Literal["error", "zero", "ignore"]
NoRelevant = Literal["zero", "ignore", "error"]
Unjudged = Literal["irrelevant", "removed"]
Dialect = Literal["ir_measures"]

DEEPEST = 10**9
"""The greatest depth; no ranking is longer."""
_CHOICES = {
    "ties": get_args(Ties),
    "missing_queries": get_args(MissingQueries),
    "no_relevant": get_args(NoRelevant),
    "unjudged": get_args(Unjudged),
    "grades": get_args(Grades),
}


@dataclass(frozen=True, kw_only=True)
class Policies:
    """The choices of an evaluation where the data leave one; raises IrevalError for a value that is not allowed.

    >>> from pytest_ireval import Policies, evaluate
    >>> judgments = {"mug": {"a": 1}, "cup": {"b": 1}}
    >>> evaluate(judgments, {"mug": ["a"]}, "RR", policies=Policies(missing_queries="zero"))["RR"].mean
    0.5
    """

    ties: Ties = "trec"
    """The order of equal scores: ``trec`` by document id, descending; ``input`` as they were given."""
    missing_queries: MissingQueries = "error"
    """A judged query without a ranking is an error, scores the worst value (``zero``), or does not count."""
    no_relevant: NoRelevant = "zero"
    """A query without relevant documents scores what each metric declares, does not count, or is an error."""
    unjudged: Unjudged = "irrelevant"
    """Documents without a judgment are not relevant, or are removed first (condensed lists)."""
    depth: int | None = None
    """The number of documents of each ranking that count, from the top; all, unless given."""
    scale: float | None = None
    """The top grade; the highest of the judgments, unless given."""
    grades: Grades = "integer"
    """The type of grades in files."""
    dialect: Dialect | None = None
    """The package whose names and defaults the names of metrics follow; ours, unless given."""

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            if value not in allowed:
                hint = did_you_mean(str(value), allowed)
                listed = f"allowed: {', '.join(allowed)}"
                raise IrevalError(Problem(f"{name}={value!r} is unknown", suggestion=hint, allowed=listed))
        if self.depth is not None and not (_is_number(self.depth, Integral) and 1 <= self.depth <= DEEPEST):
            raise IrevalError(f"depth={self.depth!r} is not a whole number from 1 to {DEEPEST:,}")
        if self.scale is not None and not (_is_number(self.scale, Real) and 0 < self.scale < inf):
            raise IrevalError(f"scale={self.scale!r} is not a number above 0")
        if self.dialect not in (None, *get_args(Dialect)):
            known = f"allowed: {', '.join(get_args(Dialect))}; without one, names mean what they mean here"
            raise IrevalError(Problem(f"dialect={self.dialect!r} is unknown", allowed=known))


def _is_number(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
