"""JSON trees that a baseline keeps (a request, a mapping, a template), and how two of them differ, key by key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from pytest_ireval.masking import drop_login, mask_text

LARGEST = 200_000
"""The characters of a tree that is kept. Of a larger one, no change can be named."""
LONGEST = 10_000
"""The characters of a text in it that is kept; of a longer text, and of a long list, a hash: synonyms, stop words."""
SHOWN = 40
"""The characters of a value in a change."""
AROUND = SHOWN // 4
"""The characters before and after the part of a long text that changed."""
HASH = "sha256:"
MASK = "***"
SECRET_KEY = re.compile(
    r"authorization|cookie|password|passwd|secret|credential|token$|(api|access|private)[_-]?key", re.IGNORECASE
)
"""Names of keys whose text no file and no message may have, whoever wrote it: an engine's answers are not ours."""
MISSING = object()


def compute_hash(value: Any) -> str:
    """A short hash of a JSON value; the order of its keys does not count."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def prune_tree(value: Mapping[str, Any]) -> dict[str, Any]:
    """The tree as a baseline keeps it: without secrets, and with hashes of what is long; empty if it is too large."""
    tree: dict[str, Any] = _prune(value)
    return tree if len(json.dumps(tree)) <= LARGEST else {}


def _prune(value: Any, key: str = "") -> Any:
    if isinstance(value, Mapping):
        return {mask_text(str(name)): _prune(below, str(name)) for name, below in value.items()}
    if isinstance(value, list | tuple):
        entries = [_prune(entry, key) for entry in value]
        return entries if len(json.dumps(entries)) <= LONGEST else f"{HASH}{compute_hash(entries)}"
    if isinstance(value, bool | int | float) or value is None:
        return value
    if SECRET_KEY.search(key):
        return MASK
    text = drop_login(mask_text(str(value)))
    return text if len(text) <= LONGEST else f"{HASH}{compute_hash(text)}"


def name_changes(before: Any, now: Any, path: str = "") -> Iterator[str]:
    """The differences with their paths: ``query.multi_match.fields[1]: body -> author``."""
    if before == now and type(before) is type(now):
        return
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in dict.fromkeys([*before, *now]):
            below = f"{path}.{key}" if path else str(key)
            yield from name_changes(before.get(key, MISSING), now.get(key, MISSING), below)
    elif isinstance(before, list) and isinstance(now, list):
        # entries that stayed at the beginning and at the end are no change, so that one new entry is one change
        first, last = _count_equal_ends(before, now)
        old, new = before[first : len(before) - last], now[first : len(now) - last]
        for i in range(max(len(old), len(new))):
            then, here = (entries[i] if i < len(entries) else MISSING for entries in (old, new))
            yield from name_changes(then, here, f"{path}[{first + i}]")
    elif isinstance(before, str) and isinstance(now, str):
        yield f"{path}: {_format_text_change(before, now)}"
    else:
        yield f"{path}: {_format_value(before)} -> {_format_value(now)}"


def _count_equal_ends(before: Sequence[Any], now: Sequence[Any]) -> tuple[int, int]:
    """The number of entries that are equal at the beginning, and at the end of what remains."""
    shorter = min(len(before), len(now))
    first = next((i for i in range(shorter) if before[i] != now[i]), shorter)
    last = next((i for i in range(shorter - first) if before[-1 - i] != now[-1 - i]), shorter - first)
    return first, last


def _format_text_change(before: str, now: str) -> str:
    """Both texts; of long ones the words that differ, with a little of what is around them."""
    if before.startswith(HASH) or now.startswith(HASH):
        return "changed"
    texts = [" ".join(before.split()), " ".join(now.split())]
    if max(map(len, texts)) > SHOWN:
        first, last = (max(0, count - AROUND) for count in _count_equal_ends(*texts))
        texts = [f"{'…' * bool(first)}{text[first : len(text) - last]}{'…' * bool(last)}" for text in texts]
    return " -> ".join(map(_format_value, texts))


def _format_value(value: Any) -> str:
    if value is MISSING:
        return "not set"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f'"{text}"' if not text.strip() else text if len(text) <= 2 * SHOWN else f"{text[: 2 * SHOWN]}…"
