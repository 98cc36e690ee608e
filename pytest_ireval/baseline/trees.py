"""JSON trees that a baseline keeps (a request, a mapping, a template), and how two of them differ, key by key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from pytest_ireval.secrets import hidden

LARGEST = 200_000
"""The characters of a tree that is kept. Of a larger one, no change can be named."""
LONGEST = 10_000
"""The characters of a text in it that is kept; of a longer text, and of a long list, a hash: synonyms, stop words."""
SHOWN = 40
"""The characters of a value in a change."""
HASH = "sha256:"
MASK = "***"
_OF_A_SECRET = re.compile(
    r"authorization|cookie|password|passwd|secret|credential|token$|(api|access|private)[_-]?key", re.IGNORECASE
)
"""Names of keys whose text no file and no message may have, whoever wrote it: an engine's answers are not ours."""
_LOGIN = re.compile(r"(?<=://)[^/?#\s]+@")
_MISSING = object()


def compute_hash(value: Any) -> str:
    """A short hash of a JSON value; the order of its keys does not count."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def prune_tree(value: Mapping[str, Any]) -> dict[str, Any]:
    """The tree as a baseline keeps it: without secrets, and with hashes of what is long; empty if it is too large."""
    found: dict[str, Any] = _prune(value)
    return found if len(json.dumps(found)) <= LARGEST else {}


def _prune(value: Any, key: str = "") -> Any:
    if isinstance(value, Mapping):
        return {hidden(str(name)): _prune(each, str(name)) for name, each in value.items()}
    if isinstance(value, list | tuple):
        found = [_prune(each, key) for each in value]
        return found if len(json.dumps(found)) <= LONGEST else f"{HASH}{compute_hash(found)}"
    if isinstance(value, bool | int | float) or value is None:
        return value
    if _OF_A_SECRET.search(key):
        return MASK
    text = _LOGIN.sub("", hidden(str(value)))
    return text if len(text) <= LONGEST else f"{HASH}{compute_hash(text)}"


def name_changes(before: Any, now: Any, path: str = "") -> Iterator[str]:
    """The differences with their paths: ``query.multi_match.fields[1]: body -> author``."""
    if before == now and type(before) is type(now):
        return
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in dict.fromkeys([*before, *now]):
            below = f"{path}.{key}" if path else str(key)
            yield from name_changes(before.get(key, _MISSING), now.get(key, _MISSING), below)
    elif isinstance(before, list) and isinstance(now, list):
        yield from _changes_of_lists(before, now, path)
    else:
        yield f"{path}: {_change_of_values(before, now)}"


def _changes_of_lists(before: Sequence[Any], now: Sequence[Any], path: str) -> Iterator[str]:
    """Entries that stayed at the beginning and at the end are no change, so that one new entry is one change."""
    shorter = min(len(before), len(now))
    first = next((i for i in range(shorter) if before[i] != now[i]), shorter)
    last = next((i for i in range(shorter - first) if before[-1 - i] != now[-1 - i]), shorter - first)
    old, new = before[first : len(before) - last], now[first : len(now) - last]
    for i in range(max(len(old), len(new))):
        then, here = (each[i] if i < len(each) else _MISSING for each in (old, new))
        yield from name_changes(then, here, f"{path}[{first + i}]")


def _change_of_values(before: Any, now: Any) -> str:
    if isinstance(before, str) and isinstance(now, str):
        if before.startswith(HASH) or now.startswith(HASH):
            return "changed"
        before, now = _different_part(" ".join(before.split()), " ".join(now.split()))
    return f"{_format_value(before)} -> {_format_value(now)}"


def _different_part(before: str, now: str) -> tuple[str, str]:
    """Both texts; of long ones the words that differ, with a little of what is around them."""
    if max(len(before), len(now)) <= SHOWN:
        return before, now
    shorter = min(len(before), len(now))
    first = next((i for i in range(shorter) if before[i] != now[i]), shorter)
    last = next((i for i in range(shorter - first) if before[-1 - i] != now[-1 - i]), shorter - first)
    first, last = max(0, first - SHOWN // 4), max(0, last - SHOWN // 4)
    old, new = (f"{'…' * bool(first)}{text[first : len(text) - last]}{'…' * bool(last)}" for text in (before, now))
    return old, new


def _format_value(value: Any) -> str:
    if value is _MISSING:
        return "not set"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f'"{text}"' if not text.strip() else text if len(text) <= 2 * SHOWN else f"{text[: 2 * SHOWN]}…"
