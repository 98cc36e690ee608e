"""Whether a suite is affected by what changed, and by what of it; what nobody can tell affects it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_ireval.baselines.anchors import anchor_name
from pytest_ireval.baselines.files import is_file_of
from pytest_ireval.errors import IrevalError, Problem
from pytest_ireval.gate.named_files import Named, named_files
from pytest_ireval.repositories.changed_files import Changes, Files, changes_since, known_files
from pytest_ireval.repositories.repository import places_of, root_of
from pytest_ireval.sources.named_files import exactly
from pytest_ireval.suites.fitting import fitting, watched
from pytest_ireval.suites.suite import Pattern, Suite, Watch
from pytest_ireval.text_table import printable

PLUGIN = "a plugin of the run"
IN_ANY_CASE = "takes part whatever changed: "
"""How a reason begins that is no change: nobody can tell what the suite depends on."""


@dataclass
class Repositories:
    """What git says of the repositories in which suites lie; each is asked once."""

    changes: dict[Path, Changes] = field(default_factory=dict)
    """By the top of the repository, like what follows."""
    known: dict[Path, Files] = field(default_factory=dict)
    """All files that git knows."""
    alive: dict[tuple[Path, tuple[Pattern, ...]], bool] = field(default_factory=dict)
    """Whether a glob fits any of them that its exceptions leave; many suites may inherit one."""

    def changes_around(self, folder: Path, ref: str) -> Changes:
        """What changed since the ref; raises IrevalError where nobody can tell."""
        root = root_of(folder)
        if root is None or root not in self.changes:
            changes = changes_since(ref, folder)
            self.changes[root or changes.root] = changes
            return changes
        return self.changes[root]

    def fits_something(self, watch: Watch, exceptions: Sequence[Watch], root: Path) -> bool:
        """Whether git knows a file that is watched because of one glob."""
        if root not in self.known:
            self.known[root] = known_files(root)
        together = (watch, *exceptions)
        key = root, tuple(each.pattern for each in together)
        if key not in self.alive:
            self.alive[key] = watched(together, self.known[root], root) is not None
        return self.alive[key]


def reason_of(suite: Suite, ref: str, repositories: Repositories, plugins: Iterable[Path] = ()) -> str:
    """Why a suite takes part; nothing if it is not affected by what changed since ``ref``.

    ``plugins`` are the modules and packages of those that serve all suites.
    """
    changes = repositories.changes_around(suite.path.parent, ref)
    if not suite.watches:
        return f"{IN_ANY_CASE}it has no watches"
    for named in (*named_files(suite), *(Named(PLUGIN, exactly(place)) for place in plugins)):
        for file in fitting(named.pattern, changes.files, changes.root):
            return f"{_shown(file, changes)} changed ({named.what})"
    for file in _of_baseline(suite, changes):
        return f"{_shown(file, changes)} changed (its baseline)"
    found = watched(suite.watches, changes.files, changes.root)
    if found is not None:
        return f"{_shown(found[0], changes)} changed (watches {found[1].text})"
    dead = next(dead_watches(suite, changes.root, repositories), None)
    return f"{IN_ANY_CASE}it watches {dead.text}, which fits no file that git knows" if dead is not None else ""


def dead_watches(suite: Suite, root: Path, repositories: Repositories) -> Iterator[Watch]:
    """Globs that fit nothing, or nothing but exceptions: nobody can tell what was meant by them."""
    exceptions = [watch for watch in suite.watches if watch.excludes]
    for watch in suite.watches:
        if not watch.excludes and not repositories.fits_something(watch, exceptions, root):
            yield watch


def wrong_watches(suite: Suite, repositories: Repositories) -> list[Problem]:
    """The same as mistakes of the suite; outside of a repository there is nothing to say."""
    root = root_of(suite.path.parent)
    if root is None or not suite.watches:
        return []
    try:
        dead = list(dead_watches(suite, root, repositories))
    except IrevalError as error:
        return list(error.problems)
    complaint = "{} fits no file that git knows, so the suite takes part whatever changed"
    hint = "a glob is relative to the file it is written in; / at its beginning is the top of the repository"
    return [Problem(complaint.format(repr(each.text)), str(each.place), ("watches",), hint) for each in dead]


def _of_baseline(suite: Suite, changes: Changes) -> Iterator[str]:
    for place in places_of(suite.baselines, changes.root):
        for file in changes.files.names:
            folder, _, name = file.rpartition("/")
            if folder == place and (is_file_of(name, suite.name) or is_file_of(name, anchor_name(suite.name))):
                yield file


def _shown(file: str, changes: Changes) -> str:
    """What changed, under its own name, as any terminal and any file can hold it."""
    return printable(changes.seen.get(file, file).encode("utf-8", "replace").decode())
