"""Rankings on many machines: the formula in docs/far.md beside a simulation, with costs that are measured here.

    python benchmarks/parts_model.py              measures and checks what is assumed, then simulates; five minutes
    python benchmarks/parts_model.py --of-page    simulates with the costs in docs/far.md; a few seconds

Prints what each thing costs, and a table in Markdown. The exit code is 1 if a cost is not proportional, or if the
formula differs from the simulation by more than a factor of 1.5. To measure, it needs `dask[distributed]` and pyarrow.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from heapq import heappop, heappush
from math import ceil, log2

import numpy as np
from parts_costs import JUDGED, Costs, measured

CORES, NETWORK = 8, 1.25e9
"""Of a machine; the network in bytes a second."""
LINE, DEPTH, FEWEST_FILES = 31.4, 1000, 20
"""Bytes of a line; lines of a query."""
SLOW, LOST, BACK = (0.01, 3.0), 7200.0, 5.0
"""One file in a hundred takes three times as long; a core loses its process every two hours, for five seconds."""
NEAR, SEEDS = 1.5, 5
"""The factor by which the formula may differ from the simulation; the simulations whose median counts."""
SIZES = {"7 million": 7e6, "70 million": 7e7, "700 million": 7e8, "7 billion": 7e9, "70 billion": 7e10}
MACHINES = 1, 10, 100


class Run:
    """The work of some lines on some machines, in seconds and bytes."""

    def __init__(self, lines: float, machines: int, costs: Costs, given: argparse.Namespace) -> None:
        self.machines, self.cores, self.costs = machines, machines * CORES, costs
        self.files = max(FEWEST_FILES, ceil(lines / float(given.file_lines) / 1e6))
        self.bytes: float = lines * LINE / self.files
        self.store: float = given.store * 1e9
        hits = min(lines / DEPTH, float(given.judged)) * JUDGED  # all judged documents are in the rankings
        names = max(0.0, lines / DEPTH - float(given.judged))
        self.reading = (costs.file + costs.line * lines / self.files) * costs.dask / 1e6
        self.task = costs.task / 1e6
        self.sending = hits * costs.judgment_sent / NETWORK
        self.loading = hits * costs.judgment_loaded / 1e6
        self.preparing = hits * (costs.judgment_read + costs.given) / 1e6 + self.loading
        self.arriving = (hits * costs.hit_bytes + names * costs.name_bytes) / NETWORK / self.files
        self.taking = (hits * costs.hit_loaded + names * costs.name_loaded) / self.files / 1e6
        self.evaluating = (hits * costs.hit + names * costs.name + self.files * costs.part) / 1e6
        self.driver = hits * costs.hit_held + names * costs.name_held
        self.worker = hits * costs.judgment_held


def formula(run: Run) -> float:
    """The seconds of docs/far.md."""
    slowest = SLOW[1] if run.files * SLOW[0] >= 1 else 1
    cores = max(ceil(run.files / run.cores), slowest) * run.reading
    spread: float = run.preparing + (1 + 1.5 * log2(run.machines)) * run.sending
    return spread + max(cores, run.files * max(run.bytes / run.store, run.task)) + run.evaluating


def simulated(run: Run, seed: int) -> tuple[float, str]:
    """Seconds of a run, and what takes most of them."""
    random = np.random.default_rng(seed)
    spread, cluster, clock = spreading(run, random), Cluster(run, random), 0.0
    ends, limit = cluster.read()
    for end in ends:
        clock = max(clock, end) + max(run.arriving, run.taking)
    longest = max((ends[-1], limit), (spread, "judgments"), (clock - ends[-1] + run.evaluating, "driver"))
    return spread + clock + run.evaluating, longest[1]


def spreading(run: Run, random: np.random.Generator) -> float:
    """A machine without the judgments asks one that has them; each sends them to one at a time."""
    rounds, holders = 1, 1
    while holders < run.machines:
        holders += np.unique(random.integers(0, holders, run.machines - holders)).size
        rounds += 1
    return run.preparing + rounds * run.sending


class Cluster:
    """Cores that read files of one store; one scheduler gives out the files. A lost core reads its file in vain."""

    def __init__(self, run: Run, random: np.random.Generator) -> None:
        self.run, self.random = run, random
        slow = np.where(random.random(run.files) < SLOW[0], SLOW[1], 1.0)
        self.work = (run.reading * slow * random.lognormal(0, run.costs.scatter, run.files)).tolist()
        self.todo, self.idle, self.given, self.ends = deque(range(run.files)), set[int](), 0, list[float]()
        self.reads, self.turn = [-1] * run.cores, [0] * run.cores
        self.streaming = set[int]()
        self.streams: list[
            tuple[float, int, int, float]
        ] = []  # bytes delivered at its end, core, turn, end of its work
        self.events: list[tuple[float, str, int, int]] = []
        self.clock = self.delivered = self.scheduler = self.used = 0.0
        for core in range(run.cores):
            self.at(0, "free", core)
            self.at(random.exponential(LOST), "lost", core)

    def at(self, when: float, what: str, core: int) -> None:
        """An event of a core, unless the core is lost before."""
        heappush(self.events, (when, what, core, self.turn[core]))

    def read(self) -> tuple[list[float], str]:
        """The seconds at which parts are made, and what was busiest."""
        while len(self.ends) < self.run.files:
            self.step()
        store, scheduler = self.given * self.run.bytes / self.run.store, self.given * self.run.task
        busiest = max((self.used / self.run.cores, "cores"), (store, "store"), (scheduler, "scheduler"))
        return self.ends, busiest[1] if self.run.files >= self.run.cores else "few files"

    def step(self) -> None:
        """The next event; until then all streams are delivered at one rate."""
        while self.streams and self.streams[0][2] != self.turn[self.streams[0][1]]:
            heappop(self.streams)
        rate = min(NETWORK / CORES, self.run.store / max(1, len(self.streaming)))
        when, what, core, turn = self.events[0]
        if self.streams and (end := self.clock + (self.streams[0][0] - self.delivered) / rate) <= when:
            self.clock = end
            self.delivered, core, _, ready = heappop(self.streams)
            self.streaming.remove(core)
            self.at(max(end, ready), "end", core)
            return
        heappop(self.events)
        self.delivered += rate * (when - self.clock)
        self.clock = when
        if turn == self.turn[core]:
            {"free": self.free, "begin": self.begin, "end": self.end, "lost": self.lost}[what](core)

    def free(self, core: int) -> None:
        """It asks the scheduler, as all do."""
        if not self.todo:
            self.idle.add(core)
            return
        self.reads[core] = self.todo.popleft()
        self.given += 1
        self.scheduler = max(self.scheduler, self.clock) + self.run.task
        self.at(self.scheduler, "begin", core)

    def begin(self, core: int) -> None:
        """A file is read while it is delivered."""
        seconds = self.work[self.reads[core]]
        self.used += seconds
        self.streaming.add(core)
        heappush(self.streams, (self.delivered + self.run.bytes, core, self.turn[core], self.clock + seconds))

    def end(self, core: int) -> None:
        """A part goes to the driver."""
        self.ends.append(self.clock)
        self.reads[core] = -1
        self.free(core)

    def lost(self, core: int) -> None:
        """Another one reads its file; it comes back, and gets the judgments again."""
        self.todo.extend(file for file in [self.reads[core]] if file >= 0)
        self.turn[core] += 1
        self.reads[core] = -1
        self.streaming.discard(core)
        self.idle.discard(core)
        self.at(self.clock + BACK + self.run.sending + self.run.loading, "free", core)
        self.at(self.clock + self.random.exponential(LOST), "lost", core)
        if self.todo and self.idle:
            self.at(self.clock, "free", self.idle.pop())


def main() -> int:
    """The exit code is 1 if a promise is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of-page", action="store_true", help="measure nothing")
    parser.add_argument("--store", type=float, default=25, help="billion bytes a second that it delivers; default: 25")
    parser.add_argument("--file-lines", type=float, default=7, help="million lines of a file; default: 7")
    parser.add_argument("--judged", type=int, default=1_000_000, help="queries, at most; default: a million")
    given = parser.parse_args()
    bad: list[str] = []
    costs = Costs() if given.of_page else measured(bad)
    print("| lines | 1 machine | 10 machines | 100 machines | driver |\n| --- | --- | --- | --- | --- |")
    ratios = []
    for name, lines in SIZES.items():
        cells = []
        for run in (Run(lines, machines, costs, given) for machines in MACHINES):
            seconds, limit = sorted(simulated(run, seed) for seed in range(SEEDS))[SEEDS // 2]
            ratios.append(formula(run) / seconds)
            cells.append(f"{seconds:,.{0 if seconds > 9.95 else 1}f} s, {limit} ({ratios[-1]:.2f})")
        cells.append(f"{run.evaluating:.1f} s, {run.driver / 1e9:.1f} GB; a worker {run.worker / 1e9:.1f} GB")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print(f"The formula gives {min(ratios):.2f} to {max(ratios):.2f} times the time of the simulation.")
    if max(*ratios, *(1 / each for each in ratios)) > NEAR:
        bad.append(f"the formula is off by more than a factor of {NEAR}")
    print("\n".join(each.upper() for each in bad) or "all promises are kept")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
