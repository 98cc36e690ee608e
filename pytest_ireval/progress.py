"""The progress of long-running work, reported to a face that the work does not know."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives the amount of work, in bytes or any other unit, the same in ``expect`` and ``advance``; thread-safe."""

    def expect(self, amount: int, what: str) -> None:
        """More work has come up: ``amount`` units of ``what``."""

    def advance(self, amount: int) -> None:
        """``amount`` units of it are done."""


class Silent:
    """A progress that is not shown."""

    def expect(self, amount: int, what: str) -> None:
        """Ignore it."""

    def advance(self, amount: int) -> None:
        """Ignore it."""


SILENT = Silent()
