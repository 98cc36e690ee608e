"""Lines in a terminal that show the progress of asking a slow search system."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from threading import Lock, current_thread, main_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

PATIENCE, PAUSE = 3.0, 10.0
"""Seconds until the first line, and between two of them."""
SLOW_WORK = ("queries", "calls", "batches of queries")
"""Work that is shown; other work counts bytes of files, and is fast."""


class ProgressLines:
    """The progress of a gate, as lines of pytest's own reporter."""

    def __init__(self, config: pytest.Config, clock: Callable[[], float] = time.monotonic) -> None:
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        is_watched = config.get_verbosity() >= 0 and reporter is not None and reporter.isatty
        self.reporter = reporter if is_watched else None
        capture = config.pluginmanager.get_plugin("capturemanager")
        self.suspend_capture = nullcontext if capture is None else capture.global_and_fixture_disabled
        self.clock, self.lock = clock, Lock()
        self.what, self.expected, self.done = "", 0, 0
        self.began = self.last_line = 0.0

    def expect(self, amount: int, what: str) -> None:
        """More of the same work, or the first of another kind."""
        with self.lock:
            if what != self.what:
                self.what, self.expected, self.done, self.began = what, 0, 0, self.clock()
            self.expected += amount

    def advance(self, amount: int) -> None:
        with self.lock:
            self.done += amount
            now = self.clock()
            if (
                self.reporter is None
                or current_thread() is not main_thread()  # pytest's reporter is not thread-safe
                or self.what not in SLOW_WORK
                or now - self.began < PATIENCE
                or now - self.last_line < PAUSE
            ):
                return
            self.last_line, rate = now, self.done / max(now - self.began, 1e-9)
            minutes, seconds = divmod(round((self.expected - self.done) / rate) if rate else 0, 60)
            left = f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
            speed = f"{rate:,.{0 if rate >= 10 else 1}f} a second"
            with self.suspend_capture():
                self.reporter.ensure_newline()  # pytest writes the name of the file again after it
                self.reporter.write_line(f"{self.done:,} of {self.expected:,} {self.what}, {speed}, {left} left")
