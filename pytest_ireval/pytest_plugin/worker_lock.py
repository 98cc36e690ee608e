"""A lock among the workers of a run; it is free again when its holder dies, however that happens."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def hold_if_free(path: Path) -> Iterator[bool]:
    """Tell whether the lock was free; then this process has it until the block ends."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        yield _take(handle)
    finally:
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _take(handle: int) -> bool:
        try:
            # unlike flock, this is not inherited by a child of the holder, which may outlive it
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
