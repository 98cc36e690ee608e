"""The baseline of a suite at the merge base, also if a branch renamed or moved it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pytest_ireval.baseline.files import (
    BASELINE,
    MATRIX,
    SUFFIXES,
    YAML,
    anchor_name,
    baseline_name,
    check_name,
    display_path,
    find_baseline_file,
    is_anchor,
    read_suite_name,
)
from pytest_ireval.baseline.reading import decode_content
from pytest_ireval.baseline.record import Baseline
from pytest_ireval.errors import BaselineError, Problem
from pytest_ireval.repositories.merge_base import MergeBase
from pytest_ireval.repositories.tree import BaseRef, Tree, folder_of


class BaselineAtBase(NamedTuple):
    """The baseline of a suite at the merge base."""

    base: MergeBase
    baseline: Baseline | None = None
    """None: there was none."""
    unchanged: bool = False
    """The branch has the same baseline, byte by byte."""
    file: str = ""
    """Its path from the top of the repository."""
    renamed: bool = False
    """It had another name, or was in another folder."""
    removed: tuple[str, ...] = ()
    """The paths of other baselines that the branch has no more, listed if this one was not found under its name."""


class SuiteIdentity(NamedTuple):
    """The files and the matrix that give a suite its name."""

    files: tuple[Path, ...]
    """Its own file, and those that it extends."""
    matrix_ending: str = ""
    """Appended by a matrix: ``.de``."""


def find_baseline_at_base(
    base: BaseRef, folder: Path, name: str, stored: Baseline | None, suite: SuiteIdentity
) -> BaselineAtBase:
    """Return the baseline that a suite had; ``stored`` is the current one. Raises BaselineError if git cannot tell."""
    _refuse_links(folder, base.find_tree(folder.parent).base.top)
    tree = base.find_tree(folder)
    home = _folder_from_top(folder, tree.base)
    path = _find_in_folder(tree, home, check_name(name))
    if path:
        return _read_baseline(tree, path, stored, folder, name)
    path, removed = _find_under_other_name(tree, home, stored, suite)
    if not path:
        return BaselineAtBase(tree.base, removed=removed)
    return _read_baseline(tree, path, None, folder, name)._replace(renamed=True, removed=removed)


def find_anchor_at_base(
    base: BaseRef, folder: Path, name: str, stored: Baseline | None, baseline: BaselineAtBase | None
) -> BaselineAtBase:
    """Return the anchor that a suite had; ``stored`` is the current one, ``baseline`` the suite's baseline there."""
    tree = base.find_tree(folder)
    home = _folder_from_top(folder, tree.base)
    old_home, old_name = home, name
    if baseline is not None and baseline.file:
        old_home, old_name = folder_of(baseline.file), baseline_name(PurePosixPath(baseline.file))
    path = _find_in_folder(tree, old_home, anchor_name(old_name))
    if not path:
        return BaselineAtBase(tree.base)
    renamed = (old_home, old_name) != (home, name)
    found = _read_baseline(tree, path, None if renamed else stored, folder, anchor_name(name))
    return found._replace(renamed=renamed)


def _find_in_folder(tree: Tree, home: str, name: str) -> str:
    """The path of a baseline at the base; empty if it has none."""
    paths = (f"{home}/{name}{suffix}".removeprefix("./") for suffix in SUFFIXES)
    return next((path for path in paths if path in tree.files_in(home)), "")


def _read_baseline(tree: Tree, path: str, stored: Baseline | None, folder: Path, name: str) -> BaselineAtBase:
    """The baseline in a file at the base; the ``stored`` one called ``name`` if that is the same file."""
    (content,) = tree.read_files([path]).values()
    file = find_baseline_file(folder, name) if stored is not None else None
    if file is not None and _has_content(file, content):
        return BaselineAtBase(tree.base, stored, unchanged=True, file=path)
    return BaselineAtBase(tree.base, decode_content(content, f"{tree.base.short}:{path}"), file=path)


def _has_content(path: Path, content: bytes) -> bool:
    """Compare with the file on the disk, whatever line ends git gave it."""
    try:
        return content.replace(b"\r\n", b"\n") == path.read_bytes().replace(b"\r\n", b"\n")
    except OSError:
        return False


def _refuse_links(folder: Path, top: Path) -> None:
    """Refuse a way to the baselines that leads through a link: it could lead to those of another folder."""
    path = Path(os.path.abspath(folder))
    for part in (path, *path.parents):
        if not Path(os.path.realpath(part.parent)).is_relative_to(top):
            return  # a link above the repository is not part of any branch
        if part.is_symlink():
            complaint = "is a link, so the baseline of another folder may take the place of this suite's own"
            suggestion = "put a folder in its place, or name the folder that it leads to"
            raise BaselineError(Problem(complaint, place=str(display_path(part)), suggestion=suggestion))


def _folder_from_top(folder: Path, base: MergeBase) -> str:
    try:
        return folder.resolve().relative_to(base.top).as_posix()
    except ValueError:
        complaint = f"lies outside of the repository {base.top}"
        raise BaselineError(Problem(complaint, place=str(folder))) from None


def _find_under_other_name(
    tree: Tree, home: str, stored: Baseline | None, suite: SuiteIdentity
) -> tuple[str, tuple[str, ...]]:
    """Find it by the suite's own file; by acceptances, which a renamed baseline continues; or by its queries.

    Returns its path, empty if there is none, and the paths of other baselines that the branch has no more.
    """
    removed = dict.fromkeys(_list_removed(tree))
    old_suite = b"".join(tree.read_files([tree.path_from_top(suite.files[0])]).values())
    old_name = read_suite_name(old_suite)
    path = _find_in_folder(tree, home, f"{old_name}{suite.matrix_ending}") if old_name else ""
    if not path:
        if old_name:
            removed |= dict.fromkeys(_list_left_behind(tree, home, old_name, old_suite, suite))
        path = _find_most_alike(tree, list(removed), stored) if stored is not None else ""
    return path, tuple(other for other in removed if other != path)


def _list_removed(tree: Tree) -> Iterator[str]:
    """Baselines that are missing on the disk, and those whose suite files are missing."""
    deleted = [path for path, status in tree.changes.items() if status == "D" and not _exists(tree.base.top / path)]
    yield from (path for path in deleted if BASELINE.fullmatch(path) and not _is_anchor(path))
    for path, name in read_suite_names(tree, [path for path in deleted if path.endswith(YAML)]).items():
        yield from _list_baselines_of(tree, f"{folder_of(path)}/baselines".removeprefix("./"), name)


def _list_left_behind(tree: Tree, home: str, old_name: str, old_suite: bytes, suite: SuiteIdentity) -> Iterator[str]:
    """Baselines that the suite's own file named at the base, and that it names no more: its name or matrix changed."""
    file = suite.files[0]
    new_suite, had_matrix = file.read_bytes(), MATRIX.search(old_suite) is not None
    others = [other for other in file.parent.iterdir() if other.suffix in YAML and other != file and other.is_file()]
    names_of_others = {read_suite_name(other.read_bytes()) for other in others}
    for path, ending in _list_baselines_of(tree, home, old_name).items():
        if f"{old_name}{ending}" in names_of_others or bool(ending) != had_matrix:
            continue
        values = [value.encode() for value in ending.split(".")]
        was_named = all(value in old_suite for value in values)
        if was_named and (had_matrix != bool(suite.matrix_ending) or any(value not in new_suite for value in values)):
            yield path


def _list_baselines_of(tree: Tree, home: str, name: str) -> dict[str, str]:
    """The baselines of a suite in a folder, by path; each with what a matrix appended to the name: ``.de``."""
    endings = {}
    for path in tree.files_in(home):
        ending = baseline_name(PurePosixPath(path)).removeprefix(name)
        ours = baseline_name(PurePosixPath(path)).startswith(name) and (not ending or ending.startswith("."))
        if ours and not _is_anchor(path):
            endings[path] = ending
    return endings


def _is_anchor(path: str) -> bool:
    """Tell whether it is an anchor, which no branch moves by accepting."""
    return is_anchor(baseline_name(PurePosixPath(path)))


def _exists(path: Path) -> bool:
    """Tell whether git could add it under this name; it cannot if a link took the place of the folder."""
    return path.exists() and path.parent.resolve() == path.parent


def read_suite_names(tree: Tree, paths: Sequence[str]) -> dict[str, str]:
    """The names in the files of suites at the base, by path; a missing file, or one without a name, is left out."""
    return {path: name for path, content in tree.read_files(paths).items() if (name := read_suite_name(content))}


def _find_most_alike(tree: Tree, paths: Sequence[str], stored: Baseline) -> str:
    """The one whose acceptances are continued, or that has half of the judged queries; empty if there is none."""
    best = (0, 0.0, "")
    for path, content in tree.read_files(paths).items():
        try:
            then = decode_content(content, path)
        except BaselineError:  # it is listed as removed all the same
            continue
        continued = len(then.acceptances) if stored.acceptances[: len(then.acceptances)] == then.acceptances else 0
        shared = _share_of_equal_judgments(then.judgments.grades_of, stored.judgments.grades_of)
        if continued or shared >= 0.5:
            best = max(best, (continued, shared, path))
    return best[2]


def _share_of_equal_judgments(before: Mapping[str, str], now: Mapping[str, str]) -> float:
    """The share of all judged queries whose judgments are the same on both sides."""
    queries = before.keys() | now.keys()
    return sum(before.get(query) == now.get(query) for query in queries) / len(queries) if queries else 0.0
