"""Registers the built-in readers through the hook that is open to everybody."""

from __future__ import annotations

from pytest_ireval.plugins.hookspecs import hookimpl
from pytest_ireval.retrieval.formats.reader import Reader
from pytest_ireval.retrieval.formats.readers import READERS


@hookimpl
def ireval_readers() -> list[Reader]:
    """All of them."""
    return READERS
