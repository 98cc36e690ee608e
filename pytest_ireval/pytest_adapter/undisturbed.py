"""Evaluation beside pytest: without what slows it down, and with a line that shows how far it has come."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from threading import Lock, current_thread, main_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


@contextmanager
def as_they_are() -> Iterator[None]:
    """Import modules without pytest's rewriting of assertions."""
    # parsing 200 modules again takes longer than evaluating a suite, and a fresh environment, as CI has, keeps no cache
    rewriting = [finder for finder in sys.meta_path if type(finder).__module__ == "_pytest.assertion.rewrite"]
    for finder in rewriting:
        sys.meta_path.remove(finder)
    try:
        yield
    finally:
        sys.meta_path[:0] = rewriting


@contextmanager
def without_collecting() -> Iterator[None]:
    """Stop Python's search for cycles meanwhile: there are many objects and none of them is garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


PATIENCE, PAUSE = 1.0, 0.5
"""Seconds until the line of progress appears, and between its changes."""
ASKED = ("queries", "calls", "batches of queries")
"""Work that is shown; other work counts bytes of files, and is fast."""
BELOW, CLEAR, BACK = "\x1bD\x1b[1A\x1b7\x1bD\r", "\x1b[2K", "\x1b8"
"""Moves the cursor of a terminal to the line below, which is there then; empties that line; moves it back."""


class AskingLine:
    """Shows, below pytest's own line of a terminal, how far a system that is asked for long has come."""

    def __init__(self, config: pytest.Config, clock: Callable[[], float] = time.monotonic) -> None:
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        watched = config.get_verbosity() >= 0 and reporter is not None and reporter.isatty
        # The file behind pytest's writer: what is written to it directly moves nothing of pytest's own.
        self.file = getattr(getattr(reporter, "_tw", None), "_file", None) if watched else None
        capture = config.pluginmanager.get_plugin("capturemanager")
        self.uncaptured = nullcontext if capture is None else capture.global_and_fixture_disabled
        self.clock, self.lock = clock, Lock()
        self.what, self.expected, self.done = "", 0, 0
        self.began = self.shown = 0.0

    def __enter__(self) -> AskingLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self.shown:
            self._write("")

    def expect(self, amount: int, what: str) -> None:
        """More of the same work, or the first of another kind."""
        with self.lock:
            if what != self.what:
                self.what, self.expected, self.done, self.began = what, 0, 0, self.clock()
            self.expected += amount

    def advance(self, amount: int) -> None:
        """Some of it is done."""
        with self.lock:
            self.done += amount
            now = self.clock()
            if (
                self.file is None
                or current_thread() is not main_thread()
                or self.what not in ASKED
                or now - self.began < PATIENCE
                or now - self.shown < PAUSE
            ):
                return
            self.shown, rate = now, self.done / max(now - self.began, 1e-9)
            minutes, seconds = divmod(round((self.expected - self.done) / rate) if rate else 0, 60)
            left = f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
            speed = f"{rate:,.{0 if rate >= 10 else 1}f} a second"
            self._write(f"{self.done:,} of {self.expected:,} {self.what}, {speed}, {left} left")

    def _write(self, text: str) -> None:
        if self.file is not None:
            with self.uncaptured():
                self.file.write(f"{BELOW}{CLEAR}{text}{BACK}")
                self.file.flush()
