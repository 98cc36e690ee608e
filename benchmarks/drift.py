"""How often series of accepted changes turn a rule against an anchor red: neutral ones, and ones that lose 0.5% each.

    python benchmarks/drift.py                                    the table, in a few minutes
    python benchmarks/drift.py --check                            exit code 1 if a promise is missed

A series is 20 changes to one set of queries, each accepted. The steps are independent of each other, or scores return:
each change gives every query one of two scores, as metrics between 0 and 1 do in the long run. The figures are the same
on every machine: all draws have their seeds.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from populations import PROFILES, Floats, Population, diffuse, unchanged

from pytest_ireval.baseline.record import Step
from pytest_ireval.sides.accepted_chain import AcceptedChain, AcceptedChange
from pytest_ireval.statistics.mean_evidence import MeanEvidence, mean_evidence

CHANGES = 20
SIZES = (200, 1000)
LOSS = 0.005
"""Of each change of a series that drifts."""
TOLERANCE = 0.02
ALPHA = 0.05
CONSTANT = 2.39
"""One bound for each of 20 looks at a chain with even steps (Pocock 1977)."""
CUSUM = (0.2, 6.35)
"""What a step may lose, in standard errors, and how much may add up: red in 5% of 20 neutral independent steps."""
RULES = ("observed", "one bound", "CUSUM", "shipped")
PROCESSES = ("independent", "returning")
MOST_NEUTRAL = 0.06
LEAST_DRIFTING = {("independent", "tweak", 200): 0.49, ("independent", "tweak", 1000): 0.95}
"""How often the shipped rule is red within a drifting series, at least."""

Key = tuple[str, str, int]
"""Process, profile, queries."""


@dataclass(frozen=True)
class Series:
    """One series: scores before it, the differences to the anchor after each change, and those of each change."""

    before: Floats
    away: Floats
    steps: Floats


def main() -> int:
    """All series drawn and judged; 1 if --check finds a promise that is missed."""
    options = read_options()
    found: dict[Key, tuple[dict[str, float], dict[str, float]]] = {}
    for process in PROCESSES:
        for profile in PROFILES:
            null = unchanged(profile)
            for queries in SIZES:
                tries = max(1, options.tries * 200 // max(200, queries // 2))
                neutral, drifting = (red(process, null, loss, queries, tries) for loss in (0.0, LOSS))
                found[process, profile.name, queries] = neutral, drifting
                print(f"{process}, {profile.name}, {queries} queries: {tries} series", file=sys.stderr, flush=True)
    print("\n".join(table(found)))
    missed = list(misses(found, options.tries))
    print("\n".join(missed) or "every promise is kept")
    return int(bool(missed) and options.check)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tries", type=int, default=1000, help="series of 200 queries; of 1,000 there are fewer")
    parser.add_argument("--check", action="store_true", help="exit code 1 if a promise is missed")
    return parser.parse_args()


def red(process: str, null: Population, loss: float, queries: int, tries: int) -> dict[str, float]:
    """The share of series that turn red, by rule."""
    counts = dict.fromkeys(RULES, 0)
    for series in drawn(process, null, loss, queries, tries):
        for rule, is_red in judged(series).items():
            counts[rule] += is_red
    return {rule: count / tries for rule, count in counts.items()}


def drawn(process: str, null: Population, loss: float, queries: int, tries: int) -> Iterator[Series]:
    draw = np.random.default_rng((queries, len(process)))
    lost = diffuse(null, loss) if loss else null
    touched = null.touched / null.touched.mean() * loss * null.before.mean()
    for _ in range(tries):
        chosen = draw.integers(0, null.before.size, queries)
        if process == "independent":
            rows = draw.integers(0, null.before.size, (CHANGES, queries))
            steps = (lost.now - lost.before)[rows]
            yield Series(null.before[chosen], steps.cumsum(axis=0), steps)
        else:
            other = draw.random((CHANGES, queries)) < 0.5
            scores = np.where(other, null.now[chosen], null.before[chosen])
            scores = scores - np.arange(1, CHANGES + 1)[:, None] * touched[chosen]
            away = scores - null.before[chosen]
            yield Series(null.before[chosen], away, np.diff(away, axis=0, prepend=0.0))


def judged(series: Series) -> dict[str, bool]:
    """Which rules are red at one of the looks."""
    change = series.away.mean(axis=1)
    evidence = [mean_evidence(row, alpha=ALPHA) for row in series.away]
    pace, limit = CUSUM
    standard = series.steps.mean(axis=1) / series.steps.std(axis=1, ddof=1) * math.sqrt(series.before.size)
    found, summed = False, 0.0
    for each in standard.tolist():
        summed = max(0.0, summed - each - pace)
        found = found or summed > limit
    bound = 0.5 * math.erfc(CONSTANT / math.sqrt(2))
    return {
        "observed": bool((change < -TOLERANCE * series.before.mean()).any()),
        "one bound": any(_failed(each, bound, series) for each in evidence),
        "CUSUM": found,
        "shipped": _shipped(series, evidence),
    }


def _shipped(series: Series, evidence: list[MeanEvidence]) -> bool:
    """Red at one of the looks, each of which knows what the acceptances before it kept."""
    spreads, away = series.steps.std(axis=1, ddof=1).tolist(), series.away.std(axis=1, ddof=1).tolist()
    steps = [Step(*each) for each in zip(series.steps.mean(axis=1).tolist(), spreads, away, strict=True)]
    if min(each.p_worse for each in evidence) >= ALPHA:  # no look has more than all of alpha
        return False
    chain = AcceptedChain(tuple(AcceptedChange("", "", step) for step in steps), is_changed=False)
    return any(_failed(each, level, series) for each, level in zip(evidence, chain.levels, strict=True))


def _failed(evidence: MeanEvidence, level: float, series: Series) -> bool:
    """Beyond the tolerance, and chance is ruled out at this level."""
    return evidence.mean < -TOLERANCE * float(series.before.mean()) and evidence.p_worse < level


def table(found: dict[Key, tuple[dict[str, float], dict[str, float]]]) -> Iterator[str]:
    yield "| steps | scores | queries | " + " | ".join(f"{rule} | -0.5% each" for rule in RULES) + " |"
    yield "| --- | --- | ---: |" + " ---: | ---: |" * len(RULES)
    for (process, profile, queries), (neutral, drifting) in found.items():
        shares = " | ".join(f"{neutral[rule]:.3f} | {drifting[rule]:.3f}" for rule in RULES)
        yield f"| {process} | {profile} | {queries:,} | {shares} |"


def misses(found: dict[Key, tuple[dict[str, float], dict[str, float]]], tries: int) -> Iterator[str]:
    """Promises that are missed by more than two standard errors."""
    for (process, profile, queries), (neutral, drifting) in found.items():
        where = f"{process}, {profile}, {queries} queries"
        slack = 2 * math.sqrt(MOST_NEUTRAL * (1 - MOST_NEUTRAL) / tries)
        if neutral["shipped"] > MOST_NEUTRAL + slack:
            yield f"MISSED: {where}: {neutral['shipped']:.3f} of neutral series are red, at most {MOST_NEUTRAL}"
        least = LEAST_DRIFTING.get((process, profile, queries), 0.0)
        if drifting["shipped"] < least:
            yield f"MISSED: {where}: {drifting['shipped']:.3f} of drifting series are red, at least {least}"


if __name__ == "__main__":
    sys.exit(main())
