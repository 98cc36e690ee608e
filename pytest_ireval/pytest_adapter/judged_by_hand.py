"""Grades that somebody has written into ``to_judge.tsv`` outlive the next run, which writes that file anew."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from pathlib import Path


def kept(path: Path) -> Path | None:
    """Where the file went, if there were grades in it: beside it, under a name that nothing else has."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()[1:]
    except (OSError, UnicodeDecodeError):
        return None
    if not any("\t" in line and line.rpartition("\t")[2].strip() for line in lines):
        return None
    names = (path.with_name(f"judged{number if number > 1 else ''}.tsv") for number in count(1))
    target = next(name for name in names if not name.exists())
    with suppress(OSError):  # then the file is replaced as any other of an earlier run
        return path.rename(target)
    return None
