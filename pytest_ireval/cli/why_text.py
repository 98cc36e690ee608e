"""An explanation as text: tables for people, Markdown for a ticket, JSON for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from pytest_ireval.results.explanation import Column, Explained, Explanation, Move, Steps
from pytest_ireval.text_table import escape_unprintable, format_table, measure_width, truncate, truncate_middle
from pytest_ireval.words import format_count

WIDTH = 80


def _format_table(explanation: Explanation, lines: int | None) -> str:
    """Aligned columns; long ids are cut in the middle so that a line has 80 characters, if that can be."""
    return "\n\n".join(_format_block(block) for block in make_blocks(explanation, lines)) + "\n"


def _format_block(block: Block) -> str:
    if isinstance(block, Grid):
        grid = _fit_grid(block)
        return format_table(grid.header, grid.rows, grid.right)
    return "\n".join(map(escape_unprintable, block))


def _fit_grid(grid: Grid) -> Grid:
    """The grid with ids cut as far as the width asks."""
    if grid.ids is None:
        return grid
    at = grid.ids
    others = [
        max(measure_width(row[i]) for row in (grid.header, *grid.rows)) for i in range(len(grid.header)) if i != at
    ]
    room = max(12, WIDTH - sum(others) - 2 * len(others))  # shorter ids would say too little
    rows = [
        [truncate_middle(escape_unprintable(cell), room) if i == at else cell for i, cell in enumerate(row)]
        for row in grid.rows
    ]
    return grid._replace(rows=rows)


def _format_markdown(explanation: Explanation, lines: int | None) -> str:
    return "\n\n".join(_format_markdown_block(block) for block in make_blocks(explanation, lines)) + "\n"


def _format_markdown_block(block: Block) -> str:
    if not isinstance(block, Grid):
        return "  \n".join(_escape(line) for line in block)
    rule = ["---:" if i in block.right else "---" for i in range(len(block.header))]
    rows = [block.header, rule, *([_escape(cell) for cell in row] for row in block.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _escape(text: str) -> str:
    """Text with escapes for the marks of Markdown."""
    return "".join("\\" + c if c in "\\`*_|<>[]" else c for c in escape_unprintable(text))


def _format_json(explanation: Explanation, lines: int | None) -> str:  # noqa: ARG001 - nothing is left out here
    import json

    return json.dumps(explanation.to_dict()) + "\n"


FORMATS: dict[str, Callable[[Explanation, int | None], str]] = {
    "table": _format_table,
    "markdown": _format_markdown,
    "json": _format_json,
}


class Grid(NamedTuple):
    """A table of text; ``right`` are columns of numbers, ``ids`` is the column that may be cut."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[int]
    ids: int | None = None


Block: TypeAlias = Grid | list[str]


def make_blocks(explanation: Explanation, lines: int | None) -> Iterator[Block]:
    """The explanation as paragraphs and tables."""
    yield _describe_value(explanation)
    first, other = explanation.first, explanation.other
    if other is None:
        yield from _make_explained_blocks(explanation.metric, first, lines, explanation.titles)
        return
    yield from _make_moves_blocks(explanation, lines)
    yield [f"A: {first.rankings}"]
    yield from _make_explained_blocks(explanation.metric, first, lines)
    yield [f"B: {other.rankings}"]
    yield from _make_explained_blocks(explanation.metric, other, lines)


def _describe_value(explanation: Explanation) -> list[str]:
    query = explanation.query + (f" ({explanation.query_choice})" if explanation.query_choice else "")
    first, other = explanation.first, explanation.other
    values, files = f"{first.value:.4f}", f"judgments: {explanation.judgments}; rankings: {first.rankings}"
    if other is not None:
        values += f" -> {other.value:.4f} ({other.value - first.value:+.4f})"
        files += f" (A) -> {other.rankings} (B)"
    origin = [f"explained: {explanation.rankings_origin}"] if explanation.rankings_origin else []
    return [f"{explanation.metric} of {explanation.unit} {query}: {values}", files, *origin]


def _make_explained_blocks(
    metric: str, explained: Explained, lines: int | None, titles: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Block]:
    steps = explained.steps
    if steps.facts:
        yield list(steps.facts)
    count = _count_lines(explained, lines)
    if count:
        yield _add_titles(_make_steps_grid(steps, count), titles)
    if notes := _describe_left_out(explained, count):
        yield notes
    if steps.second_table and steps.second_table.columns:
        yield from _make_second_table(steps, count, lines)
    yield [_format_arithmetic(metric, explained)]


def _count_lines(explained: Explained, lines: int | None) -> int:
    """The number of rows that are shown: ``lines``, or down to the cutoff, or else to the last judged document."""
    steps = explained.steps
    if lines is not None or explained.cutoff is not None:
        return min(lines or len(steps.ranks), len(steps.ranks))
    judged = [i for i, grade in enumerate(steps.grades) if grade is not None]
    return judged[-1] + 1 if judged else 0


def _make_steps_grid(steps: Steps, count: int) -> Grid:
    columns = list(steps.columns)
    if steps.shares is not None and all(steps.shares.values != column.values for column in columns):
        columns.append(steps.shares)
    texts = [_format_column(column, count) for column in columns]
    rows = [
        [str(steps.ranks[i]), steps.documents[i], _format_grade(steps.grades[i]), *(text[i] for text in texts)]
        for i in range(count)
    ]
    header = ["rank", "document", "grade", *(column.name for column in columns)]
    grid = Grid(header, rows, [0, *range(2, len(header))], ids=1)
    return _add_positions(grid, steps.positions) if steps.positions else grid


def _add_positions(grid: Grid, positions: Sequence[int]) -> Grid:
    """The same with a first column: the position of the query in its session."""
    rows = [[str(position), *row] for position, row in zip(positions, grid.rows, strict=False)]
    ids = None if grid.ids is None else grid.ids + 1
    return Grid(["query", *grid.header], rows, [0, *(place + 1 for place in grid.right)], ids)


def _add_titles(grid: Grid, titles: Mapping[str, str]) -> Grid:
    """The same with a last column of titles, if a document has one."""
    if grid.ids is None or not titles:
        return grid
    rows = [[*row, truncate(escape_unprintable(titles.get(row[grid.ids], "")), 30)] for row in grid.rows]
    return grid._replace(header=[*grid.header, "title"], rows=rows)


def _describe_left_out(explained: Explained, count: int) -> list[str]:
    """Notes on rows that are not shown, and on documents that the metric does not look at."""
    steps, notes = explained.steps, []
    hidden = steps.grades[count:]
    if hidden:
        judged = sum(grade is not None for grade in hidden)
        what = f"judged there: {judged} of {len(hidden)}" if judged else "nothing is judged there"
        first, last = steps.ranks[count], steps.ranks[-1]
        ranks = f"ranks {first} to {last}" if first < last else f"rank {first}"
        if steps.positions:
            ranks = format_count(len(hidden), "document")
        notes.append(f"not shown: {ranks}; {what}")
    below = explained.retrieved - len(steps.ranks)
    if below > 0:
        notes.append(f"not looked at: {below} of {explained.retrieved} documents")
    return notes


def _make_second_table(steps: Steps, count: int, lines: int | None) -> Iterator[Block]:
    second = steps.second_table
    if second is None:
        return
    size = len(second.columns[0].values)
    shown = min(size, lines or max(20, count))
    yield [f"{second.title}:"]
    texts = [_format_column(column, shown) for column in second.columns]
    rows = [[text[i] for text in texts] for i in range(shown)]
    yield Grid([column.name for column in second.columns], rows, range(len(texts)))
    if shown < size:
        yield [f"lines not shown: {size - shown}"]


def _format_arithmetic(metric: str, explained: Explained) -> str:
    steps, value = explained.steps, f"{explained.value:.4f}"
    if explained.special_case:
        return f"{metric} = {value}: {explained.special_case}"
    return f"{metric} = {steps.arithmetic} = {value}" if " " in steps.arithmetic else f"{metric} = {value}"


def _make_moves_blocks(explanation: Explanation, lines: int | None) -> Iterator[Block]:
    """Documents in both rankings: all down to the cutoff; without one, those that are judged or contribute."""
    moves, cutoff = explanation.moves, explanation.first.cutoff
    counting = [move for move in moves if cutoff is not None or move.grade is not None or move.difference]
    shown = counting[:lines]
    shares = any(move.share is not None or move.other_share is not None for move in counting)
    header = ["document", "grade", "moved"] + (["A", "B", "B - A"] if shares else [])
    rows = [_make_move_row(move, shares) for move in shown]
    if rows:
        grid = Grid(header, rows, [1, *range(3, len(header))], ids=0)
        positions = [move.position for move in shown if move.position is not None]
        yield _add_titles(_add_positions(grid, positions) if positions else grid, explanation.titles)
    notes = []
    if len(shown) < len(counting):
        notes.append(f"documents not shown: {len(counting) - len(shown)}")
    if len(counting) < len(moves):
        notes.append(f"unjudged documents not shown: {len(moves) - len(counting)}")
    if shares:
        notes.append("A, B: what the document contributes")
    if notes:
        yield notes


def _make_move_row(move: Move, shares: bool) -> list[str]:
    row = [move.document, _format_grade(move.grade), _describe_move(move)]
    if not shares:
        return row
    difference = f"{move.difference:+.4f}" if move.difference else ""
    return [*row, f"{move.share or 0:.4f}", f"{move.other_share or 0:.4f}", difference]


def _describe_move(move: Move) -> str:
    """``#2 -> #9``; the rank alone where nothing moved."""
    if move.rank == move.other_rank:
        return f"#{move.rank}"
    before = "not there" if move.rank is None else f"#{move.rank}"
    after = "not there" if move.other_rank is None else f"#{move.other_rank}"
    return f"{before} -> {after}"


def _format_grade(grade: float | None) -> str:
    return "-" if grade is None else f"{grade:g}"


def _format_column(column: Column, count: int) -> list[str]:
    """The first numbers of a column, all with four decimals or all without."""
    there = [number for number in column.values[:count] if number is not None]
    brief = column.name in ("grade", "recall") and all(len(f"{number:g}") <= 4 for number in there)
    short = brief or all(number.is_integer() for number in there)
    return ["" if number is None else f"{number:g}" if short else f"{number:.4f}" for number in column.values[:count]]
