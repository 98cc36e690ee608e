"""Checks of readers of files: what they promise, and changes of an example with which one breaks it."""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pytest_ireval.data.coerce import coerce_judgments, coerce_queries, coerce_rankings
from pytest_ireval.data.formats.input_file import GLANCE, open_input
from pytest_ireval.data.formats.reader import Reader, Reading, is_fitting
from pytest_ireval.errors import IrevalError
from pytest_ireval.testing.contract import Finding, PromiseOfKind, Spared, collect_findings


def check_reader(
    reader: Reader, example: str, content: Mapping[str, Any], *, not_promised: Mapping[str, str] | None = None
) -> list[Finding]:
    """The result of every promise of a reader of text, given an example of its format and the content of that.

    The content is ``{query: {document: grade}}`` of judgments, ``{query: [document, …]}`` of rankings, ``{id: text}``
    of queries. Every line of the example says something. Raises PluginError if a promise is broken.
    """
    with TemporaryDirectory() as folder:
        case = _ReaderCase(reader, example, content, Path(folder) / "example")
        return collect_findings(reader.name, reader.source, READERS, case, not_promised or {})


@dataclass
class _ReaderCase:
    reader: Reader
    example: str
    content: Mapping[str, Any]
    path: Path

    @property
    def lines(self) -> list[str]:
        """The lines of the example, with their ends."""
        return self.example.splitlines(keepends=True)

    @property
    def names(self) -> list[str]:
        """All ids that the example has as words."""
        inner = () if self.reader.holds == "queries" else (name for each in self.content.values() for name in each)
        return [name for name in dict.fromkeys((*self.content, *inner)) if _match_word(name).search(self.example)]

    def read(self, text: str | bytes) -> Any:
        """The content of another text; None if the reader refuses it."""
        self.path.write_bytes(text.encode() if isinstance(text, str) else text)
        try:
            return self._content()
        except IrevalError:
            return None

    def _content(self) -> Any:
        readers, how = (self.reader,), Reading(grades="float")
        if self.reader.holds == "queries":
            queries = coerce_queries(self.path, readers, self.reader)
            return dict(zip(queries.ids, queries.text, strict=True))
        if self.reader.holds == "rankings":
            rankings = coerce_rankings(self.path, readers, self.reader, how)
            return {query: rankings.ranking(query) for query in rankings.queries}
        judgments = coerce_judgments(self.path, readers, self.reader, how)
        found: dict[str, dict[str, float]] = {}
        names = judgments.documents.texts()
        for query, document, grade in zip(judgments.query.tolist(), names, judgments.grade.tolist(), strict=True):
            found.setdefault(judgments.queries[query], {})[document] = grade
        return found

    def wrong_content(self, text: str | bytes, how: str, wanted: Any = None) -> str:
        """The evidence if a text has other content than is wanted, and is not refused."""
        found, wanted = self.read(text), self.content if wanted is None else wanted
        return "" if found == wanted else f"{how}\nread as {found}\nwanted  {wanted}"


def _match_word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")


def _find_misreading(case: _ReaderCase) -> str:
    case.path.write_text(case.example, encoding="utf-8")
    found = case._content()  # an error is the evidence
    return "" if found == case.content else f"the example is read as {found}\nwanted {case.content}"


def _find_unrecognised(case: _ReaderCase) -> str:
    others = {"a binary file": bytes(range(256)), "a file of prose": b"only plain words\n"}
    for what, data in {"its example": case.example.encode(), **others}.items():
        case.path.write_bytes(data)
        with open_input(case.path) as file:
            if is_fitting(case.reader, file) != (what == "its example"):
                return f"fits says {what != 'its example'} of {what}"
    return ""


def _find_swallowed_line(case: _ReaderCase) -> str:
    whole = case.read(case.example)
    for number, line in enumerate(case.lines, 1):
        if case.read("".join(case.lines[: number - 1] + case.lines[number:])) == whole:
            return f"without line {number} the content is the same: {line.rstrip()!r}"
    return ""


def _find_skipped_line(case: _ReaderCase) -> str:
    """A damaged line that reads as if it were missing, or as if it were whole."""
    whole = case.read(case.example)
    for number, line in enumerate(case.lines, 1):
        before, after = "".join(case.lines[: number - 1]), "".join(case.lines[number:])
        without = case.read(before + after)
        for broken in (line.rstrip()[: len(line.rstrip()) // 2] + "\n", "?" + "\n"):
            found = case.read(before + broken + after)
            if found is not None and found in (without, whole):
                return (
                    f"line {number} damaged, {broken.rstrip()!r}: read as if it were missing or whole, without an error"
                )
    return ""


def _find_changed_id(case: _ReaderCase) -> str:
    if not case.names:
        raise Spared("its ids are not words of the example")
    for name in case.names:
        for other in ("007", "Größe-1", "a_B.9"):
            wanted = _replace_name(case.content, name, other, queries=case.reader.holds == "queries")
            text = _match_word(name).sub(other, case.example)
            found = case.read(text)
            if found is not None and found != wanted:
                return f"with {other!r} in place of {name!r}: read as {found}\nwanted {wanted}"
    return ""


def _replace_name(content: Any, name: str, other: str, *, queries: bool) -> Any:
    def new(each: Any) -> Any:
        return other if each == name else each

    if queries:
        return {new(query): text for query, text in content.items()}
    return {
        new(query): {new(d): grade for d, grade in inner.items()} if isinstance(inner, Mapping) else [*map(new, inner)]
        for query, inner in content.items()
    }


def _find_difference_by_line_ends(case: _ReaderCase) -> str:
    ends: dict[str, str | bytes] = {
        "without the last line end": case.example.rstrip("\n"),
        "with line ends of Windows": case.example.replace("\n", "\r\n"),
        "with a byte order mark": "\ufeff" + case.example,
        "packed by gzip": gzip.compress(case.example.encode(), mtime=0),
    }
    return next(filter(None, (case.wrong_content(text, how) for how, text in ends.items())), "")


def _find_early_end(case: _ReaderCase) -> str:
    text = case.example if case.example.endswith("\n") else f"{case.example}\n"
    for line in case.lines:
        for name in (each for each in case.names if _match_word(each).search(line)):
            if f"{name}x0" in str(case.read(text + _match_word(name).sub(f"{name}x0", line))):
                many = GLANCE // len(line) + 1
                more = "".join(_match_word(name).sub(f"{name}x{i}", line.rstrip("\n")) + "\n" for i in range(many))
                found = str(case.read(text + more)).count(f"{name}x")
                return "" if found >= many else f"of {many:,} more lines like {line.rstrip()!r} it read {found:,}"
    raise Spared("no line of the example is a record of its own")


READERS = (
    PromiseOfKind(
        "reads_its_example", "the example has the given content", "correct the reader, or content=", _find_misreading
    ),
    PromiseOfKind(
        "knows_its_format",
        "fits is true for the example, and false for other files",
        "look for the marks of the format in file.first_lines, and return False if they are missing",
        _find_unrecognised,
    ),
    PromiseOfKind(
        "every_line_counts",
        "no line is swallowed",
        "read every line of file.lines(); leave lines out of the example that say nothing, such as comments",
        _find_swallowed_line,
    ),
    PromiseOfKind(
        "refuses_damaged_lines",
        "a damaged line is an error or other content, never skipped",
        "raise InputError with file.name and the number of the line",
        _find_skipped_line,
    ),
    PromiseOfKind(
        "ids_are_kept",
        "ids are what the file has, or an error",
        "do not convert, trim or lower-case ids; an id such as 007 is text",
        _find_changed_id,
    ),
    PromiseOfKind(
        "line_ends",
        "line ends, a byte order mark and gzip do not matter",
        "read file.lines() or file.text(), not the path; strip line ends",
        _find_difference_by_line_ends,
    ),
    PromiseOfKind(
        "reads_to_the_end", "a long file is read to its end", "file.head is only the beginning", _find_early_end
    ),
)
