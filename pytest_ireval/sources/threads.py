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
from queue import SimpleQueue
from threading import Thread, current_thread
from typing import Any

from pytest_ireval.progress import Progress
from pytest_ireval.sources.calls import GRACE, Calls, Outcome, attempted

Work = Callable[[], None]


class Line:
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
        self.thread.join(GRACE)
        if not self.thread.is_alive():
            self.loop.close()

    def give_up(self) -> None:
        """Nobody needs it any longer: a call blocks it, and what becomes of the others is of no interest."""
        self.loop.set_exception_handler(lambda _loop, _context: None)
        _loops.clear()


_lines: list[Line] = []
_loops: list[Loop] = []
"""At most one each; the threads they name outlive a run, for what a module keeps outlives it too."""


def _line() -> Line:
    """The thread for calls one after the other; a new one for calls made in it, or it would wait for itself."""
    if _lines and _lines[0].thread.is_alive() and _lines[0].thread is not current_thread():
        return _lines[0]
    _lines[:] = [Line()]
    return _lines[0]


def _loop() -> Loop:
    if _loops and _loops[0].thread.is_alive() and _loops[0].thread is not current_thread():
        return _loops[0]
    _loops[:] = [Loop()]
    return _loops[0]


def in_line(work: Callable[[], Any], progress: Progress) -> Outcome:
    """What comes of one call without a time limit, in the thread of calls one after the other."""
    return in_threads(lambda _: work(), 1, 1, float("inf"), progress)[0]


def in_threads(
    call: Callable[[int], Any], count: int, concurrency: int, limit: float, progress: Progress
) -> list[Outcome]:
    """What came of ``call(0)``, ``call(1)`` and so on, ``concurrency`` at a time."""
    calls = Calls(count)

    def work() -> None:
        while (number := calls.begin()) is not None:
            calls.end(number, attempted(lambda at=number: call(at)))  # type: ignore[misc]  # bound now, called now

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
) -> list[Outcome]:
    """The same of an async function; a call that overruns is cancelled."""
    calls = Calls(count)

    async def work() -> None:
        while (number := calls.begin()) is not None:
            calls.end(number, await _within(call(number), limit))

    async def all_work() -> None:
        await asyncio.gather(*(work() for _ in range(min(concurrency, count))))

    loop = _loop()
    future = asyncio.run_coroutine_threadsafe(all_work(), loop.loop)
    try:
        outcomes = calls.wait(limit + GRACE, progress)
    finally:
        future.cancel()
    if any(outcome.goes_on for outcome in outcomes):
        loop.give_up()
    return outcomes


def in_background(work: Awaitable[Any], progress: Progress) -> Outcome:
    """What comes of waiting for something, however long it takes."""
    return in_loop(lambda _: work, 1, 1, float("inf"), progress)[0]


async def _within(call: Awaitable[Any], limit: float) -> Outcome:
    """What comes of an async call in time; a time limit of its own is an exception as any other."""
    began = time.monotonic()
    try:
        outcome = await asyncio.wait_for(_attempted(call), None if limit == float("inf") else limit)
    except (asyncio.CancelledError, asyncio.TimeoutError) as error:
        outcome = Outcome(error=error)
    return Outcome(overran=True) if time.monotonic() - began >= limit else outcome


async def _attempted(call: Awaitable[Any]) -> Outcome:
    """As :func:`attempted`; an exception such as that of sys.exit() would end the loop."""
    try:
        return Outcome(value=await call)
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - a foreign function may raise anything
        return Outcome(error=error)
