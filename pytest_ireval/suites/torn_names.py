"""A metric's name that YAML's flow syntax tears apart: ``[nDCG(gain='exp', k=2)@10]`` is a list of two texts."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_ireval.errors import Problem
from pytest_ireval.suites.scalars import Items, Keys, Scalar, put


def mended(value: Items | Keys) -> list[Problem]:
    """What is torn apart in a list or mapping in flow style, which is whole afterwards."""
    return list(_in_list(value) if isinstance(value, Items) else _in_mapping(value))


def _in_list(items: Items) -> Iterator[Problem]:
    at = 0
    while at < len(items):
        end = _end_of_name(list(items[at:]))
        if end:
            items[at : at + end] = [whole := _joined(items[at : at + end])]
            yield _problem(whole)
        at += 1


def _in_mapping(keys: Keys) -> Iterator[Problem]:
    """``{metric: nDCG(gain='exp', k=2)@10}``: what follows the comma becomes a key without a value."""
    pieces = list(keys.items())
    for at, (key, value) in enumerate(pieces):
        following = [k if v == "" else None for k, v in pieces[at + 1 :]]
        end = _end_of_name([value, *following])
        if end:
            torn = [value, *following[: end - 1]]
            keys[key] = whole = _joined(torn)
            for each in torn[1:]:
                del keys[each]
            yield _problem(whole)


def _end_of_name(pieces: list[object]) -> int:
    """How many pieces make a name whose brackets close; 0 if the first does not begin such."""
    depth = 0
    for number, piece in enumerate(pieces, 1):
        if not isinstance(piece, Scalar):
            return 0
        depth += piece.count("(") - piece.count(")")
        if depth <= 0:
            return number if number > 1 else 0
    return 0


def _joined(pieces: list[Scalar]) -> Scalar:
    first = pieces[0]
    return put(Scalar(", ".join(pieces)), first.file, first.line, first.column)


def _problem(whole: Scalar) -> Problem:
    quote = "'" if '"' in whole else '"'
    return Problem(
        "this name is torn apart at its commas",
        str(whole.place),
        suggestion=f"quote this name: {quote}{whole}{quote}",
    )
