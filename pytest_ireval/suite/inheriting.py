"""The keys of a suite together with the files that it extends, its variables and its matrix."""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_ireval.errors import Problem, find_closest, quote
from pytest_ireval.masking import SECRET_NAME, VARIABLE, is_bare_address, public_address, register_variable
from pytest_ireval.suite.scalars import KEY, File, Items, Keys, Scalar, problem_at, put_value
from pytest_ireval.suite.suite import OFFLINE
from pytest_ireval.suite.yaml_tree import read_tree, tree_of

DEEPEST = 20
Location = tuple[str | int, ...]
Contents = Callable[[Path], bytes | None]
"""The content of a file, in place of that on the disk; None: there is no such file."""


@dataclass
class MergedKeys:
    """A file and all it extends, as one tree."""

    tree: Keys
    own: Keys
    """The keys of the file itself."""
    problems: list[Problem] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    whole: bool = True
    """False if a file or a variable is missing, so that nothing else can be said."""
    variables: dict[str, str] = field(default_factory=dict)
    """The environment variables that are named and set; of one that may hold a secret, ``…`` in place of the value."""


def shown_path(path: Path) -> str:
    """A path as messages show it: relative to the working folder if it is inside."""
    here = Path.cwd()
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()


def gather_keys(
    path: Path,
    environment: Mapping[str, str],
    shown: str | None = None,
    chain: tuple[Path, ...] = (),
    contents: Contents | None = None,
    known: dict[Path, MergedKeys] | None = None,
) -> MergedKeys:
    """The keys of the file at ``path``; ``chain`` are the files that led to it, ``known`` the keys of other files.

    A file that several others extend is read once. If it were read again for each, twenty small files would take hours.
    """
    known = {} if known is None else known
    file = File(shown or shown_path(path), str(path.parent))
    read = read_tree(path, file) if contents is None else tree_of(contents(path) or b"", file)
    here = MergedKeys(read.top, read.top, list(read.problems), [path], read.whole)
    here.tree = here.own = _fill_variables(read.top, environment, here)
    if not here.whole:
        return here
    bases = []
    for text in _find_extended(here):
        below = Path(os.path.abspath(os.path.join(text.folder, text.strip())))
        if complaint := _explain_refusal(below, (*chain, path), text, contents):
            here.problems.append(Problem(complaint, str(text.place), ("extends",)))
            continue
        if below not in known:
            known[below] = gather_keys(below, environment, None, (*chain, path), contents, known)
        bases.append(known[below])
    _merge(here, bases)
    return here


def _find_extended(here: MergedKeys) -> list[Scalar]:
    """The texts of ``extends``."""
    value = here.own.get("extends", Items())
    texts = value if isinstance(value, Items) and ("extends" not in here.own or value) else [value]
    if all(isinstance(each, Scalar) and each.strip() for each in texts):
        return list(texts)
    complaint = "names no files: it is one path or a list of paths"
    here.problems.append(problem_at(here.own, ("extends", KEY), complaint))
    return []


def _explain_refusal(path: Path, chain: tuple[Path, ...], text: str, contents: Contents | None) -> str:
    """Find why a file cannot be extended; empty if it can."""
    if path in chain:
        return f"{text} extends this file: " + " > ".join(map(shown_path, [*chain[chain.index(path) :], path]))
    if len(chain) > DEEPEST:
        return f"files extend each other through more than {DEEPEST} levels"
    exists = os.path.isfile(path) if contents is None else contents(path) is not None  # a name may be too long
    return "" if exists else f"no such file: {shown_path(path)}"


def _merge(here: MergedKeys, bases: list[MergedKeys]) -> None:
    """Merge the keys: later files win over earlier ones, the file itself over all; rules are added."""
    tree: dict[Any, Any] = {}
    rules: list[Any] = []
    for base in bases:
        here.problems[:] = dict.fromkeys([*here.problems, *base.problems])
        here.files += [each for each in base.files if each not in here.files]
        here.whole = here.whole and base.whole
        here.variables = {**base.variables, **here.variables}
        tree = _replace_keys(tree, {key: each for key, each in base.tree.items() if key not in ("ireval", "extends")})
        rules += base.tree.get("rules", ())
    tree = _replace_keys(tree, here.own)
    own = here.own.get("rules", Items())
    if not isinstance(own, Items) and own != "":
        complaint = "is not a list: each rule begins with a hyphen, - threshold: {nDCG@10: '>= 0.85'}"
        here.problems.append(problem_at(here.own, ("rules", KEY), complaint))
        own = Items()
    if "rules" in tree:
        key = next(each for each in tree if each == "rules")
        # a base that is extended twice brings its rules once
        every = {id(each): each for each in (*rules, *own)}
        tree["rules"] = put_value(Items(every.values()), key.file, key.line, key.column)
    here.tree = put_value(Keys(tree), here.own.file, here.own.line, here.own.column)


def _replace_keys(tree: dict[Any, Any], by: dict[Any, Any]) -> dict[Any, Any]:
    """The keys of both, each with the place where it is written last."""
    return {key: each for key, each in tree.items() if key not in by} | by


_PLACEHOLDER = re.compile(r"(?<!\$)(?:\{\{(?P<literal>[A-Za-z_]\w*)\}\}|\{(?P<name>[A-Za-z_]\w*)\})")
WITH_OWN_PLACEHOLDERS = ("source", "against", "components")
"""Keys below which kinds may have placeholders of their own."""
OF_COLUMNS = "field"
"""The key of an expectation whose placeholders are columns of the queries."""
NO_SECRETS = ("run", "python", "format", "queries_format", "folder", "timeout", "repeat")
"""Options of sources that are not secret: names of files, code and the like."""


LIVE = ("http", "elasticsearch", "opensearch", "solr", "vespa")
"""The options that have the address of a live system."""


def _fill_variables(tree: Keys, environment: Mapping[str, str], here: MergedKeys) -> Keys:
    """The tree with the values of variables; one that is not set is a problem at its place."""

    def fill(text: Scalar, location: Location) -> Scalar:
        if "$" not in text:
            return text
        may_be_secret = _may_be_secret(location)

        def refuse(complaint: str, suggestion: str, allowed: str = "") -> None:
            here.problems.append(problem_at(tree, location, complaint, suggestion, allowed))
            here.whole = False  # what follows from the missing value is no mistake

        def value(match: re.Match[str]) -> str:
            name, default = match["name"], match["default"]
            if match["escaped"]:
                return "$"
            if match["other"]:
                refuse("is not a variable", "write ${NAME} or ${NAME:-default}; $$ is a $")
                return match.group()
            found = environment.get(name)
            if found and here.variables.get(name) != HIDDEN:
                here.variables[name] = HIDDEN if _is_secret_value(name, found, may_be_secret) else found
            if not found and not default and environment.get(OFFLINE):
                found = _stand_in_for_connection(tree, text, location, match) or found
            if found and may_be_secret:
                register_variable(name, found)
            if default is not None:
                return found or default
            if found is None:
                meant = find_closest(name, environment, closeness=0.7)
                is_needed = may_be_secret and environment.get(OFFLINE)
                refuse(
                    f"the environment variable {name} is not set"
                    + (", and may change the answers" if is_needed else ""),
                    f"did you mean {meant}?" if meant else "set it as in the recorded run" if is_needed else "",
                    f"${{{name}:-default}} sets a default; $${{{name}}} is the literal text",
                )
            return match.group() if found is None else found

        filled = VARIABLE.sub(value, text)
        public = VARIABLE.sub(lambda match: "$" if match["escaped"] else match.group(), text) if may_be_secret else None
        return Scalar(filled, quoted=text.quoted, public=public)

    made: Keys = _change_texts(tree, fill, ())
    return made


HIDDEN = "…"


def _is_secret_value(name: str, value: str, may_be_secret: bool) -> bool:
    """Tell whether a command that repeats the variable must not have its value."""
    if "://" in value and public_address(value) != value:
        return True
    return SECRET_NAME.search(name) is not None or (may_be_secret and not is_bare_address(value))


def _stand_in_for_connection(tree: Keys, text: Scalar, location: Location, match: re.Match[str]) -> str | None:
    """A value for a variable that only the connection needs: a host or a login. A replay makes no connection."""
    below, source = location, tree
    while below and (not isinstance(below[0], str) or below[0] not in WITH_OWN_PLACEHOLDERS):
        source, below = source[below[0]], below[1:]
    if len(below) not in (2, 3) or "record" not in source[below[0]]:
        return None
    below = below[1:]
    stand_in = f"unset-{match['name']}.invalid"
    if below[0] in LIVE or below == ("index", "url"):
        before = text[: match.start()]
        is_of_host = "/" not in before.replace("://", "")
        return (stand_in if before else f"http://{stand_in}") if is_of_host else None
    is_login = (
        len(below) == 2 and below[0] in ("headers", "params") and SECRET_NAME.search(f"{below[1]} {match['name']}")
    )
    return stand_in if is_login else None


def _may_be_secret(location: Location) -> bool:
    """Tell whether the value is passed to a program or a service: an argument, a header, an address."""
    below = next((location[at + 1 :] for at, key in enumerate(location) if key in WITH_OWN_PLACEHOLDERS), ())
    return bool(below) and below[0] not in NO_SECRETS and below != ("command", 0)


def fill_placeholders(tree: Any, values: Mapping[str, str], problems: list[Problem]) -> Any:
    """The tree with the values of a matrix; ``{{name}}`` is the text ``{name}``."""

    def fill(text: Scalar, location: Location) -> Scalar:
        if "{" not in text:
            return text
        own = any(key in (*WITH_OWN_PLACEHOLDERS, OF_COLUMNS) for key in location)

        def value(match: re.Match[str]) -> str:
            if match["literal"]:
                return f"{{{match['literal']}}}"
            name = match["name"]
            if name in values:
                return values[name]
            meant = find_closest(name, values)
            if meant or not own:
                suggestion = f"did you mean {{{meant}}}?" if meant else f"{{{{{name}}}}} is the literal text"
                allowed = "of the matrix: " + ", ".join(f"{{{each}}}" for each in values)
                complaint = f"{quote(match.group())} is not a name of the matrix"
                problems.append(problem_at(tree, location, complaint, suggestion, allowed))
            return match.group()

        filled = _PLACEHOLDER.sub(value, text)
        public = filled if text.public == text else _PLACEHOLDER.sub(value, text.public)
        return Scalar(filled, quoted=text.quoted, public=public)

    return _change_texts(tree, fill, ())


def _change_texts(value: Any, change: Callable[[Scalar, Location], Scalar], location: Location) -> Any:
    """The tree with its texts changed; what does not change is not copied."""
    made: Any
    if isinstance(value, Scalar):
        made = change(value, location)
        if made is value:
            return value
    elif isinstance(value, Keys):
        made = Keys({key: _change_texts(each, change, (*location, key)) for key, each in value.items()})
        if all(made[key] is each for key, each in value.items()):
            return value
    else:
        made = Items([_change_texts(each, change, (*location, at)) for at, each in enumerate(value)])
        if all(new is old for new, old in zip(made, value, strict=True)):
            return value
    return put_value(made, value.file, value.line, value.column)


NAME = re.compile(r"[A-Za-z_]\w*")
VALUE = re.compile(r"[A-Za-z0-9_.-]+")
MOST_SUITES = 1000


def combine_values(tree: Keys, problems: list[Problem]) -> list[dict[str, str]]:
    """The values of each suite; one suite without any if there is no matrix."""
    matrix = tree.get("matrix")
    if matrix is None:
        return [{}]
    if not isinstance(matrix, Keys) or not matrix:
        complaint = "a matrix is a mapping of names and values: {locale: [de, fr]}"
        problems.append(problem_at(tree, ("matrix",), complaint))
        return []
    columns = {str(name): _read_matrix_values(tree, name, problems) for name in matrix}
    count = math.prod(map(len, columns.values()))
    if count > MOST_SUITES:
        complaint = f"this matrix makes {count:,} suites; the limit is {MOST_SUITES:,}"
        problems.append(problem_at(tree, ("matrix",), complaint))
        return []
    problems += _find_unused(tree, columns)
    return [dict(zip(columns, each, strict=True)) for each in itertools.product(*columns.values())]


def _find_unused(tree: Keys, columns: Mapping[str, list[str]]) -> Iterator[Problem]:
    """A name that only the suite's own name uses would make equal suites."""
    texts = _walk_texts([value for key, value in tree.items() if key not in ("matrix", "suite")])
    used = {match["name"] for text in texts for match in _PLACEHOLDER.finditer(text) if match["name"]}
    for name, values in columns.items():
        misspelt = find_closest(name, used - columns.keys())  # and reported as that
        if len(values) > 1 and name not in used and not misspelt:
            complaint = f"{{{name}}} is not used, so its {len(values)} suites would differ only in their names"
            remedy = f"write {{{name}}} where they differ, as in judgments: data/{{{name}}}.txt"
            yield problem_at(tree, ("matrix", name, KEY), complaint, remedy)


def _walk_texts(value: Any) -> Iterator[str]:
    """All texts in a value, without keys."""
    if isinstance(value, str):
        yield value
    else:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _walk_texts(each)


def _read_matrix_values(tree: Keys, name: Scalar, problems: list[Problem]) -> list[str]:
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


def name_suite(written: str, name: str, values: Mapping[str, str]) -> str:
    """The suite's name, with the values that it does not contain yet: ``shop.de``."""
    used = {match["name"] for match in _PLACEHOLDER.finditer(written)}
    return ".".join([name, *(value for key, value in values.items() if key not in used)])
