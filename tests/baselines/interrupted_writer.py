"""Writes a baseline in many processes, each of which dies at another of the calls that change the disk.

``python interrupted_writer.py FOLDER`` makes ``FOLDER/1``, ``FOLDER/2`` … with what is left behind: an old baseline,
and a writer of a new one that was killed at its first, second … such call, until one gets through.
"""

import builtins
import os
import sys
from pathlib import Path

CALLS = ("mkdir", "rename", "replace", "fsync", "unlink", "rmdir", "open", "write", "ftruncate")


class Stopped(BaseException):
    """Raised by nobody who has a say."""


class Moments:
    """Counts calls that change the disk, and does something else at one of them."""

    def __init__(self, moment, happens):
        self.moment, self.happens, self.count = moment, happens, 0

    def passes(self):
        self.count += 1
        if self.count == self.moment:
            self.happens()

    def around(self, function):
        def counted(*arguments, **named):
            self.passes()
            return function(*arguments, **named)

        return counted

    def opened(self, function):
        def opening(path, mode="r", *arguments, **named):
            if "w" not in mode:
                return function(path, mode, *arguments, **named)
            self.passes()
            file = function(path, mode, *arguments, **named)
            return HalfWriting(file, self)

        return opening

    def install(self, patch):
        for name in CALLS:
            patch(os, name, self.around(getattr(os, name)))
        patch(builtins, "open", self.opened(builtins.open))


class HalfWriting:
    """A file of which only the first half of what is written arrives when the moment comes."""

    def __init__(self, file, moments):
        self.file, self.moments = file, moments

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, content):
        self.file.write(content[: len(content) // 2])
        self.file.flush()
        self.moments.passes()
        self.file.write(content[len(content) // 2 :])

    def flush(self):
        self.file.flush()

    def fileno(self):
        return self.file.fileno()


def main(folder):
    from made_baselines import FIRST, SECOND, baseline_of

    from pytest_ireval.baselines.writing import write_baseline

    old = baseline_of(rankings=baseline_of().rankings * 3)
    new = baseline_of({"q1": ["z"], "q2": ["y", "x"]}, {"q1": {"z": 2}}, acceptances=(FIRST, SECOND))
    for moment in range(1, 1000):
        here = folder / str(moment)
        write_baseline(here, old)
        child = os.fork()
        if not child:
            Moments(moment, lambda: os._exit(9)).install(setattr)
            write_baseline(here, new)
            os._exit(0)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
            print(moment)
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]))
