"""Files that changed since a branch left a ref: committed, staged, not staged, and untracked."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pytest_ireval.errors import IrevalError, Problem
from pytest_ireval.repositories.branches import MergeBase, merge_base, top_of
from pytest_ireval.repositories.git import asked, root_of

LINK, SUBMODULE = b"120000", b"160000"
PATIENCE = 300.0
"""Seconds that git may take to look at all files of a large repository."""


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
    seen: Mapping[str, str]
    """Those of the names that lead through links, each with the name of the changed file."""

    @property
    def root(self) -> Path:
        """The top of the repository."""
        return self.base.top


def changes_since(ref: str, folder: Path) -> Changes:
    """All files of the repository around ``folder`` that differ; of a file that moved, both names.

    Raises IrevalError if git fails: a failure must not look like "nothing changed".
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
    """All files of a repository that are tracked or untracked; ignored ones are left out."""
    entries, untracked = _entries(root), _untracked(root)
    folders = [name for head, name in entries if head[:6] in (LINK, SUBMODULE)]
    return _files({*(name for _, name in entries), *untracked}, folders)


def absent_submodules(folder: Path) -> list[Path]:
    """Submodules below a folder that are not checked out, so that their files are unknown."""
    root = root_of(folder)
    if root is None or not (root / ".gitmodules").is_file():
        return []
    paths = [root / name for head, name in _entries(root) if head.startswith(SUBMODULE)]
    real = os.path.realpath(folder)
    return [path for path in paths if path.is_relative_to(real) and not (path.is_dir() and any(path.iterdir()))]


def _entries(root: Path) -> list[tuple[bytes, str]]:
    """The entries of the index: mode and content, and the name."""
    entries = [entry.partition(b"\t") for entry in _said(root, "ls-files", "--stage")]
    return [(head, os.fsdecode(name)) for head, _, name in entries]


def _hidden(root: Path) -> list[str]:
    """Files that git ignores by a flag (assume-unchanged, skip-worktree), if they are on the disk."""
    flagged = (entry.partition(b" ") for entry in _said(root, "ls-files", "-v"))
    hidden = [os.fsdecode(name) for tag, _, name in flagged if tag == b"S" or tag.islower()]
    return [name for name in hidden if os.path.lexists(root / name)]


def _files(names: Iterable[str], folders: Iterable[str]) -> Files:
    """Names and folders; a name that ends in a slash is a repository that was never added, and a folder."""
    own = [name for name in names if "__pycache__" not in name.split("/")]  # Python writes there during this run
    whole = frozenset(name.rstrip("/") for name in (*folders, *(name for name in own if name.endswith("/"))))
    return Files(tuple(sorted({name.rstrip("/") for name in own})), whole)


def _untracked(root: Path) -> list[str]:
    return _listed(root, "ls-files", "--others", "--exclude-standard")


def _listed(root: Path, command: str, *options: str) -> list[str]:
    return [os.fsdecode(name) for name in _said(root, command, *options)]


def _said(root: Path, command: str, *options: str) -> list[bytes]:
    """The entries that a command of git lists; its failure is an error."""
    answer = asked(root, command, "-z", *options, "--", patience=PATIENCE)
    if answer.status != 0:
        complaint = f"git {command} failed, so the changed files are unknown: {answer.said}"
        raise IrevalError(Problem(complaint, place=str(root)))
    return [entry for entry in answer.out.split(b"\0") if entry]


MOST = 8
"""The most links that are followed one after the other."""
NAMES = 200_000
"""The most names through links that are looked at; if there are more, links lead in circles."""


class _Lead(NamedTuple):
    """A link and its target."""

    link: str
    target: str

    @property
    def circular(self) -> bool:
        """True if it leads to a folder around itself; names found through it are not followed through it again."""
        return self.target == "." or lies_in(self.link, self.target)


def _through_links(names: Collection[str], links: Collection[str], root: Path) -> dict[str, str]:
    """Names of changed files through links, from the top of the repository, each with the file's own name.

    If links lead on without end, all of them count as changed.
    """
    leads = [_Lead(link, target) for link in links for target in _targets(link, root)]
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
    """The next and the last target of a link; none outside of the repository."""
    try:
        next_one = os.path.normpath(os.path.join(root, os.path.dirname(link), os.readlink(root / link)))
    except OSError:  # it was removed, or is no link any more
        return
    ends = {Path(next_one), Path(os.path.realpath(root / link))}
    yield from (end.relative_to(root).as_posix() for end in ends if end.is_relative_to(root))


def _seen_through(names: Mapping[str, str], leads: Iterable[_Lead]) -> Iterator[tuple[str, str]]:
    """Names that lead through one more link, each with the file's own name."""
    ordered = sorted(names)
    for lead in leads:
        link, target = lead.link, lead.target
        for above in PurePosixPath(target).parents:
            if str(above) in names:  # what was or became a link or a submodule
                yield link, names[str(above)]
        for name in names_below(ordered, "" if target == "." else target):
            if not lies_in(name, link) and not (lead.circular and names[name] != name):
                yield (link + name[len(target) :] if target != "." else f"{link}/{name}"), names[name]


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
