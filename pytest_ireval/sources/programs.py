"""Ends programs that were started in a session of their own, with all that they started; also if a signal ends us."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pytest_ireval.errors import Problem, SourceError

LOOK = 0.02
PATIENCE = 2.0
"""Seconds that a program has to clean up before it is killed."""
DEADLY = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that end a process by default; Ctrl-C is an exception of Python."""


class _Deadly(BaseException):
    """Raised in the running work when a signal ends the process."""


@contextmanager
def end_programs_on_signals() -> Iterator[None]:
    """Let a signal that ends this process, as when CI cancels a job, first end the program that it runs.

    The program is in a group of its own, so that its time limit ends all of it. So the signal does not reach it.
    Existing handlers are kept, and only the main thread may set handlers.
    """
    mine = threading.current_thread() is threading.main_thread()
    taken = [number for number in DEADLY if mine and signal.getsignal(number) is signal.SIG_DFL]
    came: list[int] = []

    def end(number: int, _frame: object) -> None:
        came.append(number)
        if len(came) == 1:  # a second one must not keep us from ending the program
            raise _Deadly

    for number in taken:
        signal.signal(number, end)
    try:
        yield
    except _Deadly:
        if not came:  # an outer block has set the handlers
            raise
        # The program has ended, and its files are removed; now this process ends, too.
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
        for number in came[:1]:
            os.kill(os.getpid(), number)


@contextmanager
def make_temporary_folder() -> Iterator[str]:
    """A folder for the files of a program; an error if the system has no place for it."""
    try:
        made = tempfile.TemporaryDirectory(prefix="ireval-", ignore_cleanup_errors=True)
    except OSError as error:
        complaint = f"no folder for temporary files can be used: {error.strerror}"
        raise SourceError(Problem(complaint, suggestion="set TMPDIR to a writable folder")) from None
    with made as folder:
        yield folder


def end_program(program: subprocess.Popen[bytes]) -> None:
    """End the program and everything that it started: first by SIGTERM, then by SIGKILL."""
    if not hasattr(os, "killpg"):
        program.kill()  # Windows has no groups; its child processes go on
        program.wait()
        return
    _signal(program, signal.SIGTERM)
    _wait_for_its_end(program)
    _signal(program, signal.SIGKILL)
    program.wait()


def _wait_for_its_end(program: subprocess.Popen[bytes]) -> None:
    """Wait a while for the end without reaping it, so that no other process gets the number of its group yet."""
    if not hasattr(os, "waitid"):  # as on macOS before Python 3.13
        with suppress(subprocess.TimeoutExpired):
            program.wait(PATIENCE)
        return
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        time.sleep(LOOK)


def _signal(program: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # all of them have ended
        os.killpg(program.pid, number)
