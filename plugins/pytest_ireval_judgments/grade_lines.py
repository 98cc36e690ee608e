"""The judgments file of a suite: a grade becomes one more line of it, and everything else stays as it is."""

from __future__ import annotations

import csv
import io
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Protocol

from pytest_ireval import InputError, read_judgments
from pytest_ireval.plugin_api import Mistakes, Problem
from pytest_ireval.tables import (
    Unfit,
    find_column,
    format_cell,
    parse_id,
    parse_json_lines,
    read_delimited_rows,
    write_files,
)
from pytest_ireval_judgments.rating import Pair, Row, lock_folder, read_stamp

FORMATS = {"trec": "TREC", "table": "CSV or TSV", "jsonl": "JSON lines"}
KINDS = ("query", "document", "grade", "judge", "date", "guideline")


class GradedLine(NamedTuple):
    """A judgment, and the number of its last line in the file."""

    pair: Pair
    grade: str
    number: int


class Layout(Protocol):
    """A format of judgments, line by line."""

    first: int
    """The number of lines above the first judgment."""
    columns: dict[str, str]
    """The names of the columns by kind; empty where columns have no names."""

    def parse(self, lines: Sequence[str]) -> Iterator[GradedLine]:
        """The judgments in the lines of a file."""

    def format(self, row: Mapping[str, str]) -> str:
        """The line of a judgment, without its end; columns that the file does not have are left out."""


class TrecLines:
    """``query iteration document grade``; comments and the way columns are set apart stay."""

    def __init__(self, lines: Sequence[str], origin: str) -> None:  # noqa: ARG002 - as for the other layouts
        rows = list(_split_words(lines))
        self.first = rows[0][0] - 1 if rows else len(lines)
        self.iteration = rows[0][1][1] if rows else "0"
        self.gap = "\t" if rows and "\t" in lines[self.first] else " "
        self.columns: dict[str, str] = {}

    def parse(self, lines: Sequence[str]) -> Iterator[GradedLine]:
        for number, words in _split_words(lines):
            if len(words) == 4:
                yield GradedLine((words[0], words[2]), words[3], number)

    def format(self, row: Mapping[str, str]) -> str:
        return self.gap.join((row["query"], self.iteration, row["document"], row["grade"]))


def _split_words(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines, 1):
        words = re.findall(r"[^ \t\r\n\f\v]+", line.lstrip("\ufeff"))
        if words and not words[0].startswith("#"):
            yield number, words


class TableLines:
    """A table of CSV or TSV with a line of names."""

    def __init__(self, lines: Sequence[str], origin: str) -> None:
        self.delimiter = "\t" if "\t" in lines[0] else ","
        self.first, names = next(self._read(lines, origin))
        self.names = [name.strip().lstrip("\ufeff") for name in names]
        self.columns = _find_columns(self.names, origin)

    def _read(self, lines: Sequence[str], origin: str = "") -> Iterator[tuple[int, list[str]]]:
        return iter(read_delimited_rows(lines, self.delimiter, origin))

    def parse(self, lines: Sequence[str]) -> Iterator[GradedLine]:
        rows = self._read(lines)
        next(rows)
        for number, cells in rows:
            query, document, grade = (cells[self.names.index(self.columns[kind])].strip() for kind in KINDS[:3])
            yield GradedLine((query, document), grade, number)

    def format(self, row: Mapping[str, str]) -> str:
        kinds = {name: kind for kind, name in self.columns.items()}
        cells = [row.get(kinds.get(name, ""), "") for name in self.names]
        if self.delimiter == "\t":
            return "\t".join(cells)
        text = io.StringIO()
        csv.writer(text, lineterminator="").writerow(cells)
        return text.getvalue()


class JsonLines:
    """An object on each line; a new one has the keys of the first."""

    def __init__(self, lines: Sequence[str], origin: str) -> None:
        number, self.sample = next(_parse_objects(lines))
        self.first = number - 1
        self.columns = _find_columns(list(self.sample), origin)
        self.separators = (", ", ": ") if '": ' in lines[self.first] else (",", ":")

    def parse(self, lines: Sequence[str]) -> Iterator[GradedLine]:
        for number, found in _parse_objects(lines):
            query, document, grade = (found.get(self.columns[kind]) for kind in KINDS[:3])
            yield GradedLine((parse_id(query), parse_id(document)), format_cell(grade).strip(), number)

    def format(self, row: Mapping[str, str]) -> str:
        kinds = {name: kind for kind, name in self.columns.items()}
        cells = {name: row.get(kinds[name], "") for name in self.sample if name in kinds}
        numbers = {name: int(cell) for name, cell in cells.items() if isinstance(self.sample[name], int) and cell}
        return json.dumps({**cells, **numbers}, ensure_ascii=False, separators=self.separators)


def _parse_objects(lines: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    mistakes = Mistakes()
    yield from parse_json_lines((line.lstrip("\ufeff") for line in lines), "", mistakes)
    mistakes.refuse()


def _find_columns(names: Sequence[str], origin: str) -> dict[str, str]:
    """The names of the columns by kind; those of query, document and grade are there, as the suite reads the file."""
    if find_column(names, "subtopic") is not None:
        raise InputError(Problem("has grades of subtopics, which cannot be given here", origin))
    found = {kind: find_column(names, kind) for kind in KINDS}
    found["grade"] = found["grade"] or find_column(names, "score")  # judgments of BEIR
    return {kind: name for kind, name in found.items() if name is not None}


LAYOUTS: dict[str, Callable[[Sequence[str], str], Layout]] = {
    "trec": TrecLines,
    "table": TableLines,
    "jsonl": JsonLines,
}


class GradeLines:
    """The judgments of a suite in their own file; each grade is on the disk at once.

    A grade that somebody else gave is never replaced.
    """

    def __init__(self, path: Path, format: str, judge: str) -> None:  # noqa: A002 - as users say it
        if format not in LAYOUTS or path.suffix.lower() in (".gz", ".zst"):
            complaint = f"grades cannot be added to this file (format {format})"
            remedy = "convert it, and name the new file in the suite: ireval import FILE --to FOLDER"
            allowed = f"formats: {', '.join(FORMATS.values())}, not compressed"
            raise InputError(Problem(complaint, str(path), suggestion=remedy, allowed=allowed))
        self.path, self.judge = path, judge
        self.own: dict[Pair, str] = {}
        """The grades that were given here."""
        self._format, self._lock = format, Lock()
        self._stamp: tuple[int, ...] = ()
        self._refresh()

    @property
    def grades(self) -> dict[Pair, str]:
        """All grades of the file."""
        with self._lock:
            self._refresh()
            return {row.pair: row.grade for row in self._rows}

    @property
    def lost_columns(self) -> list[str]:
        """What the file does not keep of a grade that is given here."""
        return [kind for kind in KINDS[3:] if kind not in self._layout.columns]

    def find_line(self, pair: Pair) -> int:
        """The number of the line with the grade of a document; 0 without one."""
        return next((row.number for row in self._rows if row.pair == pair), 0)

    def can_hold(self, pair: Pair) -> bool:
        """Tell whether the format can hold these ids."""
        line = self._layout.format({"query": pair[0], "document": pair[1], "grade": "0"})
        above = self._lines[: self._layout.first]
        try:
            found = [row.pair for row in self._layout.parse([*above, f"{line}\n"])]
        except (InputError, Unfit, IndexError):
            return False
        return found == [pair] and not re.search(r"[\r\n]", line)

    def put(self, changes: Mapping[Pair, Row | None], seen: str | None = None) -> bool:
        """Add, replace or (None) remove grades; False if a grade is not the one that was ``seen``, or not of here."""
        path = self.path.resolve()  # a link stays one
        with self._lock, lock_folder(path.parent):
            self._refresh()
            grades = {row.pair: row for row in self._rows}
            for pair, row in changes.items():
                there = grades[pair].grade if pair in grades else ""
                new = "" if row is None else row["grade"]
                if there != new and (there != (seen or "") or there != self.own.get(pair, "")):
                    return False
            lines, own = list(self._lines), dict(self.own)
            for pair, row in changes.items():
                if pair in grades and row is not None and grades[pair].grade == row["grade"]:
                    continue
                if pair in grades:
                    del lines[grades[pair].number - 1]
                    del own[pair]
                if row is not None:
                    lines = self._insert(lines, pair, row)
                    own[pair] = row["grade"]
            if lines != self._lines:
                write_files({path: lines})
            self.own = own
            self._refresh()
            return True

    def _insert(self, lines: list[str], pair: Pair, row: Row) -> list[str]:
        rows = list(self._layout.parse(lines))
        place = find_place([each.pair for each in rows], pair)
        at = rows[place].number if place >= 0 else self._layout.first
        end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
        above = [line if line.endswith("\n") else f"{line}{end}" for line in lines[:at]]
        text = self._layout.format({**row, "query": pair[0], "document": pair[1], "judge": self.judge})
        return [*above, f"{text}{end}", *lines[at:]]

    def _refresh(self) -> None:
        stamp = read_stamp(self.path)
        if stamp == self._stamp:
            return
        read_judgments(self.path, format=self._format, grades="float")  # refuses what a suite would refuse
        text = self.path.read_bytes().decode()
        self._lines = [line for line in re.split(r"(?<=\n)", text) if line]
        self._layout = LAYOUTS[self._format](self._lines, str(self.path))
        self._rows = list(self._layout.parse(self._lines))
        present = {row.pair for row in self._rows}
        # one that was removed may be given again
        self.own = {pair: grade for pair, grade in self.own.items() if pair in present}
        self._stamp = stamp


def find_place(pairs: Sequence[Pair], new: Pair) -> int:
    """The row that a new one follows, -1 for none: in the order of the file if it is sorted, or else of its query."""
    orders: tuple[Callable[[Pair], Any], ...] = (
        lambda pair: pair,
        lambda pair: (_split_numbers(pair[0]), _split_numbers(pair[1])),
        lambda pair: pair[0],
        lambda pair: _split_numbers(pair[0]),
    )
    for order in orders:
        keys = [order(pair) for pair in pairs]
        if keys == sorted(keys):
            return bisect_right(keys, order(new)) - 1
    return next((place for place in reversed(range(len(pairs))) if pairs[place][0] == new[0]), len(pairs) - 1)


def _split_numbers(text: str) -> list[tuple[int, str]]:
    """A key that sorts q2 before q10."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"([0-9]+)", text)]
