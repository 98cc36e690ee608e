"""A chart: its numbers, its drawing, and what it says in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["differences", "intervals", "recall_precision", "distribution", "trend"]
"""Each has a macro in ``templates/charts.svg.jinja`` that draws it."""
Row = tuple[str | float | int | None, ...]


@dataclass(frozen=True)
class Chart:
    """One picture of a suite."""

    name: str
    """Unique in a run, and a good name of a file: ``product-search.differences.nDCG_10``."""
    kind: Kind
    title: str
    said: str
    """What it shows in a sentence, with its figures: for those who cannot see it."""
    drawing: object
    """Where everything stands, for the macro of its kind."""
    header: tuple[str, ...]
    """Of its numbers as a table."""
    rows: tuple[Row, ...]
    """Texts of others as they are; the drawing and the words have them harmless."""
    metric: str = ""
    """That it is about; empty if it is about several, or none."""
    slice: str = ""
    """That it is about, where charts of one metric differ in it; ``all`` is every query."""

    @property
    def about(self) -> str:
        """What tells it from others of its kind."""
        return self.metric if self.slice in ("", "all") else f"{self.metric} on {self.slice}"
