"""Reads a suite and its files as they were at the merge base: git has the content, and today's plugins read it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import TypeVar

from pytest_ireval.baseline.at_base import read_suite_names
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.queries import Queries
from pytest_ireval.errors import InputError
from pytest_ireval.gate.queries_and_judgments import read_suite_judgments, read_suite_queries
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.repositories.tree import Tree, folder_of
from pytest_ireval.sources.run import RunOptions
from pytest_ireval.suite.loading import load_suites
from pytest_ireval.suite.suite import FileSpec, SourceSpec, Suite

YAML = (".yaml", ".yml")
Read = TypeVar("Read")


def find_suite_at_base(suite: Suite, registry: Registry, tree: Tree) -> Suite | None:
    """The suite as it was; the same one if its files did not change, None if it is new."""
    own = find_path_at_base(suite, tree)
    files = [tree.path_from_top(path) for path in suite.files or (suite.path,)]
    if own and own == files[0] and not any(path in tree.changes for path in files):
        return suite
    return load_suite_at_base(suite, own, registry, tree) if own else None


def find_path_at_base(suite: Suite, tree: Tree) -> str:
    """The path of the suite's own file; empty if it is new."""
    own = tree.path_from_top(suite.path)
    if tree.has_file(own):
        return own
    gone = [path for path, status in tree.changes.items() if status == "D" and path.endswith(YAML)]
    ending = "".join(f".{value}" for value in suite.values.values())
    wanted = suite.name.removesuffix(ending)
    return next((path for path, name in read_suite_names(tree, gone).items() if name == wanted), "")


def load_suite_at_base(suite: Suite, own: str, registry: Registry, tree: Tree) -> Suite | None:
    """The one of the file ``own`` that has its name, or its values of the matrix; None if there was none."""
    if b"ireval" not in tree.read_files([own]).get(own, b""):
        return None
    suites = load_suites_at_base(own, registry, tree)
    same_name = (then for then in suites if then.name == suite.name)
    return next(same_name, next((then for then in suites if then.values == suite.values), None))


def load_suites_at_base(path: str, registry: Registry, tree: Tree) -> tuple[Suite, ...]:
    """The suites that a file held."""

    def read(file: Path) -> bytes | None:
        name = tree.path_from_top(file)
        return tree.read_files([name]).get(name)

    return load_suites(tree.base.top / path, registry, contents=read)


def read_queries_at_base(then: Suite, registry: Registry, tree: Tree, queries: Queries) -> Queries:
    """Those of its file, as it was, or else those that were judged."""
    if then.queries is not None:
        return _read_at_base(then.queries.file, tree, lambda path: read_suite_queries(then, registry, path)) or queries
    if then.judgments is None or tree.path_from_top(then.judgments.file.path) not in tree.changes:
        return queries
    judgments = read_judgments_at_base(then, registry, tree)
    return queries if judgments is None else Queries(judgments.queries, ("",) * len(judgments.queries))


def read_judgments_at_base(then: Suite, registry: Registry, tree: Tree) -> Judgments | None:
    """The judgments as they were; the current ones, where git does not have the file."""
    if then.judgments is None:
        return None
    return _read_at_base(then.judgments.file, tree, lambda path: read_suite_judgments(then, registry, path=path))


def _read_at_base(asked: FileSpec, tree: Tree, read: Callable[[Path], Read]) -> Read:
    """Read a file's content at the base, under the file's own name; the current one, where git has none."""
    path = tree.path_from_top(asked.path)
    content = tree.read_files([path]).get(path) if path in tree.changes else None
    if content is None:
        return read(asked.path)
    with tempfile.TemporaryDirectory(prefix="ireval-then-") as folder:
        file = Path(folder, asked.path.name)
        file.write_bytes(content)
        try:
            return read(file)
        except InputError as error:
            own = [replace(problem, place=problem.place.replace(str(file), path)) for problem in error.problems]
            raise InputError(*own) from None


@contextmanager
def write_source_files(source: SourceSpec, tree: Tree) -> Iterator[list[Path]]:
    """The files of a source of files, in a folder of their own, each under its name: it says the format."""
    with tempfile.TemporaryDirectory(prefix="ireval-then-") as folder:
        files = []
        for number, (path, content) in enumerate(tree.read_files(find_files_at_base(source, tree)).items()):
            file = Path(folder, str(number), Path(path).name)
            file.parent.mkdir()
            file.write_bytes(content)
            files.append(file)
        yield files


def find_files_at_base(source: SourceSpec, tree: Tree) -> list[str]:
    """The files of a source of files that git has, by their paths from the top of the repository."""
    files: dict[str, None] = {}
    for path in source.options.run if isinstance(source.options, RunOptions) else ():
        pattern = name_in_git(path, tree)
        known = tree.files_in(folder_of(pattern)) if pattern else {}
        files |= dict.fromkeys(
            [pattern] if pattern in known else filter(lambda file: fnmatch(file, pattern), sorted(known))
        )
    return list(files)


def name_in_git(path: Path, tree: Tree) -> str:
    """The path from the top of the repository; of a link that did not change, that of the file behind it."""
    name = tree.path_from_top(path)
    return tree.path_from_top(Path(os.path.realpath(path))) if path.is_symlink() and name not in tree.changes else name
