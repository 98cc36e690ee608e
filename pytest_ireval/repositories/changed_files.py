"""What git says has changed since a branch left a ref: commits, what is staged, what is not, and untracked files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.errors import IrevalError, Problem
from pytest_ireval.repositories.branches import MergeBase, merge_base, top_of
from pytest_ireval.repositories.git import asked
from pytest_ireval.repositories.links import through_links
from pytest_ireval.repositories.repository import root_of

LINK, SUBMODULE = b"120000", b"160000"
SKIPPED = b"S"
COMPILED = "__pycache__"
"""Files in such folders are made by running, also by running this: nobody changed them."""
PATIENCE = 300.0
"""Seconds that git may take to look at all files of a large repository."""


class Files(NamedTuple):
    """Names of files, seen from the top of their repository."""

    names: tuple[str, ...]
    """Sorted."""
    folders: frozenset[str] = frozenset()
    """Those that stand for a whole folder: submodules, links to folders, repositories that nobody added."""


class Changes(NamedTuple):
    """What differs from the commit at which a branch left another one."""

    base: MergeBase
    files: Files
    seen: Mapping[str, str]
    """Names among them by way of links, with what the file that changed is called."""

    @property
    def root(self) -> Path:
        """The top of the repository."""
        return self.base.top


def changes_since(ref: str, folder: Path) -> Changes:
    """All files of the repository around ``folder`` that differ; of a file that moved, both names.

    Raises IrevalError where git cannot tell: that nothing changed is never what it says then.
    """
    if root_of(folder) is None:
        complaint = "lies in no git repository, so nobody knows what changed"
        hint = "run it in a clone, or without --ireval-changed-since"
        raise IrevalError(Problem(complaint, place=str(folder), suggestion=hint))
    base = merge_base(ref, top_of(folder))
    how = ("--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=none")
    changed, untracked = _listed(base.top, "diff", *how, base.commit), _untracked(base.top)
    names = {*changed, *untracked, *_hidden(base.top)}
    links = [name for head, name in _entries(base.top) if head.startswith(LINK)]
    links += [name for name in untracked if os.path.islink(base.top / name)]
    seen = through_links({name.rstrip("/") for name in names}, links, base.top)
    folders = (name for name in (*names, *seen) if os.path.isdir(base.top / name))
    return Changes(base, _files({*names, *seen}, folders), seen)


def known_files(root: Path) -> Files:
    """All files of a repository that git knows or would know if they were added: what it ignores is left out."""
    entries, untracked = _entries(root), _untracked(root)
    folders = [name for head, name in entries if head[:6] in (LINK, SUBMODULE)]
    return _files({*(name for _, name in entries), *untracked}, folders)


def absent_submodules(folder: Path) -> list[Path]:
    """Submodules below a folder that are not checked out, so that nobody sees what they hold."""
    root = root_of(folder)
    if root is None or not (root / ".gitmodules").is_file():
        return []
    paths = [root / name for head, name in _entries(root) if head.startswith(SUBMODULE)]
    real = os.path.realpath(folder)
    return [path for path in paths if path.is_relative_to(real) and not (path.is_dir() and any(path.iterdir()))]


def _entries(root: Path) -> list[tuple[bytes, str]]:
    """What is in the index: mode and content, and the name."""
    entries = [entry.partition(b"\t") for entry in _said(root, "ls-files", "--stage")]
    return [(head, os.fsdecode(name)) for head, _, name in entries]


def _hidden(root: Path) -> list[str]:
    """Files that git was told not to look at (assume-unchanged, skip-worktree), if they are on the disk."""
    told = (entry.partition(b" ") for entry in _said(root, "ls-files", "-v"))
    hidden = [os.fsdecode(name) for tag, _, name in told if tag == SKIPPED or tag.islower()]
    return [name for name in hidden if os.path.lexists(root / name)]


def _files(names: Iterable[str], folders: Iterable[str]) -> Files:
    """With the names of repositories that nobody added, which end in a slash, among the folders."""
    own = [name for name in names if COMPILED not in name.split("/")]
    whole = frozenset(name.rstrip("/") for name in (*folders, *(name for name in own if name.endswith("/"))))
    return Files(tuple(sorted({name.rstrip("/") for name in own})), whole)


def _untracked(root: Path) -> list[str]:
    return _listed(root, "ls-files", "--others", "--exclude-standard")


def _listed(root: Path, command: str, *options: str) -> list[str]:
    return [os.fsdecode(name) for name in _said(root, command, *options)]


def _said(root: Path, command: str, *options: str) -> list[bytes]:
    """What a command of git lists; that it says nothing is an error."""
    answer = asked(root, command, "-z", *options, "--", patience=PATIENCE)
    if answer.status != 0:
        raise IrevalError(
            Problem(f"git {command} failed, so nobody knows what changed: {answer.said}", place=str(root))
        )
    return [entry for entry in answer.out.split(b"\0") if entry]
