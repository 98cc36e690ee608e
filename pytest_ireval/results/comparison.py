"""The result of a comparison: plain frozen values, one evaluation for each ranking and their differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pytest_ireval.errors import InputError
from pytest_ireval.results.evaluation import Evaluation, InNotebook

FORMAT = "comparison-1"
"""The kind and version of the JSON form; a reader refuses another one."""


@dataclass
class Change:
    """The values of one query (or session) under two rankings."""

    query: str
    other: float
    """The value under the ranking that is compared with."""
    value: float

    @property
    def difference(self) -> float:
        """``value - other``."""
        return self.value - self.other


@dataclass
class Pair:
    """One ranking against another on one metric; all differences are ``ranking - other``."""

    ranking: str
    other: str
    difference: float
    """The mean difference."""
    relative: float | None
    """The difference as a share of the other's mean; None where that is 0."""
    wins: int
    """Queries on which ``ranking`` is better, whichever direction that is."""
    ties: int
    losses: int
    sd: float | None
    """Standard deviation of the differences; None for a single query, as are the next three."""
    standard_error: float | None
    low: float | None
    """The t interval of the mean difference, level ``1 - alpha``, not corrected."""
    high: float | None
    test: str
    """The test that gave ``p``: the requested one, or ``sign-flip`` where all differences are equal: t is undefined."""
    t: float | None
    df: int | None
    p: float | None
    """By the ``alternative`` of the comparison; None where nothing can be tested."""
    p_adjusted: float | None
    """After Holm's correction over all pairs of this metric."""
    better: str
    """The ranking that is significantly better; empty if neither is."""
    sign_flip_p: float | None = None
    """The exact sign-flip test's p, not corrected, where a significant t rests on at most 20 changed queries."""
    sign_flip_p_adjusted: float | None = None
    """The same after Holm's correction over all pairs of this metric; ``p_adjusted`` is compared with it."""
    gains: tuple[Change, ...] = ()
    """The queries on which ``ranking`` is better by most; listed for some pairs only."""
    drops: tuple[Change, ...] = ()
    """The queries on which it is worse by most."""


@dataclass
class MetricComparison:
    """One metric of all rankings."""

    name: str
    direction: str
    unit: str
    aggregate: str
    values: Mapping[str, float | None]
    """The figure of each ranking."""
    best: tuple[str, ...]
    """The rankings with the best figure; none when all have the same or no value is better than another."""
    leaders: tuple[str, ...]
    """The two rankings with the best means, the best first; empty if nothing is tested."""
    units: int
    """The number of paired queries (or sessions)."""
    untested: str
    """Why its differences are not tested; empty if they are."""
    pairs: tuple[Pair, ...]
    """All pairs, or those with the baseline."""

    @property
    def family(self) -> int:
        """The number of tests that Holm's correction is over."""
        return sum(pair.p is not None for pair in self.pairs)

    def pair(self, ranking: str, other: str) -> Pair:
        """``ranking`` against ``other``, in the order in which they were compared."""
        for pair in self.pairs:
            if (pair.ranking, pair.other) == (ranking, other):
                return pair
        found = ", ".join(f"({pair.ranking!r}, {pair.other!r})" for pair in self.pairs) or "none"
        raise KeyError(f"({ranking!r}, {other!r}); compared: {found}")


@dataclass
class Comparison(InNotebook):
    """Two or more rankings under the same judgments.

    >>> from pytest_ireval import compare
    >>> judgments = {"mug": {"a": 1}, "cup": {"b": 1}}
    >>> rankings = {"old": {"mug": ["x", "a"], "cup": ["b"]}, "new": {"mug": ["a"], "cup": ["b"]}}
    >>> pair = compare(judgments, rankings, "RR")["RR"].pair("new", "old")
    >>> pair.difference, pair.wins, pair.ties, pair.losses
    (0.25, 1, 1, 0)
    """

    rankings: Mapping[str, Evaluation]
    """The evaluation of each ranking by its name, in the order in which they were given."""
    metrics: tuple[MetricComparison, ...]
    baseline: str | None
    """The ranking that all others are compared with; None: every pair is compared."""
    test: str
    alpha: float
    queries: int
    """Judged queries that count in all rankings."""
    alternative: str = "two-sided"
    """``two-sided``; or ``greater`` or ``less``: tested is only whether the values of ``ranking`` are."""
    asked: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """The names by which single metrics were asked for, with their canonical names; not part of the JSON form."""

    def __getitem__(self, name: str) -> MetricComparison:
        """The metric with this canonical name, or that was asked for by this name."""
        for metric in self.metrics:
            if metric.name in (name, self.asked.get(name)):
                return metric
        raise KeyError(f"{name!r}; compared: {', '.join(metric.name for metric in self.metrics)}")

    def to_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """The JSON form."""
        return {
            "format": FORMAT,
            "baseline": self.baseline,
            "test": self.test,
            "alternative": self.alternative,
            "alpha": self.alpha,
            "correction": "holm",
            "queries": self.queries,
            "metrics": {metric.name: _metric_to_dict(metric) for metric in self.metrics},
            "rankings": {name: found.to_dict(per_query=per_query) for name, found in self.rankings.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Comparison:
        """The value that :meth:`to_dict` wrote."""
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            found = f"format {data.get('format')!r}" if isinstance(data, Mapping) else type(data).__name__
            raise InputError(f"{found} is not a comparison that this version can read; it reads format {FORMAT!r}")
        plain = {key: data[key] for key in ("baseline", "test", "alternative", "alpha", "queries")}
        return cls(
            rankings={name: Evaluation.from_dict(entry) for name, entry in data["rankings"].items()},
            metrics=tuple(_metric_from_dict(name, entry) for name, entry in data["metrics"].items()),
            **plain,
        )


def _metric_to_dict(metric: MetricComparison) -> dict[str, Any]:
    entry = asdict(metric)
    del entry["name"]
    pairs = [{**pair, "gains": list(pair["gains"]), "drops": list(pair["drops"])} for pair in entry["pairs"]]
    lists = {"best": list(metric.best), "leaders": list(metric.leaders)}
    return {**entry, **lists, "family": metric.family, "pairs": pairs}


def _metric_from_dict(name: str, entry: Mapping[str, Any]) -> MetricComparison:
    known = {key: entry[key] for key in ("direction", "unit", "aggregate", "values", "units", "untested")}
    pairs = tuple(_pair_from_dict(pair) for pair in entry["pairs"])
    best, leaders = tuple(entry["best"]), tuple(entry["leaders"])
    return MetricComparison(name=name, **known, best=best, leaders=leaders, pairs=pairs)


def _pair_from_dict(entry: Mapping[str, Any]) -> Pair:
    gains, drops = (tuple(Change(**each) for each in entry[side]) for side in ("gains", "drops"))
    return Pair(**{**entry, "gains": gains, "drops": drops})
