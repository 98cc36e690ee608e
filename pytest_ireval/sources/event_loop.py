"""Awaits the async functions of users in one event loop, which runs in a thread of its own."""

from __future__ import annotations

import asyncio
import atexit
import time
from collections.abc import Awaitable
from threading import Thread, current_thread
from typing import Any, ClassVar

from pytest_ireval.sources.calls import CallOutcome, OverrunError

GRACE = 1.0
"""Seconds beyond its limit in which a cancelled call may end."""


class _EventLoop:
    """An event loop in a thread of its own: it works where another loop is running already, as in a notebook.

    It is kept, because connections that a user's module opened belong to it.
    """

    kept: ClassVar[_EventLoop | None] = None

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = Thread(target=self.loop.run_forever, name="ireval-source-loop", daemon=True)
        self.thread.start()
        atexit.register(self.end)

    @classmethod
    def keep_one(cls) -> _EventLoop:
        """The kept one; a new one for a call made in its thread."""
        if cls.kept is None or not cls.kept.thread.is_alive() or cls.kept.thread is current_thread():
            cls.kept = cls()
        return cls.kept

    def end(self) -> None:
        """Cancel what is running, and stop the loop, unless a call blocks it."""
        asyncio.run_coroutine_threadsafe(_cancel_all(), self.loop)
        self.thread.join(GRACE)
        if not self.thread.is_alive():
            self.loop.close()


async def _cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    asyncio.get_running_loop().stop()


def await_in_loop(awaitable: Awaitable[Any], limit: float = float("inf")) -> Any:
    """Await it in the kept event loop, and return its value; OverrunError if it was cancelled at its time limit."""
    loop = _EventLoop.keep_one().loop
    outcome = asyncio.run_coroutine_threadsafe(_await_within(awaitable, limit), loop).result()
    if outcome.overran:
        raise OverrunError
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


def give_up_loop() -> None:
    """Stop using the kept event loop, which a call blocks. Later errors of its other calls are ignored."""
    if _EventLoop.kept is not None:
        _EventLoop.kept.loop.set_exception_handler(lambda _loop, _context: None)
        _EventLoop.kept = None


async def _await_within(awaitable: Awaitable[Any], limit: float) -> CallOutcome:
    """The outcome within the limit; a timeout that the call itself raises is an exception like any other."""
    began = time.monotonic()
    try:
        outcome = await asyncio.wait_for(_catch_all(awaitable), None if limit == float("inf") else limit)
    except (asyncio.CancelledError, asyncio.TimeoutError) as error:
        outcome = CallOutcome(error=error)
    return CallOutcome(overran=True) if time.monotonic() - began >= limit else outcome


async def _catch_all(awaitable: Awaitable[Any]) -> CallOutcome:
    """The outcome of an async call; an exception such as that of sys.exit() would end the loop."""
    try:
        return CallOutcome(value=await awaitable)
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - a foreign function may raise anything
        return CallOutcome(error=error)
