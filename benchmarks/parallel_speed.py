"""What `pytest --ireval -n 4` gains on many suites, beside one process.

    python benchmarks/parallel_speed.py                              40 suites of 2,000 queries
    python benchmarks/parallel_speed.py --queries 100 --suites 10    a quick look

Two kinds of suites: those whose rankings lie in files, where the processors have the work, and those whose source
takes a second to answer, where somebody waits. Prints how many times faster each number of workers is than one
process; commands take turns (`interleave.py`).
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from gate_speed import METRICS, accept, rankings, run, tell, write
from interleave import measure_interleaved

LISTED = 100
WORKERS = (0, 2, 4)
FILE = "{run: data/rankings.trec}"
SLOW = "{command: 'sleep 1; cp data/rankings.trec {rankings}', shell: true}"


def main() -> int:
    """Everything written, measured and printed."""
    options = read_options()
    print(f"{options.suites} suites of {options.queries:,} queries, {os.cpu_count()} processors")
    for kind, source in (("rankings in files", FILE), ("a source that takes a second", SLOW)):
        folder = options.folder / kind.replace(" ", "-")
        write_suites(folder, options.suites, options.queries, source)
        contestants = [run(folder / "suites", "--ireval", "--ireval-report=none", f"-n{n}") for n in WORKERS]
        costs = measure_interleaved(contestants, options.rounds, tell)
        if len(costs) < len(contestants):
            tell(f"{kind}: could not be measured")
            return 1
        alone = costs[contestants[0].name].wall_seconds
        for workers, contestant in zip(WORKERS, contestants, strict=True):
            cost = costs[contestant.name]
            print(
                f"{kind}, -n {workers}: {alone / cost.wall_seconds:.2f} times as fast as one process; "
                f"{cost.wall_seconds:.2f} s, spread {cost.spread:.0%}"
            )
    return 0


def read_options() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description="Measure what workers gain.")
    add = parser.add_argument
    add("--queries", type=int, default=2000, help="of each suite; default: 2000")
    add("--suites", type=int, default=40, help="in one folder; default: 40")
    add("--rounds", type=int, default=3, help="rounds after the first, which is dropped; default: 3")
    add("--folder", type=Path, default=Path(__file__).parent / "data" / "parallel", help="of the files")
    return parser.parse_args()


def write_suites(folder: Path, suites: int, queries: int, source: str) -> None:
    """Suites that share their files, each with a baseline that holds other rankings than those of now."""
    shutil.rmtree(folder, ignore_errors=True)
    names = [f"q{number:05}" for number in range(queries)]
    data = folder / "suites" / "data"
    rows = [f"{q}\twords of {q}\t{'head' if i % 3 else 'tail'}" for i, q in enumerate(names)]
    write(data / "queries.tsv", "\n".join(["id\ttext\tsegment", *rows]) + "\n")
    judged = [f"{q} 0 {q}-{4 * i:03} {(i + n) % 4}" for n, q in enumerate(names) for i in range(LISTED // 4)]
    write(data / "judgments.txt", "\n".join(judged) + "\n")
    write(data / "rankings.trec", "".join(rankings(names, 7)))
    for number in range(suites):
        write(folder / "suites" / f"shop{number:02}.ireval.yaml", suite(number, FILE))
    accept(folder / "suites")
    write(data / "rankings.trec", "".join(rankings(names, 11)))
    for number in range(suites):
        write(folder / "suites" / f"shop{number:02}.ireval.yaml", suite(number, source))


def suite(number: int, source: str) -> str:
    """Ten rules that hold."""
    loose = "tolerance: {absolute: 0.9}"
    rules: Sequence[str] = [
        *(f'  - threshold: {{{metric}: ">= 0"}}' for metric in METRICS[:4]),
        *(f"  - no_regression: {{metric: {metric}, {loose}}}" for metric in METRICS[:4]),
        f"  - no_regression: {{metric: nDCG@10, per: segment, {loose}}}",
        "  - worsened: {metric: nDCG@10, by_more_than: 0.5, at_most: 99%}",
    ]
    head = ["ireval: 1", f"suite: shop{number:02}", f"source: {source}", f"depth: {LISTED}"]
    files = ["queries: data/queries.tsv", "judgments: data/judgments.txt", f"metrics: [{', '.join(METRICS)}]"]
    return "\n".join([*head, *files, "rules:", *rules]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
