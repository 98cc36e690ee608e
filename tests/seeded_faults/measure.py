"""Seeds the faults of faults.yaml one at a time into a copy of the package, and counts those that the tests notice.

    python tests/seeded_faults/measure.py [--room ROOM] [--recorded-only] [--jobs 2]

The recorded suites are run first, then the tests of the fault, or of its room. A table shows the share by room.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

import yaml

ROOT = Path(__file__).parents[2]
RECORDED = ("tests/recorded",)
LONGEST = 1800
"""Seconds; a fault that keeps the tests from ending is noticed, too."""
FAILED, STOPPED = 1, 2
"""pytest's exit codes for failed tests and for tests that cannot be imported; others say that it was misused."""


@dataclass(frozen=True)
class Fault:
    """A wrong line, and the tests that should notice it."""

    room: str
    what: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def read_faults() -> list[Fault]:
    """Read all faults; each must stand once in its file, so that a rewrite does not drop it in silence."""
    rooms = yaml.safe_load(Path(__file__).with_name("faults.yaml").read_text(encoding="utf-8"))
    faults = [
        Fault(room, each["what"], each["file"], each["old"], each["new"], tuple(each.get("tests", of_room["tests"])))
        for room, of_room in rooms.items()
        for each in of_room["faults"]
    ]
    for fault in faults:
        count = (ROOT / fault.file).read_text(encoding="utf-8").count(fault.old)
        if count != 1:
            sys.exit(f"{fault.file}: `{fault.old}` stands {count} times, not once (fault: {fault.what})")
    return faults


def copy_project(folder: Path) -> Path:
    """Copy all files that git knows or does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


@contextmanager
def seeded(copy: Path, fault: Fault) -> Iterator[None]:
    """Have the wrong line in the copy."""
    file = copy / fault.file
    right = file.read_text(encoding="utf-8")
    write_anew(file, right.replace(fault.old, fault.new))
    try:
        yield
    finally:
        write_anew(file, right)


def write_anew(file: Path, text: str) -> None:
    """Write a module with a later time: Python takes compiled code for its own within the same second."""
    later = file.stat().st_mtime + 2
    file.write_text(text, encoding="utf-8")
    os.utime(file, (later, later))


def run_tests(copy: Path, tests: tuple[str, ...]) -> bool:
    """Run tests in the copy until the first failure; returns whether all pass."""
    paths = os.pathsep.join(str(copy / each) for each in (".", "metrics_plugins", "plugins"))
    environment = {**os.environ, "PYTHONPATH": paths, "IREVAL_EXAMPLES": "few"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    marked = "not slow and not engines"  # tests that only CI runs are part of the net
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-m", marked, "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return False
    if done.returncode not in (0, FAILED, STOPPED):
        sys.exit(f"the tests could not be run: {done.stdout.decode()[-2000:]}{done.stderr.decode()[-2000:]}")
    return done.returncode == 0


def measure(copies: SimpleQueue[Path], fault: Fault, *, recorded_only: bool) -> tuple[Fault, str]:
    """Tell which tests notice the fault: ``recorded``, ``tests``, or none."""
    copy, began, noticed = copies.get(), time.monotonic(), ""
    try:
        with seeded(copy, fault):
            if not run_tests(copy, RECORDED):
                noticed = "recorded"
            elif not recorded_only and not run_tests(copy, fault.tests):
                noticed = "tests"
    finally:
        copies.put(copy)
    print(f"{noticed or 'NOT NOTICED':12} {time.monotonic() - began:5.0f} s  {fault.room}: {fault.what}", flush=True)
    return fault, noticed


def main() -> None:
    """Measure the faults of all rooms, or of one."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--room", help="only the faults of this room")
    parser.add_argument("--recorded-only", action="store_true", help="run the recorded suites alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    faults = [each for each in read_faults() if options.room in (None, each.room)]
    with tempfile.TemporaryDirectory(prefix="seeded-") as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(options.jobs):
            copies.put(copy_project(Path(folder, str(number))))
        sound = copies.get()
        if not run_tests(sound, RECORDED):
            sys.exit("the recorded suites fail without any fault")
        copies.put(sound)
        with ThreadPoolExecutor(options.jobs) as pool:
            found = list(pool.map(lambda each: measure(copies, each, recorded_only=options.recorded_only), faults))
        if not run_tests(sound, RECORDED):
            sys.exit(
                "the recorded suites fail without any fault by now: the environment changed, and nothing was measured"
            )
    print(f"\n{'room':16}{'seeded':>8}{'recorded':>10}{'noticed':>9}")
    for room in dict.fromkeys(fault.room for fault, _ in found):
        print_row(room, [noticed for fault, noticed in found if fault.room == room])
    print_row("all", [noticed for _, noticed in found])


def print_row(name: str, noticed: list[str]) -> None:
    """Print the counts of one room."""
    print(f"{name:16}{len(noticed):8}{noticed.count('recorded'):10}{len(noticed) - noticed.count(''):9}")


if __name__ == "__main__":
    main()
