"""Calls of a source: several at a time, each within a time limit, and none after the first failure."""

from __future__ import annotations

import time
from collections.abc import Callable
from queue import SimpleQueue
from threading import Event, Lock, Thread, current_thread
from typing import Any, ClassVar, NamedTuple

from pytest_ireval.progress import Progress, Stopwatch

PATIENCE = 0.1
"""Seconds between two looks at the clock and at the progress; Ctrl-C is heard in between, on Windows too."""


def suggest_longer_timeout(seconds: float) -> str:
    """What to write where a time limit was too short."""
    return f"to allow more time, write timeout: {2 * seconds:g}s in the source"


class CallOutcome(NamedTuple):
    """The outcome of a call: a value, an exception, or nothing in time."""

    value: Any = None
    error: BaseException | None = None
    overran: bool = False
    goes_on: bool = False
    """True if a call that overran is still running."""

    @property
    def failed(self) -> bool:
        """True if there is no value."""
        return self.error is not None or self.overran


class OverrunError(Exception):
    """A call was cancelled at its time limit."""


def make_calls(
    call: Callable[[int], Any], count: int, concurrency: int, limit: float, progress: Progress
) -> list[CallOutcome]:
    """Call ``call(0)``, ``call(1)`` and so on, ``concurrency`` at a time; the outcomes, until the first that failed.

    The threads are daemons. Those of a ThreadPoolExecutor are not: Python waits for them at its end, so a call that
    hangs would keep pytest from ending, after its time limit and after Ctrl-C.
    """
    calls = _Calls(call, count, limit, progress)
    if concurrency > 1:
        for _ in range(min(concurrency, count)):
            Thread(target=calls.make_all, name="ireval-source", daemon=True).start()
        return calls.wait()
    thread, is_busy = _KeptThread.get(), True
    try:
        thread.submit(calls.make_all)
        outcomes = calls.wait()
        is_busy = any(outcome.goes_on for outcome in outcomes)
    finally:
        if is_busy:  # with a call that was given up, and that may take any time
            _KeptThread.kept = None
    return outcomes


class _KeptThread:
    """The thread of calls one after the other.

    It is kept, because what a user's module opened may belong to the thread that imported it, as a connection to SQLite
    does.
    """

    kept: ClassVar[_KeptThread | None] = None

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.thread = Thread(target=self._do_all, name="ireval-source", daemon=True)
        self.thread.start()

    @classmethod
    def get(cls) -> _KeptThread:
        """The kept thread; a new one in a forked process, and for a call made in it, which would wait for itself."""
        if cls.kept is None or not cls.kept.thread.is_alive() or cls.kept.thread is current_thread():
            cls.kept = cls()
        return cls.kept

    def submit(self, work: Callable[[], None]) -> None:
        """Do it when everything before is done."""
        self._work.put(work)

    def _do_all(self) -> None:
        while True:
            self._work.get()()


class _Calls:
    """Calls and their outcomes; shared by the calling threads and the waiting one.

    Calls begin in order, and none begins after a failure. So the first that fails is always the same one.
    """

    def __init__(self, call: Callable[[int], Any], count: int, limit: float, progress: Progress) -> None:
        self.call, self.count, self.limit, self.progress = call, count, limit, progress
        self._begun = 0
        self._stopped = False
        self._running: dict[int, float] = {}
        self._outcomes: dict[int, CallOutcome] = {}
        self._lock = Lock()
        self._all_ended = Event()

    def make_all(self) -> None:
        """Make one call after the other, until none is left or one has failed."""
        while True:
            with self._lock:
                if self._stopped or self._begun == self.count:
                    return
                number, began = self._begun, time.monotonic()
                self._begun += 1
                self._running[number] = began
            outcome = self._attempt(number)
            late = not outcome.failed and time.monotonic() - began > self.limit
            with self._lock:
                if number in self._running:  # else it was given up
                    self._end(number, CallOutcome(overran=True) if late else outcome)

    def _attempt(self, number: int) -> CallOutcome:
        watch = self.progress if isinstance(self.progress, Stopwatch) else None
        if watch is not None:
            time.sleep(watch.wait(number))
        try:
            return CallOutcome(value=self.call(number))
        except OverrunError:
            return CallOutcome(overran=True)
        # A foreign function may raise anything, sys.exit() and a test's skip too; it becomes an error that names it.
        except BaseException as error:  # noqa: BLE001
            return CallOutcome(error=error)
        finally:
            if watch is not None:
                watch.end(number)

    def _end(self, number: int, outcome: CallOutcome) -> None:
        del self._running[number]
        self._outcomes[number] = outcome
        self._stopped |= outcome.failed
        if not self._running and (self._stopped or self._begun == self.count):
            self._all_ended.set()

    def wait(self) -> list[CallOutcome]:
        """The outcomes of all calls, in order, until the first that failed."""
        try:
            over = not self.count
            while not over:
                before = len(self._outcomes)
                over = self._all_ended.wait(min(PATIENCE, self.limit))
                with self._lock:
                    now = time.monotonic()
                    for number in [number for number, began in self._running.items() if now - began > self.limit]:
                        self._end(number, CallOutcome(overran=True, goes_on=True))
                self.progress.advance(len(self._outcomes) - before)
        finally:
            with self._lock:
                self._stopped = True
        in_order = [outcome for _, outcome in sorted(self._outcomes.items())]
        first = next((place for place, outcome in enumerate(in_order) if outcome.failed), len(in_order))
        return in_order[: first + 1]
