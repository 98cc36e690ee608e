"""JSON: an object on each line, or one value for the whole file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
            found = _parsed(line)
        except ValueError as error:
            mistakes.add(Problem(f"is not JSON ({_reason(error)})", place=place))
            continue
        except RecursionError:
            mistakes.add(Problem("is nested too deeply", place=place))
            continue
        if not isinstance(found, dict):
            mistakes.add(Problem("is not a JSON object", place=place))
            continue
        rows.append(found)
        lines.append(number)
    mistakes.refuse()
    return Table(_columns(rows), file.name, at_lines(file.name, lines))


def _json_value(file: InputFile) -> Any:
    """The one value of a file."""
    try:
        return _parsed(file.text())
    except json.JSONDecodeError as error:
        place = f"{file.name}:{error.lineno}:{error.colno}"
        raise InputError(Problem(f"is not JSON ({error.msg})", place=place)) from None
    except ValueError as error:
        raise InputError(Problem(f"is not JSON ({error})", place=file.name)) from None
    except RecursionError:
        raise InputError(Problem("is nested too deeply", place=file.name)) from None


def _parsed(text: str) -> Any:
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
        raise ValueError(
            f"{error.object[error.start]!r} is an incomplete character (half of a surrogate pair)"
        ) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{twice!r} occurs twice in one object")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number in JSON")


def _reason(error: ValueError) -> str:
    return error.msg if isinstance(error, json.JSONDecodeError) else str(error)


def mapping_or_table(file: InputFile) -> Any:
    """One object as it is, to be read as a mapping from queries; a list of objects as a table."""
    value = _json_value(file)
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        return Table(_columns(value), file.name, numbered(file.name))
    raise InputError(Problem("is neither one JSON object nor a list of objects", place=file.name))


def _columns(rows: list[dict[str, Any]]) -> Mapping[str, list[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


KINDS: dict[type, str] = {dict: "an object", list: "a list"}


@dataclass(frozen=True)
class Node:
    """A value, and the keys that lead to it."""

    value: Any
    origin: str
    path: tuple[str, ...] = ()
    """Keys; an entry of a list is its number under the list's key, counted from 1."""

    @property
    def place(self) -> str:
        """Where it stands, in words."""
        return f"{self.origin}: {' > '.join(self.path)}" if self.path else self.origin

    def has(self, key: str) -> bool:
        """Tell whether it is an object in which something stands under ``key``."""
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def get(self, key: str) -> Node:
        """What stands under ``key``; it must be there."""
        if not self.has(key):
            raise self.error(f"the key {key!r} is missing")
        return Node(self.value[key], self.origin, (*self.path, key))

    def each(self, key: str) -> Iterator[Node]:
        """The entries of the list under ``key``; none if there is nothing."""
        if self._expected(dict).get(key) is None:
            return
        node = self.get(key)
        for number, value in enumerate(node._expected(list), 1):
            yield Node(value, self.origin, (*self.path, f"{key} {number}"))

    def entries(self) -> Iterator[tuple[str, Node]]:
        """The keys of an object with what stands under them."""
        for key, value in self._expected(dict).items():
            yield key, Node(value, self.origin, (*self.path, key))

    def text(self, key: str) -> str:
        """The text or number under ``key``, as text; nothing if it is not there."""
        value = self._expected(dict).get(key)
        if value is None:
            return ""
        if isinstance(value, dict | list | bool):
            raise self.error(f"{key!r} is {value!r}, not text")
        return str(value).strip()

    def required(self, key: str) -> str:
        """The text under ``key``, which must be there."""
        text = self.text(key)
        if not text:
            raise self.get(key).error("is empty")
        return text

    def _expected(self, kind: type) -> Any:
        if not isinstance(self.value, kind):
            raise self.error(f"is not {KINDS[kind]}")
        return self.value

    def error(self, complaint: str) -> InputError:
        """What is wrong here."""
        return InputError(Problem(complaint, place=self.place))


def document(file: InputFile) -> Node:
    """The whole of a JSON file."""
    return Node(_json_value(file), file.name)
