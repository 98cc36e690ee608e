"""One suite for each combination of a matrix's values."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_ireval.errors import Problem, closest
from pytest_ireval.suites.mistakes import KEY, Spot, spot
from pytest_ireval.suites.scalars import Items, Keys, Scalar
from pytest_ireval.suites.variables import PLACEHOLDER

NAME = re.compile(r"[A-Za-z_]\w*")
VALUE = re.compile(r"[A-Za-z0-9_.-]+")
MOST = 1000


def combinations(tree: Keys, rules: Iterable[Any], problems: list[Problem]) -> list[dict[str, str]]:
    """The values of each suite; one suite without any if there is no matrix. ``rules`` are those of the suites."""
    matrix = tree.get("matrix")
    if matrix is None:
        return [{}]
    start = Spot((), tree.place)
    if not isinstance(matrix, Keys) or not matrix:
        at = spot(tree, ("matrix",), start)
        problems.append(
            Problem("a matrix is a mapping of names and values: {locale: [de, fr]}", str(at.place), at.path)
        )
        return []
    columns = {str(name): _values(tree, name, problems) for name in matrix}
    count = 1
    for values in columns.values():
        count *= len(values)
    if count > MOST:
        at = spot(tree, ("matrix",), start)
        problems.append(Problem(f"this matrix makes {count:,} suites; at most {MOST:,} are", str(at.place), at.path))
        return []
    _refuse_unused(tree, rules, columns, problems)
    return [dict(zip(columns, each, strict=True)) for each in itertools.product(*columns.values())]


def _refuse_unused(tree: Keys, rules: Iterable[Any], columns: Mapping[str, list[str]], problems: list[Problem]) -> None:
    """A name that nothing but the suite's own name has makes suites that are equal."""
    said = [value for key, value in tree.items() if key not in ("matrix", "suite", "rules", "add_rules")]
    used = {match["name"] for text in _texts([*said, *rules]) for match in PLACEHOLDER.finditer(text) if match["name"]}
    for name, values in columns.items():
        misspelt = closest(name, used - columns.keys())  # and told as that
        if len(values) > 1 and name not in used and not misspelt:
            at = spot(tree, ("matrix", name, KEY), Spot((), tree.place))
            complaint = f"{{{name}}} is used nowhere, so its {len(values)} suites would be equal but for their names"
            remedy = f"write {{{name}}} where they differ, as in judgments: data/{{{name}}}.txt"
            problems.append(Problem(complaint, str(at.place), at.path, remedy))


def _texts(value: Any) -> Iterator[str]:
    """All texts in it, but for keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def _values(tree: Keys, name: Scalar, problems: list[Problem]) -> list[str]:
    """The values under one name that can be part of a suite's name."""
    start = Spot((), tree.place)
    if not NAME.fullmatch(name):
        at = spot(tree, ("matrix", name, KEY), start)
        problems.append(Problem(f"{str(name)!r} is no name: letters, digits and _", str(at.place), at.path))
    written: Any = tree["matrix"][name]
    listed = written if isinstance(written, Items) else [written]
    values: list[str] = []
    if not listed:
        at = spot(tree, ("matrix", name), start)
        problems.append(Problem("there is no value", str(at.place), at.path))
    for number, value in enumerate(listed):
        at = spot(tree, ("matrix", name, number), start)
        if not isinstance(value, Scalar) or not VALUE.fullmatch(value):
            complaint = "a value of a matrix is part of a suite's name: letters, digits, _ . and -"
            problems.append(Problem(complaint, str(at.place), at.path))
        elif value in values:
            problems.append(Problem(f"{str(value)!r} is given twice", str(at.place), at.path))
        else:
            values.append(str(value))
    return values


def named(written: Any, name: str, values: Mapping[str, str]) -> str:
    """The suite's name with the values that are no part of it yet: ``shop.de``."""
    used = {match["name"] for match in PLACEHOLDER.finditer(written)} if isinstance(written, str) else set()
    return ".".join([name, *(value for key, value in values.items() if key not in used)])
