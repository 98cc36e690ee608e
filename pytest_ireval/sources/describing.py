"""A source and its options in words, and as a tree whose changes can be named; fingerprints of its code."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_ireval.baseline.fingerprints import fingerprint
from pytest_ireval.baseline.json_trees import prune_tree
from pytest_ireval.errors import relative_path
from pytest_ireval.masking import drop_login, mask_text
from pytest_ireval.suite.options import has_text
from pytest_ireval.suite.suite import SourceSpec

HOST = re.compile(r"(https?://[^/?#]*|\$\{[^}]*\}(?=/)|\$\{[^}:]*:-https?://[^}]*\})(.*)", re.DOTALL)
"""The host of an address, which may be a variable, and the rest."""
PLACE_IN_MEMORY = re.compile(" at 0x[0-9a-fA-F]+")


LARGEST_FILE = 1 << 20
"""The bytes of a source's own file that is compared with the baseline's; a larger one is data."""


def describe_source(source: SourceSpec, folder: Path | None = None) -> str:
    """The kind with its options that are not at their defaults: ``python: shop:search, mode: all``.

    Paths are relative to ``folder``, that of the suite unless given. Options made with ``Field(…, repr=False)`` are
    left out: secrets, and options that do not change the answer, such as a time limit. Variables that may hold secrets
    are shown by name, so that their values, whatever they are, do not make another source.
    """
    folder = folder or Path(source.place.file).absolute().parent
    return mask_text(", ".join(f"{name}: {_format_option(value, folder)}" for name, value in _list_options(source)))


def make_options_tree(source: SourceSpec, folder: Path) -> dict[str, Any]:
    """The same options as a tree, whose changes can be named key by key; of an address, the host apart from the rest.

    A host may be another one in each job, and says little about the request.
    """
    found = {name: _simplify_option(value, folder) for name, value in _list_options(source)}
    own = found[source.kind.name]
    if isinstance(own, str) and (parts := HOST.fullmatch(own)):
        found[source.kind.name] = {"host": parts[1], "path": parts[2]}
    return prune_tree(found)


def _list_options(source: SourceSpec) -> Iterator[tuple[str, Any]]:
    fields = type(source.options).model_fields
    for name in (source.kind.name, *(name for name in fields if name != source.kind.name)):
        value = getattr(source.options, name)
        if name == source.kind.name or (
            fields[name].repr and value != fields[name].get_default(call_default_factory=True)
        ):
            yield name, _choose_public(value, source.public_texts.get(name))


def _choose_public(value: Any, public: Any) -> Any:
    """The value of an option; the text of the suite where that has variables, or the value has no text of its own."""
    if isinstance(public, str) and "${" in public:
        return [public] if isinstance(value, list | tuple) else public
    if isinstance(value, Mapping) and isinstance(public, Mapping):
        return {key: _choose_public(each, public.get(str(key))) for key, each in value.items()}
    if isinstance(value, list | tuple) and isinstance(public, list) and len(value) == len(public):
        return [_choose_public(each, text) for each, text in zip(value, public, strict=True)]
    return value if has_text(value) or isinstance(value, Mapping | list | tuple) or public is None else public


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
    return drop_login(PLACE_IN_MEMORY.sub("", text).replace(f"{folder}/", ""))


def fingerprint_source_files(source: SourceSpec, folder: Path) -> dict[str, str]:
    """The code that it runs, by path: files below the suite or this folder."""
    here, found = Path.cwd(), {}
    for path in dict.fromkeys(Path(os.path.abspath(each)) for each in source.options.list_code_files(folder)):
        inside = path.is_relative_to(folder) or path.is_relative_to(here)
        if inside and "site-packages" not in path.parts and path.is_file() and path.stat().st_size <= LARGEST_FILE:
            found[relative_path(path, folder)] = fingerprint(path.read_bytes().replace(b"\r\n", b"\n"))
    return found
