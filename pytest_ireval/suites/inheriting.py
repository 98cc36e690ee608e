"""The keys of a suite together with the files that it extends, its variables and its matrix."""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_ireval.errors import Problem, closest, shown
from pytest_ireval.secrets import VARIABLE, keep
from pytest_ireval.suites.checks import KEY, problem_at
from pytest_ireval.suites.scalars import File, Items, Keys, Scalar, put_value
from pytest_ireval.suites.yaml_tree import read_tree, tree_of_bytes

DEEPEST = 20


@dataclass
class GatheredKeys:
    """A file and all it extends, as one tree."""

    tree: Keys
    own: Keys
    """The keys of the file itself."""
    rules: list[tuple[int, Any]] = field(default_factory=list)
    """Each rule with its position in the list where it is written; inherited ones first."""
    problems: list[Problem] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    whole: bool = True
    unknown: list[Problem] = field(default_factory=list)
    """The problems of texts with unknown variables; no other problem of such a text is reported."""


def shown_path(path: Path) -> str:
    """A path as messages show it: relative to the working folder if it is inside."""
    here = Path.cwd()
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()


Contents = Callable[[Path], bytes | None]
"""The content of a file, in place of that on the disk; None: there is no such file."""


def gathered_keys(
    path: Path,
    environment: Mapping[str, str],
    shown: str | None = None,
    chain: tuple[Path, ...] = (),
    contents: Contents | None = None,
    known: dict[Path, GatheredKeys] | None = None,
) -> GatheredKeys:
    """The keys of the file at ``path``; ``chain`` are the files that led to it, ``known`` the keys of other files.

    A file that several others extend is read once. If it were read again for each, twenty small files would take hours.
    """
    known = {} if known is None else known
    file = File(shown or shown_path(path), str(path.parent))
    read = read_tree(path, file) if contents is None else tree_of_bytes(contents(path) or b"", file)
    problems = list(read.problems)
    own = _with_environment(read.top, environment, problems) if read.variables else read.top
    here = GatheredKeys(own, own, problems=problems, files=[path], whole=read.whole)
    here.unknown = problems[len(read.problems) :]
    bases = [_base(text, (*chain, path), environment, here, contents, known) for text in _named(own, here)]
    _merge(here, [base for base in bases if base is not None])
    return here


def _named(own: Keys, here: GatheredKeys) -> list[Scalar]:
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
    here: GatheredKeys,
    contents: Contents | None,
    known: dict[Path, GatheredKeys],
) -> GatheredKeys | None:
    """The keys of another file; its problems are problems here."""
    path = Path(os.path.abspath(os.path.join(text.folder, text.strip())))
    complaint = ""
    if path in chain:
        complaint = f"{text} extends this file: " + " > ".join(map(shown_path, [*chain[chain.index(path) :], path]))
    elif len(chain) > DEEPEST:
        complaint = f"files extend each other through more than {DEEPEST} levels"
    elif not (os.path.isfile(path) if contents is None else contents(path) is not None):
        complaint = f"no such file: {shown_path(path)}"
    if complaint:
        here.problems.append(Problem(complaint, str(text.place), ("extends",)))
        return None
    if path not in known:
        known[path] = gathered_keys(path, environment, chain=chain, contents=contents, known=known)
    base = known[path]
    here.problems[:] = dict.fromkeys([*here.problems, *base.problems])
    here.unknown[:] = dict.fromkeys([*here.unknown, *base.unknown])
    here.files += [each for each in base.files if each not in here.files]
    here.whole = here.whole and base.whole
    return base


def _merge(here: GatheredKeys, bases: list[GatheredKeys]) -> None:
    """Merge the keys: later files win over earlier ones, the file itself over all; rules are added."""
    tree: dict[Any, Any] = {}
    for keys in (*(base.tree for base in bases), here.own):
        left_out = () if keys is here.own else ("ireval", "extends")
        tree = {key: each for key, each in tree.items() if key not in keys}
        tree.update((key, each) for key, each in keys.items() if key not in left_out)
    inherited = {id(rule): (number, rule) for base in bases for number, rule in base.rules}  # one file may come twice
    here.rules = [*inherited.values(), *_rules_of(here)]
    here.tree = put_value(Keys(tree), here.own.file, here.own.line, here.own.column)


def _rules_of(here: GatheredKeys) -> list[tuple[int, Any]]:
    value = here.own.get("rules", [])
    if isinstance(value, Items):
        return list(enumerate(value))
    if value not in ("", []):
        place = next(key for key in here.own if key == "rules").place
        complaint = "is not a list: each rule begins with a hyphen, - threshold: {nDCG@10: '>= 0.85'}"
        here.problems.append(Problem(complaint, str(place), ("rules",)))
    return []


_PLACEHOLDER = re.compile(r"(?<!\$)(?:\{\{(?P<literal>[A-Za-z_]\w*)\}\}|\{(?P<name>[A-Za-z_]\w*)\})")
OF_THEIR_OWN = ("source", "against")
"""Keys below which kinds may have placeholders of their own."""
NO_SECRETS = ("run", "python", "format", "queries_format", "folder", "timeout", "repeat")
"""Options of sources that are not secret: names of files, code and the like."""


def _with_environment(tree: Keys, environment: Mapping[str, str], problems: list[Problem]) -> Keys:
    """The tree with the values of variables; one that is not set is a problem at its place."""

    def filled(text: Scalar, path: tuple[str, ...]) -> str:
        if "$" not in text:
            return text

        def value(match: re.Match[str]) -> str:
            if match["escaped"]:
                return "$"
            if match["other"]:
                suggestion = "write ${NAME} or ${NAME:-default}; $$ is a $"
                problems.append(Problem("is not a variable", str(text.place), path, suggestion))
                return match.group()
            found = environment.get(match["name"])
            if found and _may_be_secret(path):
                keep(match["name"], found)
            if match["default"] is not None:
                return found or match["default"]
            if found is None:
                problems.append(_not_set(match["name"], text, path, environment))
            return match.group() if found is None else found

        return VARIABLE.sub(value, text)

    made: Keys = _mapped(tree, filled, ())
    return made


def _may_be_secret(path: tuple[str, ...]) -> bool:
    """Tell whether the value is passed to a program or a service: an argument, a header, an address."""
    below = next((path[number + 1 :] for number, key in enumerate(path) if key in OF_THEIR_OWN), ())
    return bool(below) and below[0] not in NO_SECRETS and below != ("command", "1")


def _not_set(name: str, text: Scalar, path: tuple[str, ...], environment: Mapping[str, str]) -> Problem:
    meant = closest(name, environment, closeness=0.7)
    suggestion = f"did you mean {meant}?" if meant else ""
    allowed = f"${{{name}:-default}} sets a default; $${{{name}}} is the literal text"
    return Problem(f"the environment variable {name} is not set", str(text.place), path, suggestion, allowed)


def with_values(tree: Any, values: Mapping[str, str], problems: list[Problem], path: tuple[str, ...] = ()) -> Any:
    """The tree with the values of a matrix; ``{{name}}`` is the text ``{name}``. ``path`` leads to it."""

    def filled(text: Scalar, path: tuple[str, ...]) -> str:
        if "{" not in text:
            return text
        own = any(key in OF_THEIR_OWN for key in path)

        def value(match: re.Match[str]) -> str:
            if match["literal"]:
                return f"{{{match['literal']}}}"
            name = match["name"]
            if name in values:
                return values[name]
            meant = closest(name, values)
            if meant or not own:
                suggestion = f"did you mean {{{meant}}}?" if meant else f"{{{{{name}}}}} is the literal text"
                allowed = "of the matrix: " + ", ".join(f"{{{each}}}" for each in values)
                complaint = f"{shown(match.group())} is not a name of the matrix"
                problems.append(Problem(complaint, str(text.place), path, suggestion, allowed))
            return match.group()

        return _PLACEHOLDER.sub(value, text)

    return _mapped(tree, filled, path)


def _mapped(value: Any, change: Callable[[Scalar, tuple[str, ...]], str], path: tuple[str, ...]) -> Any:
    """The tree with its texts changed; what does not change is not copied."""
    if isinstance(value, Scalar):
        text = change(value, path)
        if text is value:
            return value
        return put_value(Scalar(text, quoted=value.quoted), value.file, value.line, value.column)
    if isinstance(value, Keys):
        made = {key: _mapped(each, change, (*path, str(key))) for key, each in value.items()}
        same = all(made[key] is each for key, each in value.items())
        return value if same else put_value(Keys(made), value.file, value.line, value.column)
    items = [_mapped(each, change, (*path, str(number))) for number, each in enumerate(value, 1)]
    same = all(new is old for new, old in zip(items, value, strict=True))
    return value if same else put_value(Items(items), value.file, value.line, value.column)


NAME = re.compile(r"[A-Za-z_]\w*")
VALUE = re.compile(r"[A-Za-z0-9_.-]+")
MOST = 1000


def combinations(tree: Keys, rules: Iterable[Any], problems: list[Problem]) -> list[dict[str, str]]:
    """The values of each suite; one suite without any if there is no matrix. ``rules`` are those of the suites."""
    matrix = tree.get("matrix")
    if matrix is None:
        return [{}]
    if not isinstance(matrix, Keys) or not matrix:
        complaint = "a matrix is a mapping of names and values: {locale: [de, fr]}"
        problems.append(problem_at(tree, ("matrix",), complaint))
        return []
    columns = {str(name): _values(tree, name, problems) for name in matrix}
    count = math.prod(map(len, columns.values()))
    if count > MOST:
        complaint = f"this matrix makes {count:,} suites; the limit is {MOST:,}"
        problems.append(problem_at(tree, ("matrix",), complaint))
        return []
    _refuse_unused(tree, rules, columns, problems)
    return [dict(zip(columns, each, strict=True)) for each in itertools.product(*columns.values())]


def _refuse_unused(tree: Keys, rules: Iterable[Any], columns: Mapping[str, list[str]], problems: list[Problem]) -> None:
    """A name that only the suite's own name uses would make equal suites."""
    said = [value for key, value in tree.items() if key not in ("matrix", "suite", "rules")]
    used = {match["name"] for text in _texts([*said, *rules]) for match in _PLACEHOLDER.finditer(text) if match["name"]}
    for name, values in columns.items():
        misspelt = closest(name, used - columns.keys())  # and reported as that
        if len(values) > 1 and name not in used and not misspelt:
            complaint = f"{{{name}}} is not used, so its {len(values)} suites would differ only in their names"
            remedy = f"write {{{name}}} where they differ, as in judgments: data/{{{name}}}.txt"
            problems.append(problem_at(tree, ("matrix", name, KEY), complaint, remedy))


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value, without keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def _values(tree: Keys, name: Scalar, problems: list[Problem]) -> list[str]:
    """The values under one name that can be part of a suite's name."""
    if not NAME.fullmatch(name):
        complaint = f"{str(name)!r} is not a name: write letters, digits and _"
        problems.append(problem_at(tree, ("matrix", name, KEY), complaint))
    written: Any = tree["matrix"][name]
    listed = written if isinstance(written, Items) else [written]
    values: list[str] = []
    if not listed:
        problems.append(problem_at(tree, ("matrix", name), "the value is missing"))
    for number, value in enumerate(listed):
        at = ("matrix", name, number)
        if not isinstance(value, Scalar) or not VALUE.fullmatch(value):
            complaint = "a value of a matrix is part of a suite's name: letters, digits, _ . and -"
            problems.append(problem_at(tree, at, complaint))
        elif value in values:
            problems.append(problem_at(tree, at, f"{str(value)!r} is given twice"))
        else:
            values.append(str(value))
    return values


def named_suite(written: Any, name: str, values: Mapping[str, str]) -> str:
    """The suite's name, with the values that it does not contain yet: ``shop.de``."""
    used = {match["name"] for match in _PLACEHOLDER.finditer(written)} if isinstance(written, str) else set()
    return ".".join([name, *(value for key, value in values.items() if key not in used)])
