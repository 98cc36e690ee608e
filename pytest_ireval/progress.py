"""How long-running work tells a face how far it is, without knowing what the face looks like."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told about work in bytes (or any unit, as long as ``expect`` and ``advance`` agree); thread-safe."""

    def expect(self, amount: int, what: str) -> None:
        """More work has come up: ``amount`` units of ``what``."""

    def advance(self, amount: int) -> None:
        """So much of it is done."""


class Silent:
    """A progress that nobody watches."""

    def expect(self, amount: int, what: str) -> None:
        """Ignore it."""

    def advance(self, amount: int) -> None:
        """Ignore it."""


SILENT = Silent()
