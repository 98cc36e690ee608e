"""How often evidence errs where queries have weights, as many as users ask them: on changes whose true effect is known.

    python benchmarks/weights.py        a table, in about ten minutes

*worse* is the share of harmless changes that are significantly worse, *within* the share of falls of 2% that are shown
to be less. Both should be at most 5%. All draws have seeds.
"""

from __future__ import annotations

import sys

import numpy as np
from populations import PROFILES, Floats, diffuse, unchanged

from pytest_ireval.statistics.mean_evidence import mean_evidence, p_of_fall_within

WEIGHTS = ("equal", "1/sqrt(rank)", "1/rank")
SIZES = (50, 200, 1000, 7000)
TOLERANCE = 0.02
TRIES = 4000


def make_weights(kind: str, queries: int) -> Floats | None:
    """The weights of queries from the most frequent one on."""
    rank = np.arange(1, queries + 1, dtype=np.float64)
    return {"equal": None, "1/sqrt(rank)": rank**-0.5, "1/rank": 1 / rank}[kind]


def main() -> None:
    """Print a line for each kind of change, of weights, and number of queries."""
    tries = int(sys.argv[1]) if sys.argv[1:] else TRIES
    print(f"{'change':8} {'weights':14} {'queries':>7} {'effective':>9} {'worse':>6} {'within':>6}")
    for profile in PROFILES:
        null = unchanged(profile)
        fell = diffuse(null, TOLERANCE)
        for kind in WEIGHTS:
            for queries in SIZES:
                weights, draw = make_weights(kind, queries), np.random.default_rng([1, queries])
                worse = within = 0
                for _ in range(tries):
                    rows = draw.integers(0, null.before.size, queries)
                    found = mean_evidence(null.now[rows] - null.before[rows], weights=weights)
                    worse += found.p_worse < 0.05
                    before = fell.before[rows]
                    within += p_of_fall_within(fell.now[rows] - before, TOLERANCE * before, weights) < 0.05
                shares = f"{worse / tries:6.3f} {within / tries:6.3f}"
                print(f"{profile.name:8} {kind:14} {queries:7} {found.effective:9.0f} {shares}", flush=True)


if __name__ == "__main__":
    main()
