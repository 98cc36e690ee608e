"""Many calls of one function: so many at a time, each within its time limit, their answers in order.

The one who waits never hangs on the one who is called: a thread cannot be stopped, but it can be left alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from queue import Empty, Queue
from threading import Lock
from typing import Any, NamedTuple

from pytest_ireval.progress import Progress

PATIENCE = 0.5
"""Seconds between two looks at the clock, so that Ctrl-C is heard everywhere."""
GRACE = 1.0
"""Seconds beyond its limit in which a cancelled call may end."""


class Outcome(NamedTuple):
    """What came of a call: a value, an exception, or nothing in time."""

    value: Any = None
    error: BaseException | None = None
    overran: bool = False
    goes_on: bool = False
    """Whether a call that overran is running still."""

    @property
    def failed(self) -> bool:
        """Whether there is no value."""
        return self.error is not None or self.overran


class Calls:
    """Which calls began when, and what came of them; shared by those who call and the one who waits.

    They begin in order, and after a failure none begins any more. So the first that fails is always the same one.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._begun = 0
        self._closed = False
        self._running: dict[int, float] = {}
        self._lock = Lock()
        self._ended: Queue[tuple[int, Outcome, float]] = Queue()

    def begin(self) -> int | None:
        """The number of the next call; None when there is nothing left to do."""
        with self._lock:
            number = self._begun
            if self._closed or number == self.count:
                return None
            self._begun += 1
            self._running[number] = time.monotonic()
            return number

    def end(self, number: int, outcome: Outcome) -> None:
        """Tell what came of it."""
        with self._lock:
            began = self._running.pop(number, None)
            self._closed |= outcome.failed
        if began is not None:  # or nobody waits for it any longer
            self._ended.put((number, outcome, time.monotonic() - began))

    def close(self) -> None:
        """No further call begins."""
        with self._lock:
            self._closed = True

    def wait(self, limit: float, progress: Progress) -> list[Outcome]:
        """What came of all calls, in order, until the first that failed."""
        outcomes: dict[int, Outcome] = {}
        try:
            while len(outcomes) < self._expected():
                for number, outcome in (*self._late(limit), *self._news(limit)):
                    outcomes[number] = outcome
                    progress.advance(1)
                    if outcome.failed:
                        self.close()
        finally:
            self.close()
        in_order = [outcomes[number] for number in sorted(outcomes)]
        first = next((place for place, outcome in enumerate(in_order) if outcome.failed), len(in_order))
        return in_order[: first + 1]

    def _expected(self) -> int:
        with self._lock:
            return self._begun if self._closed else self.count

    def _late(self, limit: float) -> list[tuple[int, Outcome]]:
        """The calls that nobody waits for any longer."""
        now = time.monotonic()
        with self._lock:
            late = [number for number, began in self._running.items() if now - began > limit]
            for number in late:
                del self._running[number]
        return [(number, Outcome(overran=True, goes_on=True)) for number in late]

    def _news(self, limit: float) -> list[tuple[int, Outcome]]:
        """The next call that ended, if one does before it is time to look at the clock."""
        try:
            number, outcome, seconds = self._ended.get(timeout=min(PATIENCE, limit))
        except Empty:
            return []
        return [(number, outcome if outcome.failed or seconds <= limit else Outcome(overran=True))]


def attempted(call: Callable[[], Any]) -> Outcome:
    """What comes of a call."""
    try:
        return Outcome(value=call())
    # A foreign function may raise anything, sys.exit() and a test's skip too; it is told as an error that names it.
    except BaseException as error:  # noqa: BLE001
        return Outcome(error=error)
