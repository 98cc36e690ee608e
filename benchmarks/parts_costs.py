"""The costs of reading rankings on many machines, measured here; what is not proportional is told.

Times are processor time. Memory is that of a process of its own. Each cost has several sizes, and one straight line.
"""

from __future__ import annotations

import multiprocessing
import pickle
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from parts import DEPTH, METRICS, peak, write

JUDGED = 20
"""Documents a query."""
STRAIGHT = 0.4
"""How far a cost may be from a sum of proportional ones."""


@dataclass(frozen=True)
class Costs:
    """Microseconds of processor time, and bytes where it says so; what they are when nothing is measured."""

    line: float = 0.21
    file: float = 3000
    scatter: float = 0.1
    """Of the time of a file, relative."""
    dask: float = 1.6
    """Times the time of one process."""
    task: float = 4000
    """Of a scheduler and its client, a file."""
    given: float = 0.13
    """Of the same, a judgment."""
    judgment_read: float = 0.32
    judgment_sent: float = 110
    """Bytes."""
    judgment_loaded: float = 0.26
    judgment_held: float = 220
    """Bytes in a worker."""
    hit_bytes: float = 57
    """A judged document in a part."""
    name_bytes: float = 10
    """A query without judgments in a part."""
    hit_loaded: float = 0.01
    name_loaded: float = 0.05
    hit: float = 1.3
    name: float = 0.4
    part: float = 25
    hit_held: float = 700
    """Bytes in the driver."""
    name_held: float = 120


def least(of: Callable[[], object], rounds: int = 3) -> float:
    """Microseconds of processor time, the least of some rounds."""
    used = []
    for _ in range(rounds):
        began = time.process_time()
        of()
        used.append((time.process_time() - began) * 1e6)
    return min(used)


def fitted(what: str, columns: Sequence[Sequence[float]], found: Sequence[float], bad: list[str]) -> list[float]:
    """The coefficients of a sum; tells how far it is from what was found."""
    weighed = np.array(columns, float) / np.array(found)[:, None]
    factors = np.linalg.lstsq(weighed, np.ones(len(found)), rcond=None)[0]
    off = float(abs(weighed @ factors - 1).max())
    print(f"* {what}: {', '.join(f'{each:.3g}' for each in factors)}; at most {off:.0%} off", flush=True)
    if off > STRAIGHT:
        bad.append(f"{what} is not proportional")
    return [max(0.0, float(each)) for each in factors]


def lines_of(path: Path, count: int) -> None:
    """Judgments of queries that no ranking has."""
    with path.open("a", encoding="ascii") as file:
        file.writelines(f"x{i // JUDGED} 0 {i * 37} {i % 4}\n" for i in range(count))


def reading(folder: Path, lines: int, more: int) -> list[float]:
    """A worker reads one file five times; it has ``more`` judgments of other queries."""
    from pytest_ireval import judged_part, read_judgments

    write(folder, lines // DEPTH, 1)
    lines_of(folder / "judgments.txt", more)
    judgments = read_judgments(folder / "judgments.txt")
    run = folder / "runs" / "part-000.trec"
    judged_part(run, judgments)
    return [least(lambda: judged_part(run, judgments), 1) for _ in range(5)]


def holding(folder: Path, count: int) -> tuple[float, float, float, float]:
    """Judgments: to read them, their bytes, to load them, and bytes in the memory of a worker that has used them."""
    from pytest_ireval import judged_part, read_judgments

    lines_of(folder / "judgments.txt", count)
    read = least(lambda: read_judgments(folder / "judgments.txt"), 2)
    sent = pickle.dumps(read_judgments(folder / "judgments.txt"))
    before, began = resident(), time.process_time()
    judgments = pickle.loads(sent)
    judged_part({"x0": ["0"]}, judgments)
    return read, len(sent), (time.process_time() - began) * 1e6, resident() - before


def resident() -> int:
    """Bytes in memory now."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


def driving(folder: Path, hits: int, count: int, names: int) -> tuple[float, float, float, float]:
    """The driver: bytes of all parts, to load them, to evaluate them, and the most memory beside what it began with."""
    from pytest_ireval import evaluate, read_judgments
    from pytest_ireval.retrieval.doors import JudgedPart
    from pytest_ireval.retrieval.judged import Hits

    lines_of(folder / "judgments.txt", hits)
    before = peak()
    judgments = read_judgments(folder / "judgments.txt")
    sent = []
    for queries, others in zip(
        np.array_split(np.arange(hits // JUDGED), count), np.array_split(np.arange(names), count), strict=True
    ):
        rows = (queries[:, None] * JUDGED + np.arange(JUDGED)).ravel()
        rank = np.tile(np.arange(1, JUDGED + 1) * (DEPTH // JUDGED) - 1, queries.size)
        tied = rank + (rows % 50 == 0)  # with the document after it, which has no judgment
        found = Hits(judgments.query[rows], rank, judgments.grade[rows], rows, 1 / rank, rank.copy(), tied)
        retrieved, without = np.full(queries.size, DEPTH), tuple(f"u{i}" for i in others.tolist())
        sent.append(pickle.dumps(JudgedPart("part", judgments.fingerprint, queries, retrieved, found, without)))
    size, load, parts = sum(map(len, sent)), least(partial(loaded, sent)), loaded(sent)
    del sent
    used = least(lambda: [dict(metric.values) for metric in evaluate(judgments, parts, METRICS).metrics], 1)
    return size, load, used, (peak() - before) * 2**20


def loaded(sent: list[bytes]) -> list[Any]:
    """The parts that were sent."""
    return [pickle.loads(each) for each in sent]


def scheduling(folder: Path, files: int, more: int) -> float:
    """The process of Dask's scheduler and its client, for files of one query and ``more`` judgments of others."""
    from distributed import LocalCluster

    from pytest_ireval import read_judgments
    from pytest_ireval.evaluating.many_files import parts_on
    from pytest_ireval.retrieval.doors import ranking_files

    write(folder, files, files)
    lines_of(folder / "judgments.txt", more)
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster:
        judgments, names = read_judgments(folder / "judgments.txt"), ranking_files(folder / "runs") or []
        return least(lambda: parts_on(cluster.scheduler_address.replace("tcp", "dask", 1), names, judgments), 2)


def alone(way: Callable[..., Any], *given: int) -> Any:
    """One measurement in a folder and a process of its own: the memory of others does not count."""
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(1, context) as pool:
        return pool.submit(way, Path(folder), *given).result()


def measured(bad: list[str]) -> Costs:
    """All costs; what is not proportional is told."""
    sizes = [(35_000, 0), (150_000, 0), (600_000, 0), (1_500_000, 0), (150_000, 2_000_000), (600_000, 2_000_000)]
    times = [alone(reading, *each) for each in sizes]
    scatter = float(np.median([np.std(each) / np.mean(each) for each in times]))
    line, file = fitted("µs of a line, a file", [(each, 1) for each, _ in sizes], [*map(min, times)], bad)
    held = [500_000, 1_000_000, 2_000_000]
    kept = zip(*(alone(holding, each) for each in held), strict=True)
    named = "µs to read a judgment", "bytes of it as sent", "µs to load it", "bytes of it in a worker"
    of_judgments = [
        fitted(f"{name}, and once", [(each, 1) for each in held], found, bad)[0]
        for name, found in zip(named, kept, strict=True)
    ]
    runs = [(200_000, 100, 0), (500_000, 100, 0), (1_000_000, 100, 0), (2_000_000, 100, 0), (500_000, 1000, 0)]
    runs += [(500_000, 10_000, 0), (200_000, 100, 1_000_000), (200_000, 100, 2_000_000)]
    sizes_of, loads, uses, most = zip(
        *(map(min, alone(driving, *each), alone(driving, *each)) for each in runs), strict=True
    )
    sent = fitted("bytes of a judged document, a part, a name", runs, sizes_of, bad)
    once = [(*each, 1) for each in runs]
    load = fitted("µs to load the same, and once", once, loads, bad)
    hit = fitted("µs to evaluate the same, and once", once, uses, bad)
    memory = fitted("bytes of the same in the driver", runs, most, bad)
    few = [(100, 0, 1), (400, 0, 1), (1600, 0, 1), (100, 500_000, 1), (100, 1_000_000, 1)]
    spent = [alone(scheduling, *each[:2]) for each in few]
    task, given, _ = fitted("µs of Dask for a file, a judgment, and once", few, spent, bad)
    driver = sent[0], sent[2], load[0], load[2], hit[0], hit[2], hit[1] + load[1], memory[0], memory[2]
    return Costs(*[line, file, scatter, Costs.dask, task, given, *of_judgments, *driver])
