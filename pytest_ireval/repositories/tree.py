"""The files at a merge base, read from git without checking them out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.errors import BaselineError, Problem
from pytest_ireval.repositories.git import LONG_TIMEOUT, find_existing_folder, find_root, is_pointer, run_git
from pytest_ireval.repositories.merge_base import MergeBase, find_merge_base, find_top


class BaseRef:
    """The ref that a run is compared with; git is asked once for each repository."""

    def __init__(self, ref: str) -> None:
        self.ref = ref
        self._tops: dict[Path, Path] = {}
        self._trees: dict[Path, Tree] = {}

    def find_tree(self, folder: Path) -> Tree:
        """Return the merge base in the repository that holds a folder, which may be gone from the disk."""
        folder = find_existing_folder(folder.resolve())
        root = find_root(folder) or folder
        if root not in self._tops:
            self._tops[root] = find_top(folder)
        top = self._tops[root]
        if top not in self._trees:
            self._trees[top] = Tree(find_merge_base(self.ref, top))
        return self._trees[top]


class _Entry(NamedTuple):
    """Something in a folder of a commit."""

    path: str
    """From the top of the repository."""
    kind: str
    """blob, tree, or commit for a submodule."""
    object_id: str


class Tree:
    """A merge base's files, by their paths from the top of the repository; git is asked for each folder once."""

    def __init__(self, base: MergeBase) -> None:
        self.base = base
        self._entries: dict[str, list[_Entry]] = {}

    def path_from_top(self, file: Path) -> str:
        """The path of a file from the top of the repository, links kept; empty if the file is outside of it."""
        path, top = file.parent.resolve() / file.name, self.base.top
        return path.relative_to(top).as_posix() if path.is_relative_to(top) else ""

    def files_in(self, folder: str) -> dict[str, str]:
        """The object ids of the files in a folder, by path; none if there was no such folder."""
        entries = self._list("./" if folder == "." else f"{folder}/")
        if not entries and folder != "." and (entry := self._list(folder)):
            what = "a submodule" if entry[0].kind == "commit" else "a link or a file"
            raise BaselineError(Problem(f"is not a folder at {self.base}, but {what}", place=folder))
        return {entry.path: entry.object_id for entry in entries if entry.kind == "blob"}

    def has_file(self, path: str) -> bool:
        """Tell whether there was a file at that path."""
        return bool(path) and path in self.files_in(folder_of(path))

    def read_files(self, paths: Iterable[str]) -> dict[str, bytes]:
        """The contents of files, by path; missing ones are left out."""
        return self.contents({path: found for path in paths if (found := self.files_in(folder_of(path)).get(path))})

    def contents(self, wanted: Mapping[str, str]) -> dict[str, bytes]:
        """The content of each path, given its object id; git is asked once for all."""
        if not wanted:
            return {}
        given = "".join(f"{object_id}\n" for object_id in wanted.values()).encode("ascii")
        answer = run_git(self.base.top, "cat-file", "--batch", given=given, timeout=LONG_TIMEOUT)
        contents, at = {}, 0
        for path in wanted:  # of each object there is a line "ID KIND SIZE", its bytes, and a line end
            begin = answer.out.find(b"\n", at) + 1
            head = answer.out[at:begin].split()
            end = begin + int(head[2]) if len(head) == 3 else 0
            if not begin or not end or len(answer.out) <= end:
                complaint = answer.complaint or answer.out[at:begin].decode("ascii", "replace")
                raise BaselineError(self._describe_unreadable(path, complaint))
            contents[path] = self._fetch_pointed_content(path, answer.out[begin:end])
            at = end + 1
        return contents

    @cached_property
    def changes(self) -> dict[str, str]:
        """The status of each changed file that git knows, by path: M, D and the like."""
        how = ("-z", "--name-status", "--no-renames", "--ignore-submodules")
        answer = run_git(self.base.top, "diff", *how, self.base.commit, "--", timeout=LONG_TIMEOUT)
        if answer.status != 0:
            complaint = f"git cannot compare the files here with those at {self.base}: {answer.complaint}"
            raise BaselineError(Problem(complaint, place=str(self.base.top)))
        fields = os.fsdecode(answer.out).split("\0")
        return dict(zip(fields[1::2], fields[::2], strict=False))

    def _list(self, where: str) -> list[_Entry]:
        """The entries of a folder; an empty list means that the folder is empty, not that git failed."""
        if where not in self._entries:
            answer = run_git(self.base.top, "ls-tree", "-z", self.base.commit, "--", where, timeout=LONG_TIMEOUT)
            if answer.status != 0:
                raise BaselineError(self._describe_unreadable(where, answer.complaint))
            lines = [os.fsdecode(line).partition("\t") for line in answer.out.split(b"\0") if line]
            self._entries[where] = [_Entry(path, *about.split()[1:3]) for about, _, path in lines]
        return self._entries[where]

    def _fetch_pointed_content(self, path: str, data: bytes) -> bytes:
        """The data, or the content that Git LFS stores elsewhere."""
        if not is_pointer(data):
            return data
        answer = run_git(self.base.top, "lfs", "smudge", "--", path, given=data, timeout=LONG_TIMEOUT)
        if answer.status == 0 and answer.out and not is_pointer(answer.out):
            return answer.out
        complaint = "is a Git LFS pointer there, and git lfs cannot fetch the content"
        suggestion = f"git lfs install, then git lfs pull; git lfs fetch origin {self.base.short} fetches older content"
        raise BaselineError(Problem(complaint, place=f"{self.base.short}:{path}", suggestion=suggestion))

    def _describe_unreadable(self, path: str, complaint: str) -> Problem:
        lines = [line.strip() for line in complaint.splitlines() if line.strip()] or ["git gave no reason"]
        partial = any(word in complaint for word in ("promisor", "could not fetch", " missing"))
        hint = "a partial clone fetches file contents from its remote; check that the remote can be reached"
        place = f"{self.base.short}:{path}"
        return Problem(f"git cannot read it: {lines[-1]}", place, suggestion=hint if partial else "")


def folder_of(path: str) -> str:
    """The folder of a path in a repository."""
    return path.rpartition("/")[0] or "."
