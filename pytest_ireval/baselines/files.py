"""How the files of a baseline are called: all begin with the name of the suite."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pytest_ireval.errors import BaselineError, Problem, shown

RECORD = "json"
JUDGMENTS = "judgments.tsv"
COMPRESSED = ".zst"
ENDING = re.compile(r"json|(?:judgments|rankings(?:\.[0-9]+)?)\.tsv(?:\.zst)?")
ANCHOR = ".anchor"
"""Stands behind the name of the suite where files are those of an anchor."""
MARKS = frozenset('/\\:*?"<>|\0')
LONGEST = 200


def rankings_ending(asking: int) -> str:
    """Of the rankings that came back from one asking, counted from 1."""
    return "rankings.tsv" if asking == 1 else f"rankings.{asking}.tsv"


def path_of(folder: Path, name: str, ending: str) -> Path:
    """One of the files."""
    return folder / f"{name}.{ending}"


def near(path: Path) -> Path:
    """As people write it: relative to the current folder, if it lies there."""
    try:
        return path.relative_to(os.getcwd())
    except (ValueError, OSError):
        return path


def checked_name(name: str) -> str:
    """``name``, if files can be called so."""
    if not name or name.startswith(".") or MARKS & set(name) or len(name.encode("utf-8", "replace")) > LONGEST:
        complaint = f"the suite {shown(name)} cannot have a baseline: no file can be called so"
        allowed = f'a name has up to {LONGEST} bytes, does not begin with a point, and holds none of / \\ : * ? " < > |'
        raise BaselineError(Problem(complaint, allowed=allowed))
    return name


def baseline_files(folder: Path, name: str) -> tuple[Path, ...]:
    """The files there are of one baseline, the .json file first."""
    endings = [JUDGMENTS]
    found = [path_of(folder, name, RECORD)]
    found += [path for ending in endings for path in _plain_or_compressed(folder, name, ending)]
    asking, missing = 1, 0
    while missing < 1:
        paths = _plain_or_compressed(folder, name, rankings_ending(asking))
        missing += not any(path.exists() for path in paths)
        found += paths
        asking += 1
    return tuple(path for path in found if path.is_file())


def is_file_of(file: str, name: str) -> bool:
    """Whether a file of a folder of baselines belongs to that of a suite; ``shop.de.json`` is none of ``shop``."""
    return file.startswith(f"{name}.") and ENDING.fullmatch(file[len(name) + 1 :]) is not None


def of_anchor(file: str) -> bool:
    """Whether a path or a name is that of a file of an anchor; ``shop.anchor.v2.json`` is none."""
    _, mark, ending = file.rpartition(f"{ANCHOR}.")
    return bool(mark) and ENDING.fullmatch(ending) is not None


def _plain_or_compressed(folder: Path, name: str, ending: str) -> tuple[Path, Path]:
    return path_of(folder, name, ending), path_of(folder, name, ending + COMPRESSED)


def names_in(folder: Path) -> list[str]:
    """The names of the baselines in a folder, sorted."""
    return sorted(path.name[: -len(RECORD) - 1] for path in folder.glob(f"*.{RECORD}") if not path.name.startswith("."))
