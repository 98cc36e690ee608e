"""The file of a baseline: where it is, on the disk and in the last commit."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePath
from typing import NamedTuple

from pytest_ireval.errors import BaselineError, Problem, quote
from pytest_ireval.repositories.git import find_existing_folder, find_root, git_output

FOLDER = "baselines"
SUFFIX = ".baseline"
PACKED = ".baseline.gz"
SUFFIXES = (SUFFIX, PACKED)
BASELINE = re.compile(r"(?:.*/)?baselines/[^/]+\.baseline(?:\.gz)?")
"""The path of a baseline in a repository."""
ANCHOR = ".anchor"
"""Follows the name of the suite in the file of an anchor."""
LONGEST_NAME = 200
YAML = (".yaml", ".yml")
SUITE = re.compile(rb"^(?:\{\s*)?[\"']?suite[\"']?[ \t]*:[ \t]*[\"']?([^\"'#\r\n,}]+)", re.MULTILINE)
"""The name in the file of a suite. A pattern, because the file may be an old one that cannot be read as a suite."""
MATRIX = re.compile(rb"^(?:\{\s*)?[\"']?matrix[\"']?[ \t]*:", re.MULTILINE)


def baseline_path(folder: Path, name: str, *, compress: bool = False) -> Path:
    """The path of a baseline, or of one that is compressed."""
    return folder / f"{name}{PACKED if compress else SUFFIX}"


def find_baseline_file(folder: Path, name: str) -> Path | None:
    """The path of the file that is there, None if there is none; both a plain and a compressed one are an error."""
    check_name(name)
    found = [path for path in (folder / f"{name}{suffix}" for suffix in SUFFIXES) if path.exists()]
    for path in found:
        if not path.is_file():  # of a pipe or a device, reading might never end
            raise BaselineError(Problem("is not a file", place=str(display_path(path)), suggestion="remove it"))
    if len(found) > 1:
        plain, packed = (display_path(path) for path in found)
        complaint = f"is beside {packed.name}: a suite has one baseline, and it is unknown which of them it is"
        suggestion = f"remove one of them: git rm {plain} or git rm {packed}"
        raise BaselineError(Problem(complaint, place=str(plain), suggestion=suggestion))
    return found[0] if found else None


def list_baseline_names(folder: Path) -> list[str]:
    """The names of the baselines in a folder, sorted."""
    return sorted({name for path in folder.iterdir() if (name := baseline_name(path))}) if folder.is_dir() else []


def baseline_name(path: PurePath) -> str:
    """The name of the baseline whose file has this path; empty if no baseline has it."""
    suffix = next((suffix for suffix in SUFFIXES if path.name.endswith(suffix)), "")
    return path.name.removesuffix(suffix) if suffix and not path.name.startswith(".") else ""


def is_baseline_file(file: str, name: str) -> bool:
    """Tell whether a file is the baseline of a suite; ``shop.de.baseline`` is not that of ``shop``."""
    return file in {f"{name}{suffix}" for suffix in SUFFIXES}


def check_name(name: str) -> str:
    """``name``, if a file can have it."""
    marks = set('/\\:*?"<>|\0')
    if not name or name.startswith(".") or marks & set(name) or len(name.encode("utf-8", "replace")) > LONGEST_NAME:
        complaint = f"the suite {quote(name)} cannot have a baseline: a file cannot have this name"
        allowed = (
            f'a name has up to {LONGEST_NAME} bytes, does not begin with a dot, and contains none of / \\ : * ? " < > |'
        )
        raise BaselineError(Problem(complaint, allowed=allowed))
    return name


def display_path(path: Path) -> Path:
    """The path as people write it: relative to the current folder, if it is below it."""
    try:
        return path.relative_to(os.getcwd())
    except (ValueError, OSError):
        return path


def find_committed_baseline(folder: Path, name: str) -> Path | None:
    """The path of the baseline that the last commit has, as people write it; None where git knows of none."""
    existing = find_existing_folder(folder.absolute())  # the folder may be gone from the disk
    if find_root(existing) is None:
        return None
    below = folder.absolute().relative_to(existing).as_posix()
    output = git_output(folder, "ls-tree", "-z", "--name-only", "HEAD", f"{below}/") or b""
    paths = [existing / path.decode("utf-8", "replace") for path in output.split(b"\0") if path]
    return next((display_path(path) for path in paths if is_baseline_file(path.name, name)), None)


def read_suite_name(content: bytes) -> str:
    """The name in the file of a suite; empty if there is none."""
    match = SUITE.search(content)
    return match[1].decode("utf-8", "replace").strip() if match else ""


class SuiteFile(NamedTuple):
    """The file in which a suite is named."""

    file: Path
    matrix_ending: str
    """Appended to the name by a matrix: ``.de``."""


def find_suite_file(folder: Path, name: str) -> SuiteFile | None:
    """The file of a suite, beside the folder of its baselines; a suite that names another folder is not found."""
    for path in sorted(folder.absolute().parent.glob("*")):
        suite = read_suite_name(path.read_bytes()) if path.suffix in YAML and path.is_file() else ""
        if suite and (name == suite or name.startswith(f"{suite}.")):
            return SuiteFile(display_path(path), name.removeprefix(suite))
    return None


def anchor_name(suite: str) -> str:
    """The name of the file of a suite's anchor."""
    return f"{suite}{ANCHOR}"


def is_anchor(name: str) -> bool:
    """Tell whether a file of that name is that of an anchor; a suite cannot have such a name."""
    return name.endswith(ANCHOR)


def suite_name_of(name: str) -> str:
    """The suite of an anchor or baseline."""
    return name.removesuffix(ANCHOR)
