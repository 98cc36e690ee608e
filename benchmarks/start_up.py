"""How long a small gate takes: `pytest --ireval examples/suites`, beyond a pytest whose one test imports numpy.

    python benchmarks/start_up.py [--rounds N]

Commands take turns, in a copy of the examples. Prints medians and the least of CPU and wall seconds.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from interleave import Contestant, Summary, measure_interleaved

EXAMPLES = Path(__file__).parents[1] / "examples"
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how long a small gate takes.")
    parser.add_argument("--rounds", type=int, default=15, help="rounds after the first, which is dropped; default: 15")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(EXAMPLES, folder / "examples")
        (folder / "test_numpy.py").write_text("import numpy\n\n\ndef test_numpy():\n    assert numpy\n")
        gate = (*PYTEST, "--ireval", f"--ireval-report={folder / 'report'}", str(folder / "examples" / "suites"))
        contestants = [
            Contestant("gate", gate, folder / "gate.out", {"CI": ""}),
            Contestant("pytest and numpy", (*PYTEST, str(folder / "test_numpy.py")), folder / "numpy.out"),
        ]
        costs = measure_interleaved(contestants, options.rounds, lambda text: print(text, file=sys.stderr, flush=True))
    if len(costs) < 2:
        raise SystemExit("it could not be measured")
    gate_cost, least = costs.values()
    for quantity in ("cpu", "wall"):
        here, there = (list_seconds(each, quantity) for each in (gate_cost, least))
        print(
            f"{quantity}: {here.median - there.median:.2f} s beyond pytest and numpy (medians {here.median:.2f} and "
            f"{there.median:.2f}); the least {here.least - there.least:.2f} ({here.least:.2f} and {there.least:.2f})"
        )


class Seconds:
    """The median and the least of all rounds."""

    def __init__(self, median: float, least: float) -> None:
        self.median, self.least = median, least


def list_seconds(summary: Summary, quantity: str) -> Seconds:
    """The seconds of one quantity."""
    key = f"{quantity}_seconds"
    return Seconds(getattr(summary, key), min(each[key] for each in summary.rounds))


if __name__ == "__main__":
    main()
