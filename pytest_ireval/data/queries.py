"""Queries: what people search for, with any column that may define a slice or a weight."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(eq=False)
class Queries:
    """Queries in the order they were given; every sequence has one entry a query.

    ``text`` is empty if the source does not give it; ``columns`` has everything else, as text. ``places`` has the place
    of each query, for messages; it may be empty.
    """

    ids: tuple[str, ...]
    text: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    origin: str = "queries"
    places: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def composed(self) -> dict[str, tuple[str, ...]]:
        """The columns as slices see them: texts that look alike are equal."""
        return {name: tuple(map(normalize_text, values)) for name, values in self.columns.items()}

    @cached_property
    def position(self) -> dict[str, int]:
        """Query id to its place in ``ids``."""
        return dict(zip(self.ids, range(len(self)), strict=True))

    @cached_property
    def _ids_by_text(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for query, text in zip(self.ids, self.text, strict=True):
            found.setdefault(normalize_text(text).strip(), []).append(query)
        return found

    def find_ids(self, name: str) -> list[str]:
        """The query with this id, or else those with this text; none if it is unknown."""
        text = normalize_text(name).strip()
        return [name] if name in self.position else self._ids_by_text.get(text, []) if text else []

    def text_of(self, query: str) -> str:
        """The text of a query; "" if it is unknown."""
        return self.text[self.position[query]] if query in self.position else ""

    def place(self, row: int) -> str:
        """The place of one of them."""
        return self.places[row] if self.places else self.origin


def normalize_text(text: str) -> str:
    """The text in Unicode NFC: an accent or a Hangul syllable is written in the same way each time."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)
