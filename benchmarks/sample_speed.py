"""How fast `ireval sample` reads a log of searches, and how much memory it takes: lines a second, and MiB.

The log is made up: queries with frequencies by Zipf's law, a third as many sessions as searches, always the same.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

CODE = "import sys; from pytest_ireval.cli import main; sys.argv[0] = 'ireval'; main()"
BLOCK = 1 << 18


def write_log(path: Path, lines: int, queries: int) -> None:
    """A log as TSV with a session and a query on each line."""
    random = np.random.default_rng(7)
    chances = 1 / np.arange(1, queries + 1)
    ends = np.cumsum(chances / chances.sum())
    with path.open("w", encoding="utf-8") as file:
        file.write("session\tquery\n")
        for start in range(0, lines, BLOCK):
            drawn = np.searchsorted(ends, random.random(min(BLOCK, lines - start))).tolist()
            file.writelines(f"s{(start + i) // 3}\tsome words of query {row}\n" for i, row in enumerate(drawn))


def measured(log: Path, by: str, target: Path) -> tuple[float, float]:
    """Seconds of processor time and MiB of memory of one process."""
    command = [sys.executable, "-c", CODE, "sample", str(log), "--by", by, "--to", str(target), "--force"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--queries", type=int, default=1_000_000, help="different queries that may be asked")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        log = Path(name, "log.tsv")
        write_log(log, options.lines, options.queries)
        print(f"{options.lines:,} lines, {log.stat().st_size >> 20} MiB")
        for by in ("search", "session"):
            seconds, memory = measured(log, by, Path(name, "queries.tsv"))
            print(f"--by {by}: {seconds:.1f} s CPU, {options.lines / seconds:,.0f} lines a second, {memory:.0f} MiB")


if __name__ == "__main__":
    main()
