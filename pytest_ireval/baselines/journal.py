"""Several files that change together, under a lock: staged beside, committed by a rename, put into place.

``.NAME.new`` holds files that no reader looks at yet. Its rename to ``.NAME.commit`` is the moment of change: every
writer begins by putting its files into place. Moves need no room on the disk, and may be repeated from any point. The
baseline is not read meanwhile: a reader that finds such a folder waits for its writer, or reports that it has died.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.baselines.files import ENDING, RECORD, baseline_files, fingerprint, near, path_of
from pytest_ireval.errors import BaselineError, Problem
from pytest_ireval.repositories.git import git

MANIFEST = "journal"


class Journal(NamedTuple):
    """A change that is committed and not wholly in place; ``before`` and ``after`` are fingerprints of the record."""

    folder: Path
    before: str = "unknown"
    after: str = "unknown"
    endings: tuple[str, ...] = ()
    """All files of the new state."""
    refused: OSError | None = None
    """The system does not let it be read: it may be sound, so it must not be dropped."""

    def fits(self, record: Path) -> bool:
        """Tell whether ``record`` is the one that is replaced, or its replacement."""
        return _print_of(record) in (self.before, self.after)

    @property
    def tracked(self) -> bool:
        """True if git has it: then it came with a commit, and is not an update that was begun here."""
        return bool(git(self.folder.parent, "ls-files", "-z", "--", self.folder.name))

    def checked(self, record: Path) -> Journal:
        """Itself, if it can be put into place beside ``record``."""
        if self.refused is not None:
            raise self._error(f"holds an interrupted update that cannot be read: {self.refused.strerror}")
        if self.tracked:
            complaint = "is tracked by git, but belongs to an interrupted update; baselines are never read from it"
            raise self._error(complaint, f"remove it: git rm -r {near(self.folder)}; to keep the update, run it again")
        if not self.fits(record):
            complaint = "holds an interrupted update of a baseline that has changed since then"
            raise self._error(complaint, "remove the folder; if the update is still wanted, accept again")
        return self

    def left_over(self, record: Path) -> BaselineError:
        """The error for a reader of ``record``."""
        self.checked(record)
        return self._error(
            "holds an interrupted update, so the current baseline is unknown",
            "finish it: run the same update again; discard it: remove this folder, then "
            f"git checkout -- {near(record)} and the files beside it",
        )

    def _error(self, complaint: str, suggestion: str = "") -> BaselineError:
        return BaselineError(Problem(complaint, place=str(near(self.folder)), suggestion=suggestion))


def _staging(folder: Path, name: str) -> Path:
    return folder / f".{name}.new"


def committed(folder: Path, name: str) -> Path:
    """The folder of files that count."""
    return folder / f".{name}.commit"


def journal_of(folder: Path, name: str) -> Journal | None:
    """The change that waits to be put into place; None where there is none. One that cannot be read fits nothing."""
    place = committed(folder, name)
    try:
        said = json.loads((place / MANIFEST).read_bytes())
        endings = tuple(said["endings"])
        if not all(ENDING.fullmatch(ending) for ending in endings):  # another name would lead out of the folder
            return Journal(place)
        return Journal(place, said["before"], said["after"], endings)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Journal(place, refused=error)
    except (ValueError, KeyError, TypeError, RecursionError):
        return Journal(place)


def commit(folder: Path, name: str, files: Mapping[str, bytes]) -> None:
    """From here on the baseline has this content; it still has to be put into place."""
    new = _staging(folder, name)
    _drop(new)
    os.mkdir(new)
    before, after = _print_of(path_of(folder, name, RECORD)), fingerprint(files[RECORD])
    manifest = {"before": before, "after": after, "endings": list(files)}
    for ending, content in {**files, MANIFEST: json.dumps(manifest).encode()}.items():
        write_through(new / ending, content)
    _sync_folder(new)
    os.rename(new, committed(folder, name))
    _sync_folder(folder)


def put_into_place(folder: Path, name: str) -> bool:
    """Finish what was committed and drop what was not; True if there was something to finish."""
    journal, record = journal_of(folder, name), path_of(folder, name, RECORD)
    if journal is not None:
        if journal.refused is not None:
            raise journal.refused
        if journal.tracked:
            journal.checked(record)
    if journal is None or not journal.fits(record):
        _drop(committed(folder, name))
        _drop(_staging(folder, name))
        return False
    for ending in journal.endings:
        if (journal.folder / ending).exists():
            os.replace(journal.folder / ending, path_of(folder, name, ending))
    _sync_folder(folder)
    kept = {path_of(folder, name, ending) for ending in journal.endings}
    for path in reversed(baseline_files(folder, name)):
        if path not in kept:
            os.unlink(path)
    os.unlink(journal.folder / MANIFEST)
    _drop(journal.folder)
    _drop(_staging(folder, name))
    _sync_folder(folder)
    return True


def write_through(path: Path, content: bytes) -> None:
    """Write a file, and wait until it is on the disk."""
    with open(path, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Wait until the names in it are on the disk; Windows has no call for this."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def drop_unfinished(folder: Path, name: str) -> None:
    """Remove what was staged and not committed, as far as that can be done."""
    shutil.rmtree(_staging(folder, name), ignore_errors=True)


def _drop(folder: Path) -> None:
    if folder.is_dir():
        shutil.rmtree(folder)


def _print_of(path: Path) -> str:
    try:
        return fingerprint(path.read_bytes())
    except FileNotFoundError:
        return ""


LOCK = ".lock"
WAIT = 30.0
"""Seconds; writing the largest baselines takes a few."""
PAUSE = 0.02
FAR = 1 << 30
"""Windows locks bytes, which then cannot be read: the locked byte is far after the process id."""


@contextmanager
def locked(folder: Path, wait: float = WAIT) -> Iterator[None]:
    """Keep other writers out of ``folder`` meanwhile. The file stays: removing it would let two in at once."""
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
    """Tell whether the lock of ``folder`` was free; then this process has it until the block ends."""
    path = folder / LOCK
    handle = _opened(path)
    try:
        yield _taken(handle) and _is_still(path, handle)
    finally:
        _let_go(handle)


def is_held(folder: Path) -> bool:
    """Tell whether a process has the lock of ``folder``. Nothing is written: the caller may have no right to write."""
    try:
        handle = _opened(folder / LOCK, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    except OSError:
        return False  # without a file it is free
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
    """In a forked child, which may outlive the holder and would keep the lock."""
    for handle in list(_HANDLES):
        _let_go(handle)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_all_go)


def _opened(path: Path, how: int = os.O_RDWR | os.O_CREAT) -> int:
    handle = os.open(path, how, 0o666)
    _HANDLES.add(handle)
    return handle


def _is_still(path: Path, handle: int) -> bool:
    """Tell whether the opened file still has that name; another process may have removed it."""
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
