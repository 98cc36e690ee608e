"""Rankings in CSV and TSV, in chunks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from threading import Lock

import numpy as np

from pytest_ireval.data.arrays import Integers
from pytest_ireval.data.formats.input_file import GLANCE, InputFile
from pytest_ireval.data.formats.row_files import read_delimited_rows
from pytest_ireval.data.scan.cells import QUOTE, ValueRows, is_any_inside, need, open_lines, parse_after, trim_cells
from pytest_ireval.data.scan.chunks import NEWLINE, RETURN, TAB, Bytes, Chunk, Span
from pytest_ireval.data.scan.ids import Ids
from pytest_ireval.data.scan.numbers import read_numbers
from pytest_ireval.data.scan.pieces import Layout
from pytest_ireval.data.scan.rows import ParsedRows
from pytest_ireval.data.tables import Table, Unfit, find_column, find_ranking_columns, is_quoted

LONGEST_CELL = 1 << 20
"""A longer cell is left to the slower reader, which limits it."""

_CSV_LOCK = Lock()
"""The csv module has one limit for all threads."""


class DelimitedRankings:
    """The layout of a table with its names in the first line."""

    def __init__(self, file: InputFile) -> None:
        first = file.first_lines[0]
        need(2 * len(first) <= GLANCE // 4)
        self.delimiter = file.delimiter
        _, cells = next(read_delimited_rows([f"{first}\n"], file.delimiter, file.name))
        names = [name.strip() for name in cells]
        Table(dict.fromkeys(names, ()), file.name, str)  # refuses names that are alike
        need(len(set(names)) == len(names))
        self.width = len(names)
        wanted = find_ranking_columns(names, file.name)
        self.by_rank = wanted.by_rank
        self.places = [names.index(name) for name in wanted[:3]]
        """The columns of the query, the document and the score or rank."""
        self.rank = [] if wanted.rank is None else [names.index(wanted.rank)]
        """The column of the ranks beside the scores, if there is one."""
        kinds = ("query", "document", "id") if file.delimiter == "\t" else ()
        self.unquoted = [names.index(name) for kind in kinds if (name := find_column(names, kind)) is not None]
        """Columns whose cells must not be in quotes: in TSV a quote is part of an id."""
        self.layout = Layout(self._parse, self._read_query)

    def _read_query(self, line: bytes) -> bytes:
        cells = line.split(self.delimiter.encode())
        return cells[self.places[0]].strip() if len(cells) > self.places[0] else b""

    def _parse(self, chunk: Chunk, at: int) -> ParsedRows:
        skipped = 0
        if not at:  # the first line of the file is the header
            header = re.match(rb"(?:[^\S\n]*\n)*[^\n]*\n", chunk.token(0, min(chunk.size, GLANCE)))
            skipped = header.end() if header else chunk.size
        return parse_after(chunk, skipped, self._parse_alike, self._parse_each, by_rank=self.by_rank)

    def _parse_alike(self, chunk: Chunk) -> ParsedRows:
        wanted = [*self.places, *self.unquoted]
        begin, cells = find_delimited_cells(chunk, ord(self.delimiter), self.width, wanted, self.rank)
        need(not any(_find_quoted(chunk.text, cell).any() for cell in cells[3 : len(wanted)]))
        query, document, number = cells[:3]
        score, rank = read_numbers(chunk, number, "score"), cells[-1] if self.rank else None
        return ParsedRows(Ids(chunk, query), Ids(chunk, document), number, score, begin, rank)

    def _parse_each(self, chunk: Chunk) -> ParsedRows:
        lines, begin = open_lines(chunk)
        rows, last = ValueRows(), 0
        with _CSV_LOCK:
            for number, cells in read_delimited_rows(lines, self.delimiter, ""):
                if len(cells) != self.width:
                    raise Unfit("this row has another number of cells")
                if any(is_quoted(cells[place].strip()) for place in self.unquoted):
                    raise Unfit("this id is in quotes")
                query, document, score = (cells[place] for place in self.places)
                rows.add(query, document, score, int(begin[last]), *(cells[place] for place in self.rank))
                last = number
        return rows.parse()


def find_delimited_cells(
    chunk: Chunk, delimiter: int, width: int, wanted: list[int], loose: Sequence[int] = ()
) -> tuple[Integers, list[Span]]:
    """The begin of every row, and the ``wanted`` columns without quotes and blanks around them.

    Cells of the ``loose`` columns, which come last, may be empty, and have their blanks.
    Cells are quoted unless the delimiter is a tab. Every row has ``width`` cells.
    """
    text = chunk.text
    if not text.size:
        return np.zeros(0, np.int64), [Span(np.zeros(0, np.int64), np.zeros(0, np.int64)) for _ in (*wanted, *loose)]
    quote = np.flatnonzero(text == QUOTE) if delimiter != TAB else np.zeros(0, np.int64)
    separator = _find_separators(text, delimiter, width, quote)
    line_end = separator[width - 1 :: width].copy()
    begin = np.empty(line_end.size, np.int64)
    begin[0] = 0
    np.add(line_end[:-1], 1, out=begin[1:])
    need(text.min() and (line_end - begin).max() <= LONGEST_CELL)
    separator[width - 1 :: width] = _without_returns(text, line_end)
    places = (*wanted, *loose)
    spans = [Span(separator[c - 1 :: width] + 1 if c else begin, separator[c::width]) for c in places]
    if quote.size:
        doubled = quote[1:-1:2][quote[2::2] == quote[1:-1:2] + 1]
        spans = [_without_quotes(text, span, doubled) for span in spans]
    return begin, [*(trim_cells(chunk, span) for span in spans[: len(wanted)]), *spans[len(wanted) :]]


def _find_separators(text: Bytes, delimiter: int, width: int, quote: Integers) -> Integers:
    """The end of every cell; what is in quotes ends none."""
    newline, ends = text == NEWLINE, text == delimiter
    if quote.size:
        _refuse_quotes_inside_cells(text, delimiter, quote)
        outside = np.cumsum(text == QUOTE, dtype=np.uint8) & 1 == 0
        newline &= outside
        ends &= outside
    separator = np.flatnonzero(newline | ends)
    need(separator.size and separator.size % width == 0)
    line_end = separator[width - 1 :: width]
    need(int(np.count_nonzero(newline)) == line_end.size and newline[line_end].all())
    return separator


def _refuse_quotes_inside_cells(text: Bytes, delimiter: int, quote: Integers) -> None:
    """Refuse all but quotes around whole cells, and doubled ones between them."""
    need(quote.size % 2 == 0)
    around = np.isin(np.arange(256), [delimiter, NEWLINE, QUOTE])
    need(around[text[quote[0::2] - 1]].all())  # before the first one is the end of the text: a line end
    around[RETURN] = True
    need(around[text[quote[1::2] + 1]].all())


def _without_quotes(text: Bytes, span: Span, doubled: Integers) -> Span:
    """Cells without the quotes around them; doubled ones inside are irregular."""
    quoted = _find_quoted(text, span)
    start, end = span.start + quoted, span.end - quoted
    need(not is_any_inside(doubled, Span(start, end)))
    return Span(start, end)


def _find_quoted(text: Bytes, span: Span) -> Bytes:
    """1 for each cell in quotes."""
    start, end = span
    quoted: Bytes = (end - start > 1) & (text[start] == QUOTE) & (text[end - 1] == QUOTE)
    return quoted


def _without_returns(text: Bytes, line_end: Integers) -> Integers:
    """The ends of lines before CR LF; a return elsewhere is irregular."""
    returns = int(np.count_nonzero(text == RETURN))
    if not returns:
        return line_end
    before = text[line_end - 1] == RETURN
    need(int(np.count_nonzero(before)) == returns)
    ends: Integers = line_end - before
    return ends
