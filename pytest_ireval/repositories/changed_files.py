"""Files that differ from the commit at which a branch began, and the files that git knows."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pytest_ireval.errors import IrevalError, Problem
from pytest_ireval.repositories.git import LONG_TIMEOUT, find_root, run_git
from pytest_ireval.repositories.merge_base import MergeBase, find_merge_base, find_top

LINK, SUBMODULE = b"120000", b"160000"


class Files(NamedTuple):
    """Names of files, seen from the top of their repository."""

    names: tuple[str, ...]
    """Sorted."""
    folders: frozenset[str] = frozenset()
    """Names of whole folders: submodules, links to folders, repositories that were never added."""


class Changes(NamedTuple):
    """Differences from the commit at which a branch left another one."""

    base: MergeBase
    files: Files
    links: Files
    """Links that lead to one of these files, or to a folder with one: what is behind them may differ."""
    behind: Mapping[str, str]
    """By the name of such a link, a changed file that it leads to."""

    @property
    def root(self) -> Path:
        """The top of the repository."""
        return self.base.top


def find_changes_since(ref: str, folder: Path) -> Changes:
    """All files of the repository around ``folder`` that differ; of a file that moved, both names.

    Raises IrevalError if git fails: a failure must not look like "nothing changed".
    """
    if find_root(folder) is None:
        complaint = "is not in a git repository, so the changed files are unknown"
        hint = "run it in a clone, or without --ireval-changed-since"
        raise IrevalError(Problem(complaint, place=str(folder), suggestion=hint))
    base = find_merge_base(ref, find_top(folder))
    how = ("--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=none")
    changed, untracked = _list_names(base.top, "diff", *how, base.commit), _list_untracked(base.top)
    names = {*changed, *untracked, *_list_flagged(base.top)}
    links = [name for head, name in _read_index(base.top) if head.startswith(LINK)]
    links += [name for name in untracked if os.path.islink(base.top / name)]
    behind = _find_links_to_changes(links, {name.rstrip("/") for name in names}, base.top)
    folders = {name for name in (*names, *behind) if os.path.isdir(base.top / name)}
    return Changes(base, _make_files(names, folders & names), _make_files(behind, folders & behind.keys()), behind)


def list_known_files(root: Path) -> Files:
    """All files of a repository that are tracked or untracked; ignored ones are left out."""
    entries, untracked = _read_index(root), _list_untracked(root)
    folders = [name for head, name in entries if head[:6] in (LINK, SUBMODULE)]
    return _make_files({*(name for _, name in entries), *untracked}, folders)


def list_ignored_files(root: Path) -> Files:
    """Files of a repository that git ignores, and folders of which it ignores everything."""
    return _make_files(_list_names(root, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory"), ())


def list_absent_submodules(folder: Path) -> list[Path]:
    """Submodules below a folder that are not checked out, so that their files are unknown."""
    root = find_root(folder)
    if root is None or not (root / ".gitmodules").is_file():
        return []
    paths = [root / name for head, name in _read_index(root) if head.startswith(SUBMODULE)]
    real = os.path.realpath(folder)
    return [path for path in paths if path.is_relative_to(real) and not (path.is_dir() and any(path.iterdir()))]


def _read_index(root: Path) -> list[tuple[bytes, str]]:
    """The entries of the index: mode and content, and the name."""
    entries = [entry.partition(b"\t") for entry in _list_entries(root, "ls-files", "--stage")]
    return [(head, os.fsdecode(name)) for head, _, name in entries]


def _list_flagged(root: Path) -> list[str]:
    """Files that git ignores by a flag (assume-unchanged, skip-worktree), if they are on the disk."""
    flagged = (entry.partition(b" ") for entry in _list_entries(root, "ls-files", "-v"))
    hidden = [os.fsdecode(name) for tag, _, name in flagged if tag == b"S" or tag.islower()]
    return [name for name in hidden if os.path.lexists(root / name)]


def _make_files(names: Iterable[str], folders: Iterable[str]) -> Files:
    """Names and folders; a name that ends in a slash is a repository that was never added, and a folder."""
    own = [name for name in names if "__pycache__" not in name.split("/")]  # Python writes there during this run
    whole = frozenset(name.rstrip("/") for name in (*folders, *(name for name in own if name.endswith("/"))))
    return Files(tuple(sorted({name.rstrip("/") for name in own})), whole)


def _list_untracked(root: Path) -> list[str]:
    return _list_names(root, "ls-files", "--others", "--exclude-standard")


def _list_names(root: Path, command: str, *options: str) -> list[str]:
    return [os.fsdecode(name) for name in _list_entries(root, command, *options)]


def _list_entries(root: Path, command: str, *options: str) -> list[bytes]:
    """The entries that a command of git lists; its failure is an error."""
    answer = run_git(root, command, "-z", *options, "--", timeout=LONG_TIMEOUT)
    if answer.status != 0:
        complaint = f"git {command} failed, so the changed files are unknown: {answer.complaint}"
        raise IrevalError(Problem(complaint, place=str(root)))
    return [entry for entry in answer.out.split(b"\0") if entry]


def _find_links_to_changes(links: Iterable[str], changed: Iterable[str], root: Path) -> dict[str, str]:
    """Links that lead to a file that changed, or to a folder with one, each with the name of that file.

    What lies behind them is not looked at: everything there counts as changed.
    """
    names = {name: name for name in changed}
    targets = {link: list(_read_targets(link, root)) for link in links if link not in names}
    found: dict[str, str] = {}
    while True:
        ordered = sorted(names)
        new: dict[str, str] = {}
        for link in targets.keys() - found.keys():
            for target in targets[link]:
                on_the_way = (str(above) for above in PurePosixPath(target).parents if str(above) in names)
                first = next(on_the_way, None) or next(iter(names_below(ordered, target)), None)
                if first is not None:
                    new[link] = names[first]
        if not new:
            return found
        found |= new
        names |= new  # other links may lead to these


def _read_targets(link: str, root: Path) -> Iterator[str]:
    """The next and the last target of a link; none outside of the repository. The top itself is ``""``."""
    try:
        next_one = os.path.normpath(os.path.join(root, os.path.dirname(link), os.readlink(root / link)))
    except OSError:  # it was removed, or is no link any more
        return
    for end in {Path(next_one), Path(os.path.realpath(root / link))}:
        if end.is_relative_to(root):
            below = end.relative_to(root).as_posix()
            yield "" if below == "." else below


def names_below(names: Sequence[str], place: str) -> Sequence[str]:
    """The place itself and all below it, of sorted names."""
    if not place:
        return names
    at = bisect_left(names, place)
    below = names[bisect_left(names, f"{place}/") : bisect_left(names, f"{place}0")]  # 0 follows / in order
    return (*([place] if place in names[at : at + 1] else []), *below)


def lies_in(name: str, place: str) -> bool:
    """Tell whether a name is the place, or is below it."""
    return not place or name == place or name.startswith(f"{place}/")
