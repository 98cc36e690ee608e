"""What a suite's baseline was called at the merge base, where it has another name or lies elsewhere now."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.baselines.baseline import Baseline
from pytest_ireval.baselines.files import RECORD
from pytest_ireval.baselines.reading import record_from
from pytest_ireval.baselines.tree import Tree
from pytest_ireval.errors import BaselineError

ALIKE = 0.5
"""Baselines are one if they share this part of their judged queries."""
BASELINE = re.compile(rf"(?:.*/)?baselines/[^/]+\.{RECORD}")
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
    changes = tree.changes.items()
    deleted = [path for path, status in changes if status == "D" and BASELINE.fullmatch(path)]
    gone = [path for path in deleted if not (tree.base.top / path).exists()]
    before = _called_in_file(tree, suite)
    record = f"{home}/{before}{suite.ending}.{RECORD}".removeprefix("./")
    if not before or record not in tree.files_in(home):
        record = _alike(tree, gone, stored) if stored is not None else ""
    return Known(record, tuple(each for each in gone if each != record))


def _called_in_file(tree: Tree, suite: Named) -> str:
    """What the file of the suite called it then; nothing if there was no such file, or it does not say."""
    path = suite.files[0].resolve()
    if not path.is_relative_to(tree.base.top):
        return ""
    name = path.relative_to(tree.base.top).as_posix()
    content = tree.files_in(name.rpartition("/")[0] or ".").get(name)
    said = SUITE.search(tree.contents({name: content})[name]) if content else None
    return said[1].decode("utf-8", "replace").strip() if said else ""


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
    wanted = {path: tree.files_in(path.rpartition("/")[0])[path] for path in gone}
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
