"""Values inside a JSON document that know where they stand, so that what has the wrong shape can be named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.retrieval.formats.input_file import InputFile
from pytest_ireval.retrieval.formats.json_text import json_value

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
        """Whether it is an object in which something stands under ``key``."""
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def get(self, key: str) -> Node:
        """What stands under ``key``; it must be there."""
        if not self.has(key):
            raise self.error(f"there is no {key!r}")
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
    return Node(json_value(file), file.name)
