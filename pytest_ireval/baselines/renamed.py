"""What a suite's baseline was called at the merge base, where it has another name or lies elsewhere now."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.baselines.baseline import Baseline
from pytest_ireval.baselines.files import RECORD
from pytest_ireval.baselines.reading import record_from
from pytest_ireval.errors import BaselineError
from pytest_ireval.repositories.tree import Tree

ALIKE = 0.5
"""Baselines are one if they share this part of their judged queries."""
BASELINE = re.compile(rf"(?:.*/)?baselines/[^/]+\.{RECORD}")
YAML = (".yaml", ".yml")
SUITE = re.compile(rb"^(?:\{\s*)?[\"']?suite[\"']?[ \t]*:[ \t]*[\"']?([^\"'#\r\n,}]+)", re.MULTILINE)


class Named(NamedTuple):
    """How a suite comes to its name."""

    files: tuple[Path, ...]
    """Its own file, and those that it extends."""
    ending: str = ""
    """What a matrix appends: ``.de``."""


class Known(NamedTuple):
    """What is known of earlier names."""

    record: str
    """The .json file at the base, from the top of the repository; empty: it is none of those."""
    gone: tuple[str, ...]
    """Other baselines of the base that the branch has no more."""


def name_at_base(tree: Tree, home: str, stored: Baseline | None, suite: Named) -> Known:
    """By the suite's own file; by acceptances, which a renamed baseline continues; or by the queries it is about."""
    gone = list(dict.fromkeys(_gone(tree)))
    before = "".join(_called_in(tree, [_from_top(tree, suite.files[0])]).values())
    record = f"{home}/{before}{suite.ending}.{RECORD}".removeprefix("./")
    if not before or record not in tree.files_in(home):
        record = _alike(tree, gone, stored) if stored is not None else ""
    return Known(record, tuple(each for each in gone if each != record))


def _gone(tree: Tree) -> Iterator[str]:
    """Baselines that are not on the disk, and those whose suites are not."""
    deleted = [path for path, status in tree.changes.items() if status == "D" and not (tree.base.top / path).exists()]
    yield from (path for path in deleted if BASELINE.fullmatch(path))
    for path, name in _called_in(tree, [path for path in deleted if path.endswith(YAML)]).items():
        home = f"{_folder(path)}/baselines".removeprefix("./")
        own = re.compile(rf"{re.escape(f'{home}/{name}')}(\..+)?\.{RECORD}")
        yield from (each for each in tree.files_in(home) if own.fullmatch(each))


def _called_in(tree: Tree, paths: Sequence[str]) -> dict[str, str]:
    """What files of suites called them then; none for a file that was not there, or does not say."""
    wanted = {path: content for path in paths if (content := tree.files_in(_folder(path)).get(path))}
    said = {path: SUITE.search(content) for path, content in tree.contents(wanted).items()}
    return {path: found[1].decode("utf-8", "replace").strip() for path, found in said.items() if found}


def _from_top(tree: Tree, file: Path) -> str:
    """As git calls a file, be it a link or not; nothing if it lies outside of the repository."""
    path, top = file.parent.resolve() / file.name, tree.base.top
    return path.relative_to(top).as_posix() if path.is_relative_to(top) else ""


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "."


def _alike(tree: Tree, gone: Sequence[str], stored: Baseline) -> str:
    """The one whose acceptances are continued, or that is about the same judged queries."""
    found = []
    for path, baseline in _records(tree, gone):
        earlier = baseline.acceptances
        continued = len(earlier) if stored.acceptances[: len(earlier)] == earlier else 0
        shared = _shared(baseline.grades_of, stored.grades_of)
        if continued or shared >= ALIKE:
            found.append((continued, shared, path))
    return max(found, default=(0, 0.0, ""))[2]


def _records(tree: Tree, gone: Sequence[str]) -> Iterator[tuple[str, Baseline]]:
    """Those that can be read; one that cannot is named as gone all the same."""
    wanted = {path: tree.files_in(_folder(path))[path] for path in gone}
    for path, content in tree.contents(wanted).items():
        try:
            record = record_from({RECORD: content}.get, str)
        except BaselineError:
            continue
        if record is not None:
            yield path, record.baseline


def _shared(before: Mapping[str, str], now: Mapping[str, str]) -> float:
    """Which part of all judged queries is judged alike on both sides."""
    every = before.keys() | now.keys()
    return sum(before.get(query) == now.get(query) for query in every) / len(every) if every else 0.0
