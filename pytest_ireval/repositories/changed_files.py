"""What git says has changed since a branch left a ref: commits, what is staged, what is not, and untracked files."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pytest_ireval.errors import IrevalError, Problem
from pytest_ireval.repositories.branches import MergeBase, merge_base, top_of
from pytest_ireval.repositories.git import asked, root_of

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
        complaint = "is not in a git repository, so the changed files are unknown"
        hint = "run it in a clone, or without --ireval-changed-since"
        raise IrevalError(Problem(complaint, place=str(folder), suggestion=hint))
    base = merge_base(ref, top_of(folder))
    how = ("--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=none")
    changed, untracked = _listed(base.top, "diff", *how, base.commit), _untracked(base.top)
    names = {*changed, *untracked, *_hidden(base.top)}
    links = [name for head, name in _entries(base.top) if head.startswith(LINK)]
    links += [name for name in untracked if os.path.islink(base.top / name)]
    seen = _through_links({name.rstrip("/") for name in names}, links, base.top)
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
            Problem(f"git {command} failed, so the changed files are unknown: {answer.said}", place=str(root))
        )
    return [entry for entry in answer.out.split(b"\0") if entry]


MOST = 8
"""So many links are followed one after the other."""
NAMES = 200_000
"""So many names by way of links are looked at; where there are more, links lead in circles."""


class Lead(NamedTuple):
    """A link, and where it leads."""

    link: str
    target: str

    @property
    def circular(self) -> bool:
        """Whether it leads to a folder around itself; what is seen through it is not looked for behind itself again."""
        return self.target == "." or _lies_in(self.link, self.target)


def _through_links(names: Collection[str], links: Collection[str], root: Path) -> dict[str, str]:
    """Names that changed files have by way of links, seen from the top of the repository, with their own names.

    Where links lead on and on, all of them have changed.
    """
    leads = [Lead(link, target) for link in links for target in _targets(link, root)]
    known = {name: name for name in names}
    new = dict(known)
    for _ in range(MOST):
        found = list(islice(_seen_through(new, leads), NAMES))
        if len(found) == NAMES:
            break
        new = {name: own for name, own in found if name not in known}
        if not new:
            return {name: own for name, own in known.items() if name not in names}
        known |= new
    return {lead.link: lead.link for lead in leads if lead.link not in names}


def _targets(link: str, root: Path) -> Iterator[str]:
    """Where a link leads at once, and in the end; nothing outside of the repository."""
    try:
        next_one = os.path.normpath(os.path.join(root, os.path.dirname(link), os.readlink(root / link)))
    except OSError:  # it was removed, or is no link any more
        return
    ends = {Path(next_one), Path(os.path.realpath(root / link))}
    yield from (end.relative_to(root).as_posix() for end in ends if end.is_relative_to(root))


def _seen_through(names: Mapping[str, str], leads: Iterable[Lead]) -> Iterator[tuple[str, str]]:
    """With one more link on the way to each."""
    ordered = sorted(names)
    for lead in leads:
        link, target = lead.link, lead.target
        for above in PurePosixPath(target).parents:
            if str(above) in names:  # what was or became a link or a submodule
                yield link, names[str(above)]
        for name in _below(ordered, "" if target == "." else target):
            if not _lies_in(name, link) and not (lead.circular and names[name] != name):
                yield (link + name[len(target) :] if target != "." else f"{link}/{name}"), names[name]


def _below(names: list[str], place: str) -> Iterator[str]:
    """What is the place, or lies in it, of names in order."""
    if not place:
        yield from names
        return
    at = bisect_left(names, place)
    if names[at : at + 1] == [place]:
        yield place
    yield from names[bisect_left(names, f"{place}/") : bisect_left(names, f"{place}0")]  # 0 follows / in order


def _lies_in(name: str, place: str) -> bool:
    return name == place or name.startswith(f"{place}/")
