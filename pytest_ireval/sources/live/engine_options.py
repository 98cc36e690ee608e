"""The options of every search engine, and explanations of scores."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from pytest_ireval.errors import quote
from pytest_ireval.sources.live.options import LiveOptions
from pytest_ireval.suite.option_types import Flag, Text, Texts
from pytest_ireval.suite.scalars import UnfitError
from pytest_ireval.suite.suite import OFFLINE

DOCUMENT = "ireval.document"
"""The placeholder for the document of an explanation."""


class EngineOptions(LiveOptions):
    """The options of every search engine."""

    params: dict[Text, Text] = Field(default_factory=dict, description="Parameters behind the ? of the address.")
    fields: Texts = Field((), description="Stored fields such as title and url, which reports show.")

    @model_validator(mode="after")
    def _check_address(self) -> EngineOptions:
        parts = urlsplit(self.address)
        if parts.scheme not in ("http", "https") or not parts.netloc or "{" in self.address:
            raise UnfitError(f"{quote(self.address)} is not an address", "write https://host:port/name")
        return self


class ExplainingOptions(EngineOptions):
    """The options of an engine that explains scores, and that can look up documents by their ids."""

    check_documents: Flag = Field(
        True, repr=False, description="Report relevant documents of the judgments that the index does not have."
    )
    explain: Flag = Field(
        False, repr=False, description="Show in the report why documents that moved have their scores."
    )

    @property
    def may_explain(self) -> bool:
        """True if the suite wants explanations, and the engine may be asked for them."""
        return self.explain and not os.environ.get(OFFLINE)


def format_explanation(node: Mapping[str, Any], level: int = 0) -> Iterator[str]:
    """The lines of an explanation, which engines nest deeply; the first levels say most."""
    yield f"{'  ' * level}{float(node['value']):.4g}  {' '.join(node['description'].split())}"
    if level < 5:
        for below in node.get("details", ()):
            yield from format_explanation(below, level + 1)


def make_path(*names: str) -> str:
    """The JMESPath of a field, whatever letters its name has; dots lead into objects."""
    return ".".join(part if part.isidentifier() else f'"{part}"' for name in names for part in name.split("."))
