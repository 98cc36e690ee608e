"""Rankings in many files: one process, a Dask cluster on this machine, and a cluster that loses a worker.

    python benchmarks/parts.py                            7 million lines in 20 files
    python benchmarks/parts.py --lines 70 --files 40      70 million lines
    python benchmarks/parts.py --lines 700 --files 100 --judge-every 10 --alone      700 million lines, 22 GB

Prints seconds, processor seconds, the memory of the greatest process, and a digest of all values of all queries. The
digests are equal, or the exit code is 1. The processor seconds of a killed worker are not known. Needs
`dask[distributed]` and pyarrow.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

METRICS = ["nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10"]
DEPTH = 1000


def main() -> int:
    """Everything written, measured and printed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=7, help="million lines of rankings; default: 7")
    parser.add_argument("--files", type=int, default=20, help="that hold them; default: 20")
    parser.add_argument("--workers", type=int, default=2, help="processes of the cluster; default: 2")
    parser.add_argument(
        "--judge-every", type=int, default=1, metavar="N", help="one query of N has judgments; default: 1"
    )
    parser.add_argument("--alone", action="store_true", help="one process only, no cluster")
    parser.add_argument("--folder", type=Path, help="of the files; default: a temporary one")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="ireval-parts-", dir=options.folder))
    try:
        write(folder, options.lines * 1_000_000 // DEPTH, options.files, options.judge_every)
        size = sum(path.stat().st_size for path in (folder / "runs").iterdir())
        print(f"{options.lines} million lines, {size / 1e9:.2f} GB, {options.files} files, {os.cpu_count()} processors")
        digests = [tell("one process", alone(serial, folder, 1))]
        if not options.alone:
            digests += [
                tell(name, alone(way, folder, options.workers))
                for name, way in (("Dask", on_dask), ("Dask, a worker killed", with_a_loss))
            ]
    finally:
        shutil.rmtree(folder)
    if not options.alone:
        print("all values are equal" if len(set(digests)) == 1 else "THE VALUES DIFFER")
    return len(set(digests)) - 1


def write(folder: Path, queries: int, files: int, judge_every: int = 1) -> None:
    """Judgments, 20 a judged query, and rankings in TREC format."""
    import numpy as np
    import pyarrow as arrow
    from pyarrow import csv

    (folder / "runs").mkdir(parents=True)
    random = np.random.default_rng(7)
    some = csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    with open(folder / "judgments.txt", "w", encoding="ascii") as judgments:
        for number, part in enumerate(np.array_split(np.arange(queries), files)):
            query = np.repeat(part, DEPTH)
            rank = np.tile(np.arange(1, DEPTH + 1), part.size)
            document = random.integers(0, 8_000, query.size) * DEPTH + rank  # no document twice in a ranking
            score = np.round(30 - np.log(rank) + random.random(query.size) / 100, 4)
            words = arrow.array(np.zeros(query.size, np.int8)), arrow.array(["bm25"] * query.size)
            columns = [query, words[0], document, rank, score, words[1]]
            with open(folder / "runs" / f"part-{number:03}.trec", "wb") as file:
                csv.write_csv(arrow.table(columns, names=list("abcdef")), file, some)
            for first, each in zip(range(0, query.size, DEPTH), part.tolist(), strict=True):
                if each % judge_every:
                    continue
                seen = document[first + np.unique(random.integers(0, DEPTH, 20))].tolist()
                judgments.writelines(f"{each} 0 {name} {name % 4}\n" for name in seen)


Measured = tuple[float, float, float, str]
"""Seconds, processor seconds, MiB of the greatest process, and the digest of all values."""


def serial(folder: Path, _: int) -> Measured:
    """All files in this process."""
    from pytest_ireval import evaluate

    began, used = time.perf_counter(), time.process_time()
    evaluation = evaluate(folder / "judgments.txt", folder / "runs", METRICS)
    return time.perf_counter() - began, time.process_time() - used, peak(), digest_of(evaluation)


def on_dask(folder: Path, workers: int, kill: Callable[[Any], None] = lambda _: None) -> Measured:
    """The files on a cluster that has started."""
    from dask import config
    from distributed import Client, LocalCluster

    from pytest_ireval import evaluate, read_judgments
    from pytest_ireval.evaluating.many_files import MEMORY_KEPT, parts_on
    from pytest_ireval.retrieval.doors import ranking_files

    with (
        config.set(MEMORY_KEPT),
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster,
    ):
        client = Client(cluster.scheduler_address, set_as_default=False)
        before = client.run(time.process_time)
        began, used = time.perf_counter(), time.process_time()
        judgments = read_judgments(folder / "judgments.txt")
        files = ranking_files(folder / "runs") or []
        with ThreadPoolExecutor(1) as beside:
            killing = beside.submit(kill, cluster)
            parts = parts_on(cluster.scheduler_address.replace("tcp://", "dask://"), files, judgments)
            evaluation = evaluate(judgments, parts, METRICS)
            seconds, used = time.perf_counter() - began, time.process_time() - used
            killing.result()
        print(f"  parts: {len(pickle.dumps(parts)) / 1e6:.1f} MB; here {used:.1f} processor seconds, {peak():.0f} MiB")
        for worker, after in client.run(time.process_time).items():
            used += after - before.get(worker, 0)
        most = max(peak(), *client.run(peak).values())
        client.close()
        return seconds, used, most, digest_of(evaluation)


def peak() -> float:
    """The most memory that this process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def digest_of(evaluation: Any) -> str:
    """A text that any other value of any query would change."""
    text = repr([(metric.name, metric.value, sorted(metric.values.items())) for metric in evaluation.metrics])
    return sha256(text.encode()).hexdigest()


def with_a_loss(folder: Path, workers: int) -> Measured:
    """The same; when a third of the files is read, a worker that reads a file is killed."""
    return on_dask(folder, workers, kill_one)


def kill_one(cluster: Any) -> None:
    """End a worker at once, in the middle of its work."""
    from distributed import Client

    with Client(cluster.scheduler_address, set_as_default=False) as client:
        most = 0
        while True:
            left = client.run_on_scheduler(files_left)
            most = max(most, left)
            if most and left * 3 <= most * 2:
                break
            time.sleep(0.05)
        pids = client.run(os.getpid)
        busy = [worker for worker, tasks in client.processing().items() if tasks]
        os.kill(pids[busy[0]], signal.SIGKILL)
        print(f"  killed process {pids[busy[0]]} after {most - left} of {most} files")


def files_left(dask_scheduler: Any) -> int:
    """The files whose parts have not arrived: a scheduler forgets the others."""
    return sum("judged_part" in str(name) for name in dask_scheduler.tasks)


def alone(way: Callable[[Path, int], Measured], folder: Path, workers: int) -> Measured:
    """One way, in a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(way, folder, workers).result()


def tell(name: str, result: Measured) -> str:
    """Print one line; returns the digest."""
    seconds, used, most, digest = result
    print(f"{name:22} {seconds:6.1f} s {used:6.1f} processor s {most:6.0f} MiB  {digest[:16]}", flush=True)
    return digest


if __name__ == "__main__":
    sys.exit(main())
