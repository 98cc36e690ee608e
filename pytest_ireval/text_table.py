"""Plain text: tables with aligned columns, the same in a terminal and in a pipe, and numbers of things in words."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

LEFT_TO_RIGHT = "\N{LEFT-TO-RIGHT MARK}"
"""Needs no column, and ends the effect of letters that are written from right to left."""


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """The rows under the header; columns in ``right`` are aligned to the right."""
    return "\n".join(aligned((header, *rows), right))


def aligned(
    rows: Sequence[Sequence[str]], right: Sequence[int] = (), gaps: Sequence[int] = (), most: int | None = None
) -> list[str]:
    """The lines of all rows below each other; see ``laid_out``."""
    return [line for row in laid_out(rows, right, gaps, most) for line in row]


def laid_out(
    rows: Sequence[Sequence[str]],
    right: Sequence[int] = (),
    gaps: Sequence[int] = (),
    most: int | Mapping[int, int] | None = None,
) -> list[list[str]]:
    """The lines of each row; ``gaps`` are the blanks before the second, third … column, 2 unless given.

    A row is one line, unless one of its cells is wider than ``most`` (of all columns, or of some): the next cells are
    then on the next line, in their own columns, so that one long id does not spoil the table.
    """
    cells = [[_one_direction(printable(cell)) for cell in row] for row in rows]
    columns = range(len(cells[0])) if cells else range(0)
    most = most if isinstance(most, Mapping) else dict.fromkeys(columns, most) if most else {}
    widths = [max((w for row in cells if (w := width(row[i])) <= most.get(i, w)), default=0) for i in columns]
    before = [0, *(gaps or [2] * len(widths))]
    return [_lines(row, widths, before, right) for row in cells]


def _lines(row: Sequence[str], widths: Sequence[int], before: Sequence[int], right: Sequence[int]) -> list[str]:
    """One line, and another one after each cell that is wider than its column."""
    lines, line, begin = [], "", 0
    for i, cell in enumerate(row):
        begin += before[i]
        if width(line) > begin - before[i] and cell:
            lines.append(line.rstrip())
            line = ""
        blanks = " " * (widths[i] - width(cell))
        line += " " * (begin - width(line)) + (blanks + cell if i in right else cell + blanks)
        begin += widths[i]
    return [*lines, line.rstrip()]


def cut(text: str, room: int) -> str:
    """The beginning of a text that takes more columns than there is room for."""
    if width(text) <= room:
        return text
    kept = len(text)
    while kept and width(text[:kept]) > room - 1:
        kept -= 1
    return f"{text[:kept]}…"


def cut_in_the_middle(text: str, room: int) -> str:
    """The beginning and the end of a text that takes more columns than there is room for; one letter at the least."""
    shown, kept = text, len(text)
    while kept > 1 and width(shown) > room:
        kept -= 1
        shown = f"{text[: kept // 2]}…{text[len(text) - (kept - kept // 2) :]}"
    return shown


def wrapped(text: str, limit: int, first: str = "", then: str | None = None) -> list[str]:
    """The words of a text on lines of at most ``limit`` columns, unless one word is longer.

    ``first`` comes before the first line, ``then`` (blanks of the same width, unless given) before the others.
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
    """The text with its control characters spelled out: a terminal would obey them."""
    return cell if cell.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in cell)


def _one_direction(cell: str) -> str:
    """End right-to-left text with a mark, or a browser's log would show the next columns before it."""
    return f"{cell}{LEFT_TO_RIGHT}" if any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in cell) else cell


def width(text: str) -> int:
    """Columns in a terminal: wide characters take two; those that join the one before them, and marks, none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.category(c) in ("Mn", "Me") or c == LEFT_TO_RIGHT for c in text)


MOST_DECIMALS = 9
"""Figures that differ only beyond these decimals differ by rounding."""


def decimals_beside(value: float, limit: float | None, decimals: int) -> int:
    """The decimals of a figure beside its limit: more than ``decimals`` where fewer would hide that they differ."""
    if limit is None:
        return decimals
    enough = range(decimals, MOST_DECIMALS + 1)
    return next((each for each in enough if round(value, each) != round(limit, each)), decimals)


def counted(number: int, word: str) -> str:
    """The number and the word, in the plural unless there is one."""
    return f"{number} {word if number == 1 else plural(word)}"


MOST_CHANGES = 3
"""The changes that one sentence names."""


def list_changes(changes: Sequence[str]) -> str:
    """The first changes, and the number of the others."""
    more = [f"and {len(changes) - MOST_CHANGES} more"] if len(changes) > MOST_CHANGES else []
    return ", ".join([*changes[:MOST_CHANGES], *more])


def plural(word: str) -> str:
    """The plural of a noun that this project uses."""
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("ch", "sh")) else f"{word}s"


def magnitude(value: float) -> str:
    """A magnitude with two significant digits: ``0.34``, ``0.0051``, ``12``."""
    if value >= 10:
        return f"{value:.0f}"
    if value >= 0.095 or not value:
        return f"{value:.2f}"
    decimals = next((places for places in range(2, 10) if value * 10**places >= 9.5), 10)
    return f"{value:.{decimals}f}"


def roughly(number: int) -> int:
    """An estimated number with two significant digits, rounded up."""
    step: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // step) * step
