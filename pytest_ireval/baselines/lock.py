"""One writer at a time: a lock on the folder of baselines, which the system lets go when its holder dies."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_ireval.baselines.files import near
from pytest_ireval.errors import BaselineError, Problem

LOCK = ".lock"
WAIT = 30.0
"""Seconds; writing the largest baselines takes a few."""
PAUSE = 0.02
FAR = 1 << 30
"""Windows locks bytes, and nobody may read them: one behind the process id is taken."""


@contextmanager
def locked(folder: Path, wait: float = WAIT) -> Iterator[None]:
    """Nobody else writes baselines in ``folder`` meanwhile. The file stays: removing it would let two in at once."""
    path = folder / LOCK
    deadline = time.monotonic() + wait
    handle = _opened(path)
    try:
        while not (_taken(handle) and _is_still(path, handle)):
            if time.monotonic() > deadline:
                raise BaselineError(_held(path, wait))
            time.sleep(PAUSE)
            if not _is_still(path, handle):
                _let_go(handle)
                handle = _opened(path)
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        _let_go(handle)


@contextmanager
def locked_if_free(folder: Path) -> Iterator[bool]:
    """Whether nobody else has the lock of ``folder``; then it is ours meanwhile."""
    path = folder / LOCK
    handle = _opened(path)
    try:
        yield _taken(handle) and _is_still(path, handle)
    finally:
        _let_go(handle)


def is_held(folder: Path) -> bool:
    """Whether somebody has the lock of ``folder``. Nothing is written, for whoever asks may be allowed to read only."""
    try:
        handle = _opened(folder / LOCK, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    except OSError:
        return False  # without a file nobody has it
    try:
        return not _taken(handle)
    finally:
        _let_go(handle)


_HANDLES: set[int] = set()
"""Open ones of this process."""


def _let_go(handle: int) -> None:
    if handle in _HANDLES:
        _HANDLES.discard(handle)
        os.close(handle)


def _let_all_go() -> None:
    """In a forked child, which may outlive the holder and would hold the lock on."""
    for handle in list(_HANDLES):
        _let_go(handle)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_all_go)


def _opened(path: Path, how: int = os.O_RDWR | os.O_CREAT) -> int:
    handle = os.open(path, how, 0o666)
    _HANDLES.add(handle)
    return handle


def _is_still(path: Path, handle: int) -> bool:
    """Whether the file that was opened is the one of that name; somebody may have removed it."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def _held(path: Path, wait: float) -> Problem:
    try:
        holder = path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        holder = ""
    who = f"process {holder}" if holder.isdigit() else "another process"
    complaint = f"{who} is writing baselines here, and has not finished within {wait:g} s; nothing was written"
    return Problem(complaint, place=str(near(path)), suggestion="wait for it, or end it, and try again")


if sys.platform == "win32":
    import msvcrt

    def _taken(handle: int) -> bool:
        os.lseek(handle, FAR, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(handle, 0, os.SEEK_SET)
        return True
else:
    import fcntl

    def _taken(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
