"""An explanation as text: tables for people, Markdown for a ticket, JSON for programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_ireval.cli.why_tables import Block, Grid, blocks
from pytest_ireval.results.explanation import Explanation
from pytest_ireval.text_table import printable, table, width

WIDTH = 80
SHORTEST_ID = 12
"""Ids are not cut to less."""


def as_table(explanation: Explanation, lines: int | None) -> str:
    """Aligned columns; long ids are cut in the middle so that a line has 80 characters, if that can be."""
    return "\n\n".join(_terminal(block) for block in blocks(explanation, lines)) + "\n"


def _terminal(block: Block) -> str:
    if isinstance(block, Grid):
        grid = _fitting(block)
        return table(grid.header, grid.rows, grid.right)
    return "\n".join(map(printable, block))


def _fitting(grid: Grid) -> Grid:
    """The grid with ids cut as far as the width asks."""
    if grid.ids is None:
        return grid
    at = grid.ids
    others = [max(width(row[i]) for row in (grid.header, *grid.rows)) for i in range(len(grid.header)) if i != at]
    room = max(SHORTEST_ID, WIDTH - sum(others) - 2 * len(others))
    rows = [[_cut(printable(cell), room) if i == at else cell for i, cell in enumerate(row)] for row in grid.rows]
    return grid._replace(rows=rows)


def _cut(text: str, room: int) -> str:
    """Both ends of a text that takes more columns than there is room for."""
    if width(text) <= room:
        return text
    kept = len(text)
    while True:
        kept -= 1
        cut = text[: kept // 2] + "…" + text[len(text) - (kept + 1) // 2 :]
        if width(cut) <= room:
            return cut


def as_markdown(explanation: Explanation, lines: int | None) -> str:
    """The same tables with whole ids."""
    return "\n\n".join(_markdown(block) for block in blocks(explanation, lines)) + "\n"


def _markdown(block: Block) -> str:
    if not isinstance(block, Grid):
        return "  \n".join(_escaped(line) for line in block)
    rule = ["---:" if i in block.right else "---" for i in range(len(block.header))]
    rows = [block.header, rule, *([_escaped(cell) for cell in row] for row in block.rows)]
    return "\n".join(_row(row) for row in rows)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _escaped(text: str) -> str:
    """Text whose marks Markdown would obey, spelled out."""
    return "".join("\\" + c if c in "\\`*_|<>[]" else c for c in printable(text))


def as_json(explanation: Explanation, lines: int | None) -> str:  # noqa: ARG001 - nothing is left out here
    """Everything, in the format with a version number."""
    import json

    return json.dumps(explanation.to_dict(), ensure_ascii=False) + "\n"


FORMATS: dict[str, Callable[[Explanation, int | None], str]] = {
    "table": as_table,
    "markdown": as_markdown,
    "json": as_json,
}
