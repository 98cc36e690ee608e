"""The baseline of a suite at the merge base: its content, that there was none, or why it cannot be read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TypeVar

from pytest_ireval.baseline.files import (
    BASELINE,
    SUFFIXES,
    anchor_name,
    check_name,
    find_baseline,
    is_anchor,
    name_in,
    near,
)
from pytest_ireval.baseline.reading import decode_baseline_of
from pytest_ireval.baseline.record import Baseline
from pytest_ireval.errors import BaselineError, Problem
from pytest_ireval.repositories.branches import MergeBase, Tree, merge_base, top_of
from pytest_ireval.repositories.git import standing

T = TypeVar("T")


class Base:
    """The ref that the baselines of one run are compared with; git is asked once for each repository."""

    def __init__(self, ref: str) -> None:
        self.ref = ref
        self._tops: dict[Path, Path | BaselineError] = {}
        self._trees: dict[Path, Tree | BaselineError] = {}

    def of(self, folder: Path) -> Tree:
        """The merge base in the repository that holds a folder, which may be gone from the disk; or BaselineError."""
        top = _once(self._tops, standing(folder.resolve()), top_of)
        return _once(self._trees, top, lambda top: Tree(merge_base(self.ref, top)))


def _once(known: dict[Path, T | BaselineError], path: Path, ask: Callable[[Path], T]) -> T:
    """Ask once for each path, and remember the answer, also if it is an error."""
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
    """The baseline of a suite at the merge base."""

    base: MergeBase
    baseline: Baseline | None = None
    """None: there was none."""
    same: bool = False
    """The branch has the same baseline, byte by byte."""
    file: str = ""
    """Its path from the top of the repository."""
    renamed: bool = False
    """It had another name, or was in another folder."""
    gone: tuple[str, ...] = ()
    """The paths of other baselines that the branch has no more, listed if this one was not found under its name."""


def baseline_at_base(base: Base, folder: Path, name: str, stored: Baseline | None, suite: NamedBaseline) -> AtBase:
    """Return the baseline that a suite had; ``stored`` is the current one. Raises BaselineError if git cannot tell."""
    _refuse_links(folder, base.of(folder.parent).base.top)
    tree = base.of(folder)
    home = _from_top(folder, tree.base)
    now = _find_in(tree, home, check_name(name))
    then, gone = (now, ()) if now else _find_other_name(tree, home, stored, suite)
    if not then:
        return AtBase(tree.base, gone=gone)
    found = _read_at_base(tree, then, stored if now else None, folder, name)
    return replace(found, renamed=not now, gone=gone)


def anchor_at_base(base: Base, folder: Path, name: str, stored: Baseline | None, beginning: AtBase | None) -> AtBase:
    """Return the anchor that a suite had; ``stored`` is the current one, ``beginning`` the suite's baseline there."""
    tree = base.of(folder)
    home = _from_top(folder, tree.base)
    then = beginning.file if beginning else ""
    suite = name_in(PurePosixPath(then)) if then else name
    then_home = _folder(then) if then else home
    found = _find_in(tree, then_home, anchor_name(suite))
    if not found:
        return AtBase(tree.base)
    renamed = (then_home, suite) != (home, name)
    at = _read_at_base(tree, found, None if renamed else stored, folder, anchor_name(name))
    return replace(at, renamed=renamed)


def _find_in(tree: Tree, home: str, name: str) -> str:
    """The path of a baseline at the base; empty if it has none."""
    paths = (f"{home}/{name}{suffix}".removeprefix("./") for suffix in SUFFIXES)
    return next((path for path in paths if path in tree.files_in(home)), "")


def _read_at_base(tree: Tree, then: str, stored: Baseline | None, folder: Path, name: str) -> AtBase:
    """The baseline in the file ``then``; the ``stored`` one called ``name`` if that is the same file."""
    (content,) = tree.contents({then: tree.files_in(_folder(then))[then]}).values()
    if stored is not None and _is_same(content, find_baseline(folder, name)):
        return AtBase(tree.base, stored, same=True, file=then)
    return AtBase(tree.base, decode_baseline_of(content, f"{tree.base.short}:{then}"), file=then)


def _refuse_links(folder: Path, top: Path) -> None:
    """Refuse a way to the baselines that leads through a link: it could lead to those of another folder."""
    way = Path(os.path.abspath(folder))
    for each in (way, *way.parents):
        if not Path(os.path.realpath(each.parent)).is_relative_to(top):
            return  # a link above the repository is not part of any branch
        if each.is_symlink():
            complaint = "is a link, so the baseline of another folder may take the place of this suite's own"
            raise BaselineError(
                Problem(
                    complaint,
                    place=str(near(each)),
                    suggestion="put a folder in its place, or name the folder that it leads to",
                )
            )


def _from_top(folder: Path, base: MergeBase) -> str:
    try:
        return folder.resolve().relative_to(base.top).as_posix()
    except ValueError:
        complaint = f"lies outside of the repository {base.top}"
        raise BaselineError(Problem(complaint, place=str(folder))) from None


def _is_same(content: bytes, path: Path | None) -> bool:
    """Compare with the file on the disk, whatever line ends git gave it."""
    try:
        return path is not None and content.replace(b"\r\n", b"\n") == path.read_bytes().replace(b"\r\n", b"\n")
    except OSError:
        return False


YAML = (".yaml", ".yml")
SUITE = re.compile(rb"^(?:\{\s*)?[\"']?suite[\"']?[ \t]*:[ \t]*[\"']?([^\"'#\r\n,}]+)", re.MULTILINE)
MATRIX = re.compile(rb"^(?:\{\s*)?[\"']?matrix[\"']?[ \t]*:", re.MULTILINE)


class NamedBaseline(NamedTuple):
    """The files and the matrix that give a suite its name."""

    files: tuple[Path, ...]
    """Its own file, and those that it extends."""
    ending: str = ""
    """Appended by a matrix: ``.de``."""


def _find_other_name(
    tree: Tree, home: str, stored: Baseline | None, suite: NamedBaseline
) -> tuple[str, tuple[str, ...]]:
    """Find it by the suite's own file; by acceptances, which a renamed baseline continues; or by its queries.

    Returns its path, empty if there is none, and other baselines of the base that the branch has no more.
    """
    gone = [each for each in dict.fromkeys(_find_gone(tree)) if not _is_anchor(each)]
    then = b"".join(contents_then(tree, [path_from_top(tree, suite.files[0])]).values())
    before = _find_name(then)
    found = _find_in(tree, home, before + suite.ending) if before else ""
    if not found:
        gone += [each for each in _left_behind(tree, home, then, suite) if each not in gone and not _is_anchor(each)]
        found = _find_alike(tree, gone, stored) if stored is not None else ""
    return found, tuple(each for each in gone if each != found)


def _find_gone(tree: Tree) -> Iterator[str]:
    """Baselines that are missing on the disk, and those whose suite files are missing."""
    deleted = [path for path, status in tree.changes.items() if status == "D" and not _is_there(tree.base.top / path)]
    yield from (path for path in deleted if BASELINE.fullmatch(path))
    for path, name in called_in(tree, [path for path in deleted if path.endswith(YAML)]).items():
        home = f"{_folder(path)}/baselines".removeprefix("./")
        yield from (each for each in tree.files_in(home) if _ending_of(each, home, name) is not None)


def _ending_of(path: str, home: str, name: str) -> str | None:
    """What a matrix adds to the name of a suite, ``.de``, if this is the path of its baseline; None otherwise."""
    named = name_in(PurePosixPath(path)) if _folder(path) == home else ""
    ending = named.removeprefix(name)
    return ending if named.startswith(name) and (not ending or ending.startswith(".")) else None


def _is_anchor(path: str) -> bool:
    """Tell whether it is an anchor, which no branch moves by accepting."""
    return is_anchor(name_in(PurePosixPath(path)))


def _is_there(path: Path) -> bool:
    """Tell whether git could add it under this name; it cannot if a link took the place of the folder."""
    return path.exists() and path.parent.resolve() == path.parent


def _left_behind(tree: Tree, home: str, then: bytes, suite: NamedBaseline) -> Iterator[str]:
    """Baselines that were named by the suite's own file as it was ``then``, and that it no longer names."""
    before = _find_name(then)
    if not before:
        return
    now, had_matrix = suite.files[0].read_bytes(), MATRIX.search(then) is not None
    others = [file for file in suite.files[0].parent.iterdir() if file.suffix in YAML and file != suite.files[0]]
    taken = {_find_name(file.read_bytes()) for file in others if file.is_file()}
    for path in tree.files_in(home):
        ending = _ending_of(path, home, before)
        if ending is None or f"{before}{ending}" in taken or bool(ending) != had_matrix:
            continue
        values = [value.encode() for value in ending.split(".")]
        made = all(value in then for value in values)
        if made and (had_matrix != bool(suite.ending) or any(value not in now for value in values)):
            yield path


def _find_name(content: bytes) -> str:
    """The name in the file of a suite; empty if there is none."""
    found = SUITE.search(content)
    return found[1].decode("utf-8", "replace").strip() if found else ""


def called_in(tree: Tree, paths: Sequence[str]) -> dict[str, str]:
    """The names in the files of suites at the base, by path; a missing file, or one without a name, is left out."""
    return {path: name for path, content in contents_then(tree, paths).items() if (name := _find_name(content))}


def contents_then(tree: Tree, paths: Sequence[str]) -> dict[str, bytes]:
    """The contents of files at the base, by their paths from the top; missing ones are left out."""
    return tree.contents({path: content for path in paths if (content := tree.files_in(_folder(path)).get(path))})


def path_from_top(tree: Tree, file: Path) -> str:
    """The path of a file from the top of the repository, links kept; empty if the file is outside of it."""
    path, top = file.parent.resolve() / file.name, tree.base.top
    return path.relative_to(top).as_posix() if path.is_relative_to(top) else ""


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "."


def _find_alike(tree: Tree, gone: Sequence[str], stored: Baseline) -> str:
    """The one whose acceptances are continued, or that has half of the judged queries; empty if there is none."""
    found = []
    wanted = {path: tree.files_in(_folder(path))[path] for path in gone}
    for path, content in tree.contents(wanted).items():
        try:
            then = decode_baseline_of(content, path)
        except BaselineError:  # it is named as gone all the same
            continue
        earlier = then.acceptances
        continued = len(earlier) if stored.acceptances[: len(earlier)] == earlier else 0
        shared = _shared(then.judgments.grades_of, stored.judgments.grades_of)
        if continued or shared >= 0.5:
            found.append((continued, shared, path))
    return max(found, default=(0, 0.0, ""))[2]


def _shared(before: Mapping[str, str], now: Mapping[str, str]) -> float:
    """The share of all judged queries that is judged alike on both sides."""
    every = before.keys() | now.keys()
    return sum(before.get(query) == now.get(query) for query in every) / len(every) if every else 0.0
