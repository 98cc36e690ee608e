"""How the cost of a gate grows with queries, depth, rules, slices, metrics and suites: each x 10, the others fixed.

    python benchmarks/growth.py                      all of them
    python benchmarks/growth.py rules --rounds 1     a quick look

Prints CPU seconds and MiB of both sizes, and the exponent: 1 is linear, 0 is no growth. What a gate of one query costs
is taken off first, so that its start does not hide the growth.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from gate_load import PYTEST, Suite, write_suites
from interleave import Contestant, Summary, measure_interleaved

FAMILIES = ("nDCG", "P", "R", "RR", "Success", "AP")


class Size(NamedTuple):
    """The size of a run."""

    queries: int = 2_000
    depth: int = 50
    rules: int = 20
    slices: int = 5
    metrics: int = 5
    suites: int = 1


GROWN = {
    "queries": (Size(), Size(queries=20_000)),
    "depth": (Size(), Size(depth=500)),
    "rules": (Size(), Size(rules=200)),
    "slices": (Size(), Size(slices=50)),
    "metrics": (Size(), Size(metrics=50)),
    "suites": (Size(queries=20, suites=20), Size(queries=20, suites=200)),
}
START = Size(queries=1, depth=10, rules=1, metrics=1)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how the cost of pytest --ireval grows.")
    parser.add_argument("grown", nargs="*", metavar="WHAT", help=f"which of {', '.join(GROWN)}; default: all")
    parser.add_argument("--rounds", type=int, default=5, help="rounds after the first, which is dropped; default: 5")
    options = parser.parse_args()
    if unknown := set(options.grown) - set(GROWN):
        parser.error(f"{', '.join(sorted(unknown))}: choose from {', '.join(GROWN)}")
    print(f"{'x 10':10} {'CPU s':>7} {'CPU s':>7} {'exponent':>9} {'MiB':>7} {'MiB':>7} {'exponent':>9}")
    for what in options.grown or GROWN:
        small, large = GROWN[what]
        with tempfile.TemporaryDirectory() as name:
            sizes = {"start": START, "small": small, "large": large}
            sides = [write_gate(Path(name) / side, size) for side, size in sizes.items()]
            costs = list(measure_interleaved(sides, options.rounds, tell).values())
        if len(costs) < len(sides):
            raise SystemExit(f"{what}: could not be measured")
        print(describe_growth(what, *costs), flush=True)


def tell(text: str) -> None:
    """Progress goes to standard error, so that standard output is the table alone."""
    print(text, file=sys.stderr, flush=True)


def describe_growth(what: str, start: Summary, small: Summary, large: Summary) -> str:
    """A row of the table."""
    cells = [f"{what:10}"]
    for quantity in ("cpu_seconds", "peak_mebibytes"):
        least, one, other = (getattr(each, quantity) for each in (start, small, large))
        exponent = math.log10(max(other - least, 1e-9) / (one - least)) if one > least else math.nan
        digits = 2 if quantity == "cpu_seconds" else 0
        cells.append(f"{one:7.{digits}f} {other:7.{digits}f} {exponent:9.2f}")
    return " ".join(cells)


def write_gate(folder: Path, size: Size) -> Contestant:
    """The suites of a run with their baselines, and the command that runs them."""
    metrics = [f"{FAMILIES[i % 6]}@{10 + i // 6}" for i in range(size.metrics)]
    rules = [list_rule(i, metrics[i % len(metrics)], size) for i in range(size.rules)]
    judged = range(0, size.depth, 5)
    write_suites(
        folder,
        [
            Suite(f"suite{number:04}", size.queries, size.depth, judged, size.depth, metrics, rules)
            for number in range(size.suites)
        ],
    )
    command = (*PYTEST, f"--ireval-report={folder / 'report'}", str(folder))
    return Contestant(folder.name, command, folder / "output.txt", {"CI": ""})


def list_rule(number: int, metric: str, size: Size) -> str:
    """The rules of a suite: thresholds, comparisons of all queries and of slices, and counts of worse queries."""
    column = "group" if size.slices > 5 else "kind"
    return (
        f'threshold: {{metric: {metric}, min: 0, name: "r{number}"}}',
        f"no_regression: {{metric: {metric}, tolerance: 99%, name: r{number}}}",
        f"no_regression: {{metric: {metric}, tolerance: {{absolute: 0.9}}, per: {column}, name: r{number}}}",
        f"worsened: {{metric: {metric}, by_more_than: 0.5, at_most: 99%, name: r{number}}}",
    )[number % 4]


if __name__ == "__main__":
    main()
