"""The file of a baseline: where it is, on the disk and in the last commit."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePath

from pytest_ireval.errors import BaselineError, Problem, shown
from pytest_ireval.repositories.git import git, standing

FOLDER = "baselines"
SUFFIX = ".baseline"
PACKED = ".baseline.gz"
SUFFIXES = (SUFFIX, PACKED)
BASELINE = re.compile(r"(?:.*/)?baselines/[^/]+\.baseline(?:\.gz)?")
"""The path of a baseline in a repository."""
ANCHOR = ".anchor"
"""Follows the name of the suite in the file of an anchor."""
LONGEST_NAME = 200


def path_of(folder: Path, name: str, *, compress: bool = False) -> Path:
    """The path of a baseline, or of one that is compressed."""
    return folder / f"{name}{PACKED if compress else SUFFIX}"


def find_baseline(folder: Path, name: str) -> Path | None:
    """The path of the file that is there, None if there is none; both a plain and a compressed one are an error."""
    check_name(name)
    found = [path for path in (folder / f"{name}{suffix}" for suffix in SUFFIXES) if path.is_file()]
    if len(found) > 1:
        plain, packed = (near(path) for path in found)
        complaint = f"is beside {packed.name}: a suite has one baseline, and it is unknown which of them it is"
        suggestion = f"remove one of them: git rm {plain} or git rm {packed}"
        raise BaselineError(Problem(complaint, place=str(plain), suggestion=suggestion))
    return found[0] if found else None


def names_in(folder: Path) -> list[str]:
    """The names of the baselines in a folder, sorted."""
    return sorted({name for path in folder.iterdir() if (name := name_in(path))}) if folder.is_dir() else []


def name_in(path: PurePath) -> str:
    """The name of the baseline whose file has this path; empty if no baseline has it."""
    suffix = next((suffix for suffix in SUFFIXES if path.name.endswith(suffix)), "")
    return path.name.removesuffix(suffix) if suffix and not path.name.startswith(".") else ""


def is_file_of(file: str, name: str) -> bool:
    """Tell whether a file is the baseline of a suite; ``shop.de.baseline`` is not that of ``shop``."""
    return file in {f"{name}{suffix}" for suffix in SUFFIXES}


def check_name(name: str) -> str:
    """``name``, if a file can have it."""
    marks = set('/\\:*?"<>|\0')
    if not name or name.startswith(".") or marks & set(name) or len(name.encode("utf-8", "replace")) > LONGEST_NAME:
        complaint = f"the suite {shown(name)} cannot have a baseline: a file cannot have this name"
        allowed = (
            f'a name has up to {LONGEST_NAME} bytes, does not begin with a dot, and contains none of / \\ : * ? " < > |'
        )
        raise BaselineError(Problem(complaint, allowed=allowed))
    return name


def near(path: Path) -> Path:
    """The path as people write it: relative to the current folder, if it is below it."""
    try:
        return path.relative_to(os.getcwd())
    except (ValueError, OSError):
        return path


def find_in_last_commit(folder: Path, name: str) -> Path | None:
    """The path of the baseline that the last commit has, as people write it; None where git knows of none."""
    there = standing(folder.absolute())  # the folder may be gone from the disk
    home = folder.absolute().relative_to(there).as_posix()
    listed = git(folder, "ls-tree", "-z", "--name-only", "HEAD", f"{home}/")
    paths = [there / each.decode("utf-8", "replace") for each in (listed or b"").split(b"\0") if each]
    return next((near(path) for path in paths if is_file_of(path.name, name)), None)


def anchor_name(suite: str) -> str:
    """The name of the file of a suite's anchor."""
    return f"{suite}{ANCHOR}"


def is_anchor(name: str) -> bool:
    """Tell whether a file of that name is that of an anchor; a suite cannot have such a name."""
    return name.endswith(ANCHOR)


def suite_of(name: str) -> str:
    """The suite of an anchor or baseline."""
    return name.removesuffix(ANCHOR)
