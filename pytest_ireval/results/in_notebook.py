"""The two methods that notebooks and data frames ask every result for."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

Library = Literal["pandas", "polars"]


class InNotebook:
    """A result that a notebook draws; a face that knows all results does it, and is imported only then."""

    def _repr_html_(self) -> str:
        return str(import_module("pytest_ireval.notebooks").html_of(self))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """The HTML, and the text of the command line for places that show none; IPython asks for this first."""
        return {
            "text/html": self._repr_html_(),
            "text/plain": import_module("pytest_ireval.notebooks").plain_text_of(self),
        }

    def to_frame(self, library: Library | None = None) -> Any:
        """A data frame with a row for each query (of an explanation: for each document).

        It is one of pandas or, where that is not installed, of polars, unless ``library`` names one.
        """
        return import_module("pytest_ireval.notebooks").frame_of(self, library)
