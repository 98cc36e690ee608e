"""Estimates how often a harmless change turns a suite red: its rules are applied to drawn changes of the baseline.

In a drawn change, each query gets the differences that some query had in the last run, or those of the usual spread,
up as often as down. So the mean loss is 0, and the metrics of a query move together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from pytest_ireval.data.queries import Queries
from pytest_ireval.data.rankings import rank_lists
from pytest_ireval.gate.apply import apply_rules
from pytest_ireval.gate.comparison import ComparedSides, ScoredReference
from pytest_ireval.gate.planning import RuleCheck, compares_with_baseline
from pytest_ireval.gate.queries_and_judgments import Collection
from pytest_ireval.gate.score import Scores
from pytest_ireval.power.outlook import SuiteData, estimate_spread
from pytest_ireval.results.suite_result import QueryTable, RunResult
from pytest_ireval.sides.population import Population
from pytest_ireval.sides.side import Scored, Side
from pytest_ireval.statistics.differences import Floats

DRAWS = 200
EARLIER = "earlier changes"
MOVED = 0.3
"""Where only the spread is data, a change moves this share of the queries, as after a changed weight or synonym."""


class ChanceOfRed(NamedTuple):
    """The shares of harmless changes that turn a suite red, and that only draw a warning; None: unknown."""

    red: float | None
    warned: float | None = None
    drawn_from: str = ""
    """The changes that these are like, in words."""
    left_out: tuple[str, ...] = ()
    """Rules that take no part, because they look at other things than values of queries."""
    why: str = ""
    """Why it is unknown."""
    from_run: bool = False
    """True if the changes are like that of the last run, false if they are like the accepted ones."""


def estimate_chance_of_red(data: SuiteData, run: RunResult | None) -> ChanceOfRed:
    """Apply the rules to changes like that of ``run``; if it moved no query, to changes of the usual spread."""
    drawn_from, differences = _find_differences(data, run)
    from_run = drawn_from != EARLIER
    counted = [check for check in data.checks if _looks_at_values(check, differences)]
    left_out = {check.id: _name_rule(check) for check in data.checks if check not in counted}
    if data.clusters is not None:
        return ChanceOfRed(None, why="queries of one cluster move together; ireval self-test measures it")
    if not differences:
        return ChanceOfRed(None, why="no accepted change and no run has shown yet how far queries move")
    failed, warned = np.zeros((2, len(counted), DRAWS), bool)
    for draw, scores in enumerate(_draw_changes(data, differences)):
        for row, outcome in enumerate(apply_rules(scores, counted, lists_queries=False)):
            failed[row, draw] = outcome.verdict == "fail"
            warned[row, draw] = outcome.verdict == "fail" or outcome.warning
            if outcome.verdict == "error":
                left_out.setdefault(outcome.id, f"{_name_rule(counted[row])} ({outcome.headline})")
    sound = [check.id not in left_out for check in counted]
    names = tuple(dict.fromkeys(left_out.values()))
    if not any(sound):
        return ChanceOfRed(None, left_out=names, why="no rule looks at values of queries alone")
    red = failed[sound].any(axis=0)
    only_warned = warned[sound].any(axis=0) & ~red
    return ChanceOfRed(float(red.mean()), float(only_warned.mean()), drawn_from, names, from_run=from_run)


def _name_rule(check: RuleCheck) -> str:
    return check.family if check.part.metric is None else f"{check.family} {check.part.metric}"


def _find_differences(data: SuiteData, run: RunResult | None) -> tuple[str, Mapping[str, Floats]]:
    """By metric, how far queries moved: one entry a query, NaN where it has no value on one of the sides."""
    stored = {} if data.stored is None else data.stored.metrics
    if run is not None:
        table = next((each.queries for each in run.suites if each.name == data.suite.name), QueryTable())
        found = {name: np.array(changes, np.float64) for name in stored if (changes := table.changes(name))}
        if any(np.nan_to_num(each).any() for each in found.values()):
            return f"the change in the run of {run.date}", found
    draw = np.random.default_rng(0)
    moves = draw.standard_normal(1000) * (draw.random(1000) < MOVED) / math.sqrt(MOVED)
    spreads = {
        name: estimate_spread(data.acceptances, name, "all", [*each.values.values()]) for name, each in stored.items()
    }
    known_spreads = {name: each.spread for name, each in spreads.items() if each is not None and not each.assumed}
    return EARLIER, {name: moves * spread for name, spread in known_spreads.items()}


def _looks_at_values(check: RuleCheck, differences: Mapping[str, Floats]) -> bool:
    """Tell whether a rule looks at nothing but values of queries, now and in the baseline, whose moves are known."""
    metric = check.part.metric
    if metric is None or (check.rule.compares and not compares_with_baseline(check.rule)):
        return False
    # a time minus the difference of another query may be below 0; most rules about times only warn
    return str(metric) in differences and metric.unit == "query" and not metric.ratio


def _draw_changes(data: SuiteData, differences: Mapping[str, Floats]) -> Iterator[Scores]:
    """Yield the scores of each drawn change beside the baseline."""
    stored = {} if data.stored is None else data.stored.metrics
    ids = tuple(dict.fromkeys(query for each in stored.values() for query in each.values))
    queries = data.queries or Queries(ids, ("",) * len(ids))
    population = Population(queries, weights=data.weights, waived=data.waived)
    collection = Collection(data.suite, data.registry, population, None)
    metrics = {str(check.part.metric): check.part.metric for check in data.checks if check.part.metric is not None}
    before = {
        name: Scored(metric, queries.ids, np.array([stored[name].values.get(query, np.nan) for query in queries.ids]))
        for name, metric in metrics.items()
        if name in differences
    }
    rankings = rank_lists(dict.fromkeys(queries.ids, ()), "none")
    baseline = Side("the baseline", (rankings,), data.suite.depth, before)
    table = np.array(list(differences.values()))
    rows = np.flatnonzero(~np.isnan(table).all(axis=0))
    moves = dict(zip(differences, np.nan_to_num(table), strict=True))
    draw = np.random.default_rng(0)
    for _ in range(DRAWS):
        taken, signs = draw.choice(rows, len(queries)), draw.choice((-1.0, 1.0), len(queries))
        now = {
            name: Scored(each.metric, each.names, each.values + signs * moves[name][taken])
            for name, each in before.items()
        }
        change = Side("a drawn change", (rankings,), data.suite.depth, now)
        yield Scores(collection, change, ScoredReference(ComparedSides(change, baseline)))
