"""How long all evidence of a large suite takes: beside the import of scipy.special, and beside other packages' tests.

    python benchmarks/evidence_speed.py                   7,000 queries, 10 metrics, 10 slices
    python benchmarks/evidence_speed.py --queries 500     a quick look

Each way runs in a fresh process and prints its seconds (`evidence_ways.py`); ways take turns. The exit code is 1 if the
limit is missed: all evidence within four times the import of scipy.special, which nobody who tests a mean gets around.
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

from interleave import Contestant, measure_printed_seconds

LIMIT = 4.0
OURS, IMPORT = "all evidence", "importing scipy.special"
WAYS = (IMPORT, OURS, "all sign flips", "scipy ttest_rel", "ranx paired t", "scipy permutation_test", "ranx fisher")


def main() -> int:
    """Everything measured and printed; 0 if the limit is kept."""
    options = read_options()
    ways = [way for way in WAYS if find_spec(way.partition(" ")[0]) or not way.startswith("ranx")]
    for way in sorted({*WAYS} - {*ways}):
        tell(f"left out: {way}, the package is not here")
    seconds = measure_printed_seconds([contestant(way, options) for way in ways], options.rounds, tell)
    for way in seconds:
        print(f"{way:25} {seconds[way]:10.4f} s   {seconds[way] / seconds[OURS]:10.2f} x all evidence")
    ratio = seconds[OURS] / seconds[IMPORT]
    print(f"all evidence: {ratio:.2f} x the import (limit {LIMIT:g}, {'held' if ratio <= LIMIT else 'MISSED'})")
    return int(ratio > LIMIT)


def read_options() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description="Measure how long evidence takes.")
    parser.add_argument("--queries", type=int, default=7000, help="of each comparison; default: 7000")
    parser.add_argument("--rounds", type=int, default=5, help="rounds; default: 5")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "data" / "evidence", help="of outputs")
    return parser.parse_args()


def contestant(way: str, options: argparse.Namespace) -> Contestant:
    """One way in a process of its own; what ranx compiles is kept between processes."""
    script = str(Path(__file__).parent / "evidence_ways.py")
    command = (sys.executable, script, way, "--queries", str(options.queries))
    output = options.folder / f"{way.replace(' ', '-')}.out"
    return Contestant(way, command, output, {"NUMBA_CACHE_DIR": str(options.folder / "numba")})


def tell(text: str) -> None:
    """Progress goes to standard error, so that standard output is the result alone."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
