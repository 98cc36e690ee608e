"""Plain text tables: aligned columns, no colour, the same in a terminal and in a pipe."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """The rows under the header; columns in ``right`` are aligned to the right."""
    cells = [[printable(cell) for cell in row] for row in (header, *rows)]
    widths = [max(width(row[i]) for row in cells) for i in range(len(header))]
    return "\n".join(
        "  ".join(_padded(cell, widths[i], i in right) for i, cell in enumerate(row)).rstrip() for row in cells
    )


def printable(cell: str) -> str:
    """Control characters, which ids may hold, spelled out: a terminal would obey them."""
    return cell if cell.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in cell)


def _padded(cell: str, room: int, right: bool) -> str:
    blanks = " " * (room - width(cell))
    return blanks + cell if right else cell + blanks


def width(text: str) -> int:
    """Columns in a terminal: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)
