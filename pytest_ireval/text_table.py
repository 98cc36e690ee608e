"""Tables and paragraphs of plain text, measured in columns of a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

LEFT_TO_RIGHT = "\N{LEFT-TO-RIGHT MARK}"
"""Needs no column, and ends the effect of letters that are written from right to left."""


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """The rows under the header; columns in ``right`` are aligned to the right."""
    return "\n".join(align_rows((header, *rows), right))


def align_rows(
    rows: Sequence[Sequence[str]], right: Sequence[int] = (), gaps: Sequence[int] = (), most: int | None = None
) -> list[str]:
    """The lines of all rows below each other; see ``lay_out_rows``."""
    return [line for row in lay_out_rows(rows, right, gaps, most) for line in row]


def lay_out_rows(
    rows: Sequence[Sequence[str]],
    right: Sequence[int] = (),
    gaps: Sequence[int] = (),
    most: int | Mapping[int, int] | None = None,
) -> list[list[str]]:
    """The lines of each row; ``gaps`` are the blanks before the second, third … column, 2 unless given.

    A row is one line, unless one of its cells is wider than ``most`` (of all columns, or of some): the next cells are
    then on the next line, in their own columns, so that one long id does not spoil the table.
    """
    cells = [[_one_direction(escape_unprintable(cell)) for cell in row] for row in rows]
    columns = range(len(cells[0])) if cells else range(0)
    most = most if isinstance(most, Mapping) else dict.fromkeys(columns, most) if most else {}
    widths = [max((w for row in cells if (w := measure_width(row[i])) <= most.get(i, w)), default=0) for i in columns]
    before = [0, *(gaps or [2] * len(widths))]
    return [_lines(row, widths, before, right) for row in cells]


def _lines(row: Sequence[str], widths: Sequence[int], before: Sequence[int], right: Sequence[int]) -> list[str]:
    """One line, and another one after each cell that is wider than its column."""
    lines, line, begin = [], "", 0
    for i, cell in enumerate(row):
        begin += before[i]
        if measure_width(line) > begin - before[i] and cell:
            lines.append(line.rstrip())
            line = ""
        blanks = " " * (widths[i] - measure_width(cell))
        line += " " * (begin - measure_width(line)) + (blanks + cell if i in right else cell + blanks)
        begin += widths[i]
    return [*lines, line.rstrip()]


def truncate(text: str, room: int) -> str:
    """The beginning of a text that takes more columns than there is room for."""
    if measure_width(text) <= room:
        return text
    kept = len(text)
    while kept and measure_width(text[:kept]) > room - 1:
        kept -= 1
    return f"{text[:kept]}…"


def truncate_middle(text: str, room: int) -> str:
    """The beginning and the end of a text that takes more columns than there is room for; one letter at the least."""
    shown, kept = text, len(text)
    while kept > 1 and measure_width(shown) > room:
        kept -= 1
        shown = f"{text[: kept // 2]}…{text[len(text) - (kept - kept // 2) :]}"
    return shown


def wrap_text(text: str, limit: int, first: str = "", then: str | None = None) -> list[str]:
    """The words of a text on lines of at most ``limit`` columns, unless one word is longer.

    ``first`` comes before the first line, ``then`` (blanks of the same width, unless given) before the others.
    """
    lines, line = [], first
    indent = " " * measure_width(first) if then is None else then
    empty = True
    for word in escape_unprintable(text).split(" "):
        if not empty and measure_width(line) + 1 + measure_width(word) > limit:
            lines.append(line.rstrip())
            line, empty = indent, True
        line += word if empty else f" {word}"
        empty = False
    return [*lines, line.rstrip()]


def format_stacked_tables(
    header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int], keep: int, limit: int, together: int = 1
) -> str:
    """Tables below each other, each at most ``limit`` wide where its cells allow.

    All begin with the first ``keep`` columns; ``together`` is how many of the others belong together.
    """
    widths = [max(measure_width(escape_unprintable(row[i])) for row in (header, *rows)) + 2 for i in range(len(header))]
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
    return format_table([header[i] for i in columns], cells, [place for place, i in enumerate(columns) if i in right])


def join_lines(text: str) -> str:
    """Several lines of a message as one sentence."""
    return "; ".join(line.strip() for line in text.splitlines())


def escape_unprintable(cell: str) -> str:
    """The text with its control characters spelled out: a terminal would obey them."""
    return cell if cell.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in cell)


def _one_direction(cell: str) -> str:
    """End right-to-left text with a mark, or a browser's log would show the next columns before it."""
    return f"{cell}{LEFT_TO_RIGHT}" if any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in cell) else cell


def measure_width(text: str) -> int:
    """Columns in a terminal: wide characters take two; those that join the one before them, and marks, none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.category(c) in ("Mn", "Me") or c == LEFT_TO_RIGHT for c in text)
