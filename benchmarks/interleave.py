"""How commands are timed side by side: A B C A B C ..., a process each, the first round dropped.

Interleaving makes a noisy minute hit all of them alike; the first round warms the page cache and,
for ranx, the cache of compiled code. Wall time runs from the start of the process to its end, its
output written to a file.

The peak memory that the system reports for a process is at least that of the process which started
it. So what measures must stay small: no numpy, no values in memory until everything is measured.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryFile
from time import perf_counter

MAXIMUM_RESIDENT_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes


@dataclass(frozen=True)
class Contestant:
    """One command to time, and the file that its standard output goes to."""

    name: str
    command: tuple[str, ...]
    output: Path
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cost:
    """What one process took; CPU is user plus system time, of all its threads and children."""

    wall_seconds: float
    cpu_seconds: float
    peak_mebibytes: float


@dataclass(frozen=True)
class Summary:
    """The medians over all rounds; `spread` is the range of the wall times over their median."""

    wall_seconds: float
    cpu_seconds: float
    peak_mebibytes: float
    spread: float
    rounds: list[dict[str, float]]


class CommandError(Exception):
    """A command ended with an error; the text says which, how, and what it complained of."""


def measure_once(contestant: Contestant) -> Cost:
    """The command has run once and its output file is new."""
    contestant.output.parent.mkdir(parents=True, exist_ok=True)
    with contestant.output.open("wb") as output, TemporaryFile() as complaints:
        environment = {**os.environ, **contestant.environment}
        start = perf_counter()
        process = subprocess.Popen(contestant.command, stdout=output, stderr=complaints, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        wall_seconds = perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            complaints.seek(0)
            text = complaints.read().decode(errors="replace").strip()
            raise CommandError(f"{contestant.name}: exit code {process.returncode}\n{text[-1000:]}")
    peak = usage.ru_maxrss * MAXIMUM_RESIDENT_UNIT / 2**20
    return Cost(wall_seconds, usage.ru_utime + usage.ru_stime, peak)


def measure_interleaved(
    contestants: Sequence[Contestant], rounds: int, tell: Callable[[str], None]
) -> dict[str, Summary]:
    """One summary a contestant, by name; whoever fails in the first round is told and left out."""
    costs: dict[str, list[Cost]] = {}
    for contestant in contestants:
        try:
            cost = measure_once(contestant)
        except CommandError as failure:
            tell(f"left out: {failure}")
        else:
            tell(f"first round, dropped: {contestant.name} {cost.wall_seconds:.3f} s")
            costs[contestant.name] = []
    for number in range(1, rounds + 1):
        for contestant in contestants:
            if contestant.name in costs:
                costs[contestant.name].append(measure_once(contestant))
        tell(f"round {number} of {rounds} done")
    return {name: summarise(measured) for name, measured in costs.items()}


def summarise(costs: Sequence[Cost]) -> Summary:
    """Medians and spread; the single rounds are kept beside them."""
    walls = [cost.wall_seconds for cost in costs]
    return Summary(
        wall_seconds=median(walls),
        cpu_seconds=median(cost.cpu_seconds for cost in costs),
        peak_mebibytes=median(cost.peak_mebibytes for cost in costs),
        spread=(max(walls) - min(walls)) / median(walls),
        rounds=[asdict(cost) for cost in costs],
    )


def measure_printed_seconds(
    contestants: Sequence[Contestant], rounds: int, tell: Callable[[str], None]
) -> dict[str, float]:
    """For commands that time themselves: the median of all the seconds they print, over all rounds."""
    seconds: dict[str, list[float]] = {}
    failed: set[str] = set()
    for _ in range(rounds):
        for contestant in contestants:
            if contestant.name not in failed:
                try:
                    measure_once(contestant)
                except CommandError as failure:
                    tell(f"left out: {failure}")
                    failed.add(contestant.name)
                else:
                    printed = contestant.output.read_text(encoding="ascii").split()
                    seconds.setdefault(contestant.name, []).extend(map(float, printed))
    return {name: median(values) for name, values in seconds.items() if name not in failed}
