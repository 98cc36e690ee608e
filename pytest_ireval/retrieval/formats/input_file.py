"""A file or folder as readers see it: a glance at its beginning to recognise it, and its lines to read it."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.retrieval.formats.bytestream import LONGEST_LINE, ByteFile, ByteStream, byte_file, too_long

FilePath: TypeAlias = str | os.PathLike[str]

GLANCE = 1 << 16
"""The number of bytes at the beginning that are enough to recognise a file."""

LONGEST_TEXT = 1 << 29
"""The most characters of a file that is read as a whole."""

FIRST_LINES = 50
WORD = re.compile(r"[^ \t\n\v\f\r]+")
BYTE_ORDER_MARK = "\ufeff"


class InputFile:
    """A file or a folder; ``file`` is None for a folder. Text is UTF-8; gzip and Zstandard are unpacked."""

    def __init__(self, name: str, path: Path, file: ByteFile | None) -> None:
        self.name = name
        """Its name in messages."""
        self.path = path
        """The path of its bytes; for standard input and pipes this is a copy."""
        self.file = file

    @property
    def is_folder(self) -> bool:
        """True for a folder."""
        return self.file is None

    @property
    def bytes(self) -> ByteFile:
        """The bytes of a file; a folder has none."""
        if self.file is None:
            raise InputError(Problem("this is a directory, not a file", place=self.name))
        return self.file

    @cached_property
    def head(self) -> str:
        """The beginning of the text; bytes that are not UTF-8 are replaced. Empty for a folder."""
        return "" if self.file is None else self.file.head(GLANCE).decode("utf-8", "replace").lstrip(BYTE_ORDER_MARK)

    @cached_property
    def first_lines(self) -> tuple[str, ...]:
        """The first lines that are not blank."""
        return self._lines[:FIRST_LINES]

    @cached_property
    def _lines(self) -> tuple[str, ...]:
        """All whole lines of the beginning that are not blank."""
        lines = [line.rstrip("\r") for line in self.head.split("\n") if line.strip()]
        whole = len(self.head) < GLANCE or len(lines) < 2
        return tuple(lines if whole else lines[:-1])

    @cached_property
    def first_object(self) -> dict[str, Any] | None:
        """The JSON object that is the first line; None if that is something else."""
        import json

        line = self.first_lines[0] if self.first_lines else ""
        if not line.lstrip().startswith("{"):
            return None
        if len(self.head) >= GLANCE // 4 and "\n" not in self.head:  # characters may have four bytes
            line = next(self.lines())
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    @cached_property
    def first_words(self) -> tuple[list[str], ...]:
        """The words of the first lines that do not begin with ``#``, after any number of such lines."""
        lines = [line for line in self._lines if not line.lstrip().startswith("#")]
        return tuple(map(words, lines[:FIRST_LINES]))

    @cached_property
    def header(self) -> tuple[str, ...]:
        """The cells of the first line."""
        if not self.first_lines:
            return ()
        if self.delimiter == "\t" or self.delimiter not in self.first_lines[0]:
            return tuple(self.first_lines[0].split(self.delimiter))
        import csv

        try:
            return tuple(next(csv.reader([self.first_lines[0]], delimiter=self.delimiter), ()))
        except csv.Error:
            return ()

    @cached_property
    def delimiter(self) -> str:
        """The delimiter of the cells of the first line: a tab if it has one, or else a comma, or a semicolon."""
        first = self.first_lines[0] if self.first_lines else ""
        return next((delimiter for delimiter in ("\t", ",", ";") if delimiter in first), ",")

    def lines(self) -> Iterator[str]:
        """All lines of the text with their ends, checked to be UTF-8."""
        with self.bytes.open() as stream, io.BufferedReader(_Raw(stream, self.name), 1 << 20) as buffered:
            for number, line in enumerate(buffered, 1):
                try:
                    text = line.decode()
                except UnicodeDecodeError as error:
                    complaint = f"is not UTF-8 ({error.reason})"
                    raise InputError(Problem(complaint, place=f"{self.name}:{number}")) from None
                if "\0" in text:
                    complaint = "contains a zero byte: is it UTF-16, or not a text file?"
                    raise InputError(Problem(complaint, place=f"{self.name}:{number}"))
                yield text.removeprefix(BYTE_ORDER_MARK) if number == 1 else text

    def text(self) -> str:
        """The whole text, for formats that are not read line by line."""
        lines, size = [], 0
        for line in self.lines():
            size += len(line)
            if size > LONGEST_TEXT:
                complaint = f"is more than {LONGEST_TEXT >> 20} MiB, the limit for a format without lines"
                suggestion = "use a format with one record per line, such as TSV or JSONL, or Parquet"
                raise InputError(Problem(complaint, place=self.name, suggestion=suggestion))
            lines.append(line)
        return "".join(lines)


def words(line: str) -> list[str]:
    """The words between spaces and tabs; other white space, such as a no-break space, may be part of an id."""
    return WORD.findall(line)


class _Raw(io.RawIOBase):
    """A stream of ours as one of Python's; a line that is longer than any reader takes is refused."""

    def __init__(self, stream: ByteStream, name: str) -> None:
        self.stream = stream
        self.name = name
        self.lines = 0
        self.since = 0
        """Bytes after the last line end."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # what io hands over is a memoryview
        got = self.stream.readinto(memoryview(buffer))
        read = bytes(buffer[:got])
        ends = read.count(b"\n")
        self.since = got - 1 - read.rfind(b"\n") if ends else self.since + got
        self.lines += ends
        if self.since > LONGEST_LINE:
            raise InputError(too_long(f"{self.name}:{self.lines + 1}"))
        return got


def near(path: Path) -> Path:
    """The path as messages show it: relative to the working folder, if it is inside."""
    here = Path.cwd()
    return path.relative_to(here) if path != here and path.is_relative_to(here) else path


@contextmanager
def input_file(path: FilePath) -> Iterator[InputFile]:
    """The file or folder at ``path``; ``-`` is standard input."""
    name = os.fspath(path)
    if os.path.isdir(name):
        yield InputFile(name, Path(name), None)
        return
    with byte_file(path) as file:
        yield InputFile(file.name, file.path, file)
