"""What the queries of a suite can show, before any run: for each rule that compares, on each of its slices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from pytest_ireval.baselines.reading import read_record
from pytest_ireval.baselines.record import DIGITS, Acceptance, Baseline, StoredMetric, spread_key
from pytest_ireval.errors import HistoryError, Problem, one_line
from pytest_ireval.gate.inputs import queries_of_suite, weights_of_suite
from pytest_ireval.history import spreads
from pytest_ireval.history.database import history_for
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.rules.figures import room_of
from pytest_ireval.rules.no_regression import LOW_BASELINE
from pytest_ireval.rules.planning import Check, by_stored, drawing_of, planned
from pytest_ireval.rules.side import WHOLE, Drawing, Floats, Slice
from pytest_ireval.statistics.estimate import Sampling, Weighting, weighting
from pytest_ireval.statistics.student import LEVEL, false_alarm, likely_spread, queries_needed, resolution
from pytest_ireval.suites.options import RuleFacts
from pytest_ireval.suites.quantities import Tolerance
from pytest_ireval.suites.suite import Suite
from pytest_ireval.text_table import counted, magnitude, roughly


def known_of(suite: Suite, registry: Registry, today: date) -> Known:
    """Raises SuiteError for rules that make no sense, and BaselineError for a baseline that cannot be read."""
    queries = queries_of_suite(suite, registry)
    checks = planned(suite, queries)
    record = read_record(suite.baselines, suite.name)
    waived = frozenset(waiver.query for waiver in suite.waivers if waiver.until >= today)
    weights = None if queries is None else weights_of_suite(suite, queries)
    drawing = None if queries is None else drawing_of(suite, queries)
    stored = None if record is None else record.baseline
    return _with_runs(Known(suite, checks, queries, weights, waived, stored, drawing=drawing))


def _with_runs(known: Known) -> Known:
    """Add the spreads that runs of the baseline's branch saw, from the history near the suite or the working folder.

    Other branches try changes that may be broken: one bug there would change what the suite is told it needs.
    """
    if known.stored is None:
        return known
    places = (history_for(folder) for folder in (known.suite.path.parent, Path.cwd()))
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        return known
    try:
        return replace(known, runs=spreads(found, known.suite.name, known.stored.accepted.branch))
    except HistoryError as error:  # what acceptances kept is known all the same
        return replace(known, trouble=one_line(error))


def too_low(found: Sequence[Outlook]) -> Iterator[Problem]:
    """Tolerances that are a share of nearly nothing."""
    for each in found:
        if each.relative and each.mean is not None and abs(each.mean) < LOW_BASELINE:
            yield Problem(
                f"the baseline of {each.metric}{_on(each)} is {each.mean:.4f}: a share of such a small value is noise",
                place=str(each.check.place),
                suggestion=f"write an amount: tolerance: {{absolute: {magnitude(each.resolution or 0.01)}}}",
            )


def beyond_sight(found: Sequence[Outlook]) -> Iterator[str]:
    """Tolerances that are less than the queries can show."""
    for each in found:
        if not each.blind or each.tolerance is None:
            continue
        place = f"{each.check.place.file}:{each.check.place.line}"
        share = f" ({each.asked})" if each.relative else ""
        needed = f": about {roughly(each.needed):,} queries would be needed" if each.needed else ""
        yield (
            f"{place}: {each.check.family} {each.mean_of}{_on(each)}: {_shown_by(each)}; "
            f"the tolerance is {magnitude(each.tolerance)}{share}{needed}{_guess(each)}"
        )


def _shown_by(each: Outlook) -> str:
    """``12 queries can show a drop of 0.34``; that they can show none, where there is no such drop."""
    metric = each.check.part.metric
    drop = "rise" if metric is not None and metric.direction == "lower" else "drop"
    queries = counted(each.queries, metric.unit if metric is not None else "query")
    queries += "" if each.clusters is None else f" in {counted(each.clusters, 'cluster')}"
    if each.hopeless:
        return f"{queries} cannot show any {drop}"
    return f"{queries} can show a {drop} of {magnitude(each.resolution or 0.0)}"


def _on(each: Outlook) -> str:
    return "" if each.slice == "all" else f" on {each.slice}"


def _guess(each: Outlook) -> str:
    return f" (the spread of changes is {each.usual.origin})" if each.usual is not None and each.usual.assumed else ""


NEWEST = 20
"""The most that are looked at: a search that changed in how it changes is not planned by what it was years ago."""
ASSUMED = "assumed from the spread of values"

Seen = Mapping[tuple[str, str], Sequence[float]]
"""By metric and slice, the spreads that runs saw, the newest last."""


class _UsualSpread(NamedTuple):
    """A standard deviation of differences, and where it comes from."""

    spread: float
    origin: str

    @property
    def assumed(self) -> bool:
        """Whether nobody has seen a change yet."""
        return self.origin == ASSUMED


def usual_spread(
    acceptances: Sequence[Acceptance], runs: Seen, metric: str, within: str, values: Sequence[float]
) -> _UsualSpread | None:
    """The median of those that are known; from ``values`` of queries where none is; None where these are all alike.

    A run that saw exactly what an acceptance kept, or another run, saw the same change.
    """
    accepted = list(_accepted(acceptances, metric, within))[-NEWEST:]
    known = dict.fromkeys(accepted)
    others = [each for each in dict.fromkeys(map(_rounded, runs.get((metric, within), ()))) if each not in known]
    others = others[len(others) - max(0, NEWEST - len(accepted)) :] if len(accepted) < NEWEST else []
    if not accepted and not others:
        guess = likely_spread(values)
        return None if guess is None else _UsualSpread(guess, ASSUMED)
    return _UsualSpread(median([*accepted, *others]), _origin(len(accepted), len(others)))


def _accepted(acceptances: Sequence[Acceptance], metric: str, within: str) -> Iterator[float]:
    key = spread_key(metric, within)
    yield from (each.spreads[key] for each in acceptances if key in each.spreads)


def _rounded(spread: float) -> float:
    return float(f"{spread:.{DIGITS}g}")


def _origin(accepted: int, others: int) -> str:
    """``3 acceptances and 12 other runs``."""
    if not accepted:
        return counted(others, "run")
    said = counted(accepted, "acceptance")
    return said if not others else f"{said} and {counted(others, 'other run')}"


@dataclass(frozen=True)
class Known:
    """What is known of a suite without asking its source."""

    suite: Suite
    checks: tuple[Check, ...]
    queries: Queries | None
    """None: the suite names none."""
    weights: Floats | None = None
    """Of the queries: how much traffic each stands for."""
    waived: frozenset[str] = frozenset()
    stored: Baseline | None = None
    """The accepted baseline; its rankings are not looked at."""
    runs: Mapping[tuple[str, str], Sequence[float]] = field(default_factory=dict)
    """By metric and slice, the spreads that earlier runs saw, the newest last."""
    since_anchor: int | None = None
    """How many changes were accepted since the anchor was pinned; None: not looked at, or there is no anchor."""
    trouble: str = ""
    """Why nobody knows what earlier runs saw, though there is a history."""
    drawing: Drawing | None = None
    """How the queries were drawn."""

    @property
    def acceptances(self) -> tuple[Acceptance, ...]:
        """Those of the baseline."""
        return () if self.stored is None else self.stored.acceptances


@dataclass(frozen=True)
class Outlook:
    """One rule on one slice."""

    check: Check
    metric: str
    slice: str
    queries: int
    """How many have a value in the baseline; without one, how many there are."""
    mean: float | None = None
    """Of the baseline."""
    room: float | None = None
    """How far the mean can get worse at all; None where nothing bounds it."""
    usual: _UsualSpread | None = None
    resolution: float | None = None
    """The smallest drop that so many queries show in 80% of cases."""
    asked: str = ""
    """The tolerance as it is written."""
    tolerance: float | None = None
    """How far the mean may fall, in its own unit; None where the rule does not say."""
    relative: bool = False
    """Whether the tolerance is a share of the mean."""
    needed: int | None = None
    """How many queries show a drop of the tolerance."""
    false_alarm: float | None = None
    """How often a harmless change would break the tolerance."""
    weighted: bool = False
    """Whether each query counts as often as it is asked."""
    by_evidence: bool = False
    """Whether evidence decides, and not what was observed."""
    alpha: float = LEVEL
    """The level of its test: what evidence may err, shared by all verdicts of the suite that evidence decides."""
    blocks: bool = True
    """Whether it turns a run red."""
    clusters: int | None = None
    """In how many clusters the queries lie; None where each was drawn for itself."""

    @property
    def mean_of(self) -> str:
        """``nDCG@10``, ``nDCG@10, weighted``."""
        return f"{self.metric}, weighted" if self.weighted else self.metric

    @property
    def blind(self) -> bool:
        """Whether a drop of the tolerance is less than the queries can show."""
        return self.tolerance is not None and self.resolution is not None and self.tolerance < self.resolution

    @property
    def hopeless(self) -> bool:
        """Whether the queries can show no drop that there could be."""
        return self.resolution is not None and self.room is not None and self.resolution > self.room


def outlooks(known: Known, drop: Tolerance | None = None, queries: int | None = None) -> tuple[Outlook, ...]:
    """Of each mean that a rule compares with the stored baseline, in the order of the suite.

    ``drop`` is asked about instead of the tolerances; ``queries`` is how many the suite would have, its slices in
    proportion.
    """
    return tuple(_outlook(known, check, metric, drop, queries) for check, metric in _comparing(known.checks))


def _comparing(checks: Sequence[Check]) -> Iterator[tuple[Check, Metric]]:
    """Each with a mean of values that single lists have."""
    for check in checks:
        metric = check.part.metric
        if check.asked is None or metric is None or not by_stored(check.asked):
            continue
        if metric.aggregate == "mean" and "reference" not in metric.needs:
            yield check, metric


def _outlook(known: Known, check: Check, metric: Metric, drop: Tolerance | None, queries: int | None) -> Outlook:
    values = _values(known, metric, check.slice)
    facts = check.asked.options.facts if check.asked else RuleFacts()
    found = Outlook(
        check,
        str(metric),
        str(check.slice),
        len(values) or _listed(known, check.slice),
        weighted=facts.weighted,
        by_evidence=facts.by_evidence,
        alpha=facts.alpha / (_tests(known) if facts.by_evidence else 1),
        blocks=check.asked is None or check.asked.options.on_fail == "fail",
    )
    if not values:
        return found
    if queries is not None:
        found = replace(found, queries=round(queries * len(values) / len(_values(known, metric, WHOLE))))
    tolerance = drop or facts.tolerance_on(check.slice.value)
    mean = math.fsum(values) / len(values)
    found = replace(found, mean=mean, room=room_of(metric, mean))
    if tolerance is not None:
        allowed, relative = tolerance.allowed(mean), bool(tolerance.relative)
        found = replace(found, asked=str(tolerance), tolerance=allowed, relative=relative)
    usual = usual_spread(known.acceptances, known.runs, found.metric, found.slice, values)
    weigh = _weighting(known, check, metric)
    found = replace(found, clusters=None if weigh is None or weigh.clusters is None else weigh.units)
    return found if usual is None else _foreseen(replace(found, usual=usual), weigh, _share(known, metric))


def _tests(known: Known) -> int:
    """Count the verdicts that evidence decides: the smallest p is multiplied by this number."""
    return sum(check.asked is not None and check.asked.options.facts.by_evidence for check in known.checks)


def _foreseen(found: Outlook, weigh: Weighting | None, share: float) -> Outlook:
    """With what this many queries of the usual spread can show; weighted ones are worth less.

    The spread that earlier changes had says how alike the queries of a cluster are. One that is assumed does not, so
    a cluster is then taken for one query. ``share`` is that of the population that one query is.
    """
    worth, per_unit = _worth(weigh, clustered=found.usual is not None and found.usual.assumed)
    spread = found.usual.spread / math.sqrt(worth) if found.usual else math.nan
    left = 1 - found.queries * share
    if left <= 0:
        return found  # the queries are the population: chance decides nothing
    smallest = resolution(spread, found.queries, per_unit=per_unit)
    found = replace(found, resolution=None if smallest is None else smallest * math.sqrt(left))
    if not found.tolerance:
        return found
    needed = queries_needed(spread, found.tolerance, found.alpha, per_unit)
    return replace(
        found,
        needed=needed if needed is None or not share else math.ceil(needed / (1 + needed * share)),
        false_alarm=false_alarm(found.tolerance, spread * math.sqrt(left), found.queries),
    )


def _worth(weigh: Weighting | None, *, clustered: bool) -> tuple[float, float]:
    """How many queries of equal weight one is worth, and how many make one degree of freedom."""
    if weigh is None or not weigh.effective:
        return 1.0, 1.0
    queries = weigh.units if weigh.clusters is None else weigh.clusters.size
    if weigh.clusters is None:
        return weigh.effective / queries, 1.0
    return weigh.effective / queries if clustered else 1.0, queries / weigh.effective


def _share(known: Known, metric: Metric) -> float:
    """The share of the population that one query is; 0 where its size is unknown."""
    size = known.drawing.size if known.drawing is not None and metric.unit == "query" else None
    return 0.0 if size is None else 1 / size


def _values(known: Known, metric: Metric, within: Slice) -> list[float]:
    """Those that the baseline has of a slice, without waived queries."""
    stored = known.stored.metrics.get(str(metric)) if known.stored is not None else None
    if stored is None:
        return []
    if metric.unit != "query" or known.queries is None:
        return [value for query, value in stored.values.items() if query not in known.waived]
    return [value for query in _inside(known.queries, within) if (value := _value(stored, query, known)) is not None]


def _value(stored: StoredMetric, query: str, known: Known) -> float | None:
    return None if query in known.waived else stored.values.get(query)


def _inside(queries: Queries, within: Slice) -> list[str]:
    return [query for query, inside in zip(queries.ids, within.mask(queries).tolist(), strict=True) if inside]


def _listed(known: Known, within: Slice) -> int:
    """How many queries there are, valued or not; 0 where no file says."""
    return 0 if known.queries is None else sum(query not in known.waived for query in _inside(known.queries, within))


def _weighting(known: Known, check: Check, metric: Metric) -> Weighting | None:
    """What each query of a rule counts and which belong together; None where nothing is known of them."""
    facts = check.asked.options.facts if check.asked is not None else RuleFacts()
    drawing = known.drawing
    stored = known.stored.metrics.get(str(metric)) if known.stored is not None else None
    if known.queries is None or stored is None or metric.unit != "query":
        return None
    inside = [known.queries.position[query] for query in _inside(known.queries, check.slice)]
    place = np.array([row for row in inside if _value(stored, known.queries.ids[row], known) is not None], np.int64)
    weights = known.weights[place] if facts.weighted and known.weights is not None else None
    clusters = None if drawing is None or drawing.clusters is None else drawing.clusters[place]
    if drawing is not None and drawing.strata is not None and facts.by_evidence:
        sampling = Sampling(clusters, drawing.strata.codes[place], drawing.strata.shares)
        return weighting(weights, place.size, sampling)
    return None if weights is None and clusters is None else weighting(weights, place.size, Sampling(clusters))
