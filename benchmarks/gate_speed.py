"""What `pytest --ireval` costs: beside the least it could do, to collect, and when nobody asks for it.

    python benchmarks/gate_speed.py                              the sizes that are promised
    python benchmarks/gate_speed.py --queries 100 --suites 20    a quick look

Prints five ratios of wall times and which limits they keep; the exit code is 1 if one is missed. Commands take turns
(`interleave.py`). Everything it needs is written below --folder, the same every time.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from interleave import Contestant, measure_interleaved

LISTED = 100
"""Documents of a query; a quarter of them is judged."""
METRICS = ("nDCG@10", "AP@100", "RR@10", "R@20", "P@10", "Judged@10")
QUIET = ("-q", "-p", "no:cacheprovider", "-p", "no:randomly")
NOTHING = "def test_nothing():\n    pass\n"

LOAD = '''\
"""The bytes of all files, and numpy."""

from pathlib import Path

import numpy as np


def test_load():
    here = Path(__file__).parent
    sizes = [np.fromfile(path, np.uint8).size for path in sorted(here.rglob("*.t*")) + sorted(here.rglob("*.json"))]
    assert sum(sizes) > 0
'''

READ = '''\
"""The least that a gate must do: queries, judgments and the rankings of both sides are read, and nothing is done."""

from pathlib import Path

from pytest_ireval import read_judgments, read_queries, read_rankings


def test_read():
    data = Path(__file__).parent / "suites" / "data"
    assert len(read_queries(data / "queries.tsv"))
    assert len(read_judgments(data / "judgments.txt"))
    assert len(read_rankings(data / "rankings.trec", 100))
    assert len(read_rankings(data / "before.trec", 100))
'''


@dataclass(frozen=True)
class Promise:
    """That the first command takes at most so many times as long as the second."""

    claim: str
    limit: float | None
    """None: nothing is promised, it is only told."""
    ours: Contestant
    least: Contestant


def main() -> int:
    """Everything written, measured and printed; 0 if all limits are kept."""
    options = read_options()
    promises = list(promised(options))
    missed = 0
    for promise in promises:
        costs = measure_interleaved([promise.ours, promise.least], options.rounds, tell)
        if len(costs) < 2:
            tell(f"{promise.claim}: could not be measured")
            missed += 1
            continue
        ours, least = costs[promise.ours.name], costs[promise.least.name]
        ratio = ours.wall_seconds / least.wall_seconds
        kept = promise.limit is None or ratio <= promise.limit
        missed += not kept
        verdict = "no limit" if promise.limit is None else f"limit {promise.limit:g}, {'held' if kept else 'MISSED'}"
        print(
            f"{promise.claim}: {ratio:.2f} ({verdict}); "
            f"{ours.wall_seconds:.3f} s against {least.wall_seconds:.3f} s, spread {ours.spread:.0%} and "
            f"{least.spread:.0%}, {ours.peak_mebibytes:.0f} MiB"
        )
    return int(missed > 0)


def tell(text: str) -> None:
    """Progress goes to standard error, so that standard output is the result alone."""
    print(text, file=sys.stderr, flush=True)


def read_options() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description="Measure what pytest --ireval costs.")
    add = parser.add_argument
    add("--queries", type=int, default=5000, help="of the large suite; default: 5000")
    add("--suites", type=int, default=1000, help="to be collected; default: 1000")
    add("--worse", type=int, default=200_000, help="queries of the suite that all got worse; default: 200,000")
    add("--rounds", type=int, default=7, help="rounds after the first, which is dropped; default: 7")
    add("--folder", type=Path, default=Path(__file__).parent / "data" / "gate", help="of the files")
    return parser.parse_args()


def promised(options: argparse.Namespace) -> Iterator[Promise]:
    """The five promises and what else is told, their files written."""
    large, many, modules, idle, worse = (
        options.folder / name for name in ("large", "many", "modules", "idle", "worse")
    )
    write_large(large, options.queries)
    write_many(many, options.suites)
    write_modules(modules, options.suites)
    write(idle / "test_nothing.py", NOTHING)
    write_worse(worse, options.worse)
    asked = f"{options.queries:,} queries, {len(METRICS)} metrics, 40 rules"
    gate = run(large / "suites", "--ireval", "--ireval-report=none")
    yield Promise(f"{asked}, against reading the files", 2, gate, run(large / "test_read.py"))
    yield Promise(f"{asked}, against their bytes alone", None, gate, run(large / "test_load.py"))
    plain = f"{options.suites:,} suites of 10 rules, against as many modules of plain tests"
    yield Promise(f"{plain}, collected", 4, run(many, "--ireval", "--collect-only"), run(modules, "--collect-only"))
    yield Promise(f"{plain}, run", 8, run(many, "--ireval", f"--ireval-report={many}.report"), run(modules))
    same, lost = (run(worse, "--ireval", "--ireval-report=none", ranked=side) for side in ("before", "now"))
    yield Promise(f"{options.worse:,} queries that all got worse, against none that did", 1.5, lost, same)
    yield Promise("without --ireval, against no plugin at all", 1.01, run(idle), run(idle, "-p", "no:ireval"))


def run(path: Path, *options: str, ranked: str = "") -> Contestant:
    """A run of pytest; its output is kept beside the folder. ``ranked`` names rankings where there are several."""
    words = [re.sub(r"[:/\\]", "-", word.strip("-")) for word in options if word != "-p"]
    name = "-".join(filter(None, [path.name.replace(".", "-"), *words, ranked]))
    command = (sys.executable, "-m", "pytest", *QUIET, *options, str(path))
    return Contestant(name, command, path.parent / f"{name}.out", {"CI": "", "RANKED": ranked})


def write(path: Path, text: str) -> None:
    """The file has this text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_large(folder: Path, queries: int) -> None:
    """One suite with 40 rules, its files, and a baseline that holds other rankings than those of now."""
    names = [f"q{number:05}" for number in range(queries)]
    rows = [f"{q}\twords of {q}\t{'head' if i % 3 else 'tail'}\t{1 + i % 50}" for i, q in enumerate(names)]
    data = folder / "suites" / "data"
    write(data / "queries.tsv", "\n".join(["id\ttext\tsegment\tsearches", *rows]) + "\n")
    judged = [f"{q} 0 {q}-{4 * i:03} {(i + n) % 4}" for n, q in enumerate(names) for i in range(LISTED // 4)]
    write(data / "judgments.txt", "\n".join(judged) + "\n")
    write(folder / "suites" / "large.ireval.yaml", "\n".join(suite_with_40_rules(names[0])) + "\n")
    write(folder / "test_read.py", READ)
    write(folder / "test_load.py", LOAD)
    for step in (7, 11):  # the first is accepted, the second stands there when time is taken
        write(data / "rankings.trec", "".join(rankings(names, step)))
        if step == 7:
            write(data / "before.trec", "".join(rankings(names, step)))
            accept(folder / "suites")


def rankings(names: Sequence[str], step: int) -> Iterator[str]:
    """Every query's documents; one query in ten has them in an order that depends on ``step``."""
    for number, query in enumerate(names):
        stride = step if number % 10 == 0 else 3
        for rank in range(LISTED):
            yield f"{query} Q0 {query}-{(rank * stride + number) % LISTED:03} {rank + 1} {LISTED - rank} shop\n"


def accept(folder: Path) -> None:
    """The suite has a baseline of these rankings."""
    for old in folder.glob("baselines/*"):
        old.unlink()
    command = [sys.executable, "-m", "pytest", *QUIET, "--ireval", "--ireval-update-new", "--ireval-report=none"]
    environment = {**os.environ, "CI": ""}
    result = subprocess.run([*command, str(folder)], env=environment, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"no baseline could be written:\n{result.stdout[-2000:]}")


def suite_with_40_rules(query: str) -> Iterator[str]:
    """Six thresholds, 24 comparisons of means, six of queries, two of lists, two expectations; all of them hold."""
    yield "ireval: 1"
    yield "suite: large"
    yield "source: {run: data/rankings.trec}"
    yield f"depth: {LISTED}"
    yield "queries: data/queries.tsv"
    yield "weight: searches"
    yield "judgments: data/judgments.txt"
    yield f"metrics: [{', '.join(METRICS)}]"
    yield "rules:"
    yield from (f'  - threshold: {{{metric}: ">= 0"}}' for metric in METRICS)
    for metric in METRICS:
        loose = f"metric: {metric}, tolerance: {{absolute: 0.9}}"
        yield f"  - no_regression: {{{loose}}}"
        yield f"  - no_regression: {{{loose}, per: segment, name: by_segment}}"
        yield f"  - no_regression: {{{loose}, where: {{segment: head}}, name: head}}"
        yield f"  - no_regression: {{{loose}, where: {{segment: tail}}, name: tail}}"
        yield f"  - worsened: {{metric: {metric}, by_more_than: 0.5, at_most: 99%}}"
    yield "  - churn: {overlap: RBO(p=0.9), below: 0.5, at_most: 99%}"
    yield "  - churn: {overlap: Overlap@10, below: 0.5, at_most: 99%}"
    yield f"  - expect: [{{query: {query}, document: {query}-000, top: {LISTED}}}]"
    yield f"  - expect: [{{query: {query}, never: [nowhere], top: 10}}]"


def write_worse(folder: Path, queries: int) -> None:
    """One suite whose queries all lose half of their value; its rules warn, so that the command ends well."""
    names = [f"q{number:07}" for number in range(queries)]
    rows = [f"{q}\twords of {q}\t{1 + i % 50}" for i, q in enumerate(names)]
    write(folder / "queries.tsv", "\n".join(["id\ttext\tsearches", *rows]) + "\n")
    write(folder / "judgments.txt", "".join(f"{q} 0 {q}-a 1\n{q} 0 {q}-b 0\n" for q in names))
    for name, order in (("before", "ab"), ("now", "ba")):
        ranked = (f"{q} Q0 {q}-{each} {rank} {-rank} shop\n" for q in names for rank, each in enumerate(order, 1))
        write(folder / f"{name}.trec", "".join(ranked))
    lines = [
        "ireval: 1",
        "suite: worse",
        'source: {run: "${RANKED:-before}.trec"}',
        "depth: 10",
        "queries: queries.tsv",
        "weight: searches",
        "judgments: judgments.txt",
        "metrics: [RR@10]",
        "rules:",
        "  - no_regression: {metric: RR@10, tolerance: 1%, on_fail: warn}",
        "  - worsened: {metric: RR@10, by_more_than: 0.3, at_most: 10%, on_fail: warn}",
        '  - threshold: {RR@10: ">= 0.9", on_fail: warn}',
    ]
    write(folder / "worse.ireval.yaml", "\n".join(lines) + "\n")
    accept(folder)


def write_many(folder: Path, suites: int) -> None:
    """So many suites of ten rules, with their baselines."""
    write(folder / "judgments.txt", "q 0 d 1\n")
    write(folder / "rankings.trec", "q Q0 d 1 1 shop\n")
    bounds = ", ".join(f'{metric}: ">= 0"' for metric in METRICS)
    for name in replace_numbered(folder, "suite{:04}.ireval.yaml", suites):
        lines = [
            "ireval: 1",
            f"suite: {name.partition('.')[0]}",
            "source: {run: rankings.trec}",
            "judgments: judgments.txt",
            f"metrics: [{', '.join(METRICS)}]",
            "rules:",
            f"  - threshold: {{{bounds}}}",
            *(f"  - no_regression: {{metric: {metric}, tolerance: 1%}}" for metric in METRICS[:4]),
        ]
        write(folder / name, "\n".join(lines) + "\n")
    accept(folder)


def write_modules(folder: Path, modules: int) -> None:
    """So many modules of Python tests, each with as many tests as a suite of ten rules has: one is of its inputs."""
    tests = "".join(f"def test_{number}():\n    pass\n\n\n" for number in range(11))
    for name in replace_numbered(folder, "test_module{:04}.py", modules):
        write(folder / name, tests)


def replace_numbered(folder: Path, pattern: str, count: int) -> list[str]:
    """The names of so many files; those of an earlier measurement of more files are deleted."""
    names = [pattern.format(number) for number in range(count)]
    for old in set(folder.glob(pattern.replace("{:04}", "*"))).difference(folder / name for name in names):
        old.unlink()
    return names


if __name__ == "__main__":
    raise SystemExit(main())
