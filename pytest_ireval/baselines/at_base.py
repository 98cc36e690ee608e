"""What a suite's baseline was where its branch began: its content, that there was none, or why nobody can say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pytest_ireval.baselines.baseline import Baseline
from pytest_ireval.baselines.files import ENDING, RECORD, checked_name, path_of
from pytest_ireval.baselines.reading import baseline_from, plain_line_ends
from pytest_ireval.baselines.renamed import Known, Named, name_at_base
from pytest_ireval.errors import BaselineError, Problem
from pytest_ireval.repositories.branches import MergeBase, merge_base, top_of
from pytest_ireval.repositories.git import standing
from pytest_ireval.repositories.tree import Tree

T = TypeVar("T")


class Base:
    """The ref that the baselines of one run are held against; git is asked once for each repository."""

    def __init__(self, ref: str) -> None:
        self.ref = ref
        self._tops: dict[Path, Path | BaselineError] = {}
        self._trees: dict[Path, Tree | BaselineError] = {}

    def of(self, folder: Path) -> Tree:
        """The merge base in the repository that holds a folder, which may be gone from the disk; or BaselineError."""
        top = _once(self._tops, standing(folder.resolve()), top_of)
        return _once(self._trees, top, lambda top: Tree(merge_base(self.ref, top)))


def _once(known: dict[Path, T | BaselineError], path: Path, ask: Callable[[Path], T]) -> T:
    """What is known of a path; asked for the first time, be the answer an error or not."""
    if path not in known:
        try:
            known[path] = ask(path)
        except BaselineError as error:
            known[path] = error
    found = known[path]
    if isinstance(found, BaselineError):
        raise found
    return found


@dataclass(frozen=True, eq=False)
class AtBase:
    """What there was of a suite's baseline at the merge base."""

    base: MergeBase
    baseline: Baseline | None = None
    """None: there was none."""
    same: bool = False
    """Whether it is that of the branch, byte by byte."""
    files: tuple[str, ...] = ()
    """Of the baseline, from the top of the repository, the .json file first."""
    renamed: bool = False
    """Whether it was called otherwise, or lay elsewhere."""
    gone: tuple[str, ...] = ()
    """Other baselines that the branch has no more, named if this one was not found under its name: .json files."""


def baseline_at_base(base: Base, folder: Path, name: str, stored: Baseline | None, suite: Named) -> AtBase:
    """What a suite had; ``stored`` is its baseline of now. Raises BaselineError where nobody can say."""
    tree = base.of(folder)
    home = _from_top(folder, tree.base)
    record = f"{home}/{checked_name(name)}.{RECORD}".removeprefix("./")
    known = Known(record, ())
    if record not in tree.files_in(home):
        known = name_at_base(tree, home, stored, suite)
        if not known.record:
            return AtBase(tree.base, gone=known.gone)
    prefix, renamed = known.record.removesuffix(RECORD), known.record != record
    listed = tree.files_in(known.record.rpartition("/")[0] or ".")
    files = {path: content for path, content in listed.items() if _belongs(path, prefix)}
    content = tree.contents({known.record: files.pop(known.record)})
    paths = (known.record, *files)
    if stored is not None and not renamed and _is_same(content[record], path_of(folder, name, RECORD)):
        return AtBase(tree.base, stored, same=True, files=paths)
    found = _read(tree.base, prefix, {**content, **tree.contents(files)})
    return AtBase(tree.base, found, False, paths, renamed, known.gone)


def _read(base: MergeBase, prefix: str, contents: Mapping[str, bytes]) -> Baseline | None:
    def load(ending: str) -> bytes | None:
        return contents.get(prefix + ending)

    return baseline_from(load, lambda ending: f"{base.short}:{prefix}{ending}", at=base.short)


def _belongs(path: str, prefix: str) -> bool:
    """Whether a file is one of this baseline, and not of its anchor, nor of a suite whose name begins so."""
    return path.startswith(prefix) and ENDING.fullmatch(path[len(prefix) :]) is not None


def _from_top(folder: Path, base: MergeBase) -> str:
    try:
        return folder.resolve().relative_to(base.top).as_posix()
    except ValueError:
        complaint = f"lies outside of the repository {base.top}"
        raise BaselineError(Problem(complaint, place=str(folder))) from None


def _is_same(record: bytes, path: Path) -> bool:
    """Whether the .json file is that of the disk; it holds fingerprints of all others."""
    try:
        return plain_line_ends(record) == plain_line_ends(path.read_bytes())
    except OSError:
        return False
