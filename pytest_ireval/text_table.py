"""Plain text tables: aligned columns, no colour, the same in a terminal and in a pipe."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """The rows under the header; columns in ``right`` are aligned to the right."""
    return "\n".join(aligned((header, *rows), right))


def aligned(
    rows: Sequence[Sequence[str]], right: Sequence[int] = (), gaps: Sequence[int] = (), most: int | None = None
) -> list[str]:
    """A line a row; ``gaps`` are the blanks before the second, third … column, 2 unless given.

    A cell wider than ``most`` pushes the rest of its own line only: one long id does not spoil the table.
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    columns = range(len(cells[0])) if cells else range(0)
    widths = [max((w for row in cells if (w := width(row[i])) <= (most or w)), default=0) for i in columns]
    before = [" " * gap for gap in (0, *(gaps or [2] * len(widths)))]
    return [
        "".join(before[i] + _padded(cell, widths[i], i in right) for i, cell in enumerate(row)).rstrip()
        for row in cells
    ]


def cut(text: str, room: int) -> str:
    """The beginning of a text that takes more columns than there is room for."""
    if width(text) <= room:
        return text
    kept = len(text)
    while kept and width(text[:kept]) > room - 1:
        kept -= 1
    return f"{text[:kept]}…"


def wrapped(text: str, limit: int, first: str = "", then: str | None = None) -> list[str]:
    """The words of a text on lines of at most ``limit`` columns, unless one word is longer.

    ``first`` stands before the first line, ``then`` (as many blanks, unless given) before the others.
    """
    lines, line = [], first
    indent = " " * width(first) if then is None else then
    empty = True
    for word in printable(text).split(" "):
        if not empty and width(line) + 1 + width(word) > limit:
            lines.append(line.rstrip())
            line, empty = indent, True
        line += word if empty else f" {word}"
        empty = False
    return [*lines, line.rstrip()]


def blocks(
    header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int], keep: int, limit: int, together: int = 1
) -> str:
    """Tables below each other, each at most ``limit`` wide where its cells allow.

    All begin with the first ``keep`` columns; ``together`` is how many of the others belong together.
    """
    widths = [max(width(printable(row[i])) for row in (header, *rows)) + 2 for i in range(len(header))]
    parts: list[list[int]] = [[]]
    for first in range(keep, len(header), together):
        group = list(range(first, first + together))
        if parts[-1] and sum(widths[i] for i in (*range(keep), *parts[-1], *group)) - 2 > limit:
            parts.append([])
        parts[-1] += group
    return "\n\n".join(_some_columns(header, rows, right, keep, part) for part in parts)


def _some_columns(
    header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int], keep: int, part: Sequence[int]
) -> str:
    """The first columns and a part of the others; rows that have nothing in that part are left out."""
    columns = [*range(keep), *part]
    cells = [[row[i] for i in columns] for row in rows if any(row[i] for i in part)]
    return table([header[i] for i in columns], cells, [place for place, i in enumerate(columns) if i in right])


def printable(cell: str) -> str:
    """Control characters, which ids may hold, spelled out: a terminal would obey them."""
    return cell if cell.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in cell)


def _padded(cell: str, columns: int, right: bool) -> str:
    blanks = " " * (columns - width(cell))
    return blanks + cell if right else cell + blanks


def width(text: str) -> int:
    """Columns in a terminal: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)
