"""The merge base of two branches, the files at that commit, and the files that changed since."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pytest_ireval.errors import BaselineError, IrevalError, Problem, closest, shown
from pytest_ireval.repositories.git import DIGITS, asked, full_name, git, is_pointer, root_of, short_name

BRANCH = re.compile(r"(?!HEAD\b|[0-9a-f]{7,64}$)[\w][\w./-]*")
"""The name of a branch; HEAD~1 and the id of a commit do not match."""


@dataclass(frozen=True)
class MergeBase:
    """The last commit that HEAD and a ref have in common."""

    top: Path
    """The top folder of the repository."""
    commit: str
    ref: str
    """The ref as git knows it: ``origin/main`` if ``main`` was asked for and is missing."""
    notes: tuple[str, ...] = ()
    """Notes for the reader, a line each."""

    @property
    def short(self) -> str:
        """The first digits of the commit."""
        return self.commit[:DIGITS]

    def __str__(self) -> str:
        return f"{self.short}, the merge base with {self.ref}"


def merge_base(ref: str, top: Path) -> MergeBase:
    """The merge base of HEAD and ``ref`` in the repository at ``top``; an error unless git is certain."""
    head = _commit(top, "HEAD")
    if not head:
        raise BaselineError(Problem("has no commit yet, so there are no baselines to compare with", place=str(top)))
    known = _known(ref, top)
    commit, shallow = _commit(top, known), _ends(top)
    known = short_name(known)
    answer = asked(top, "merge-base", "--all", commit, head)
    if answer.status not in (0, 1):
        complaint = f"git cannot find the merge base of HEAD and {known}: {answer.said}"
        raise BaselineError(Problem(complaint, place=str(top)))
    found = answer.out.decode("ascii").split()
    if not found:
        raise BaselineError(_unrelated(known, commit, shallow=bool(shallow)))
    if shallow and found[0] not in (head, commit) and _may_be_another(top, head, commit, found, shallow):
        complaint = (
            f"HEAD and {known} have {found[0][:DIGITS]} in common, but this clone is shallow: a later common commit "
            "may be missing from it"
        )
        raise BaselineError(Problem(complaint, suggestion=_remedy(known)))
    return MergeBase(top, found[0], known, tuple(_notes(short_name(ref), known, found, head)))


def _notes(ref: str, known: str, found: list[str], head: str) -> Iterator[str]:
    if known != ref:
        yield f"there is no {ref} here, so {known} is used"
    if len(found) > 1:
        others = ", ".join(commit[:DIGITS] for commit in found[1:])
        yield f"HEAD and {known} have {len(found)} merge bases: the first that git lists is used, not {others}"
    if found[0] == head:
        yield f"HEAD is already part of {known}: only uncommitted changes can differ"


def top_of(folder: Path) -> Path:
    """The top folder of the repository that holds a folder."""
    answer = asked(folder, "rev-parse", "--show-toplevel")
    if answer.status == 0:
        return Path(os.fsdecode(answer.out.rstrip(b"\r\n"))).resolve()
    if "not a git repository" in answer.said:
        complaint = "is not in a git repository, so there is no base to compare with"
        hint = "run it in a clone, or without --ireval-base"
        raise BaselineError(Problem(complaint, place=str(folder), suggestion=hint))
    first, *others = answer.said.splitlines() or ["git gave no reason"]
    hint = " ".join(line.strip() for line in others if line.strip())
    raise BaselineError(Problem(f"git failed: {first}", place=str(folder), suggestion=hint))


def _commit(top: Path, ref: str) -> str:
    """The commit of a ref; empty if git does not know it."""
    if not ref or ref.startswith("-"):
        return ""
    said = git(top, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    return (said or b"").decode("ascii", "replace").strip()


def _known(ref: str, top: Path) -> str:
    """The full name of the ref; a branch that is missing here may be that of ``origin``."""
    for each in (ref, f"origin/{ref}"):
        full = full_name(each, top)
        if full and _commit(top, full):
            return full
    raise BaselineError(_unknown(ref, top))


def _unknown(ref: str, top: Path) -> Problem:
    listed = git(top, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags") or b""
    ref = short_name(ref)
    by_branch: dict[str, str] = {}
    for name in os.fsdecode(listed).split():
        by_branch.setdefault(name.removeprefix("origin/"), name)
    meant = closest(ref.removeprefix("origin/"), by_branch)
    hint = f"did you mean {by_branch[meant]!r}?" if meant else ""
    complaint = f"git does not know the commit {shown(ref)} here"
    remedy = f"git fetch origin {_refspec(ref)} fetches a branch that is missing here" if BRANCH.fullmatch(ref) else ""
    if _ends(top):
        complaint = f"{complaint}, and the clone is shallow"
        remedy = _remedy(ref)
    return Problem(complaint, suggestion="\n  ".join(filter(None, (hint, remedy))))


def _refspec(ref: str) -> str:
    branch = ref.removeprefix("origin/")
    return f"+refs/heads/{branch}:refs/remotes/origin/{branch}"


def _remedy(ref: str) -> str:
    """Ways to fetch the history that a shallow clone lacks."""
    fetch = f"git fetch --unshallow origin {_refspec(ref)}" if BRANCH.fullmatch(ref) else "git fetch --unshallow"
    return f"fetch-depth: 0 of actions/checkout, GIT_DEPTH: 0 of GitLab, or {fetch} fetches the history"


def _unrelated(ref: str, commit: str, *, shallow: bool) -> Problem:
    if shallow:
        complaint = f"HEAD and {ref} ({commit[:DIGITS]}) have no common commit in this clone, which is shallow"
        return Problem(complaint, suggestion=_remedy(ref))
    complaint = f"HEAD and {ref} ({commit[:DIGITS]}) have no common commit: their histories are unrelated"
    return Problem(complaint, suggestion="name the branch that this branch started from")


def _ends(top: Path) -> set[str]:
    """Commits whose parents a shallow clone lacks; none if it is whole."""
    said = git(top, "rev-parse", "--git-path", "shallow")
    path = top / os.fsdecode((said or b"").rstrip(b"\r\n"))
    return set(path.read_text("ascii").split()) if path.is_file() else set()


def _may_be_another(top: Path, head: str, commit: str, found: list[str], ends: set[str]) -> bool:
    """Tell whether history is cut off on the way to the merge base, and not only below it."""
    said = git(top, "rev-list", head, commit, *(f"^{each}" for each in found))
    return said is None or not ends.isdisjoint(said.decode("ascii").split())


PATIENCE = 300.0
"""Seconds: a partial clone may fetch contents from far away, and git looks at all files of a large repository."""


class _Entry(NamedTuple):
    """Something in a folder of a commit."""

    path: str
    """From the top of the repository."""
    kind: str
    """blob, tree, or commit for a submodule."""
    content: str
    """The object id of the content."""


class Tree:
    """A merge base's files; git is asked for each folder once."""

    def __init__(self, base: MergeBase) -> None:
        self.base = base
        self._listed: dict[str, list[_Entry]] = {}

    def files_in(self, folder: str) -> dict[str, str]:
        """The object ids of the files in a folder, by path; none if there was no such folder."""
        found = self._entries("./" if folder == "." else f"{folder}/")
        if not found and folder != "." and (there := self._entries(folder)):
            what = "a submodule" if there[0].kind == "commit" else "a link or a file"
            raise BaselineError(Problem(f"is not a folder at {self.base}, but {what}", place=folder))
        return {entry.path: entry.content for entry in found if entry.kind == "blob"}

    def contents(self, wanted: Mapping[str, str]) -> dict[str, bytes]:
        """The content of each path, given its object id; git is asked once for all."""
        if not wanted:
            return {}
        given = "".join(f"{content}\n" for content in wanted.values()).encode("ascii")
        answer = asked(self.base.top, "cat-file", "--batch", given=given, patience=PATIENCE)
        found, at = {}, 0
        for path in wanted:
            begin = answer.out.find(b"\n", at) + 1
            head = answer.out[at:begin].split()
            end = begin + int(head[2]) if len(head) == 3 else 0
            if not begin or not end or len(answer.out) <= end:
                said = answer.said or answer.out[at:begin].decode("ascii", "replace")
                raise BaselineError(self._unreadable(path, said))
            found[path] = self._brought(path, answer.out[begin:end])
            at = end + 1
        return found

    @cached_property
    def changes(self) -> dict[str, str]:
        """The status of each changed file that git knows, by path: M, D and the like."""
        how = ("-z", "--name-status", "--no-renames", "--ignore-submodules")
        answer = asked(self.base.top, "diff", *how, self.base.commit, "--", patience=PATIENCE)
        if answer.status != 0:
            complaint = f"git cannot compare the files here with those at {self.base}: {answer.said}"
            raise BaselineError(Problem(complaint, place=str(self.base.top)))
        fields = os.fsdecode(answer.out).split("\0")
        return dict(zip(fields[1::2], fields[::2], strict=False))

    def _entries(self, where: str) -> list[_Entry]:
        """The entries of a folder; an empty list means that the folder is empty, not that git failed."""
        if where not in self._listed:
            answer = asked(self.base.top, "ls-tree", "-z", self.base.commit, "--", where, patience=PATIENCE)
            if answer.status != 0:
                raise BaselineError(self._unreadable(where, answer.said))
            lines = [os.fsdecode(line).partition("\t") for line in answer.out.split(b"\0") if line]
            self._listed[where] = [_Entry(path, about.split()[1], about.split()[2]) for about, _, path in lines]
        return self._listed[where]

    def _brought(self, path: str, data: bytes) -> bytes:
        """The content itself, also if Git LFS stores it elsewhere."""
        if not is_pointer(data):
            return data
        answer = asked(self.base.top, "lfs", "smudge", "--", path, given=data, patience=PATIENCE)
        if answer.status == 0 and answer.out and not is_pointer(answer.out):
            return answer.out
        complaint = "is a Git LFS pointer there, and git lfs cannot fetch the content"
        suggestion = f"git lfs install, then git lfs pull; git lfs fetch origin {self.base.short} fetches older content"
        raise BaselineError(Problem(complaint, place=f"{self.base.short}:{path}", suggestion=suggestion))

    def _unreadable(self, path: str, said: str) -> Problem:
        lines = [line.strip() for line in said.splitlines() if line.strip()] or ["git gave no reason"]
        partial = any(word in said for word in ("promisor", "could not fetch", " missing"))
        hint = "a partial clone fetches file contents from its remote; check that the remote can be reached"
        place = f"{self.base.short}:{path}"
        return Problem(f"git cannot read it: {lines[-1]}", place, suggestion=hint if partial else "")


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
    behind = _links_to_changes(links, {name.rstrip("/") for name in names}, base.top)
    folders = {name for name in (*names, *behind) if os.path.isdir(base.top / name)}
    return Changes(base, _files(names, folders & names), _files(behind, folders & behind.keys()), behind)


def known_files(root: Path) -> Files:
    """All files of a repository that are tracked or untracked; ignored ones are left out."""
    entries, untracked = _entries(root), _untracked(root)
    folders = [name for head, name in entries if head[:6] in (LINK, SUBMODULE)]
    return _files({*(name for _, name in entries), *untracked}, folders)


def ignored_files(root: Path) -> Files:
    """Files of a repository that git ignores, and folders of which it ignores everything."""
    return _files(_listed(root, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory"), ())


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


def _links_to_changes(links: Iterable[str], changed: Iterable[str], root: Path) -> dict[str, str]:
    """Links that lead to a file that changed, or to a folder with one, each with the name of that file.

    What lies behind them is not looked at: everything there counts as changed.
    """
    names = {name: name for name in changed}
    targets = {link: list(_targets(link, root)) for link in links if link not in names}
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


def _targets(link: str, root: Path) -> Iterator[str]:
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
