"""How fast `ireval clicks` reads a log, and how much memory it takes, for logs of several sizes.

    python benchmarks/clicks.py                       1 million and 10 million lines, TSV
    python benchmarks/clicks.py --lines 100000 --kind jsonl --model dbn

A log has sessions of three searches; 5,000 queries, the most frequent ones first (Zipf), each with ten documents in two
orders, and clicks by rank. So the number of different searches is bounded, and memory should be, too. With `--orders
512` most lines of a small log have a list of their own. Prints lines a second and the peak of resident memory of the
whole command, as the system reports it.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from itertools import accumulate
from pathlib import Path

from interleave import Contestant, measure_once

QUERIES, DOCUMENTS = 5_000, 10


def main() -> int:
    """Logs written, read and measured."""
    parser = argparse.ArgumentParser(description="Measure ireval clicks.")
    add = parser.add_argument
    add("--lines", type=int, nargs="*", default=[1_000_000, 10_000_000], help="of each log")
    add("--kind", choices=["tsv", "jsonl"], default="tsv", help="of the logs; default: tsv")
    add("--orders", type=int, default=2, help="the number of lists of each query, up to 512; default: 2")
    add("--model", help="make judgments by this model, too")
    add("--ireval", default=str(Path(sys.executable).with_name("ireval")), help="the command to measure")
    add("--folder", type=Path, default=Path(__file__).parent / "data" / "clicks", help="of the logs")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for lines in options.lines:
        log = options.folder / f"log-{lines}-{options.orders}.{options.kind}"
        if not log.exists():
            write_log(log, lines, options.orders)
        output = options.folder / "output.json"
        model = ("--model", options.model) if options.model else ()
        command = (options.ireval, "clicks", str(log), "--format", "json", *model)
        cost = measure_once(Contestant("ireval clicks", command, output))
        (figures,) = json.loads(output.read_text(encoding="utf-8"))["log"]
        print(
            f"{lines:>12,} lines, {log.stat().st_size / 2**20:,.0f} MiB: {lines / cost.wall_seconds:,.0f} lines/s "
            f"({cost.wall_seconds:.1f} s, processor {cost.cpu_seconds:.1f} s), peak {cost.peak_mebibytes:,.0f} MiB; "
            f"{figures['searches']:,} searches of {figures['sessions']:,} sessions",
            flush=True,
        )
    return 0


def write_log(path: Path, lines: int, orders: int) -> None:
    """Sessions of three searches."""
    rng = random.Random(1)
    shares = list(accumulate(1 / number for number in range(1, QUERIES + 1)))
    with path.open("w", encoding="utf-8") as file:
        if path.suffix == ".tsv":
            file.write("session\tquery\tdocuments\tclicks\ttime\n")
        for number in range(lines):
            query = rng.choices(range(QUERIES), cum_weights=shares)[0]
            names = [f"product-{query:04}-{i}" for i in range(DOCUMENTS)]
            order = rng.randrange(orders)
            for i in range(DOCUMENTS - 1):
                if order >> i & 1:
                    names[i], names[i + 1] = names[i + 1], names[i]
            clicked = [name for rank, name in enumerate(names, 1) if rng.random() < 0.25 / rank]
            row = (f"s{number // 3:08}", f"query number {query}", names, clicked, 1_700_000_000 + number)
            if path.suffix == ".tsv":
                file.write(f"{row[0]}\t{row[1]}\t{' '.join(names)}\t{' '.join(clicked)}\t{row[4]}\n")
            else:
                names_of = ("session", "query", "documents", "clicks", "time")
                file.write(json.dumps(dict(zip(names_of, row, strict=True))) + "\n")


if __name__ == "__main__":
    sys.exit(main())
