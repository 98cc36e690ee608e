"""Where a branch left another one: their merge base as git knows it for certain, or what would make git know it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_ireval.errors import BaselineError, Problem, closest, shown
from pytest_ireval.repositories.git import DIGITS, asked, full_name, git, short_name

BRANCH = re.compile(r"(?!HEAD\b|[0-9a-f]{7,64}$)[\w][\w./-]*")
"""What may be a branch: no HEAD~1, no commit."""


@dataclass(frozen=True)
class MergeBase:
    """The last commit that HEAD and a ref have in common."""

    top: Path
    """Of the repository's files."""
    commit: str
    ref: str
    """As git knows it: ``origin/main``, where ``main`` was asked for and there is no such branch."""
    notes: tuple[str, ...] = ()
    """What a reader should know of it, a line each."""

    @property
    def short(self) -> str:
        """The first digits of the commit."""
        return self.commit[:DIGITS]

    def __str__(self) -> str:
        return f"{self.short}, the merge base with {self.ref}"


def merge_base(ref: str, top: Path) -> MergeBase:
    """Of HEAD and ``ref`` in the repository at ``top``; an error unless git knows it for certain."""
    head = _commit(top, "HEAD")
    if not head:
        raise BaselineError(Problem("has no commit yet, so no branch to hold baselines against", place=str(top)))
    known = _known(ref, top)
    commit, shallow = _commit(top, known), _ends(top)
    known = short_name(known)
    answer = asked(top, "merge-base", "--all", commit, head)
    if answer.status not in (0, 1):
        raise BaselineError(Problem(f"git finds no merge base of HEAD and {known}: {answer.said}", place=str(top)))
    found = answer.out.decode("ascii").split()
    if not found:
        raise BaselineError(_unrelated(known, commit, shallow=bool(shallow)))
    if shallow and found[0] not in (head, commit) and _may_be_another(top, head, commit, found, shallow):
        raise BaselineError(_cut_off(found[0], known))
    return MergeBase(top, found[0], known, tuple(_notes(short_name(ref), known, found, head)))


def _notes(ref: str, known: str, found: list[str], head: str) -> Iterator[str]:
    if known != ref:
        yield f"there is no {ref} here, so {known} was taken"
    if len(found) > 1:
        others = ", ".join(commit[:DIGITS] for commit in found[1:])
        yield f"HEAD and {known} have {len(found)} merge bases: taken was the one that git names first, not {others}"
    if found[0] == head:
        yield f"HEAD is part of {known}: only what is not committed can differ"


def top_of(folder: Path) -> Path:
    """The folder that the files of the repository lie in."""
    answer = asked(folder, "rev-parse", "--show-toplevel")
    if answer.status == 0:
        return Path(os.fsdecode(answer.out.rstrip(b"\r\n"))).resolve()
    if "not a git repository" in answer.said:
        raise BaselineError(
            Problem(
                "is in no git repository, so there is no base to hold baselines against",
                place=str(folder),
                suggestion="run it in a clone, or without --ireval-base",
            )
        )
    first, *others = answer.said.splitlines() or ["git says nothing"]
    hint = " ".join(line.strip() for line in others if line.strip())
    raise BaselineError(Problem(f"git cannot be asked: {first}", place=str(folder), suggestion=hint))


def _commit(top: Path, ref: str) -> str:
    """Which commit a ref is; nothing if git does not know it."""
    if not ref or ref.startswith("-"):
        return ""
    said = git(top, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    return (said or b"").decode("ascii", "replace").strip()


def _known(ref: str, top: Path) -> str:
    """The ref in full, where it is one; a branch that is not here may be that of ``origin``."""
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
    complaint = f"git knows no commit {shown(ref)} here"
    if _ends(top):
        return Problem(
            f"{complaint}, and the clone is shallow", suggestion="\n  ".join(filter(None, (hint, _remedy(ref))))
        )
    fetch = f"git fetch origin {_refspec(ref)} brings a branch that is not here yet" if BRANCH.fullmatch(ref) else ""
    return Problem(complaint, suggestion="\n  ".join(filter(None, (hint, fetch))))


def _refspec(ref: str) -> str:
    branch = ref.removeprefix("origin/")
    return f"+refs/heads/{branch}:refs/remotes/origin/{branch}"


def _remedy(ref: str) -> str:
    """How a shallow clone gets the history that it lacks."""
    fetch = f"git fetch --unshallow origin {_refspec(ref)}" if BRANCH.fullmatch(ref) else "git fetch --unshallow"
    return f"fetch-depth: 0 of actions/checkout, GIT_DEPTH: 0 of GitLab, or {fetch} brings the history"


def _unrelated(ref: str, commit: str, *, shallow: bool) -> Problem:
    if shallow:
        complaint = f"HEAD and {ref} ({commit[:DIGITS]}) have no common commit in this clone, which is shallow"
        return Problem(complaint, suggestion=_remedy(ref))
    complaint = f"HEAD and {ref} ({commit[:DIGITS]}) have no common commit: their histories are unrelated"
    return Problem(complaint, suggestion="name the branch that this one was cut from")


def _cut_off(commit: str, ref: str) -> Problem:
    complaint = (
        f"HEAD and {ref} have {commit[:DIGITS]} in common, but this clone is shallow: a later common commit may lie "
        "behind its ends"
    )
    return Problem(complaint, suggestion=_remedy(ref))


def _ends(top: Path) -> set[str]:
    """Commits whose parents a shallow clone lacks; none if it is whole."""
    said = git(top, "rev-parse", "--git-path", "shallow")
    path = top / os.fsdecode((said or b"").rstrip(b"\r\n"))
    return set(path.read_text("ascii").split()) if path.is_file() else set()


def _may_be_another(top: Path, head: str, commit: str, found: list[str], ends: set[str]) -> bool:
    """Whether history is cut off on the way to the merge base, and not only below it."""
    said = git(top, "rev-list", head, commit, *(f"^{each}" for each in found))
    return said is None or not ends.isdisjoint(said.decode("ascii").split())
