"""Where foreign functions are called: plain ones in threads, async ones in a loop that has a thread of its own.

Calls that come one after the other always come from one thread, and all async ones from one loop, for as long as the
process lives: so a database connection or a client that a module keeps stays usable from one asking to the next. They
are daemon threads: a call that never returns does not keep the process from ending.
"""

from __future__ import annotations

import asyncio
import atexit
import time
from collections.abc import Awaitable, Callable
from queue import Empty, Queue, SimpleQueue
from threading import Lock, Thread, current_thread
from typing import Any, NamedTuple

from pytest_ireval.progress import Progress

Work = Callable[[], None]


class _Line:
    """A thread that does one thing after the other."""

    def __init__(self) -> None:
        self._work: SimpleQueue[Work] = SimpleQueue()
        self.thread = Thread(target=self._do_all, name="ireval-source", daemon=True)
        self.thread.start()

    def do(self, work: Work) -> None:
        """Do it when everything before is done."""
        self._work.put(work)

    def _do_all(self) -> None:
        while True:
            self._work.get()()


class Loop:
    """An event loop in a thread of its own: it works where another loop is running already, as in a notebook."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = Thread(target=self.loop.run_forever, name="ireval-source-loop", daemon=True)
        self.thread.start()
        atexit.register(self.end)

    def end(self) -> None:
        """Stop the loop, unless a call blocks it."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(_GRACE)
        if not self.thread.is_alive():
            self.loop.close()

    def give_up(self) -> None:
        """Nobody needs it any longer: a call blocks it, and what becomes of the others is of no interest."""
        self.loop.set_exception_handler(lambda _loop, _context: None)
        _loops.clear()


_lines: list[_Line] = []
_loops: list[Loop] = []
"""At most one each; the threads they name outlive a run, for what a module keeps outlives it too."""


def _line() -> _Line:
    """The thread for calls one after the other; a new one for calls made in it, or it would wait for itself."""
    if _lines and _lines[0].thread.is_alive() and _lines[0].thread is not current_thread():
        return _lines[0]
    _lines[:] = [_Line()]
    return _lines[0]


def _loop() -> Loop:
    if _loops and _loops[0].thread.is_alive() and _loops[0].thread is not current_thread():
        return _loops[0]
    _loops[:] = [Loop()]
    return _loops[0]


def in_line(work: Callable[[], Any], progress: Progress) -> CallOutcome:
    """What comes of one call without a time limit, in the thread of calls one after the other."""
    return in_threads(lambda _: work(), 1, 1, float("inf"), progress)[0]


def in_threads(
    call: Callable[[int], Any], count: int, concurrency: int, limit: float, progress: Progress
) -> list[CallOutcome]:
    """What came of ``call(0)``, ``call(1)`` and so on, ``concurrency`` at a time."""
    calls = _Calls(count)

    def work() -> None:
        while (number := calls.begin()) is not None:
            calls.end(number, _attempted(lambda at=number: call(at)))  # type: ignore[misc]  # bound now, called now

    if concurrency > 1:
        for _ in range(min(concurrency, count)):
            Thread(target=work, name="ireval-source", daemon=True).start()
        return calls.wait(limit, progress)
    line = _line()
    line.do(work)
    free = False
    try:
        outcomes = calls.wait(limit, progress)
        free = not any(outcome.goes_on for outcome in outcomes)
    finally:
        if not free and line in _lines:
            _lines.clear()  # it is busy with a call that nobody waits for, who knows how long
    return outcomes


def in_loop(
    call: Callable[[int], Awaitable[Any]], count: int, concurrency: int, limit: float, progress: Progress
) -> list[CallOutcome]:
    """The same of an async function; a call that overruns is cancelled."""
    calls = _Calls(count)

    async def work() -> None:
        while (number := calls.begin()) is not None:
            calls.end(number, await _within(call(number), limit))

    async def all_work() -> None:
        await asyncio.gather(*(work() for _ in range(min(concurrency, count))))

    loop = _loop()
    future = asyncio.run_coroutine_threadsafe(all_work(), loop.loop)
    try:
        outcomes = calls.wait(limit + _GRACE, progress)
    finally:
        future.cancel()
    if any(outcome.goes_on for outcome in outcomes):
        loop.give_up()
    return outcomes


def in_background(work: Awaitable[Any], progress: Progress) -> CallOutcome:
    """What comes of waiting for something, however long it takes."""
    return in_loop(lambda _: work, 1, 1, float("inf"), progress)[0]


async def _within(call: Awaitable[Any], limit: float) -> CallOutcome:
    """What comes of an async call in time; a time limit of its own is an exception as any other."""
    began = time.monotonic()
    try:
        outcome = await asyncio.wait_for(_awaited(call), None if limit == float("inf") else limit)
    except (asyncio.CancelledError, asyncio.TimeoutError) as error:
        outcome = CallOutcome(error=error)
    return CallOutcome(overran=True) if time.monotonic() - began >= limit else outcome


async def _awaited(call: Awaitable[Any]) -> CallOutcome:
    """As :func:`attempted`; an exception such as that of sys.exit() would end the loop."""
    try:
        return CallOutcome(value=await call)
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - a foreign function may raise anything
        return CallOutcome(error=error)


PATIENCE = 0.5
"""Seconds between two looks at the clock, so that Ctrl-C is heard everywhere."""
_GRACE = 1.0
"""Seconds beyond its limit in which a cancelled call may end."""


class CallOutcome(NamedTuple):
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


class _Calls:
    """Which calls began when, and what came of them; shared by those who call and the one who waits.

    They begin in order, and after a failure none begins any more. So the first that fails is always the same one.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._begun = 0
        self._closed = False
        self._running: dict[int, float] = {}
        self._lock = Lock()
        self._ended: Queue[tuple[int, CallOutcome, float]] = Queue()

    def begin(self) -> int | None:
        """The number of the next call; None when there is nothing left to do."""
        with self._lock:
            number = self._begun
            if self._closed or number == self.count:
                return None
            self._begun += 1
            self._running[number] = time.monotonic()
            return number

    def end(self, number: int, outcome: CallOutcome) -> None:
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

    def wait(self, limit: float, progress: Progress) -> list[CallOutcome]:
        """What came of all calls, in order, until the first that failed."""
        outcomes: dict[int, CallOutcome] = {}
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

    def _late(self, limit: float) -> list[tuple[int, CallOutcome]]:
        """The calls that nobody waits for any longer."""
        now = time.monotonic()
        with self._lock:
            late = [number for number, began in self._running.items() if now - began > limit]
            for number in late:
                del self._running[number]
        return [(number, CallOutcome(overran=True, goes_on=True)) for number in late]

    def _news(self, limit: float) -> list[tuple[int, CallOutcome]]:
        """The next call that ended, if one does before it is time to look at the clock."""
        try:
            number, outcome, seconds = self._ended.get(timeout=min(PATIENCE, limit))
        except Empty:
            return []
        return [(number, outcome if outcome.failed or seconds <= limit else CallOutcome(overran=True))]


def _attempted(call: Callable[[], Any]) -> CallOutcome:
    """What comes of a call."""
    try:
        return CallOutcome(value=call())
    # A foreign function may raise anything, sys.exit() and a test's skip too; it is told as an error that names it.
    except BaseException as error:  # noqa: BLE001
        return CallOutcome(error=error)
