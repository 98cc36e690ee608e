"""The merge base of HEAD and another ref: the commit at which a branch began."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.errors import BaselineError, Problem, find_closest, quote
from pytest_ireval.repositories.git import DIGITS, full_ref, git_output, run_git, short_ref

BRANCH = re.compile(r"(?!HEAD\b|[0-9a-f]{7,64}$)[\w][\w./-]*")
"""The name of a branch; HEAD~1 and the id of a commit do not match."""


class MergeBase(NamedTuple):
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


def find_top(folder: Path) -> Path:
    """Return the top folder of the repository that holds a folder."""
    answer = run_git(folder, "rev-parse", "--show-toplevel")
    if answer.status == 0:
        return Path(os.fsdecode(answer.out.rstrip(b"\r\n"))).resolve()
    if "not a git repository" in answer.complaint:
        complaint = "is not in a git repository, so there is no base to compare with"
        hint = "run it in a clone, or without --ireval-base"
        raise BaselineError(Problem(complaint, place=str(folder), suggestion=hint))
    first, *others = answer.complaint.splitlines() or ["git gave no reason"]
    hint = " ".join(line.strip() for line in others if line.strip())
    raise BaselineError(Problem(f"git failed: {first}", place=str(folder), suggestion=hint))


def find_merge_base(ref: str, top: Path) -> MergeBase:
    """Return the merge base of HEAD and ``ref`` in the repository at ``top``; an error unless git is certain."""
    head = _resolve_commit(top, "HEAD")
    if not head:
        raise BaselineError(Problem("has no commit yet, so there are no baselines to compare with", place=str(top)))
    known, commit = _find_ref(ref, top)
    answer = run_git(top, "merge-base", "--all", commit, head)
    if answer.status not in (0, 1):  # 1: there is none
        complaint = f"git cannot find the merge base of HEAD and {known}: {answer.complaint}"
        raise BaselineError(Problem(complaint, place=str(top)))
    bases = answer.out.decode("ascii").split()
    # Where one of the two is the base, the other goes on from it, and no later commit can be missing.
    cut_off = set() if bases and bases[0] in (head, commit) else _read_shallow_commits(top)
    if not bases and cut_off:
        complaint = f"HEAD and {known} ({commit[:DIGITS]}) have no common commit in this clone, which is shallow"
        raise BaselineError(Problem(complaint, suggestion=_suggest_history(known)))
    if not bases:
        complaint = f"HEAD and {known} ({commit[:DIGITS]}) have no common commit: their histories are unrelated"
        raise BaselineError(Problem(complaint, suggestion="name the branch that this branch started from"))
    if cut_off and _may_miss_a_later_base(top, head, commit, bases, cut_off):
        complaint = (
            f"HEAD and {known} have {bases[0][:DIGITS]} in common, but this clone is shallow: a later common commit "
            "may be missing from it"
        )
        raise BaselineError(Problem(complaint, suggestion=_suggest_history(known)))
    notes = []
    if known != short_ref(ref):
        notes.append(f"there is no {short_ref(ref)} here, so {known} is used")
    if len(bases) > 1:
        others = ", ".join(base[:DIGITS] for base in bases[1:])
        notes.append(f"HEAD and {known} have {len(bases)} merge bases: the first that git lists is used, not {others}")
    if bases[0] == head:
        notes.append(f"HEAD is already part of {known}: only uncommitted changes can differ")
    return MergeBase(top, bases[0], known, tuple(notes))


def _resolve_commit(top: Path, ref: str) -> str | None:
    """The commit of a ref; None if git does not know it."""
    if not ref or ref.startswith("-"):
        return None
    output = git_output(top, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    return output.decode("ascii", "replace").strip() if output else None


class _KnownRef(NamedTuple):
    name: str
    """As people write it."""
    commit: str


def _find_ref(ref: str, top: Path) -> _KnownRef:
    """Find a ref; a branch that is missing here may be that of ``origin``."""
    for name in (ref, f"origin/{ref}"):
        full = full_ref(name, top)
        commit = _resolve_commit(top, full)
        if commit:
            return _KnownRef(short_ref(full), commit)
    raise BaselineError(_describe_unknown_ref(ref, top))


def _describe_unknown_ref(ref: str, top: Path) -> Problem:
    listed = git_output(top, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags")
    ref = short_ref(ref)
    by_branch: dict[str, str] = {}
    for name in os.fsdecode(listed or b"").split():
        by_branch.setdefault(name.removeprefix("origin/"), name)
    meant = find_closest(ref.removeprefix("origin/"), by_branch)
    hint = f"did you mean {by_branch[meant]!r}?" if meant else ""
    complaint = f"git does not know the commit {quote(ref)} here"
    remedy = f"git fetch origin {_refspec(ref)} fetches a branch that is missing here" if BRANCH.fullmatch(ref) else ""
    if _read_shallow_commits(top):
        complaint = f"{complaint}, and the clone is shallow"
        remedy = _suggest_history(ref)
    return Problem(complaint, suggestion="\n  ".join(filter(None, (hint, remedy))))


def _refspec(ref: str) -> str:
    branch = ref.removeprefix("origin/")
    return f"+refs/heads/{branch}:refs/remotes/origin/{branch}"


def _suggest_history(ref: str) -> str:
    """Ways to fetch the history that a shallow clone lacks."""
    fetch = f"git fetch --unshallow origin {_refspec(ref)}" if BRANCH.fullmatch(ref) else "git fetch --unshallow"
    return f"fetch-depth: 0 of actions/checkout, GIT_DEPTH: 0 of GitLab, or {fetch} fetches the history"


def _read_shallow_commits(top: Path) -> set[str]:
    """Commits whose parents a shallow clone lacks; none if it is whole."""
    output = git_output(top, "rev-parse", "--git-path", "shallow")
    path = top / os.fsdecode((output or b"").rstrip(b"\r\n"))
    return set(path.read_text("ascii").split()) if path.is_file() else set()


def _may_miss_a_later_base(top: Path, head: str, commit: str, bases: list[str], cut_off: set[str]) -> bool:
    """Tell whether history is cut off on the way to the merge base, and not only below it."""
    output = git_output(top, "rev-list", head, commit, *(f"^{base}" for base in bases))
    return output is None or not cut_off.isdisjoint(output.decode("ascii").split())
