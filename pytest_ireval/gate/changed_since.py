"""Finds the suites that a change concerns, and why; a suite is affected unless that can be ruled out."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pytest_ireval.baseline.files import anchor_name, is_baseline_file
from pytest_ireval.errors import IrevalError, Problem, relative_path
from pytest_ireval.gate.needs import find_expected_fields
from pytest_ireval.repositories.changed_files import (
    Changes,
    Files,
    find_changes_since,
    list_ignored_files,
    list_known_files,
)
from pytest_ireval.repositories.git import find_places, find_root
from pytest_ireval.suite.suite import Pattern, SourceSpec, Suite, Watch
from pytest_ireval.suite.watches import ANY, find_fitting, find_watched, make_pattern
from pytest_ireval.text_table import escape_unprintable

IN_ANY_CASE = "takes part whatever changed: "
"""The beginning of a reason that names no change: what the suite depends on is unknown."""


YAML = (".yaml", ".yml")


@dataclass
class Repositories:
    """The answers of git about the repositories of suites; each is asked once."""

    changes: dict[Path, Changes] = field(default_factory=dict)
    """By the top of the repository, like the next fields."""
    known: dict[Path, Files] = field(default_factory=dict)
    ignored: dict[Path, Files] = field(default_factory=dict)
    alive: dict[tuple[Path, tuple[Pattern, ...]], bool] = field(default_factory=dict)
    """True if a glob fits any of them that its exceptions leave; many suites may inherit one."""

    def find_changes_around(self, folder: Path, ref: str) -> Changes:
        """The changes since the ref; raises IrevalError if git cannot tell."""
        root = find_root(folder)
        if root is not None and root in self.changes:
            return self.changes[root]
        changes = find_changes_since(ref, folder)
        self.changes[root or changes.root] = changes
        return changes

    def find_ignored_file(self, pattern: Pattern, root: Path) -> str:
        """The first file that fits and that git ignores, so that its changes are unknown; empty if there is none."""
        if root not in self.ignored:
            self.ignored[root] = list_ignored_files(root)
        return next(find_fitting(pattern, self.ignored[root], root), "")

    def fits_something(self, watch: Watch, exceptions: Sequence[Watch], root: Path) -> bool:
        """Tell whether git knows a file that is watched because of one glob."""
        if root not in self.known:
            self.known[root] = list_known_files(root)
        together = (watch, *exceptions)
        key = root, tuple(each.pattern for each in together)
        if key not in self.alive:
            self.alive[key] = find_watched(together, self.known[root], root) is not None
        return self.alive[key]


def find_reason_to_run(suite: Suite, ref: str, repositories: Repositories, plugins: Iterable[Path] = ()) -> str:
    """Say why a suite takes part; empty if unaffected. ``plugins`` are the modules of those that serve all suites."""
    changes = repositories.find_changes_around(suite.path.parent, ref)
    if not suite.watches:
        return f"{IN_ANY_CASE}it has no watches"
    named_files = [
        *_list_named_files(suite),
        *(_NamedFiles("a plugin of the run", _make_exact_pattern(place)) for place in plugins),
    ]
    for files in (changes.files, changes.links):
        for named in named_files:
            for file in find_fitting(named.pattern, files, changes.root):
                return f"{_display_file(file, changes)} changed ({named.what})"
        for file in _list_baseline_files(suite, files, changes.root):
            return f"{_display_file(file, changes)} changed (its baseline)"
        found = find_watched(suite.watches, files, changes.root)
        if found is not None:
            return f"{_display_file(found[0], changes)} changed (watches {found[1].text})"
    dead = next(_find_dead_watches(suite, changes.root, repositories), None)
    if dead is not None:
        return f"{IN_ANY_CASE}it watches {dead.text}, which matches no file that git knows"
    return next(_list_unknown_changes(suite, changes, repositories), "")


def _list_unknown_changes(suite: Suite, changes: Changes, repositories: Repositories) -> Iterator[str]:
    """Reasons why the changes of a named file are unknown: git ignores it, or it is outside of the repository."""
    for named in _list_named_files(suite):
        base = named.pattern.base
        if not base.exists() or any((each / "pyvenv.cfg").is_file() for each in base.parents):
            continue  # what a virtual environment holds is said by the file of requirements, which git knows
        file = repositories.find_ignored_file(named.pattern, changes.root)
        pointer = f"{file}.dvc"
        if file and (changes.root / pointer).is_file():  # it is git's part of a file that DVC keeps
            if pointer in changes.files.names:
                yield f"{_display_file(pointer, changes)} changed ({named.what})"
        elif file:
            yield f"{IN_ANY_CASE}git ignores {_display_file(file, changes)} ({named.what}), so its changes are unknown"
        elif named.data and not find_places(base, changes.root):
            yield f"{IN_ANY_CASE}{base} is outside of the repository ({named.what}), so its changes are unknown"


def _find_dead_watches(suite: Suite, root: Path, repositories: Repositories) -> Iterator[Watch]:
    """Globs that fit nothing, or nothing but exceptions: their intent is unknown."""
    exceptions = [watch for watch in suite.watches if watch.excludes]
    for watch in suite.watches:
        if not watch.excludes and not repositories.fits_something(watch, exceptions, root):
            yield watch


def find_wrong_watches(suite: Suite, repositories: Repositories) -> list[Problem]:
    """Report such globs as mistakes of the suite; outside of a repository there are none."""
    root = find_root(suite.path.parent)
    if root is None or not suite.watches:
        return []
    try:
        dead = list(_find_dead_watches(suite, root, repositories))
    except IrevalError as error:
        return list(error.problems)
    complaint = "{} matches no file that git knows, so the suite takes part whatever changed"
    hint = "a glob is relative to the file it is written in; / at its beginning is the top of the repository"
    return [Problem(complaint.format(repr(each.text)), str(each.place), ("watches",), hint) for each in dead]


def _list_baseline_files(suite: Suite, files: Files, root: Path) -> Iterator[str]:
    for place in find_places(suite.baselines, root):
        for file in files.names:
            folder, _, name = file.rpartition("/")
            if folder == place and (
                is_baseline_file(name, suite.name) or is_baseline_file(name, anchor_name(suite.name))
            ):
                yield file


def _display_file(file: str, changes: Changes) -> str:
    """The name of the changed file, as any terminal and any file can hold it; of a link, that of a file behind it."""
    name = f"{changes.behind[file]} behind the link {file}" if file in changes.behind else file
    return escape_unprintable(name.encode("utf-8", "replace").decode())


class _NamedFiles(NamedTuple):
    """Files, and their use in the suite."""

    what: str
    pattern: Pattern
    data: bool = False
    """True if a key names it as a file to read; other paths may be programs of the machine."""


def _list_named_files(suite: Suite) -> Iterator[_NamedFiles]:
    """Its YAML files, everything that a key of them names, and the conftest.py files that serve it."""
    own, *others = suite.files or (suite.path,)
    yield _NamedFiles("the suite itself", _make_exact_pattern(own))
    for path in others:
        what = "a file that it extends" if path.suffix in YAML else "its expectations"
        yield _NamedFiles(what, _make_exact_pattern(path), path.suffix not in YAML)
    asked = {
        "its queries": suite.queries.file if suite.queries else None,
        "its judgments": suite.judgments.file if suite.judgments else None,
        "its aliases": suite.documents.aliases,
        "its groups of variants": suite.documents.collapse_file,
        "its preferences": suite.judgments.preferences if suite.judgments else None,
        "the fields of its documents": suite.documents.fields
        if find_expected_fields(suite) or any("fields" in metric.needs for metric in suite.metrics)
        else None,
    }
    yield from (
        _NamedFiles(what, _make_exact_pattern(file.path), True) for what, file in asked.items() if file is not None
    )
    if suite.source is not None:
        yield from _list_files_of_source(suite.source, suite.path.parent, "its source")
    for rule in suite.rules:
        compared = rule.traits.reference.source
        if compared is not None:
            yield from _list_files_of_source(compared, suite.path.parent, "what it is compared with")
    yield from (
        _NamedFiles("a conftest.py that serves it", _make_exact_pattern(above / "conftest.py"))
        for above in suite.path.parents
    )


def list_suite_files(suite: Suite) -> tuple[Path, ...]:
    """The single files among them; the caller asks git whether it knows them."""
    return tuple(dict.fromkeys(each.pattern.base for each in _list_named_files(suite) if each.pattern.base.is_file()))


def _list_files_of_source(source: SourceSpec, folder: Path, what: str) -> Iterator[_NamedFiles]:
    """The code that it runs or, where that is none, the files, patterns and folders of its options.

    Imports of that code, and other files that a command reads, cannot be seen from outside.
    """
    code = [*source.options.list_code_files(folder)]
    yield from (_NamedFiles(what, _make_exact_pattern(path)) for path in code)
    if not code:
        for name in type(source.options).model_fields:
            patterns = _list_patterns(getattr(source.options, name), folder)
            yield from (_NamedFiles(what, pattern, True) for pattern in patterns)


def _make_exact_pattern(path: Path) -> Pattern:
    """A path itself, and everything below it if it is a folder."""
    return Pattern(Path(os.path.normpath(path)), (ANY,))


def _list_patterns(value: Any, folder: Path) -> Iterator[Pattern]:
    """Paths, alone or in lists; one that does not exist may be a pattern, seen from the suite's folder."""
    if isinstance(value, Path):
        text = relative_path(value, folder)
        wild = glob.has_magic(text) and not value.exists()
        yield make_pattern(text, folder) if wild else _make_exact_pattern(value)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _list_patterns(each, folder)
