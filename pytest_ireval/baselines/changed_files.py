"""What git says has changed since a branch left a ref: commits, what is staged, what is not, and untracked files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.baselines.branches import merge_base
from pytest_ireval.baselines.git import git
from pytest_ireval.baselines.repository import root_of
from pytest_ireval.errors import IrevalError, Problem

LINK, SUBMODULE = b"120000", b"160000"
COMPILED = "__pycache__"
"""Files in such folders are made by running, also by running this: nobody changed them."""


class Files(NamedTuple):
    """Names of files, seen from the top of their repository."""

    names: tuple[str, ...]
    """Sorted."""
    folders: frozenset[str] = frozenset()
    """Those that stand for a whole folder: submodules, links to folders, repositories that nobody added."""


class Changes(NamedTuple):
    """What differs from the commit at which a branch left a ref."""

    ref: str
    root: Path
    base: str
    """The commit."""
    files: Files


def changes_since(ref: str, folder: Path) -> Changes:
    """All files of the repository around ``folder`` that differ; of a file that moved, both names.

    Raises IrevalError where git cannot tell: that nothing changed is never what it says then.
    """
    top = git(folder, "rev-parse", "--show-toplevel")
    if top is None:
        raise IrevalError(_not_asked(folder))
    root = Path(os.path.realpath(os.fsdecode(top.removesuffix(b"\n"))))
    base = merge_base(ref, root).commit
    differing = _listed(root, "diff", "--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=none", base)
    names = {*differing, *_untracked(root)}
    return Changes(ref, root, base, _files(names, (name for name in names if os.path.isdir(root / name))))


def _not_asked(folder: Path) -> Problem:
    """Why git says nothing of a folder at all."""
    root = root_of(folder)
    if root is None:
        return Problem("lies in no git repository, so nobody knows what changed", place=str(folder))
    complaint = "git does not answer, so nobody knows what changed"
    suggestion = (
        f"is it installed? It may also refuse a folder of somebody else: git config --add safe.directory {root}"
    )
    return Problem(complaint, place=str(root), suggestion=suggestion)


def known_files(root: Path) -> Files:
    """All files of a repository that git knows or would know if they were added: what it ignores is left out."""
    entries = [entry.partition(b"\t") for entry in _said(root, "ls-files", "--stage")]
    untracked = _untracked(root)
    folders = [os.fsdecode(name) for head, _, name in entries if head[:6] in (LINK, SUBMODULE)]
    return _files({*(os.fsdecode(name) for _, _, name in entries), *untracked}, folders)


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
    said = git(root, command, "-z", *options, "--")
    if said is None:
        complaint = f"git {command} failed, or took too long, so nobody knows what changed"
        raise IrevalError(Problem(complaint, place=str(root)))
    return [entry for entry in said.split(b"\0") if entry]
