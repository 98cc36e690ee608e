"""The facts of the index that was searched, and how two indexes differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from pytest_ireval.errors import Problem, SourceError, shown

LARGE_LOSS = 0.10
"""The share of documents whose loss is a cause; smaller moves are a note."""
LONGEST = 80
"""The characters of a fact that is kept as it is; of a longer one the hash is kept."""


class IndexFacts(NamedTuple):
    """The facts that a source reports of its index; empty where it reports none."""

    name: str = ""
    """The index behind an alias."""
    build: str = ""
    """Another one after each rebuild: a uuid, a version, a time."""
    mapping: str = ""
    """The fields and how they are analyzed: mostly a hash."""
    documents: int | None = None

    @property
    def known(self) -> dict[str, Any]:
        """The facts that there are, by name."""
        return {name: value for name, value in self._asdict().items() if value not in ("", None)}

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.known.items())


NO_INDEX = IndexFacts()
"""The facts of a source that reports none."""


def index_facts(found: Any) -> IndexFacts:
    """Check the facts of a source: texts are kept, other values of JSON become a hash."""
    allowed = f"allowed: a mapping of {', '.join(IndexFacts._fields)}"
    if not isinstance(found, Mapping):
        raise SourceError(Problem(f"facts of the index are {type(found).__name__}, not a mapping", allowed=allowed))
    unknown = [name for name in found if name not in IndexFacts._fields]
    if unknown:
        raise SourceError(Problem(f"unknown fact of the index: {shown(str(unknown[0]))}", allowed=allowed))
    documents = found.get("documents")
    if documents is not None and (isinstance(documents, bool) or not isinstance(documents, int) or documents < 0):
        raise SourceError(f"facts of the index: documents is {shown(repr(documents))}, not a number of documents")
    return IndexFacts(**{name: _fact(found.get(name)) for name in ("name", "build", "mapping")}, documents=documents)


def _fact(value: Any) -> str:
    """A short text as it is, of anything else a hash."""
    if value is None or value == "":
        return ""
    text = "" if isinstance(value, Mapping | list) else " ".join(str(value).split())
    return text if 0 < len(text) <= LONGEST else hash_of(value)


def hash_of(value: Any) -> str:
    """A short hash of a JSON value; the order of its keys does not count."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def index_change(before: IndexFacts, now: IndexFacts) -> str:
    """Say how the index differs from an earlier one: rebuilt, another mapping, a large loss. Empty if it does not."""
    parts = [
        f"{what} ({getattr(before, name)} -> {getattr(now, name)})"
        for name, what in (("mapping", "its mapping is another one"), ("build", "it was rebuilt"))
        if _differ(before, now, name)
    ]
    if parts and _differ(before, now, "name"):
        parts.append(f"{before.name} -> {now.name}")
    if _loss(before, now) > LARGE_LOSS:
        parts.append(f"it lost {_loss(before, now):.0%} of its documents ({before.documents:,} -> {now.documents:,})")
    elif parts and before.documents is not None and now.documents is not None:
        parts.append(f"{before.documents:,} -> {now.documents:,} documents")
    return "; ".join(parts)


def _differ(before: IndexFacts, now: IndexFacts, name: str) -> bool:
    ours, theirs = getattr(before, name), getattr(now, name)
    return bool(ours and theirs and ours != theirs)


def _loss(before: IndexFacts, now: IndexFacts) -> float:
    return 0.0 if not before.documents or now.documents is None else 1 - now.documents / before.documents


def count_note(before: IndexFacts, now: IndexFacts, then: str) -> Iterator[str]:
    """Note another number of documents; ``then`` names the earlier moment."""
    if before.documents is not None and now.documents is not None and before.documents != now.documents:
        yield f"the index has {now.documents:,} documents; {then} it had {before.documents:,}"


def one_index(seen: Sequence[IndexFacts]) -> tuple[IndexFacts, tuple[str, ...]]:
    """The facts of an index that was looked at several times while it was asked, with notes.

    A mapping or a build that changed in between is an error: the rankings come from two indexes.
    """
    first = NO_INDEX
    for each in seen:
        if any(_differ(first, each, name) for name in ("mapping", "build")):
            raise SourceError(
                Problem(
                    f"the index changed while it was asked: {index_change(first, each)}",
                    suggestion="run again when the new index is complete: rankings of two indexes are not evidence",
                )
            )
        first = IndexFacts(**{**each.known, **first.known})  # one look may know more than another
    return first, tuple(count_note(first, seen[-1], "before it was asked") if seen else ())
