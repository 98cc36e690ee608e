"""What `ireval compare` costs for many rankings, beside the cost of one further ranking in one process.

    python benchmarks/sweep.py                   1,000 rankings of 250 queries and 1,000 documents: 11 GB
    python benchmarks/sweep.py --rankings 200    the same with fewer

The ratio is wall time over (rankings x the processor time of one further ranking / processors). It needs a machine with
nothing else to do. The limit is 1.2; the exit code is 1 if it is missed.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time

from interleave import Contestant, Cost, measure_once

LIMIT = 1.2
QUERIES, DOCUMENTS, JUDGED = 250, 1000, 1200
METRICS = ("nDCG@10", "AP", "RR", "P@10", "R@100", "R@1000", "Bpref")
IREVAL = "import sys; from pytest_ireval.cli import main; sys.argv[0] = 'ireval'; main()"
FURTHER = 10
"""Rankings whose cost is averaged."""


def main() -> int:
    """Everything written and measured; 0 if the limit is kept."""
    parser = argparse.ArgumentParser(description="Measure ireval compare with many rankings.")
    parser.add_argument("--rankings", type=int, default=1000, help="default: 1000")
    parser.add_argument("--folder", type=Path, help="of the data, which are kept there; default: a temporary one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name)
        files = write(folder, options.rankings)
        judgments = folder / "judgments.txt"
        one = further(judgments, files[: 1 + FURTHER])
        kept = folder / f"kept-{random.random()}"
        command = (sys.executable, "-c", IREVAL, "compare", str(judgments), *files, "--baseline", "first")
        command += tuple(word for metric in METRICS for word in ("-m", metric))
        again = Contestant("again", (*command, "--resume", str(kept)), folder / "again.txt")
        cost = measure_once(Contestant("sweep", command, folder / "sweep.txt"))
        tell("keeping values", measure_once(again))
        tell("with kept values", measure_once(again))
    tell(f"{len(files)} rankings", cost)
    from pytest_ireval.retrieval.ids import processors

    cores = processors()
    least = len(files) * one / cores
    ratio, share = cost.wall_seconds / least, cost.cpu_seconds / (len(files) * one)
    print(f"one further ranking: {one:.3f} s CPU; {len(files)} of them on {cores} processors: {least:.1f} s")
    print(f"ratio: {ratio:.2f} of wall time (limit {LIMIT}), {share:.2f} of processor time")
    return int(ratio > LIMIT)


def tell(what: str, cost: Cost) -> None:
    """A line of figures."""
    print(f"{what}: {cost.wall_seconds:.1f} s, {cost.cpu_seconds:.1f} s CPU, {cost.peak_mebibytes:.0f} MiB", flush=True)


def write(folder: Path, rankings: int) -> list[str]:
    """Judgments and rankings; files that are there stay."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(7)
    found = [folder / f"run{number:04}.trec" for number in range(rankings)]
    judgments = folder / "judgments.txt"
    if not judgments.exists():
        rows = ((query, each) for query in range(QUERIES) for each in draw.sample(range(5000), JUDGED))
        judgments.write_text("".join(f"{301 + q} 0 FT911-{d:05} {draw.choice([0, 0, 0, 1, 2])}\n" for q, d in rows))
    for number, path in enumerate(found):
        if not path.exists():
            path.write_text("".join(lines(random.Random(number))))
    return [str(path) for path in found]


def lines(draw: random.Random) -> Iterator[str]:
    """The rankings of one system."""
    for query in range(QUERIES):
        documents = draw.sample(range(5000), DOCUMENTS)
        for rank, each in enumerate(documents, 1):
            yield f"{301 + query} Q0 FT911-{each:05} {rank} {round(20 - rank / 60, 4)} run\n"


def further(judgments: Path, files: list[str]) -> float:
    """Processor seconds of one more ranking in a process that has read the judgments and one ranking."""
    from pytest_ireval import evaluate, read_judgments

    known = read_judgments(judgments)
    evaluate(known, files[0], METRICS)
    begin = process_time()
    for path in files[1:]:
        evaluate(known, path, METRICS)
    return (process_time() - begin) / len(files[1:])


if __name__ == "__main__":
    raise SystemExit(main())
