"""Appends runs to a history, or dies while it does: ``python appending_process.py FILE NUMBER append|die|full``."""

import os
import resource
import sys
from dataclasses import replace
from pathlib import Path

from pytest_ireval.errors import HistoryError
from pytest_ireval.history.database import writing
from pytest_ireval.history.kept import KeptFigures, KeptRun, KeptSuite, _add, append

RUNS = 10
FIGURES = tuple(KeptFigures(f"nDCG@{cutoff}", "all", 0.5) for cutoff in range(1, 400))


def run(number):
    suite = KeptSuite(f"suite{number}", "suite.yaml", "pass", 1, 1)
    return KeptRun("2026-03-01T10:00:00Z", "abc", "main", False, "pass", "0.1.0", (suite,))


def main(path, number, what):
    if what == "append":
        for _ in range(RUNS):
            append(path, run(number))
        return
    large = run(number)
    large = replace(large, suites=(replace(large.suites[0], figures=FIGURES),))
    if what == "die":
        with writing(path) as connection:
            connection.execute("PRAGMA cache_size = 1")  # so that part of it is in the file before the end
            _add(connection, large)
            print("half done", flush=True)
            os._exit(9)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, resource.RLIM_INFINITY))
    try:
        append(path, large)
    except HistoryError as error:
        print(error)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
