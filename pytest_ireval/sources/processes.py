"""Runs a program to its end or to its time limit; whatever it started ends with it.

It reads from a file and writes into files, so however much it writes and whenever it reads, nobody waits for anybody.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

LOOK = 0.02
PATIENCE = 2.0
"""Seconds that a program has to clean up before it is killed."""
END = 1 << 16
"""So many bytes of what it wrote to standard error are looked at."""


DEADLY = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""What ends a process that says nothing of it; Ctrl-C is an exception of Python's own."""


class Ended(NamedTuple):
    """How a program ended."""

    code: int
    """Its exit code; minus the number of the signal that ended it."""
    in_time: bool
    complaint: bytes
    """The end of what it wrote to standard error."""

    @property
    def how(self) -> str:
        """In words."""
        if self.code >= 0:
            return f"ended with exit code {self.code}"
        with suppress(ValueError):
            return f"was ended by signal {signal.Signals(-self.code).name}"
        return f"was ended by signal {-self.code}"


class _Deadly(BaseException):
    """Raised where the work stands when the process is told to end."""


@contextmanager
def ending_together() -> Iterator[None]:
    """Meanwhile a signal that ends this process, as when CI cancels a job, first ends the program that it runs.

    The program is in a group of its own, so that its time limit ends all of it; the signal would pass it by. Whoever
    handles the signal already is left alone, and only the main thread may ask for signals.
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
        pass  # what had been started has ended, and files are gone; now this process does what it was told
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
        for number in came[:1]:
            os.kill(os.getpid(), number)


def run_program(
    command: Sequence[str] | str,
    *,
    reads: Path | None,
    writes: Path,
    folder: Path,
    environment: Mapping[str, str],
    limit: float,
) -> Ended:
    """Run it; a text is a command line for the shell. Raises OSError if it cannot be started."""
    errors = writes.with_name("errors")
    with (
        open(reads or os.devnull, "rb") as from_us,
        open(writes, "wb") as to_us,
        open(errors, "wb") as complaints,
    ):
        program = subprocess.Popen(  # noqa: S603 - running what the suite says is what this source is for
            command,
            shell=isinstance(command, str),
            stdin=from_us,
            stdout=to_us,
            stderr=complaints,
            cwd=folder,
            env={**os.environ, **environment},
            start_new_session=True,
        )
    try:
        in_time = _ends_within(program, limit)
    finally:
        if program.returncode is None:
            _end(program)
    with open(errors, "rb") as file:
        file.seek(max(0, errors.stat().st_size - END))
        return Ended(program.returncode, in_time, file.read())


def _ends_within(program: subprocess.Popen[bytes], limit: float) -> bool:
    try:
        program.wait(limit)
    except subprocess.TimeoutExpired:
        return False
    return True


def _end(program: subprocess.Popen[bytes]) -> None:
    """End it and everything that it started: politely first, then for good."""
    if not hasattr(os, "killpg"):
        program.kill()  # Windows knows no groups; what it started goes on
        program.wait()
        return
    _signal(program, signal.SIGTERM)
    _wait_for_its_end(program)
    _signal(program, signal.SIGKILL)
    program.wait()


def _wait_for_its_end(program: subprocess.Popen[bytes]) -> None:
    """A while, without taking note of it, so that the number of its group cannot be given to another one yet."""
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
