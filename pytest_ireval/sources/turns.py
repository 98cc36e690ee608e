"""Turns of sources that are asked together: a few queries of one, then a few of the other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Condition, Thread, local
from typing import Any, Protocol, TypeVar

from pytest_ireval.errors import IrevalError, SourceError

PATIENCE = 0.5
"""Seconds between two looks, so that Ctrl-C is heard everywhere."""
T = TypeVar("T")


class Ended(Protocol):
    """The outcome of a call."""

    @property
    def failed(self) -> bool:
        """True if it has no value."""


Outcome = TypeVar("Outcome", bound=Ended)


class _Turns:
    """Lets one source ask at a time.

    The source that is behind continues; of those that asked equally many, the one that asked last. So two sources ask
    in the order A B B A A B B A, and neither is always the first.
    """

    def __init__(self, count: int) -> None:
        self._asked = dict.fromkeys(range(count), 0)
        self._now = 0
        self._broken = False
        self._path = sys.path[:]
        self._changed = Condition()

    @contextmanager
    def of(self, number: int) -> Iterator[None]:
        """Wait for the first turn of a source, and leave at the end; an error of the first source ends the others."""
        _here.pass_on, _here.asked = lambda asked: self._pass_on(number, asked), 0
        try:
            self._wait(number, self._path)
            yield
        except BaseException as error:
            self._broken |= not number or not isinstance(error, IrevalError)
            raise
        finally:
            _here.pass_on = None
            with self._changed:
                del self._asked[number]
                self._choose(number)

    def _pass_on(self, number: int, asked: int) -> None:
        """Let another source ask, until it is the turn of this one again; each keeps its own path of modules."""
        path = sys.path[:]
        with self._changed:
            self._asked[number] += asked
            self._choose(number)
        self._wait(number, path)

    def _choose(self, last: int) -> None:
        if self._now == last:
            self._now = min(self._asked, key=lambda each: (self._asked[each], each != last), default=last)
        self._changed.notify_all()

    def _wait(self, number: int, path: list[str]) -> None:
        with self._changed:
            while self._now != number and not self._broken:
                self._changed.wait(PATIENCE)
        sys.path[:] = path
        if self._broken:
            raise SourceError("it was not asked any more, because another source failed")


_here = local()
"""In the thread of a source that takes turns: ``pass_on``, and the number of queries that it ``asked`` in its turn."""


def in_turns(calls: Sequence[Callable[[], T]]) -> list[T | IrevalError]:
    """The results of calls that each ask a source. They take turns; the error of a call is its result.

    The first runs in this thread. After its error the others end early, for nothing would be compared with them.
    """
    turns, found = _Turns(len(calls)), list[Any]([None] * len(calls))

    def call(number: int) -> None:
        try:
            with turns.of(number):
                found[number] = calls[number]()
        except BaseException as error:  # noqa: BLE001 - it is the result, or is raised in the thread of the caller
            found[number] = error

    threads = [Thread(target=call, args=(number,), name="ireval-turns", daemon=True) for number in range(1, len(calls))]
    for thread in threads:
        thread.start()
    call(0)
    waiting = [] if isinstance(found[0], KeyboardInterrupt) else threads
    while any(thread.is_alive() for thread in waiting):
        for thread in waiting:
            thread.join(PATIENCE)
    for each in found:
        if isinstance(each, BaseException) and not isinstance(each, IrevalError):
            raise each
    return found


def by_turns(ask: Callable[[range], list[Outcome]], count: int, size: int) -> list[Outcome]:
    """The outcomes of all calls until the first that failed; in turns of ``size`` where other sources are asked."""
    pass_on, outcomes = getattr(_here, "pass_on", None), list[Outcome]()
    size = count if pass_on is None else size
    for begin in range(0, count, max(1, size)):
        if pass_on is not None and count > 1:  # a single call imports a module
            if _here.asked:  # also where it is asked all queries again
                pass_on(_here.asked)
            _here.asked = min(size, count - begin)
        outcomes += ask(range(begin, min(begin + size, count)))
        if outcomes[-1].failed:
            break
    return outcomes
