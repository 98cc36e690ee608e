"""How often the rules of gates err: on changes whose true effect is known, with query sets drawn from them.

    python benchmarks/calibration.py                                  the tables, in a few minutes
    python benchmarks/calibration.py --check                          exit code 1 if a promise is missed
    python benchmarks/calibration.py --markdown benchmarks/error_rates.md   the page's tables anew
    python benchmarks/decisions.py --markdown benchmarks/error_rates.md     how the default decides in whole runs

The figures are the same on every machine: all draws have their seeds.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from calibration_tables import markdown_tables, put_between_marks, text_tables
from decisions import METRICS, NO_CHANGE, decide_init, decide_rules
from decisions import Shares as SharesOfRuns
from gates_compared import OURS, RULES, Shares
from populations import PROFILES, Floats, Population, broken, diffuse, few_break, few_fixed, rare_fixed, unchanged
from shipped import differences, families

from pytest_ireval.statistics.resolution import resolution

SIZES = (50, 200, 1000, 7000)

SCENARIOS: dict[str, Callable[[Population], Population]] = {
    "no change": lambda null: null,
    "few fixed": few_fixed,
    "rare fixed": rare_fixed,
    "few break": few_break,
    "-2%": lambda null: diffuse(null, 0.02),
    "-5%": lambda null: diffuse(null, 0.05),
    "-5% broken": lambda null: broken(null, 0.05),
}

MOST_RED = 0.06
"""How often a suite may be red by chance."""

MOST_RED_OF_RUNS, MOST_WARNED = {50: 0.07, 200: 0.05}, 1 / 3
"""How often a change that harms nothing may turn a run red, by the number of queries, and how often it may warn."""

AT_ONCE = 1 << 21
"""So many scores are drawn at once."""


Key = tuple[str, str, str, int]
"""Profile, rule, scenario, queries."""


@dataclass(frozen=True)
class Promise:
    """That our rule fails (or passes) at most or at least so often."""

    profile: str
    scenario: str
    queries: int
    of: str
    at_most: bool
    limit: float

    def kept(self, shares: Shares) -> bool:
        """Within two standard errors of a share that was drawn."""
        slack = 2 * math.sqrt(self.limit * (1 - self.limit) / shares.tries)
        share = self.share(shares)
        return share <= self.limit + slack if self.at_most else share >= self.limit - slack

    def share(self, shares: Shares) -> float:
        """How often it did."""
        return shares.fails if self.of == "fail" else shares.passes


def main() -> int:
    """Everything drawn, judged and printed; 1 if --check finds a promise that is missed."""
    options = read_options()
    found: dict[Key, Shares] = {}
    spreads: dict[tuple[str, int], float] = {}
    for profile in PROFILES:
        null = unchanged(profile)
        for queries in SIZES:
            tries = options.tries if queries <= 1000 else max(1, options.tries * 600 // 4000)
            spreads[profile.name, queries] = smallest_shown(null, queries)
            for scenario, changed in SCENARIOS.items():
                population = changed(null)
                for rule, shares in judged(population, queries, tries).items():
                    found[profile.name, rule, scenario, queries] = shares
            print(f"{profile.name}, {queries} queries: {tries} sets of each change", file=sys.stderr, flush=True)
    print(text_tables(found, spreads, PROFILES, tuple(SCENARIOS), SIZES))
    if options.markdown:
        put_between_marks(options.markdown, markdown_tables(found, spreads, PROFILES, tuple(SCENARIOS), SIZES))
    missed = [told for promise in promises() if (told := miss(promise, found))]
    missed += list(as_shipped(options.asked, options.suites))
    missed += list(in_whole_runs(options.runs, options.written))
    print("\n".join(missed) or "every promise is kept")
    return int(bool(missed) and options.check)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tries", type=int, default=4000, help="query sets of each kind; of 7,000 queries fewer")
    parser.add_argument("--asked", type=int, default=20, help="query sets of each kind that run_gate judges as well")
    parser.add_argument("--suites", type=int, default=200, help="suites with many verdicts, of each size")
    parser.add_argument("--runs", type=int, default=200, help="query sets of each kind that whole runs judge")
    parser.add_argument("--written", type=int, default=100, help="query sets that ireval init writes a suite for")
    parser.add_argument("--check", action="store_true", help="exit code 1 if a promise is missed")
    parser.add_argument("--markdown", type=Path, help="a page whose tables are written anew")
    return parser.parse_args()


def as_shipped(asked: int, suites: int) -> Iterator[str]:
    """Ask the whole gate, through its front door and with the defaults of a rule; returns what is not as promised."""
    for profile in PROFILES:
        for scenario in ("no change", "few fixed", "-2%", "-5%"):
            for queries in SIZES[:3]:
                for told in differences(SCENARIOS[scenario](unchanged(profile)), queries, asked):
                    yield f"MISSED: {profile.name}, {scenario}, {queries} queries: {told}"
    for each in families(suites):
        print(
            f"{each.verdicts} verdicts, {each.tries} suites: any is red in {each.any_red:.1%} without a "
            f"change, a slice of 200 queries that fell by 5% is seen in {each.seen:.0%}"
        )
        if each.any_red > MOST_RED + 2 * math.sqrt(MOST_RED * (1 - MOST_RED) / each.tries):
            share = f"red in {each.any_red:.1%} of cases, promised at most {MOST_RED:.0%}"
            yield f"MISSED: {each.verdicts} verdicts: {share}"


def in_whole_runs(runs: int, written: int) -> Iterator[str]:
    """The default rule, and the suites that ``ireval init`` writes, after changes that harm nothing."""
    for metric in METRICS:
        for queries, most_red in MOST_RED_OF_RUNS.items():
            asked = f"{metric.name}, {queries} queries"
            yield from _missed(asked, decide_rules(metric, NO_CHANGE, queries, runs)["default"], most_red)
            yield from _missed(f"{asked}, as ireval init writes it", decide_init(metric, queries, written), most_red)


def _missed(what: str, shares: SharesOfRuns, most_red: float) -> Iterator[str]:
    print(f"{what}: {shares.red:.1%} red and {shares.warned:.1%} warned of {shares.sets} harmless changes")
    for word, share, most in (("red", shares.red, most_red), ("warned", shares.warned, MOST_WARNED)):
        if share > most + 2 * math.sqrt(most * (1 - most) / shares.sets):
            yield f"MISSED: {what}: {word} in {share:.1%} of cases, promised at most {most:.0%}"


def smallest_shown(null: Population, queries: int) -> float:
    """The resolution of so many queries, as a share of the mean."""
    sd = float((null.now - null.before).std(ddof=1))
    return (resolution(sd, queries) or math.nan) / float(null.before.mean())


def judged(population: Population, queries: int, tries: int) -> dict[str, Shares]:
    """How often each rule fails and passes query sets drawn from a population."""
    counts = {rule: np.zeros(2) for rule in RULES}
    for before, change in drawn(population, queries, tries):
        for rule, decide in RULES.items():
            counts[rule] += [each.sum() for each in decide(before, change)]
    return {rule: Shares(fails / tries, passes / tries, tries) for rule, (fails, passes) in counts.items()}


def drawn(population: Population, queries: int, tries: int) -> Iterator[tuple[Floats, Floats]]:
    """Query sets, a row each: what the queries scored before, and by how much that changed."""
    draw = np.random.default_rng(queries)
    change = population.now - population.before
    left = tries
    while left:
        rows = min(left, max(1, AT_ONCE // queries))
        chosen = draw.integers(0, change.size, (rows, queries))
        yield population.before[chosen], change[chosen]
        left -= rows


def promises() -> Iterator[Promise]:
    """What the documentation says of the default."""
    for profile in PROFILES:
        for queries in SIZES:
            yield Promise(profile.name, "no change", queries, "fail", True, 0.06)
            if queries >= 200:
                yield Promise(profile.name, "few fixed", queries, "fail", True, 0.10)
                yield Promise(profile.name, "rare fixed", queries, "fail", True, 0.10)
    yield Promise("tweak", "-5%", 200, "fail", False, 0.96)
    yield Promise("tweak", "no change", 1000, "pass", False, 0.99)


def miss(promise: Promise, found: dict[Key, Shares]) -> str:
    """What is said of a promise that is missed; nothing of one that is kept."""
    shares = found[promise.profile, OURS, promise.scenario, promise.queries]
    if promise.kept(shares):
        return ""
    limit = f"at {'most' if promise.at_most else 'least'} {promise.limit:.1%}"
    where = f"{promise.profile}, {promise.scenario}, {promise.queries} queries"
    return f"MISSED: {where}: {promise.of} in {promise.share(shares):.1%} of cases, promised {limit}"


if __name__ == "__main__":
    sys.exit(main())
