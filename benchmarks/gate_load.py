"""What large input costs `pytest --ireval`: seconds and MiB for one deep suite, one with many queries, many small ones.

    python benchmarks/gate_load.py                       all three, as large as they are promised
    python benchmarks/gate_load.py deep --size 0.1       a quick look

Each suite has an accepted baseline that ranks one query in ten in another order, one threshold and one no_regression.
Judge by processor time and memory: wall time depends on what else the machine does.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from interleave import Contestant, measure_once

PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--ireval")
SIZES = {"deep": 10_000, "wide": 200_000, "many": 2_000}
"""Queries of 1,000 documents, queries of 10 documents, suites of 20 queries."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure pytest --ireval with large input.")
    parser.add_argument("loads", nargs="*", help=f"which of {', '.join(SIZES)}; default: all")
    parser.add_argument("--size", type=float, default=1.0, help="share of the queries or suites; default: 1")
    parser.add_argument("--depth", type=int, default=1000, help="of the deep suite; default: 1000")
    parser.add_argument("--folder", type=Path, help="of the data, which are kept there; default: a temporary one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for load in options.loads or SIZES:
            folder = (options.folder or Path(name)) / f"{load}-{options.size:g}-{options.depth}"
            if not folder.exists():
                WRITERS[load](folder, round(SIZES[load] * options.size), options.depth)
            command = (*PYTEST, f"--ireval-report={folder / 'report'}", str(folder))
            cost = measure_once(Contestant(load, command, folder / "output.txt", {"CI": ""}))
            report = folder / "report"
            results = sum(path.stat().st_size for path in (report / "results.json", *report.glob("results.parts/*")))
            print(
                f"{load}: {cost.wall_seconds:.1f} s, {cost.cpu_seconds:.1f} s CPU, {cost.peak_mebibytes:.0f} MiB; "
                f"results.json and its parts {results / 2**20:.1f} MiB",
                flush=True,
            )


def write_deep(folder: Path, queries: int, depth: int) -> None:
    """1,000 documents a query, every twentieth of them judged."""
    write_suites(folder, [Suite("deep", queries, 1000, range(0, 1000, 20), depth)])


def write_wide(folder: Path, queries: int, _depth: int) -> None:
    """Ten documents a query, every second of them judged."""
    write_suites(folder, [Suite("wide", queries, 10, range(0, 10, 2), 10)])


def write_many(folder: Path, suites: int, _depth: int) -> None:
    """Suites of 20 queries and 20 documents, every second of them judged."""
    write_suites(folder, [Suite(f"suite{number:05}", 20, 20, range(0, 20, 2), 20) for number in range(suites)])


WRITERS: dict[str, Callable[[Path, int, int], None]] = {"deep": write_deep, "wide": write_wide, "many": write_many}


@dataclass(frozen=True)
class Suite:
    """The files of one suite."""

    name: str
    queries: int
    listed: int
    """Documents of a query."""
    judged: range
    """The places of those that are judged."""
    depth: int
    metrics: Sequence[str] = ("nDCG@10", "AP")
    rules: Sequence[str] = ('threshold: {nDCG@10: ">= 0"}', "no_regression: {metric: nDCG@10, tolerance: 50%}")

    @property
    def ids(self) -> list[str]:
        """The ids of the queries."""
        return [f"q{number:06}" for number in range(self.queries)]

    def text(self) -> str:
        """The suite file."""
        return (
            f"ireval: 1\nsuite: {self.name}\nsource: {{run: {self.name}.trec}}\njudgments: {self.name}.txt\n"
            f"queries: {self.name}.tsv\ndepth: {self.depth}\nmetrics: [{', '.join(self.metrics)}]\nrules:\n"
            + "".join(f"  - {rule}\n" for rule in self.rules)
        )

    def query_table(self) -> Iterator[str]:
        """Lines with a text, and the columns ``kind`` and ``group`` of 5 and of 50 values."""
        yield "id\ttext\tkind\tgroup\n"
        for number, query in enumerate(self.ids):
            yield f"{query}\twords of {query}\tk{number % 5}\tg{number % 50}\n"

    def judgments(self) -> Iterator[str]:
        """Lines with grades from 0 to 3."""
        for number, query in enumerate(self.ids):
            yield from (f"{query} 0 d{place + number:07} {(place // 2 + number) % 4}\n" for place in self.judged)

    def rankings(self, *, moved: bool) -> Iterator[str]:
        """One query in ten begins with other documents if ``moved``."""
        for number, query in enumerate(self.ids):
            places = list(range(self.listed))
            if moved and number % 10 == 0:
                places = [*places[3 : self.listed // 2], *places[:3], *places[self.listed // 2 :]]
            lines = (f"{query} Q0 d{at + number:07} {i} {self.listed - i} x\n" for i, at in enumerate(places, 1))
            yield "".join(lines)


def write_suites(folder: Path, suites: list[Suite]) -> None:
    """All files are there, and the baselines of the first rankings."""
    folder.mkdir(parents=True)
    for suite in suites:
        (folder / f"{suite.name}.ireval.yaml").write_text(suite.text(), encoding="utf-8")
        for ending, lines in ((".txt", suite.judgments()), (".tsv", suite.query_table())):
            with (folder / f"{suite.name}{ending}").open("w", encoding="utf-8") as file:
                file.writelines(lines)
    for moved in (False, True):
        for suite in suites:
            with (folder / f"{suite.name}.trec").open("w", encoding="utf-8") as file:
                file.writelines(suite.rankings(moved=moved))
        if not moved:
            command = [*PYTEST, "--ireval-update-new", "--ireval-report=none", str(folder)]
            environment = {**os.environ, "CI": ""}
            result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            if result.returncode:
                raise SystemExit(f"no baseline could be written:\n{result.stdout[-2000:]}")


if __name__ == "__main__":
    main()
