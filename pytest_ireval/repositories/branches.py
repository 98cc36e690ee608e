"""The merge base of two branches, and the files at that commit."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.errors import BaselineError, Problem, closest, shown
from pytest_ireval.repositories.git import DIGITS, asked, full_name, git, is_pointer, short_name

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
"""Seconds; a partial clone may fetch contents from far away."""


class Entry(NamedTuple):
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
        self._listed: dict[str, list[Entry]] = {}

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

    def _entries(self, where: str) -> list[Entry]:
        """The entries of a folder; an empty list means that the folder is empty, not that git failed."""
        if where not in self._listed:
            answer = asked(self.base.top, "ls-tree", "-z", self.base.commit, "--", where, patience=PATIENCE)
            if answer.status != 0:
                raise BaselineError(self._unreadable(where, answer.said))
            lines = [os.fsdecode(line).partition("\t") for line in answer.out.split(b"\0") if line]
            self._listed[where] = [Entry(path, about.split()[1], about.split()[2]) for about, _, path in lines]
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
