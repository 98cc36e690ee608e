"""The progress of long-running work, reported to a face that the work does not know."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Protocol


class Progress(Protocol):
    """Receives the amount of work, in bytes or any other unit, the same in ``expect`` and ``advance``; thread-safe."""

    def expect(self, amount: int, what: str) -> None:
        """More work has come up: ``amount`` units of ``what``."""

    def advance(self, amount: int) -> None:
        """``amount`` units of it are done."""


class Silent:
    """A progress that is not shown."""

    def expect(self, amount: int, what: str) -> None:
        """Ignore it."""

    def advance(self, amount: int) -> None:
        """Ignore it."""


SILENT = Silent()


class Stopwatch:
    """The progress of calls, with the moments when each was due and when it ended.

    Without a rate a call is due when it begins. With a rate, calls are due at equal distances, whether or not earlier
    ones have ended: the time of a late call includes its waiting.
    """

    def __init__(
        self, rate: float | None = None, progress: Progress = SILENT, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate, self.progress, self.clock = rate, progress, clock
        self.due: dict[int, float] = {}
        self.ended: dict[int, float] = {}
        self.first: float | None = None
        self._lock = Lock()

    def expect(self, amount: int, what: str) -> None:
        """Pass it on."""
        self.progress.expect(amount, what)

    def advance(self, amount: int) -> None:
        """Pass it on."""
        self.progress.advance(amount)

    def wait(self, number: int) -> float:
        """The seconds until a call is due; 0 if it is late."""
        with self._lock:
            now = self.clock()
            if self.first is None:
                self.first = now
            self.due[number] = now if self.rate is None else self.first + number / self.rate
            return max(0.0, self.due[number] - now)

    def end(self, number: int) -> None:
        """The call has ended."""
        self.ended[number] = self.clock()

    def seconds(self, number: int) -> float:
        """The time of a call, from the moment when it was due."""
        return self.ended[number] - self.due[number]
