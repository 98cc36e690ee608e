"""JSON: an object on each line, or one value for the whole file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, NoReturn

from pytest_ireval.errors import InputError, Mistakes, Problem
from pytest_ireval.retrieval.formats.input_file import InputFile
from pytest_ireval.retrieval.judgments import numbered
from pytest_ireval.retrieval.tables import Table, at_lines


def json_lines(file: InputFile) -> Table:
    """A row for each line; a name that an object lacks is an empty cell."""
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    mistakes = Mistakes()
    for number, line in enumerate(file.lines(), 1):
        if not line.strip():
            continue
        place = f"{file.name}:{number}"
        try:
            found = parsed(line)
        except ValueError as error:
            mistakes.add(Problem(f"is not JSON ({_reason(error)})", place=place))
            continue
        except RecursionError:
            mistakes.add(Problem("is nested too deeply", place=place))
            continue
        if not isinstance(found, dict):
            mistakes.add(Problem("is no JSON object", place=place))
            continue
        rows.append(found)
        lines.append(number)
    mistakes.refuse()
    return Table(_columns(rows), file.name, at_lines(file.name, lines))


def json_value(file: InputFile) -> Any:
    """The one value of a file."""
    try:
        return parsed(file.text())
    except json.JSONDecodeError as error:
        place = f"{file.name}:{error.lineno}:{error.colno}"
        raise InputError(Problem(f"is not JSON ({error.msg})", place=place)) from None
    except ValueError as error:
        raise InputError(Problem(f"is not JSON ({error})", place=file.name)) from None
    except RecursionError:
        raise InputError(Problem("is nested too deeply", place=file.name)) from None


def parsed(text: str) -> Any:
    """The value that JSON text stands for; a name twice in one object, NaN and Infinity are refused."""
    found = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
    if "\\ud" in text.lower():
        _refuse_half_characters(found)
    return found


def _refuse_half_characters(found: Any) -> None:
    """An escape that stands for one half of a character is refused: no file could hold it."""
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{error.object[error.start]!r} is half a character") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{twice!r} is there twice in one object")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def _reason(error: ValueError) -> str:
    return error.msg if isinstance(error, json.JSONDecodeError) else str(error)


def mapping_or_table(file: InputFile) -> Any:
    """One object as it is, to be read as a mapping from queries; a list of objects as a table."""
    value = json_value(file)
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        return Table(_columns(value), file.name, numbered(file.name))
    raise InputError(Problem("is neither one JSON object nor a list of objects", place=file.name))


def _columns(rows: list[dict[str, Any]]) -> Mapping[str, list[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}
