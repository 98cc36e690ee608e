"""Runs ``pytest --ireval --ireval-update`` in many processes, each of which is disturbed at another moment.

``python interrupted_run.py FOLDER KIND STEP`` takes ``FOLDER/template`` as it is, and leaves ``FOLDER/KIND-STEP-1``,
``FOLDER/KIND-STEP-2`` … behind: what is there after the run that was disturbed at its first, second … moment, until one
gets through. With a STEP above 1 it takes each STEP-th moment. Everything is loaded once; each run is a fork. A line of
JSON for each says how it ended.
"""

import builtins
import errno
import gc
import hashlib
import importlib
import io
import json
import os
import pkgutil
import re
import shutil
import signal
import sys
import time
import traceback
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

CHANGING = ("mkdir", "rename", "replace", "fsync", "unlink", "rmdir", "open", "write", "ftruncate", "chmod")
ARGUMENTS = ("-p", "pytest_ireval.pytest_plugin.plugin", "-p", "no:cacheprovider", "--color=no", "--ireval")
ACCEPTING = ("--ireval-update", "--ireval-reason", "synonyms")
LIMIT = 60
"""Seconds of processor time after which a run hangs; on a busy machine it takes longer without using more."""


class Moments:
    """Counts what we do to the disk, and does something else at one of the calls."""

    def __init__(self, moment, happens, *, reading):
        self.moment, self.happens, self.reading = moment, happens, reading
        self.count, self.at = 0, ""

    def passes(self, what, *, reads=False):
        if reads != self.reading or not is_called_by_us() or "site-packages" in what:
            return
        self.count += 1
        if self.count == self.moment:
            self.at = what
            self.happens()

    def around(self, name, function):
        def counted(*arguments, **named):
            self.passes(f"{name} {arguments[0] if arguments else ''}")
            return function(*arguments, **named)

        return counted

    def opened(self, function):
        def opening(path, mode="r", *arguments, **named):
            reads = "r" in mode
            self.passes(f"open {mode} {path}", reads=reads)
            file = function(path, mode, *arguments, **named)
            return file if reads else HalfWriting(file, self, str(path))

        return opening

    def install(self):
        for name in CHANGING:
            setattr(os, name, self.around(name, getattr(os, name)))
        builtins.open = io.open = self.opened(io.open)


class HalfWriting:
    """A file of which only the first half of what is written arrives when the moment comes."""

    def __init__(self, file, moments, name):
        self.file, self.moments, self.name = file, moments, name

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def __getattr__(self, name):
        return getattr(self.file, name)

    def write(self, content):
        self.file.write(content[: len(content) // 2])
        self.file.flush()
        self.moments.passes(f"half of {self.name}")
        self.file.write(content[len(content) // 2 :])
        return len(content)

    def writelines(self, lines):
        lines = list(lines)
        self.write(type(lines[0])().join(lines) if lines else "")


def is_called_by_us():
    """Whether the call is one of pytest-ireval, and not of pytest, an import, or a template that was installed."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith(("importlib", "jinja2.loaders")) or name == "pytest_ireval.report.templates":
            return False
        if name.startswith("pytest_ireval"):
            return True
        if name.startswith(("_pytest", "pluggy")):
            return False
        frame = frame.f_back
    return False


def die():
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(LIMIT)


def disk_is_full():
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def disk_is_broken():
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def interrupt():
    raise KeyboardInterrupt


KINDS = {
    "killed": (die, False),
    "full": (disk_is_full, False),
    "interrupted": (interrupt, False),
    "unreadable": (disk_is_broken, True),
    "interrupted-reading": (interrupt, True),
}
"""What happens, and whether it happens to what reads or to what writes."""


def child(folder, arguments, prepare=lambda: None):
    """Run pytest in a fork, in ``folder``; its exit code, or minus its signal."""
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    code = 70
    try:
        signal.setitimer(signal.ITIMER_PROF, LIMIT)
        os.chdir(folder)
        output = os.open(f"{folder}.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        for handle in (1, 2):
            os.dup2(output, handle)
        sys.stdout, sys.stderr = (os.fdopen(handle, "w", closefd=False) for handle in (1, 2))
        import pytest

        prepare()
        code = int(pytest.main([*ARGUMENTS, *arguments]))
    except KeyboardInterrupt:
        code = 130
    except BaseException:  # noqa: BLE001 - it is told, and the fork ends here
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def state_of(folder):
    """What is there, names of temporary files aside."""
    made = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        made.update(re.sub(r"(\.results\.json\.).*", r"\1", str(path.relative_to(folder))).encode())
        made.update(path.read_bytes() if path.is_file() else b"/")
    return made.hexdigest()


def disturb_run(folder, kind, moment):
    """One run that is disturbed at one moment; whether the moment came, what was done then, and how it ended."""
    happens, reading = KINDS[kind]
    note = Path(f"{folder}.moment")

    def prepare():
        moments = Moments(moment, lambda: None, reading=reading)

        def noted():
            moments.count, moments.moment = 0, 0
            handle = real(note, os.O_WRONLY | os.O_CREAT, 0o666)
            real_write(handle, moments.at.encode("utf-8", "replace"))
            os.close(handle)
            happens()

        real, real_write = os.open, os.write
        moments.happens = noted
        moments.install()

    code = child(folder, ACCEPTING, prepare)
    return note.exists(), note.read_text() if note.exists() else "", code


def afterwards(folder, known):
    """How the next update and the next plain run end; once for each state that something was left in."""
    state = state_of(folder)
    if state not in known:
        copy = Path(f"{folder}.after")
        shutil.copytree(folder, copy, symlinks=True)
        known[state] = [child(copy, ACCEPTING), child(copy, ())]
    return known[state]


def load(home):
    """All of it, once."""
    import pytest

    import pytest_ireval
    import pytest_ireval_metrics
    import pytest_ireval_more_metrics

    for package in (pytest_ireval, pytest_ireval_metrics, pytest_ireval_more_metrics):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    warm = home / f"warm-{os.getpid()}"
    shutil.copytree(home / "template", warm)
    here = os.getcwd()
    os.chdir(warm)
    with open(f"{warm}.txt", "w") as output, redirect_stdout(output), redirect_stderr(output):
        pytest.main([*ARGUMENTS, "--ireval-report", "none"])  # imports what is imported where it is used
    os.chdir(here)
    gc.freeze()


def main(home, kind, step):
    load(home)
    known = {}
    for moment in range(1, 10_000, step):
        folder = home / f"{kind}-{step}-{moment}"
        shutil.copytree(home / "template", folder)
        came, at, code = disturb_run(folder, kind, moment)
        after = afterwards(folder, known) if came and kind == "killed" and moment % 2 else []
        print(json.dumps({"moment": moment, "came": came, "at": at, "code": code, "after": after}), flush=True)
        if not came:
            return


if __name__ == "__main__":
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
