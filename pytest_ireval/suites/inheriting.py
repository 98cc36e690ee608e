"""What a suite says together with the files it extends."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_ireval.errors import Problem
from pytest_ireval.suites.scalars import File, Items, Keys, Scalar, put
from pytest_ireval.suites.variables import with_environment
from pytest_ireval.suites.yaml_tree import read_tree, tree_of_bytes

DEEPEST = 20
NOT_INHERITED = ("ireval", "partial", "extends", "add_rules")


@dataclass
class Gathered:
    """A file and all it extends, as one tree."""

    tree: Keys
    own: Keys
    """What stands in the file itself."""
    rules: list[tuple[str, int, Any]] = field(default_factory=list)
    """Each rule with the key and position it is written at."""
    problems: list[Problem] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    whole: bool = True
    unknown: list[Problem] = field(default_factory=list)
    """Those of the problems that say that a text is not known, for a variable is not: nothing else is said of it."""


def shown_path(path: Path) -> str:
    """A path as messages show it: relative to the working folder if it lies there."""
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()


Contents = Callable[[Path], bytes | None]
"""What is in a file, if not what lies on the disk; None: there is no such file."""


def gathered(
    path: Path,
    environment: Mapping[str, str],
    shown: str | None = None,
    chain: tuple[Path, ...] = (),
    contents: Contents | None = None,
    known: dict[Path, Gathered] | None = None,
) -> Gathered:
    """What the file at ``path`` says; ``chain`` are the files that led to it, ``known`` what others say.

    A file that several others extend is read once: read anew for each, twenty small files would take hours.
    """
    known = {} if known is None else known
    file = File(shown or shown_path(path), str(path.parent))
    read = read_tree(path, file) if contents is None else tree_of_bytes(contents(path) or b"", file)
    problems = list(read.problems)
    own = with_environment(read.top, environment, problems) if read.variables else read.top
    here = Gathered(own, own, problems=problems, files=[path], whole=read.whole)
    here.unknown = problems[len(read.problems) :]
    bases = [_base(text, (*chain, path), environment, here, contents, known) for text in _named(own, here)]
    _merge(here, [base for base in bases if base is not None])
    return here


def _named(own: Keys, here: Gathered) -> list[Scalar]:
    """The texts of ``extends``."""
    value = own.get("extends")
    if value is None:
        return []
    if isinstance(value, Scalar) and value.strip():
        return [value]
    if isinstance(value, Items) and value and all(isinstance(each, Scalar) and each.strip() for each in value):
        return list(value)
    place = next(key for key in own if key == "extends").place
    here.problems.append(Problem("names no files: it is one path or a list of paths", str(place), ("extends",)))
    return []


def _base(
    text: Scalar,
    chain: tuple[Path, ...],
    environment: Mapping[str, str],
    here: Gathered,
    contents: Contents | None,
    known: dict[Path, Gathered],
) -> Gathered | None:
    """What another file says; its problems are problems here."""
    path = Path(os.path.abspath(os.path.join(text.folder, text.strip())))
    complaint = ""
    if path in chain:
        complaint = f"{text} extends this file: " + " > ".join(map(shown_path, [*chain[chain.index(path) :], path]))
    elif len(chain) > DEEPEST:
        complaint = f"files extend each other over more than {DEEPEST} levels"
    elif not (os.path.isfile(path) if contents is None else contents(path) is not None):
        complaint = f"there is no file {shown_path(path)}"
    if complaint:
        here.problems.append(Problem(complaint, str(text.place), ("extends",)))
        return None
    if path not in known:
        known[path] = gathered(path, environment, chain=chain, contents=contents, known=known)
    base = known[path]
    here.problems[:] = dict.fromkeys([*here.problems, *base.problems])
    here.unknown[:] = dict.fromkeys([*here.unknown, *base.unknown])
    here.files += [each for each in base.files if each not in here.files]
    here.whole = here.whole and base.whole
    return base


def _merge(here: Gathered, bases: list[Gathered]) -> None:
    """Later files win over earlier ones, and the file itself over all; a mapping given again replaces the other."""
    tree: dict[Any, Any] = {}
    for keys in (*(base.tree for base in bases), here.own):
        left_out = NOT_INHERITED if keys is not here.own else ()
        tree = {key: each for key, each in tree.items() if key not in keys}
        tree.update((key, each) for key, each in keys.items() if key not in left_out)
    for base in bases:
        if "rules" in base.tree or base.rules:
            here.rules = base.rules
    if "rules" in here.own:
        here.rules = _rules_of(here, "rules")
    here.rules = here.rules + _rules_of(here, "add_rules")
    here.tree = put(Keys(tree), here.own.file, here.own.line, here.own.column)


def _rules_of(here: Gathered, key: str) -> list[tuple[str, int, Any]]:
    value = here.own.get(key, [])
    if isinstance(value, Items):
        return [(key, number, each) for number, each in enumerate(value)]
    if value not in ("", []):
        place = next(each for each in here.own if each == key).place
        complaint = "is no list: each rule begins with a hyphen, - threshold: {nDCG@10: '>= 0.85'}"
        here.problems.append(Problem(complaint, str(place), (key,)))
    return []
