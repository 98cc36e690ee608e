"""One suite for each combination of a matrix's values."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any

from pytest_ireval.errors import Problem
from pytest_ireval.suites.mistakes import KEY, Spot, spot
from pytest_ireval.suites.scalars import Items, Keys, Scalar
from pytest_ireval.suites.variables import PLACEHOLDER

NAME = re.compile(r"[A-Za-z_]\w*")
VALUE = re.compile(r"[A-Za-z0-9_.-]+")
MOST = 1000


def combinations(tree: Keys, problems: list[Problem]) -> list[dict[str, str]]:
    """The values of each suite; one suite without any if there is no matrix."""
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
    return [dict(zip(columns, each, strict=True)) for each in itertools.product(*columns.values())]


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
