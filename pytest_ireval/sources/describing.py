"""A source in one line: the same wherever the suite lies, and without what its options keep to themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_ireval.secrets import hidden
from pytest_ireval.sources.foreign_text import within
from pytest_ireval.suites.suite import SourceAsked

LOGIN = re.compile(r"(?<=://)[^/@\s]+@")
"""Name and password in the address of a service."""


def described(source: SourceAsked, folder: Path | None = None) -> str:
    """The kind with its options that are not at their defaults: ``python: shop:search, mode: all``.

    Paths are relative to ``folder``, that of the suite unless given. Options made with ``Field(…, repr=False)`` are
    left out: secrets, and what makes no difference to the answer, such as a time limit. Values of variables that may be
    secrets are shown as they are written.
    """
    folder = folder or Path(source.place.file).absolute().parent
    fields = type(source.options).model_fields
    names = [source.kind.name, *(name for name in fields if name != source.kind.name)]
    said = []
    for name in names:
        value = getattr(source.options, name)
        if name == source.kind.name or (
            fields[name].repr and value != fields[name].get_default(call_default_factory=True)
        ):
            said.append(f"{name}: {_text(value, folder)}")
    return hidden(", ".join(said))


def _text(value: Any, folder: Path) -> str:
    if isinstance(value, Path):
        return within(value, folder)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_text(each, folder)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple | list):
        texts = [_text(each, folder) for each in value]
        return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    text = " ".join(f"{value:g}".split() if isinstance(value, float) else str(value).split())
    return LOGIN.sub("", text.replace(f"{folder}/", ""))
