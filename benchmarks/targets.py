"""What the project promises itself about speed, and whether the measurements hold it.

Every target is a ratio of two readings (or one reading, for memory), so it means the same on any
machine. "Must hold" is the limit below which a change is not accepted, "aim" what would be good.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Readings = Mapping[str, float]  # "data set/contestant/quantity" -> seconds or MiB


@dataclass(frozen=True)
class Target:
    """The claim that `value / against` (or `value` alone) is at least, or at most, `must_hold`."""

    claim: str
    value: str
    against: str = ""
    at_least: bool = True
    must_hold: float | None = None
    aim: float | None = None
    unit: str = "x"


@dataclass(frozen=True)
class Judgement:
    """A target with what was measured."""

    target: Target
    measured: float
    cpu: float | None = None
    """The same ratio of processor time, which decides where other work shares the machine."""

    @property
    def held(self) -> bool | None:
        """Whether the measured value keeps the limit; nothing if there is no limit."""
        return self._reaches(self.target.must_hold)

    @property
    def aim_reached(self) -> bool | None:
        """Whether the measured value reaches the aim; nothing if there is no aim."""
        return self._reaches(self.target.aim)

    def _reaches(self, limit: float | None) -> bool | None:
        if limit is None:
            return None
        return self.measured >= limit if self.target.at_least else self.measured <= limit


def faster(data: str, than: str, must: float | None = None, aim: float | None = None) -> Target:
    """Ours, end to end, is so many times faster than another tool."""
    claim = f"{data}, end to end: faster than {than}"
    return Target(claim, f"{data}/{than}/wall", f"{data}/ireval/wall", must_hold=must, aim=aim)


def faster_again(data: str, than: str, must: float | None = None, aim: float | None = None) -> Target:
    """Ours, per further ranking in one process, is so many times faster than another tool.

    trec_eval reads one ranking in a process, so its whole time counts.
    """
    claim = f"{data}, per further ranking in one process: faster than {than}"
    value = f"{data}/{than}/{'wall' if than == 'trec_eval' else 'further'}"
    return Target(claim, value, f"{data}/ireval/further", must_hold=must, aim=aim)


def at_most(
    claim: str, data: str, name: str, against: str, must: float | None = None, aim: float | None = None
) -> Target:
    """One contestant takes at most so many times the wall time of another."""
    value, other = f"{data}/{name}/wall", f"{data}/{against}/wall"
    return Target(f"{data}: {claim}", value, other, at_least=False, must_hold=must, aim=aim)


def peak(data: str, must: float | None = None, aim: float | None = None) -> Target:
    """Ours needs at most so much memory."""
    name = f"{data}/ireval/peak"
    return Target(f"{data}: peak memory", name, at_least=False, must_hold=must, aim=aim, unit="MiB")


TARGETS = (
    faster("small", "ir_measures", must=1.0, aim=1.2),
    faster("robust", "trec_eval", must=0.8, aim=1.0),
    faster("robust", "pytrec_eval"),
    faster("robust", "ir_measures"),
    faster_again("robust", "trec_eval", must=2, aim=3),
    faster_again("robust", "pytrec_eval"),
    faster_again("robust", "ir_measures", must=4, aim=6),
    faster("marco", "trec_eval", must=6.5, aim=10),
    faster("marco", "pytrec_eval"),
    faster("marco", "ir_measures"),
    faster("marco", "ranx"),
    at_most("time of the plain C pass", "marco", "ireval", "plain_pass"),
    peak("marco", must=90, aim=80),
    faster("deep", "trec_eval"),
    peak("deep", aim=100),
    faster("multi", "trec_eval"),
    faster("shuffled", "trec_eval"),
    at_most("gz against plain", "marco", "ireval gz", "ireval", must=1.3, aim=1.1),
    at_most("zst against plain", "marco", "ireval zst", "ireval"),
    at_most("60 metrics against 6", "marco", "ireval 60 metrics", "ireval 6 metrics", must=1.3, aim=1.1),
    at_most("60 metrics against 6, means alone", "marco", "ireval 60 means", "ireval 6 means", must=1.3, aim=1.1),
)


def judge(readings: Readings) -> list[Judgement]:
    """The targets whose readings were taken, in the order of TARGETS."""
    return [
        Judgement(target, measured, _divide_cpu(readings, target))
        for target in TARGETS
        if (measured := _divide(readings, target.value, target.against)) is not None
    ]


def _divide_cpu(readings: Readings, target: Target) -> float | None:
    if not (target.value.endswith("/wall") and target.against.endswith("/wall")):
        return None
    return _divide(readings, *(name.replace("/wall", "/cpu") for name in (target.value, target.against)))


def _divide(readings: Readings, value: str, against: str) -> float | None:
    if value not in readings or (against and against not in readings):
        return None
    return readings[value] / (readings[against] if against else 1)
