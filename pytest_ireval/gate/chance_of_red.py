"""Estimates how often a harmless change turns a suite red: all its rules together, on changes of the usual spread.

Changes are drawn for the queries of the baseline. A share of the queries moves, up as often as down, so the mean loss
is 0; metrics of a query move together as their values do. Every rule that can judge drawn changes is asked, and
verdicts that evidence decides are corrected as in a run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pytest_ireval.errors import PluginError, one_line, raised
from pytest_ireval.gate.sensitivity import Known, usual_spread
from pytest_ireval.gate.verdicts import groups_of
from pytest_ireval.plugins.kinds import MeanTest
from pytest_ireval.results.suite_result import ChanceOfRed
from pytest_ireval.rules.evidence import Chances, Mask, Tries
from pytest_ireval.rules.planning import Check, by_stored
from pytest_ireval.rules.side import Floats
from pytest_ireval.statistics.multiplicity import holm_of_groups

NO_MEAN = "no rule that turns it red compares a mean"
MOVED = 0.3
"""The share of the queries that a change moves, as after a changed weight or synonym."""


def chance_of_red(known: Known) -> ChanceOfRed:
    """Ask all rules that turn the suite red; without a known spread the chance is unknown."""
    judged = [check for check in known.checks if check.asked is not None]
    asked = [check for check in judged if check.asked is not None and not check.only_warns]
    if not asked:
        return ChanceOfRed(0.0, ())
    values = _values(known, judged)  # those that only warn are corrected with the others
    spreads = {name: found for name, each in values.items() if (found := _usual(known, name, "all", each))}
    why = "" if spreads else "no accepted change has shown yet how far queries usually move" if values else NO_MEAN
    if why or known.clusters is not None:
        return _unknown(asked, why or "changes are drawn query by query, but these queries belong to clusters")
    changes = _drawn({name: values[name] for name in spreads}, spreads, len(judged))
    told: list[_Told] = []
    left_out: dict[str, None] = {}
    for check in judged:
        tries = _tries(check, known, values, changes, spreads)
        if tries is not None and _never_judged(check, tries):
            continue
        chances = "" if tries is None else _asked_of(check, tries)
        if tries is not None and isinstance(chances, Chances):
            told.append(_Told(tries, chances, check in asked))
        elif check in asked:
            name = f"{check.family} {check.part.metric}" if check.part.metric else check.family
            left_out[f"{name}{chances}"] = None
    if not any(each.blocks for each in told):
        return _unknown(asked, NO_MEAN) if left_out else ChanceOfRed(0.0, ())
    failed = [each.chances.failed(p) for each, p in zip(told, _adjusted(told), strict=True) if each.blocks]
    red = np.any(failed, axis=0)
    return ChanceOfRed(float(red.mean()), tuple(left_out))


def _unknown(asked: Sequence[Check], why: str) -> ChanceOfRed:
    return ChanceOfRed(None, tuple(dict.fromkeys(check.family for check in asked)), why)


class _Told(NamedTuple):
    tries: Tries
    chances: Chances
    blocks: bool


def _never_judged(check: Check, tries: Tries) -> bool:
    """Tell whether the gate reports so few queries without asking the rule, as too_few says."""
    if check.asked is None or tries.before.size >= check.asked.options.fewest:
        return False
    itself = check.asked.options.facts.by_evidence and not check.slice.conditions
    return not (check.asked.options.judges_few or itself)


def _asked_of(check: Check, tries: Tries) -> Chances | str:
    """Return what the rule makes of the tries; or the reason why it is left out, empty where it cannot tell."""
    if check.asked is None or check.asked.kind.chances is None:
        return ""
    try:
        found: Chances | None = check.asked.kind.chances(check.asked.options, tries)
    except Exception as error:  # noqa: BLE001 - a plugin's code: the figure is for information, the verdict stays
        return f" ({one_line(PluginError(raised('its chances', error)))})"
    if found is None:
        return ""
    arrays = (found.red, *(found.evidence or ())[:3]) if isinstance(found, Chances) else ((),)
    fits = all(np.shape(each) == (len(tries.changes),) for each in arrays)
    return found if fits else " (its chances are not Chances with one entry for each try)"


def _values(known: Known, asked: Sequence[Check]) -> Mapping[str, Floats]:
    """Return the baseline's values of each metric of queries, in the order of the queries; NaN where there is none."""
    found: dict[str, Floats] = {}
    every = () if known.stored is None else [query for each in known.stored.metrics.values() for query in each.values]
    ids = tuple(dict.fromkeys(every)) if known.queries is None else known.queries.ids
    for check in asked:
        metric = check.part.metric
        if metric is None or known.stored is None or metric.unit != "query":
            continue
        if metric.aggregate != "mean" or "reference" in metric.needs:
            continue
        stored = known.stored.metrics.get(str(metric))
        if stored is not None:
            each = [math.nan if query in known.waived else stored.values.get(query, math.nan) for query in ids]
            found[str(metric)] = np.array(each, np.float64)
    return found


def _usual(known: Known, metric: str, within: str, values: Floats) -> float | None:
    """Return the spread that accepted changes had; None where only a guess is left."""
    found = usual_spread(known.acceptances, metric, within, values[~np.isnan(values)].tolist())
    return None if found is None or found.assumed else found.spread


def _drawn(values: Mapping[str, Floats], spreads: Mapping[str, float], checks: int) -> Mapping[str, Floats]:
    """Draw changes for all metrics: a row for each, with its spread; no query gains or loses on average."""
    table = np.array(list(values.values()))
    metrics, queries = table.shape
    tries = min(1000, max(200, min(400_000 // (metrics * queries), 50_000 // checks)))  # values and verdicts, at most
    draw = np.random.default_rng(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        likeness = np.corrcoef(np.nan_to_num(table)) if metrics > 1 else np.ones((1, 1))
    likeness = np.where(np.isnan(likeness), np.eye(metrics), likeness)
    roots, vectors = np.linalg.eigh(likeness)
    mixed = vectors * np.sqrt(np.maximum(roots, 0.0))
    normal = draw.standard_normal((tries, queries, metrics)) @ mixed.T
    moved = draw.random((tries, queries)) < MOVED
    return {name: _of_spread(normal[:, :, i] * moved, moved, spreads[name]) for i, name in enumerate(values)}


def _of_spread(changes: Floats, moved: Mask, spread: float) -> Floats:
    """Centre the changes of each query and scale all of them."""
    centred = changes - moved * (changes.sum(axis=0) / np.maximum(moved.sum(axis=0), 1))
    size = math.sqrt(float(np.mean(centred * centred)))
    scaled: Floats = centred * (spread / size) if size else centred
    return scaled


def _tries(
    check: Check,
    known: Known,
    values: Mapping[str, Floats],
    changes: Mapping[str, Floats],
    spreads: Mapping[str, float],
) -> Tries | None:
    """Return the drawn changes of one check; None where these cannot tell what the rule would say."""
    asked, name = check.asked, str(check.part.metric)
    if asked is None or check.part.metric is None or name not in changes or asked.kind.chances is None:
        return None
    accepted = 0
    if asked.kind.compares and not by_stored(asked):
        if not asked.options.against.anchored or known.since_anchor is None:
            return None
        accepted = known.since_anchor
    inside = ~np.isnan(values[name])
    if known.queries is not None:
        inside &= check.slice.mask(known.queries)
    elif check.slice.conditions:
        return None
    weights = None if known.weights is None else known.weights[inside]
    if not inside.any() or (weights is not None and not weights.any()):
        return None
    own = _usual(known, name, str(check.slice), values[name][inside])
    scale = math.sqrt(1 + accepted) * (1.0 if own is None or not spreads[name] else own / spreads[name])
    found = scale * changes[name][:, inside]
    before, units = values[name][inside], np.flatnonzero(inside)
    return Tries(check.part, check.part.metric, check.slice, before, found, units, weights, accepted)


def _adjusted(told: Sequence[_Told]) -> list[Floats]:
    """Return for each rule the p of every try, corrected as the gate corrects those of a run."""
    none = np.ones(len(told[0].tries.changes))
    every = [each.chances.evidence for each in told]
    tested = [place for place, each in enumerate(every) if each is not None and each.p.min() < 1]
    if not tested:
        return [none] * len(told)
    shown = [each for place in tested if (each := every[place]) is not None]
    example = [
        MeanTest(1.0, told[place].tries.changes[0], None if each.alone else told[place].tries.units)
        for place, each in zip(tested, shown, strict=True)
    ]
    groups, worth = groups_of(example)
    table = np.array([each.p for each in shown])
    adjusted = np.minimum(1.0, table * math.fsum(worth))
    for row in np.flatnonzero(table.min(axis=0) < 0.25).tolist():  # no level is higher
        adjusted[:, row] = holm_of_groups(table[:, row], groups, worth)
    found = [none] * len(told)
    for place, each in zip(tested, adjusted, strict=True):
        found[place] = each
    return found
