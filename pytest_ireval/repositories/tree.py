"""The files of one commit, read without checking it out; what is not there is told apart from what git cannot read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from pytest_ireval.errors import BaselineError, Problem
from pytest_ireval.repositories.branches import MergeBase
from pytest_ireval.repositories.git import asked
from pytest_ireval.repositories.pointers import is_pointer

PATIENCE = 300.0
"""Seconds for what a partial clone may have to bring from far away."""


class Entry(NamedTuple):
    """Something in a folder of a commit."""

    path: str
    """From the top of the repository."""
    kind: str
    """blob, tree, or commit for a submodule."""
    content: str
    """What git calls the content."""


class Tree:
    """A merge base's files; git is asked for each folder once."""

    def __init__(self, base: MergeBase) -> None:
        self.base = base
        self._listed: dict[str, list[Entry]] = {}

    def files_in(self, folder: str) -> dict[str, str]:
        """What git calls the contents of the files in a folder, by path; none if there was no such folder."""
        found = self._entries("./" if folder == "." else f"{folder}/")
        if not found and folder != "." and (there := self._entries(folder)):
            what = "a submodule" if there[0].kind == "commit" else "a link or a file"
            raise BaselineError(Problem(f"is no folder at {self.base}, but {what}", place=folder))
        return {entry.path: entry.content for entry in found if entry.kind == "blob"}

    def contents(self, wanted: Mapping[str, str]) -> dict[str, bytes]:
        """The content of each path, given what git calls it; git is asked once for all."""
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
        """What became of the files that are not as they were, by path: M, D and the like; only of those git knows."""
        how = ("-z", "--name-status", "--no-renames", "--ignore-submodules")
        answer = asked(self.base.top, "diff", *how, self.base.commit, "--", patience=PATIENCE)
        if answer.status != 0:
            complaint = f"git cannot compare the files here with those at {self.base}: {answer.said}"
            raise BaselineError(Problem(complaint, place=str(self.base.top)))
        fields = os.fsdecode(answer.out).split("\0")
        return dict(zip(fields[1::2], fields[::2], strict=False))

    def _entries(self, where: str) -> list[Entry]:
        """What there is; nothing is a fact, and no failure of git."""
        if where not in self._listed:
            answer = asked(self.base.top, "ls-tree", "-z", self.base.commit, "--", where, patience=PATIENCE)
            if answer.status != 0:
                raise BaselineError(self._unreadable(where, answer.said))
            lines = [os.fsdecode(line).partition("\t") for line in answer.out.split(b"\0") if line]
            self._listed[where] = [Entry(path, about.split()[1], about.split()[2]) for about, _, path in lines]
        return self._listed[where]

    def _brought(self, path: str, data: bytes) -> bytes:
        """The content itself, where Git LFS keeps it elsewhere."""
        if not is_pointer(data):
            return data
        answer = asked(self.base.top, "lfs", "smudge", "--", path, given=data, patience=PATIENCE)
        if answer.status == 0 and answer.out and not is_pointer(answer.out):
            return answer.out
        complaint = "is a pointer of Git LFS there, and git lfs does not bring the content"
        suggestion = f"git lfs install, then git lfs pull; git lfs fetch origin {self.base.short} brings what is older"
        raise BaselineError(Problem(complaint, place=f"{self.base.short}:{path}", suggestion=suggestion))

    def _unreadable(self, path: str, said: str) -> Problem:
        lines = [line.strip() for line in said.splitlines() if line.strip()] or ["git says nothing"]
        partial = any(word in said for word in ("promisor", "could not fetch", " missing"))
        return Problem(
            f"git cannot read it: {lines[-1]}",
            place=f"{self.base.short}:{path}",
            suggestion="a partial clone brings contents from its remote, which has to be reachable" if partial else "",
        )
