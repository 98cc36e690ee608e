"""Work on several threads, and the memory that it leaves behind. NumPy lets other threads run while it computes."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def count_threads() -> int:
    """The number of threads that share some work: the processors that this process may use, up to four."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(4, processors)


def open_thread_pool() -> ThreadPoolExecutor:
    """A pool of that many threads; imported here, because small files need none, and logging comes with it."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(count_threads())


def map_on_threads(function: Callable[[Piece], Result], pieces: Iterable[Piece]) -> Iterator[Result]:
    """The same as ``map``, but threads work on the next pieces; not far ahead, since each piece takes memory."""
    left = iter(pieces)
    begun = list(islice(left, 2))
    if len(begun) < 2 or count_threads() < 2:
        yield from map(function, chain(begun, left))
        return
    with open_thread_pool() as pool:
        waiting: deque[Future[Result]] = deque()
        for piece in chain(begun, left):
            waiting.append(pool.submit(function, piece))
            if len(waiting) > 2 * count_threads():
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def keep_freed_memory() -> None:
    """Make glibc keep freed memory of temporaries, instead of returning it and asking for zeroed pages again.

    It raises its thresholds to the size of the largest block freed, up to 32 MiB; elsewhere this does nothing.
    """
    if sys.platform == "linux":
        np.empty(31 << 20, np.uint8)


def return_freed_memory() -> None:
    """Let glibc return it, when large files have been read; elsewhere this does nothing."""
    if sys.platform == "linux":
        with suppress(ImportError):  # some builds of Python have no ctypes
            from ctypes import CDLL

            if trim := getattr(CDLL(None), "malloc_trim", None):
                trim(0)
