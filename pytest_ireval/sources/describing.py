"""A source and its options in words, and as a tree whose changes can be named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_ireval.baseline.json_trees import prune_tree
from pytest_ireval.errors import relative_path
from pytest_ireval.masking import mask_text
from pytest_ireval.suite.suite import SourceSpec

LOGIN = re.compile(r"(?<=://)[^/?#\s]+@")
"""Name and password in the address of a service."""


def describe_source(source: SourceSpec, folder: Path | None = None) -> str:
    """The kind with its options that are not at their defaults: ``python: shop:search, mode: all``.

    Paths are relative to ``folder``, that of the suite unless given. Options made with ``Field(…, repr=False)`` are
    left out: secrets, and options that do not change the answer, such as a time limit. Variables that may hold secrets
    are shown by name.
    """
    folder = folder or Path(source.place.file).absolute().parent
    return mask_text(", ".join(f"{name}: {_format_option(value, folder)}" for name, value in _list_options(source)))


def make_options_tree(source: SourceSpec, folder: Path) -> dict[str, Any]:
    """The same options as a tree, whose changes can be named key by key; of an address, the host apart from the rest.

    A host may be another one in each job, and says little about the request.
    """
    found = {name: _simplify_option(value, folder) for name, value in _list_options(source)}
    own = found[source.kind.name]
    if isinstance(own, str) and (parts := re.fullmatch(r"(https?://[^/?#]*)(.*)", own)):
        found[source.kind.name] = {"host": parts[1], "path": parts[2]}
    return prune_tree(found)


def _list_options(source: SourceSpec) -> Iterator[tuple[str, Any]]:
    fields = type(source.options).model_fields
    for name in (source.kind.name, *(name for name in fields if name != source.kind.name)):
        value = getattr(source.options, name)
        if name == source.kind.name or (
            fields[name].repr and value != fields[name].get_default(call_default_factory=True)
        ):
            yield name, value


def _simplify_option(value: Any, folder: Path) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _simplify_option(each, folder) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_simplify_option(each, folder) for each in value]
    return value if isinstance(value, bool | int | float) or value is None else _format_option(value, folder)


def _format_option(value: Any, folder: Path) -> str:
    if isinstance(value, Path):
        return relative_path(value, folder)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_format_option(each, folder)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple | list):
        texts = [_format_option(each, folder) for each in value]
        return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    text = " ".join(f"{value:g}".split() if isinstance(value, float) else str(value).split())
    return LOGIN.sub("", text.replace(f"{folder}/", ""))
