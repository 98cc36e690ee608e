"""A progress bar for work that takes longer than a second, on a terminal only."""

from __future__ import annotations

import shutil
import sys
import time
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar


PATIENCE = 1.0
"""Seconds of silence before a bar appears."""


class LateBar:
    """Counts from the start, and shows a bar on standard error once the work has taken a second.

    Nothing is ever written, and nothing heavy imported, when standard error is no terminal.
    """

    def __init__(self) -> None:
        self.watched = sys.stderr.isatty()
        self.started = time.monotonic()
        self.expected = 0
        self.done = 0
        self.what = ""
        self.bar: Bar | None = None
        self.lock = Lock()

    def __enter__(self) -> LateBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def expect(self, amount: int, what: str) -> None:
        """More work: so many bytes."""
        with self.lock:
            self.expected += amount
            self.what = what

    def advance(self, amount: int) -> None:
        """So many bytes are done."""
        if not self.watched:
            return
        with self.lock:
            self.done += amount
            if self.bar is None and time.monotonic() - self.started > PATIENCE:
                self.bar = _started_bar()
            if self.bar is not None:
                done = min(self.done, self.expected)  # of a compressed file only the packed size is known
                self.bar.update(self.bar.task_ids[0], description=self.what, total=self.expected, completed=done)


def _started_bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task("")
    bar.start()
    return bar


WIDTH = 80
"""Of what does not go to a terminal."""


def terminal_width() -> int:
    """Columns of the terminal, if there is one."""
    return shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else WIDTH
