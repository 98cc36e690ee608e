"""Files of rows: CSV, TSV, pairs of id and text, BEIR folders, diversity judgments, and JSON.

CSV is quoted in the usual way. TSV is taken literally: a cell holds anything but tabs and line ends.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NoReturn

from pytest_ireval.data.formats.input_file import InputFile, open_input, split_words
from pytest_ireval.data.tables import Table, collect_columns, find_column, is_quoted, place_by_line, place_by_number
from pytest_ireval.errors import InputError, Mistakes, Problem
from pytest_ireval.words import format_count


def read_json_lines(file: InputFile) -> Table:
    """A row for each line; a name that an object lacks is an empty cell."""
    mistakes = Mistakes()
    found = list(parse_json_lines(file.lines(), file.name, mistakes))
    mistakes.refuse()
    return Table(
        collect_columns([row for _, row in found]), file.name, place_by_line(file.name, [line for line, _ in found])
    )


def parse_json_lines(lines: Iterable[str], name: str, mistakes: Mistakes) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of JSON lines, each with the number of its line; blank lines do not count."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = parse_json(line)
            complaint = "" if isinstance(found, dict) else "is not a JSON object"
        except ValueError as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else error
            complaint = f"is not JSON ({reason})"
        except RecursionError:
            complaint = "is nested too deeply"
        if complaint:
            mistakes.add(Problem(complaint, place=f"{name}:{number}"))
        else:
            yield number, found


def _parse_whole_json(file: InputFile) -> Any:
    try:
        return parse_json(file.text())
    except json.JSONDecodeError as error:
        place = f"{file.name}:{error.lineno}:{error.colno}"
        raise InputError(Problem(f"is not JSON ({error.msg})", place=place)) from None
    except ValueError as error:
        raise InputError(Problem(f"is not JSON ({error})", place=file.name)) from None
    except RecursionError:
        raise InputError(Problem("is nested too deeply", place=file.name)) from None


def parse_json(text: str) -> Any:
    """The value of JSON text; a name twice in one object, NaN and Infinity are refused."""
    found = json.loads(text, object_pairs_hook=_make_object, parse_constant=_refuse_constant)
    if "\\ud" in text.lower():  # an escape may be one half of a character, which no file can store
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            half = error.object[error.start]
            raise ValueError(f"{half!r} is an incomplete character (half of a surrogate pair)") from None
    return found


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{twice!r} occurs twice in one object")
    return found


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number in JSON")


def read_json(file: InputFile) -> Any:
    """One object as it is, for a mapping from queries; a list of objects as a table."""
    value = _parse_whole_json(file)
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        return Table(collect_columns(value), file.name, place_by_number(file.name))
    raise InputError(Problem("is neither one JSON object nor a list of objects", place=file.name))


KINDS: dict[type, str] = {dict: "an object", list: "a list"}


@dataclass
class Node:
    """A value, and the keys that lead to it."""

    value: Any
    origin: str
    path: tuple[str, ...] = ()
    """Keys; an entry of a list is its number under the list's key, counted from 1."""

    @property
    def place(self) -> str:
        """Its place, in words."""
        return f"{self.origin}: {' > '.join(self.path)}" if self.path else self.origin

    def has(self, key: str) -> bool:
        """Tell whether it is an object with a value under ``key``."""
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def get(self, key: str) -> Node:
        """The value under ``key``, which must exist."""
        if not self.has(key):
            raise self.error(f"the key {key!r} is missing")
        return Node(self.value[key], self.origin, (*self.path, key))

    def each(self, key: str) -> Iterator[Node]:
        """The entries of the list under ``key``; none if the key is missing."""
        if self._expected(dict).get(key) is not None:
            yield from self.get(key).entries_of_list()

    def entries_of_list(self) -> Iterator[Node]:
        """The entries of a list."""
        for number, value in enumerate(self._expected(list), 1):
            yield Node(value, self.origin, (*self.path[:-1], f"{self.path[-1] if self.path else 'entry'} {number}"))

    def entries(self) -> Iterator[tuple[str, Node]]:
        """The keys of an object with their values."""
        for key, value in self._expected(dict).items():
            yield key, Node(value, self.origin, (*self.path, key))

    def text(self, key: str) -> str:
        """The text or number under ``key``, as text; empty if the key is missing."""
        value = self._expected(dict).get(key)
        if value is None:
            return ""
        if isinstance(value, dict | list | bool):
            raise self.error(f"{key!r} is {value!r}, not text")
        return str(value).strip()

    def required(self, key: str) -> str:
        """The text under ``key``, which must exist."""
        text = self.text(key)
        if not text:
            raise self.get(key).error("is empty")
        return text

    def _expected(self, kind: type) -> Any:
        if not isinstance(self.value, kind):
            raise self.error(f"is not {KINDS[kind]}")
        return self.value

    def error(self, complaint: str) -> InputError:
        """An error at this place."""
        return InputError(Problem(complaint, place=self.place))


def read_json_documents(file: InputFile) -> Iterator[Node]:
    """The whole of a JSON file, or what is on each line of a file with an object on each line."""
    if file.first_object is None:  # one value, over any number of lines
        yield read_json_document(file)
        return
    for number, line in enumerate(file.lines(), 1):
        place = f"{file.name}:{number}"
        if line.strip():
            try:
                yield Node(parse_json(line), place)
            except (ValueError, RecursionError) as error:
                raise InputError(Problem(f"is not JSON ({error})", place=place)) from None


def read_json_document(file: InputFile) -> Node:
    """The whole of a JSON file."""
    return Node(_parse_whole_json(file), file.name)


def read_delimited_table(file: InputFile, *, short_rows: bool = False) -> Table:
    """The columns that the first line names; ``short_rows`` may lack cells at their end."""
    found = _collect_table(
        file, read_delimited_rows(file.lines(), file.delimiter, file.name, file.lines), short_rows=short_rows
    )
    if file.delimiter == "\t":
        _refuse_quoted_ids(found)
    return found


def _refuse_quoted_ids(table: Table) -> None:
    """Refuse ids in quotes: in TSV a quote is part of the id, which would never match one without quotes."""
    mistakes = Mistakes()
    for name in dict.fromkeys(filter(None, (find_column(table.columns, kind) for kind in ("query", "document", "id")))):
        for row, cell in enumerate(map(str.strip, table.columns[name])):
            if is_quoted(cell):
                suggestion = "TSV has no quoting: remove the quotes, or use CSV"
                mistakes.add(Problem(f"the id {cell} is in quotes", place=table.place(row), suggestion=suggestion))
    mistakes.refuse()


def read_pairs(file: InputFile) -> Table:
    """Columns id and text."""
    lines = ((number, line) for number, line in enumerate(file.lines(), 1) if line.strip())
    rows = ((number, line.rstrip("\r\n").split("\t", 1)) for number, line in lines)
    return _collect_table(file, chain([(0, ["id", "text"])], rows))


NAMED = 20
"""The most columns that a message lists."""
Row = tuple[int, list[str]]
"""The number of a row's last line, and its cells."""


def read_delimited_rows(
    lines: Iterable[str], delimiter: str, origin: str, again: Callable[[], Iterable[str]] = tuple
) -> Iterator[Row]:
    """The rows of CSV, or of TSV, that are not blank; ``again`` gives the same lines, to look for an open quote."""
    if delimiter == "\t":
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, line.rstrip("\r\n").split("\t")
        return
    before, done = csv.field_size_limit(1 << 24), 0
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for cells in reader:
            done = reader.line_num
            if any(cell.strip() for cell in cells):
                yield done, cells
    except csv.Error as error:
        row = islice(enumerate(again(), 1), done, reader.line_num)
        raise InputError(_describe_csv_error(error, f"{origin}:{reader.line_num}", row, delimiter)) from None
    finally:
        csv.field_size_limit(before)


def _describe_csv_error(error: csv.Error, place: str, row: Iterable[tuple[int, str]], delimiter: str) -> Problem:
    """The problem of a row that cannot be read; it names the line with the quote that the row began to read."""
    opened, closed = _find_last_quote(row, delimiter)
    file, _, last = place.rpartition(":")
    if opened and not closed and "end of data" in str(error):
        return Problem(f"is not CSV: the quote opened in line {opened} is never closed", f"{file}:{opened}")
    if not opened or f"{opened}" == last:
        return Problem(f"is not CSV ({error})", place)
    ends = "ends here" if closed else "is not closed before this line"
    suggestion = f"the quote opened in line {opened} {ends}: is its closing quote missing there?"
    return Problem(f"is not CSV ({error})", place, suggestion=suggestion)


def _find_last_quote(row: Iterable[tuple[int, str]], delimiter: str) -> tuple[int, bool]:
    """The line in which the cell in quotes begins that goes on to the end, or has text behind it, which is True.

    Line 0: there is no such cell.
    """
    opened, state = 0, "start"
    for number, line in row:
        place = 0
        while place < len(line):
            if state == "quoted":
                place = line.find('"', place)  # all of a cell up to its end, which may be far
                if place < 0:
                    break
            each, place = line[place], place + 1
            if state == "quoted":
                state = "ended"
            elif state == "ended" and each == '"':
                state = "quoted"  # two quotes are one
            elif each in (delimiter, "\r", "\n"):
                state = "start"
            elif state == "ended":
                return opened, True
            elif state == "start" and each == '"':
                opened, state = number, "quoted"
            elif each != " ":
                state = "bare"
    return (opened if state == "quoted" else 0), False


def _list_names(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _collect_table(file: InputFile, rows: Iterator[Row], *, short_rows: bool = False) -> Table:
    first, names = next(rows, (1, []))
    names = [name.strip() for name in names]
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None:
        raise InputError(Problem(f"two columns are named {repeated!r}", place=f"{file.name}:{first}"))
    lines: list[int] = []
    columns: list[list[str]] = [[] for _ in names]
    mistakes = Mistakes()
    for number, found in rows:
        cells = found + [""] * (len(names) - len(found) if short_rows else 0)
        if len(cells) != len(names):
            complaint = f"has {format_count(len(cells), 'cell')}, not {len(names)}"
            mistakes.add(Problem(complaint, place=f"{file.name}:{number}", allowed=f"columns: {_list_names(names)}"))
            continue
        lines.append(number)
        for column, cell in zip(columns, cells, strict=True):
            column.append(cell)
    mistakes.refuse()
    return Table(dict(zip(names, columns, strict=True)), file.name, place_by_line(file.name, lines))


def read_beir_queries(file: InputFile) -> Table:
    """All queries of the folder, those of every split."""
    with open_input(file.path / "queries.jsonl") as inside:
        return read_json_lines(inside)


def read_beir_judgments(file: InputFile) -> Table:
    """The judgments of the only split; of several, the user must name one."""
    splits = sorted((file.path / "qrels").glob("*.tsv"))
    if len(splits) != 1:
        found = ", ".join(str(split) for split in splits)
        complaint = f"has {len(splits)} splits of judgments: {found}" if splits else "has no judgments in qrels/*.tsv"
        suggestion = f"name the file: {splits[0]}" if splits else ""
        raise InputError(Problem(complaint, place=file.name, suggestion=suggestion))
    with open_input(splits[0]) as inside:
        return read_delimited_table(inside)


def read_diversity_judgments(file: InputFile) -> Table:
    """Query, subtopic, document and grade of every line."""
    return _read_columns_of_words(file, "diversity", ("query", "subtopic", "document", "grade"))


def read_sampled_judgments(file: InputFile) -> Table:
    """Query, document and grade of every line; the method and the probability of its draw are kept as columns."""
    return _read_columns_of_words(file, "sampled", ("query", "document", "grade", "method", "probability"))


def _read_columns_of_words(file: InputFile, kind: str, names: tuple[str, ...]) -> Table:
    rows: list[list[str]] = []
    lines: list[int] = []
    mistakes = Mistakes()
    for number, line in enumerate(file.lines(), 1):
        found = split_words(line)
        if not found or found[0].startswith("#"):
            continue
        if len(found) != len(names):
            complaint = f"has {format_count(len(found), 'column')}"
            allowed = f"{kind} judgments have {len(names)} columns: {' '.join(names)}"
            mistakes.add(Problem(complaint, place=f"{file.name}:{number}", allowed=allowed))
            continue
        lines.append(number)
        rows.append(found)
    mistakes.refuse()
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    return Table(columns, file.name, place_by_line(file.name, lines))
