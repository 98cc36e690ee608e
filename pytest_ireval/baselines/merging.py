"""Baselines in a merge that git could not settle: one side is kept whole, the acceptances of the other are named.

A baseline was measured as a whole, so a mixture of two was never measured. Git's "ours" is HEAD, in a merge as in a
rebase: the branch that is merged into, or that commits are put on top of.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from pytest_ireval.baselines.files import (
    COMPRESSED,
    ENDING,
    FIELDS,
    JUDGMENTS,
    RECORD,
    TIMINGS,
    TITLES,
    path_of,
    rankings_ending,
)
from pytest_ireval.baselines.reading import Load, read_baseline, record_from
from pytest_ireval.baselines.record import Acceptance
from pytest_ireval.baselines.writing import delete_baseline, write_files
from pytest_ireval.errors import BaselineError, Problem
from pytest_ireval.repositories.git import blob, content_at, git

FOLDER = "baselines"
FILE = re.compile(rf"(?P<name>.+?)\.(?:{ENDING.pattern})")
OTHERS = {"MERGE_HEAD": "merge", "REBASE_HEAD": "rebase", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert"}

Side = Literal["ours", "theirs"]


class Conflict(NamedTuple):
    """A baseline of which git could not merge all files."""

    folder: Path
    name: str

    @property
    def record(self) -> Path:
        """Its .json file."""
        return path_of(self.folder, self.name, RECORD)


class Sides(NamedTuple):
    """The two sides of a merge."""

    kind: str
    """merge, rebase, cherry-pick, revert; empty where git does not say."""
    ours: str
    """In words, with commit."""
    theirs: str
    theirs_ref: str


class Settled(NamedTuple):
    """The result of settling a conflict."""

    kept: Acceptance | None
    """The last acceptance of the side that was kept; None if it has no such baseline."""
    lost: tuple[Acceptance, ...]
    """Those of the other side that are not part of it, oldest first."""


def conflicts_at(folder: Path) -> list[Conflict]:
    """All of the repository that holds ``folder``, by path."""
    top = _top_of(folder)
    listed = git(top, "ls-files", "--unmerged", "-z") or b""
    paths = {Path(os.fsdecode(entry.partition(b"\t")[2])) for entry in listed.split(b"\0") if entry}
    found = {
        Conflict(top / path.parent, match["name"])
        for path in paths
        if path.parent.name == FOLDER and (match := FILE.fullmatch(path.name))
    }
    return sorted(found)


def sides_at(folder: Path) -> Sides:
    """The two sides, in words that are right in a rebase too."""
    ref = next((ref for ref in OTHERS if _commit(folder, ref)), "")
    branch = _said(folder, "symbolic-ref", "--quiet", "--short", "HEAD")
    kind = OTHERS.get(ref, "")
    if kind == "rebase":
        onto = _said(folder, "name-rev", "--name-only", "--no-undefined", "--refs=refs/heads/*", "HEAD")
        ours = f"what is rebased onto ({onto + ', ' if onto else ''}{_commit(folder, 'HEAD')})"
        return Sides(kind, ours, f"the commit that is rebased ({_commit(folder, ref)})", ref)
    ours = f"{branch or 'HEAD'} ({_commit(folder, 'HEAD')}), which is merged into"
    return Sides(kind, ours, _theirs(folder, ref) if ref else "the other side", ref)


def _theirs(folder: Path, ref: str) -> str:
    """The other side with its commit; in a merge, by the name it is merged by: that commit may have other names."""
    commit = _commit(folder, ref)
    if ref == "MERGE_HEAD":
        message = folder / _said(folder, "rev-parse", "--git-path", "MERGE_MSG")
        text = message.read_text("utf-8", "replace") if message.is_file() else ""
        named = re.match(r"Merge (?:remote-tracking branch|branch|tag) '([^']+)'", text)
        return f"{named[1]} ({commit})" if named else f"commit {commit}"
    other = _said(folder, "name-rev", "--name-only", "--no-undefined", "--refs=refs/heads/*", ref)
    return f"{other or 'the other side'} ({commit})"


def settle(conflict: Conflict, sides: Sides, take: Side = "ours") -> Settled:
    """Keep all files of one side, and tell git that they are settled."""
    loads = {"ours": _loader(conflict, "HEAD", 2), "theirs": _loader(conflict, sides.theirs_ref, 3)}
    if take == "theirs" and not sides.theirs_ref:
        complaint = "git does not say which commit the other side is"
        raise BaselineError(Problem(complaint, place=str(conflict.record), allowed="--take ours"))
    kept, other = loads[take], loads["theirs" if take == "ours" else "ours"]
    mine, others = _acceptances(kept, conflict), _acceptances(other, conflict)
    files = _files(kept)
    if files:
        write_files(conflict.folder, conflict.name, files)
    else:
        delete_baseline(conflict.folder, conflict.name)
    _stage(conflict)
    if files:
        read_baseline(conflict.folder, conflict.name)  # reports what is wrong with the side itself
    return Settled(mine[-1] if mine else None, tuple(each for each in others if each not in mine))


def _loader(conflict: Conflict, ref: str, stage: int) -> Load:
    """The files of a side; if git does not say which commit it is, those it could not merge."""

    def load(ending: str) -> bytes | None:
        path = path_of(conflict.folder, conflict.name, ending)
        return content_at(ref, path) if ref else blob(f":{stage}:./{path.name}", conflict.folder)

    return load


def _files(load: Load) -> dict[str, bytes]:
    """All files of a baseline there may be, the record last."""
    found: dict[str, bytes] = {}
    asking = 1
    while _take(load, rankings_ending(asking), found):
        asking += 1
    for ending in (JUDGMENTS, TITLES, FIELDS, TIMINGS):
        _take(load, ending, found)
    return found if _take(load, RECORD, found) else {}


def _take(load: Load, ending: str, found: dict[str, bytes]) -> bool:
    for each in (ending, ending + COMPRESSED):
        content = load(each)
        if content is not None:
            found[each] = content
            return True
    return False


def _acceptances(load: Load, conflict: Conflict) -> tuple[Acceptance, ...]:
    try:
        record = record_from(load, lambda _: str(conflict.record))
    except BaselineError:  # a side that cannot be read has nothing to repeat
        return ()
    return record.baseline.acceptances if record else ()


def _stage(conflict: Conflict) -> None:
    """Tell git; also of files that are gone."""
    listed = git(conflict.folder, "ls-files", "-z", "--cached", "--others") or b""
    for name in sorted({os.fsdecode(name) for name in listed.split(b"\0") if name}):
        if (match := FILE.fullmatch(name)) and match["name"] == conflict.name:
            git(conflict.folder, "add", "--all", "--force", "--", f":(literal){name}")


def _top_of(folder: Path) -> Path:
    top = _said(folder, "rev-parse", "--show-toplevel")
    if not top:
        raise BaselineError(Problem("is not in a git repository, or git is not installed", place=str(folder)))
    return Path(top)


def _commit(folder: Path, ref: str) -> str:
    return _said(folder, "rev-parse", "--verify", "--quiet", "--short", ref)


def _said(folder: Path, *arguments: str) -> str:
    return os.fsdecode(git(folder, *arguments) or b"").strip()


def only_side(conflicts: Iterable[Conflict], wanted: Collection[Path]) -> list[Conflict]:
    """The conflicts that were named by one of their files or by their folder."""
    folders = {path.resolve() for path in wanted}
    named = {(path.parent.resolve(), match["name"]) for path in wanted if (match := FILE.fullmatch(path.name))}
    places = ((conflict, conflict.folder.resolve()) for conflict in conflicts)
    return [conflict for conflict, folder in places if folder in folders or (folder, conflict.name) in named]
