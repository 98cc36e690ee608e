"""A chart: its drawing, and what it says in words."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, Protocol

Kind = Literal["differences", "intervals", "curves", "stack"]
"""Each has a macro in ``templates/charts.svg.jinja`` that draws it."""


class Drawing(Protocol):
    """The places of everything in a chart, for the macro of its kind."""

    @property
    def heading(self) -> str: ...
    @property
    def facts(self) -> str: ...
    @property
    def width(self) -> int: ...
    @property
    def height(self) -> float: ...


class Chart(NamedTuple):
    """One picture."""

    kind: Kind
    title: str
    said: str
    """The chart in a sentence, with its figures: for readers who cannot see it."""
    drawing: Drawing
    metric: str = ""
    """The metric of the chart; empty if it is about several, or none."""


MAX_QUERY_LENGTH = 80
"""Characters of a query's text that a chart shows."""


def clean_text(text: str) -> str:
    """The same text if it is harmless; else with a mark for each character that no drawing can hold."""
    return text if text.isascii() and text.isprintable() else "".join(map(_clean_character, text))


def truncate_label(text: str, room: int) -> str:
    """Harmless, and its beginning if it is longer than there is room for."""
    plain = clean_text(text[: 4 * room])
    return plain if len(plain) <= room else f"{plain[: room - 1].rstrip()}…"


def isolate_direction(text: str) -> str:
    """The same, with its direction kept from the text around it."""
    return text if text.isascii() else f"\u2068{text}\u2069"


def _clean_character(character: str) -> str:
    if character in "\t\n\r":
        return " "
    kind = unicodedata.category(character)
    if kind in ("Cc", "Cs", "Zl", "Zp") or character in TURNING or ord(character) & 0xFFFE == 0xFFFE:
        return "\ufffd"
    return character


TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\ufeff")
"""Characters that change the direction of a text; joiners of letters (ZWNJ, ZWJ) belong to the writing of languages."""
WIDTH = 640
"""Of every drawing, in its own units: one is a pixel on a page of that width."""
LARGEST = 1e150
"""Values beyond that are drawn at the edge: the distance of two such would be infinite."""


class Tick(NamedTuple):
    """A place on an axis, and its label."""

    at: float
    label: str


class Scale(NamedTuple):
    """Map values between ``low`` and ``high`` to places between ``start`` and ``end``."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[Tick, ...] = ()

    def __call__(self, value: float) -> float:
        """The place of a value; one that is out of range is at the edge."""
        share = (value - self.low) / (self.high - self.low)
        return round_place(self.start + (self.end - self.start) * min(1.0, max(0.0, share)))


def round_place(value: float) -> float:
    """A place with at most one decimal; a whole number is written without any."""
    rounded = round(value, 1)
    return int(rounded) if rounded == int(rounded) else rounded


def make_scale(
    values: Iterable[float], start: float, end: float, ticks: int = 5, *, signed: bool = False, turned: bool = False
) -> Scale:
    """Wide enough for all finite values, from one tick to another.

    ``signed`` labels are those of changes; ``turned`` ones say that less is more.
    """
    found = [min(LARGEST, max(-LARGEST, value)) for value in values if math.isfinite(value)] or [0.0]
    low, high = min(found), max(found)
    if high - low <= max(abs(low), abs(high)) * 1e-9 or high - low < 1 / LARGEST:
        margin = abs(high) / 10 or 1.0
        low, high = low - margin, high + margin
    step = choose_step((high - low) / ticks)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    bare = Scale(first * step, last * step, start, end)
    sign = -1 if turned else 1
    marks = tuple(
        Tick(bare(n * step), format_label(sign * n * step, step, signed=signed)) for n in range(first, last + 1)
    )
    return Scale(bare.low, bare.high, start, end, marks)


UNITS = ((1_000_000, "M"), (1_000, "k"))


def choose_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10 … or 0.5, 0.2 … that is not below it."""
    power = 10.0 ** math.floor(math.log10(least))
    factor: float = next((each for each in (1, 2, 5) if each * power >= least * (1 - 1e-9)), 10)
    return factor * power


def format_label(value: float, step: float, *, signed: bool = False) -> str:
    """With as many decimals as the step between ticks needs; very large and very small ones with an exponent."""
    value = 0.0 if abs(value) < step / 1e6 else value
    if step >= 1e9 or step < 1e-6:
        return f"{value:+g}" if signed and value else f"{value:g}"
    unit, letter = next(((unit, letter) for unit, letter in UNITS if step >= unit), (1, ""))
    decimals = max(0, -math.floor(math.log10(step / unit) + 1e-9))
    text = f"{value / unit:,.{decimals}f}" + letter * bool(value)
    return f"+{text}" if signed and value > 0 else text


def count_queries(count: int) -> str:
    """``7,000 queries``."""
    return f"{count:,} {'query' if count == 1 else 'queries'}"


def format_short(value: float, decimals: int = 4) -> str:
    """A figure that fits beside a point; of a large one, the digits that matter."""
    if abs(value) < 1e4:
        return f"{value:.{decimals}f}"
    return f"{value:,.0f}" if abs(value) < 1e8 else f"{value:.4g}"


def make_path(points: Sequence[tuple[float, float]]) -> str:
    """A path from point to point."""
    return "M" + "L".join(f"{round_place(x)} {round_place(y)}" for x, y in points) if points else ""


def make_outline(edges: Sequence[float], heights: Sequence[float], ground: float) -> str:
    """The outline of bars that stand side by side on the ground: one more edge than there are heights."""
    found = f"M{round_place(edges[0])} {round_place(ground)}"
    before = ground
    for edge, height in zip(edges[1:], heights, strict=True):
        if height != before:
            found += f"V{round_place(height)}"
        found += f"H{round_place(edge)}"
        before = height
    return f"{found}V{round_place(ground)}"
