"""Progress that is shown piece by piece: what is counted in one piece of work is not in another."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from pytest_ireval.progress import SILENT, Progress

Bars = Callable[[], AbstractContextManager[Progress]]
"""Makes the progress of one piece of work."""


def NO_BARS() -> AbstractContextManager[Progress]:  # noqa: N802 - a constant that happens to be called
    """Nobody watches."""
    return nullcontext(SILENT)
