"""Switches off what slows evaluation down: pytest's rewriting of assertions, and the search for cycles in memory."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


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
