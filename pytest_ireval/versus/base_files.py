"""The files of a merge base in a temporary folder; the repository is read, and nothing in it is written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_ireval.errors import IrevalError, Problem
from pytest_ireval.repositories.git import LONG_TIMEOUT, find_existing_folder, find_places, is_pointer, run_git
from pytest_ireval.repositories.merge_base import MergeBase
from pytest_ireval.words import format_some

WRITE_NOTHING = (
    *("-c", f"core.hooksPath={os.devnull}"),  # a hook may be told of each index that is written
    *("-c", "core.splitIndex=false"),  # would keep a part of the index in .git
    *("-c", "core.fsmonitor=false"),
    *("-c", "filter.lfs.smudge=", "-c", "filter.lfs.process=", "-c", "filter.lfs.required=false"),  # downloads nothing
)
LARGEST_POINTER = 1024
"""Bytes of a pointer of Git LFS, by its definition."""
OTHER_WAY = (
    "or check out the base yourself, run ireval rank SUITES -o FOLDER in it, and compare with --ireval-versus FOLDER"
)


@dataclass
class BaseFiles:
    """The files of a merge base."""

    base: MergeBase
    temporary: Path
    """The folder of all that is written, without links in its path."""

    @property
    def folder(self) -> Path:
        """The top folder of the base."""
        return self.temporary / "base"

    @property
    def reports(self) -> Path:
        """Where processes report which modules of the branch they have loaded."""
        return self.temporary / "reports"

    def locate(self, path: Path) -> Path:
        """The place in the base of a path in the branch's tree; it may not exist."""
        places = find_places(Path(os.path.abspath(path)), self.base.top)
        if not places:
            complaint = f"is not in the repository {self.base.top}, so there is none at {self.base}"
            raise IrevalError(Problem(complaint, str(path), suggestion=OTHER_WAY.removeprefix("or ")))
        return self.folder / places[0]

    def locate_folder(self, folder: Path) -> Path:
        """The same for a folder, or else the nearest one above it that the base has."""
        return find_existing_folder(self.locate(folder))


def write_base_files(base: MergeBase, temporary: Path) -> BaseFiles:
    """Write all files of a merge base below a temporary folder."""
    files = BaseFiles(base, temporary)
    files.folder.mkdir()
    steps = (("read-tree", base.commit), ("checkout-index", "--all", f"--prefix={files.folder.as_posix()}/"))
    for step in steps:
        own_index = {"GIT_INDEX_FILE": str(temporary / "index")}
        answer = run_git(base.top, *WRITE_NOTHING, *step, timeout=LONG_TIMEOUT, variables=own_index)
        if answer.status != 0:
            complaint = f"the files of {base} cannot be written: {answer.complaint or 'git gave no reason'}"
            raise IrevalError(Problem(complaint, place=str(base.top)))
    return files


def refuse_missing_contents(files: BaseFiles) -> None:
    """Raise IrevalError for submodules and files of Git LFS that the branch has, and the base after its setup has not.

    What the branch does not have either cannot make a difference, as pictures that CI does not fetch.
    """
    missing = list(_find_missing_contents(files))
    if missing:
        raise IrevalError(
            Problem(
                f"the files at {files.base} are not complete: {format_some(missing)}",
                suggestion="ireval_versus_setup can bring them, as with "
                f'cp -r "$IREVAL_HEAD_FOLDER/{missing[0].rpartition(" (")[0]}" …',
                allowed=OTHER_WAY,
            )
        )


def _find_missing_contents(files: BaseFiles) -> Iterator[str]:
    answer = run_git(files.base.top, "ls-tree", "-r", "-z", "--full-tree", files.base.commit, timeout=LONG_TIMEOUT)
    if answer.status != 0:
        raise IrevalError(Problem(f"git cannot list the files of {files.base}: {answer.complaint}"))
    for line in answer.out.split(b"\0")[:-1]:
        head, _, name = line.partition(b"\t")
        path = os.fsdecode(name)
        there, here = files.folder / path, files.base.top / path
        if head.split()[1] == b"commit":
            if _is_empty(there) and not (here.is_dir() and _is_empty(here)):
                yield f"{path} (submodule)"
        elif _is_lfs_pointer(there) and not _is_lfs_pointer(here):
            yield f"{path} (Git LFS)"


def _is_empty(folder: Path) -> bool:
    return not folder.is_dir() or not any(folder.iterdir())


def _is_lfs_pointer(path: Path) -> bool:
    return path.is_file() and path.stat().st_size <= LARGEST_POINTER and is_pointer(path.read_bytes())
