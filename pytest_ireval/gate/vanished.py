"""Find suites and Python gates that existed at the merge base and are missing now."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from pytest_ireval.baselines.renamed import called_in
from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.weakened import content_then, suites_then
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.repositories.tree import Tree
from pytest_ireval.suites.finding import files_below, says_suite

FIXTURE = "ireval"
YAML = (".yaml", ".yml")


def vanished(
    tree: Tree, folders: Iterable[Path], now: Mapping[Path, Collection[str]], registry_for: Callable[[Path], Registry]
) -> Iterator[str]:
    """A line for each in ``folders``; ``now`` are the names of the suites that were collected, by their files."""
    changed = [path for path in tree.changes if _lies_in(tree.base.top / path, folders)]
    yield from _suites(tree, changed, now, registry_for)
    yield from _tests(tree, changed, folders)


def _lies_in(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(os.path.realpath(folder)) for folder in folders)


def _suites(
    tree: Tree, changed: Iterable[str], now: Mapping[Path, Collection[str]], registry_for: Callable[[Path], Registry]
) -> Iterator[str]:
    known = {name for names in now.values() for name in names}
    of_file = {Path(os.path.realpath(path)): names for path, names in now.items()}
    for path in changed:
        then = _names_then(tree, path, registry_for) if path.endswith(YAML) else []
        here = of_file.get(tree.base.top / path, ())
        gone = [name for name in then if name not in known]
        if gone and len(here) < len(then):  # with as many as then, some have another name: they are held against it
            for name in gone:
                yield f"suite {name} ({path}) is missing; it existed at {tree.base}"


def _names_then(tree: Tree, path: str, registry_for: Callable[[Path], Registry]) -> list[str]:
    """The suites of a file as it was; what it calls itself, if it cannot be read any more."""
    content = content_then(tree, path)
    if content is None or not says_suite(Path(path).stem, content):
        return []
    file = tree.base.top / path
    try:
        return [suite.name for suite in suites_then(file, registry_for(file), tree)]
    except IrevalError:
        return list(called_in(tree, [path]).values())


def _tests(tree: Tree, changed: Iterable[str], folders: Iterable[Path]) -> Iterator[str]:
    gates_now: dict[Path, set[str]] | None = None
    for path in changed:
        then = _gates_in(content_then(tree, path) or b"") if path.endswith(".py") else set()
        here = _gates_in(_on_disk(tree.base.top / path))
        gone = sorted(then - here)
        if not gone or len(here) >= len(then):  # with as many as then, some have another name
            continue
        if gates_now is None:
            gates_now = _gates_below(folders)
        elsewhere = {name for file, names in gates_now.items() if file != tree.base.top / path for name in names}
        for name in gone:
            if name not in elsewhere:
                yield f"Python gate {name} ({path}) is missing; it existed at {tree.base}"


def _on_disk(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _gates_below(folders: Iterable[Path]) -> dict[Path, set[str]]:
    found = {}
    for folder in folders:
        for path in files_below(Path(os.path.realpath(folder))):
            names = _gates_in(_on_disk(path)) if path.suffix == ".py" else set()
            if names:
                found[path] = names
    return found


def _gates_in(content: bytes) -> set[str]:
    """Names of test functions that take the fixture."""
    if FIXTURE.encode() not in content:
        return set()
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return set()
    return {
        each.name
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        and each.name.startswith("test")
        and any(argument.arg == FIXTURE for argument in (*each.args.args, *each.args.kwonlyargs))
    }
