"""A file or folder as readers see it: its bytes, unpacked, a glance at its beginning, and its lines; also pipes."""

from __future__ import annotations

import io
import os
import re
import stat
import sys
import time
import zlib
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.masking import public_address

GZIP, ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
SKIPPABLE = b"\x2a\x4d\x18"
"""After a byte 5x: a frame that Zstandard skips; some tools write one first."""
OTHERS = {b"PK\x03\x04": "a zip archive", b"BZh": "compressed with bzip2", b"\xfd7zX": "compressed with xz"}
COMPRESSED_PIECE = 1 << 16
SMALL_PIECE = 1 << 10
"""The piece for data that unpacks to much more: 64 KiB may become gigabytes."""
PIECE = 1 << 22
MOST_SPOOLED = 8 << 30
"""The most bytes from a pipe; a larger file can be read from the disk."""
RATIO, UNPACKED_ANYWAY = 200, 64 << 20
"""A file may unpack to this many times its size, or to these bytes; a larger one was made to fill the memory."""
LONGEST_LINE = 64 << 20
"""The most bytes of a line. Lines of rankings have hundreds; a line of JSON with a whole ranking has a million."""
AS_UTF8 = "save it as UTF-8, from its own encoding, as in: iconv -f CP949 -t UTF-8 OLD > NEW"
PATIENCE, PAUSE = 60, 0.02
"""Seconds to wait for a program that opens a pipe for writing, and between two looks at it."""


def describe_long_line(place: str) -> Problem:
    """The problem of a line that is longer than any reader takes."""
    return Problem(f"this line is longer than {LONGEST_LINE >> 20} MiB", place)


class ByteStream(Protocol):
    """Bytes in order; ``readinto`` returns 0 at the end."""

    def readinto(self, view: memoryview, /) -> int:
        """Fill ``view`` with the bytes that are available."""


class ByteFile:
    """A file that can be opened any number of times; ``name`` is its name in messages."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name
        self.size = path.stat().st_size
        if not self.size:  # or one of /proc, of which reading might never end
            raise InputError(Problem("the file is empty", place=name))
        with open(path, "rb") as file:
            self.magic = file.read(4)
        for magic, kind in OTHERS.items():
            if self.magic.startswith(magic):
                allowed = "allowed: plain files, and files compressed with gzip or Zstandard"
                raise InputError(Problem(f"this file is {kind}: unpack it first", place=name, allowed=allowed))

    @property
    def is_plain(self) -> bool:
        """True when the bytes on disk are the text itself."""
        skippable = self.magic[1:] == SKIPPABLE and self.magic[0] >> 4 == 5
        return not (self.magic.startswith(GZIP) or self.magic == ZSTANDARD or skippable)

    @contextmanager
    def open(self, start: int = 0) -> Iterator[ByteStream]:
        """The text from offset ``start`` of the file on (compressed files: from the beginning only)."""
        with open(self.path, "rb", buffering=0) as file:
            file.seek(start)
            if self.is_plain:
                yield file
            else:
                with closing(_PieceStream(_gather_pieces(self._decompressed(file)))) as stream:
                    yield stream

    def head(self, size: int) -> bytes:
        """The first ``size`` bytes of the text, or a little more."""
        with open(self.path, "rb", buffering=0) as file:
            if self.is_plain:
                return file.read(size) or b""
            held = b""
            for piece in self._decompressed(file):
                held += piece
                if len(held) >= size:
                    break
            return held

    def _decompressed(self, file: BinaryIO) -> Iterator[bytes]:
        unpacked = _unpack_gzip(file, self.name) if self.magic.startswith(GZIP) else _unpack_zstandard(file, self.name)
        size, most = 0, max(UNPACKED_ANYWAY, RATIO * self.size)
        for piece in unpacked:
            size += len(piece)
            if size > most:
                complaint = f"unpacks to more than {most >> 20:,} MiB, {RATIO:,} times its size"
                suggestion = "if you trust it, unpack it and name the unpacked file, which may have any size"
                raise InputError(Problem(complaint, place=self.name, suggestion=suggestion))
            yield piece

    def line_at(self, offset: int) -> int:
        """The number of the line with byte ``offset`` of the text."""
        lines, left = 1, offset
        buffer = bytearray(PIECE)
        with self.open() as stream:
            while left > 0:
                got = stream.readinto(memoryview(buffer)[: min(left, PIECE)])
                if not got:
                    break
                lines += buffer.count(b"\n", 0, got)
                left -= got
        return lines

    def line_ends(self) -> NDArray[np.int64]:
        """The offset of every line's end."""
        ends, at = [np.zeros(0, np.int64)], 0
        buffer = np.zeros(PIECE, np.uint8)
        with self.open() as stream:
            while got := stream.readinto(buffer.data):
                ends.append(np.flatnonzero(buffer[:got] == ord("\n")) + at)
                at += got
        return np.concatenate(ends)


@contextmanager
def open_bytes(path: str | os.PathLike[str]) -> Iterator[ByteFile]:
    """The file at ``path``; the bytes of an address, a pipe, or standard input for ``-`` are first written to disk."""
    name = os.fspath(path)
    if name == "-":
        with _spool(sys.stdin.buffer, "standard input") as file:
            yield file
        return
    if is_address(name):
        from pytest_ireval.data.formats.remote import copy_to_disk

        with copy_to_disk(name) as copy:
            yield ByteFile(copy, public_address(name))
        return
    with ExitStack() as resources:
        try:
            mode = os.stat(name).st_mode
            if stat.S_ISDIR(mode):
                raise InputError(Problem("this is a directory, not a file", place=name))
            if stat.S_ISREG(mode):
                file = ByteFile(Path(name), name)
            elif stat.S_ISCHR(mode) and name not in ("/dev/stdin", "/dev/tty") and not name.startswith("/dev/fd/"):
                raise InputError(Problem("this is a device, not a file", place=name))
            else:
                pipe, first = _open_pipe(name)
                file = resources.enter_context(_spool(resources.enter_context(pipe), name, first))
        except FileNotFoundError:
            raise InputError(Problem("there is no such file", place=name)) from None
        except OSError as error:
            raise InputError(Problem(f"cannot be read: {error.strerror}", place=name)) from error
        except ValueError as error:
            raise InputError(Problem(f"cannot be the name of a file: {error}", place=repr(name))) from error
        yield file


@contextmanager
def _spool(pipe: BinaryIO, name: str, first: bytes = b"") -> Iterator[ByteFile]:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="ireval-") as folder:
        path = Path(folder, "spooled")
        with open(path, "wb") as copy:
            copy.write(first)
            while piece := pipe.read(PIECE):
                copy.write(piece)
                if copy.tell() > MOST_SPOOLED:
                    complaint = f"more than {MOST_SPOOLED >> 30} GiB were read from the pipe"
                    remedy = "write the data to a file and use its path"
                    raise InputError(Problem(complaint, place=name, suggestion=remedy))
        yield ByteFile(path, name)


def _open_pipe(name: str) -> tuple[BinaryIO, bytes]:
    """Open a pipe, and return the bytes that were read meanwhile. Opening a pipe without a writer would block forever.

    A program that has the pipe open may start to write later.
    """
    if os.name == "nt":
        return open(name, "rb"), b""
    handle = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
    deadline = time.monotonic() + PATIENCE
    try:
        while not (first := os.read(handle, PIECE)):
            if time.monotonic() > deadline:
                os.close(handle)
                complaint = f"no program has opened this pipe for writing within {PATIENCE} seconds"
                raise InputError(Problem(complaint, place=name, suggestion="start the writing program, or use a file"))
            time.sleep(PAUSE)
    except BlockingIOError:  # a program has it open, and has not written yet
        first = b""
    os.set_blocking(handle, True)
    return open(handle, "rb"), first


def _unpack_gzip(file: BinaryIO, name: str) -> Iterator[bytes]:
    """All members of a gzip file, one after the other; zeros may pad its end."""
    inflater, damage = _load_inflater()
    inflate = inflater.decompressobj(wbits=31)
    started = True
    while data := file.read(COMPRESSED_PIECE):
        while data:
            if not started:
                data = data.lstrip(b"\0")
                started = bool(data)
                continue
            try:
                text = inflate.decompress(data, PIECE)
            except damage as error:
                raise InputError(Problem(f"the gzip data is damaged ({error})", place=name)) from error
            if text:
                yield text
            data = inflate.unconsumed_tail
            if inflate.eof:
                data, inflate, started = inflate.unused_data, inflater.decompressobj(wbits=31), False
    if started:
        raise InputError(Problem("the gzip data ends too early: the file is cut off", place=name))


def _load_inflater() -> tuple[Any, type[Exception]]:
    """ISA-L, which has the interface of zlib and saves an eighth of the CPU time of a run; zlib without it."""
    try:
        from isal import isal_zlib  # from an extra
    except ImportError:
        return zlib, zlib.error
    fast: Any = isal_zlib  # whose stub says that its error is a value
    return fast, fast.error


def _unpack_zstandard(file: BinaryIO, name: str) -> Iterator[bytes]:
    """All frames of a Zstandard file, one after the other."""
    try:
        import zstandard  # from an extra
    except ImportError:
        complaint, remedy = "this file is compressed with Zstandard", 'pip install "pytest-ireval[fast]"'
        raise InputError(Problem(f"{complaint}, but zstandard is not installed", name, suggestion=remedy)) from None

    decompressor = zstandard.ZstdDecompressor()
    frame, ended, piece = decompressor.decompressobj(), False, SMALL_PIECE
    try:
        while data := file.read(piece):
            while data:
                if text := frame.decompress(data):
                    yield text
                piece = SMALL_PIECE if len(text) > RATIO * len(data) // 10 else COMPRESSED_PIECE
                data, ended = frame.unused_data, frame.eof
                if ended:
                    frame = decompressor.decompressobj()
    except zstandard.ZstdError as error:
        raise InputError(Problem(f"the Zstandard data is damaged ({error})", place=name)) from error
    if not ended:
        raise InputError(Problem("the Zstandard data ends too early: the file is cut off", place=name))


def _gather_pieces(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in fewer, larger pieces: each piece costs a switch between two threads."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= PIECE:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)


def _read_ahead(pieces: Iterator[bytes]) -> Generator[bytes, None, None]:
    """The same pieces up to an empty one; another thread prepares the next few. Closing it ends what has begun."""
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(1)
    try:
        waiting = deque(pool.submit(next, pieces, b"") for _ in range(4))
        while piece := waiting.popleft().result():
            waiting.append(pool.submit(next, pieces, b""))
            yield piece
    finally:
        pool.shutdown(cancel_futures=True)


class _PieceStream:
    """Pieces as one stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = _read_ahead(pieces), memoryview(b"")

    def readinto(self, view: memoryview, /) -> int:
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def close(self) -> None:
        self._pieces.close()


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
        lines = (line for line in self._lines if not line.lstrip().startswith("#"))
        return tuple(map(split_words, islice(lines, FIRST_LINES)))

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
        with self.bytes.open() as stream, io.BufferedReader(_RawText(stream, self.name), 1 << 20) as buffered:
            for number, line in enumerate(buffered, 1):
                try:
                    text = line.decode()
                except UnicodeDecodeError as error:
                    complaint = f"is not UTF-8 ({error.reason})"
                    raise InputError(Problem(complaint, f"{self.name}:{number}", suggestion=AS_UTF8)) from None
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


def split_words(line: str) -> list[str]:
    """The words between spaces and tabs; other white space, such as a no-break space, may be part of an id."""
    return WORD.findall(line)


class _RawText(io.RawIOBase):
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
            raise InputError(describe_long_line(f"{self.name}:{self.lines + 1}"))
        return got


ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_address(name: str) -> bool:
    """Tell whether it is an address such as ``s3://bucket/run.parquet``."""
    return ADDRESS.match(name) is not None


def shorten_path(path: Path) -> Path:
    """The path as messages show it: relative to the working folder, if it is inside."""
    here = Path.cwd()
    return path.relative_to(here) if path != here and path.is_relative_to(here) else path


@contextmanager
def open_input(path: FilePath) -> Iterator[InputFile]:
    """The file or folder at ``path``; ``-`` is standard input."""
    name = os.fspath(path)
    if os.path.isdir(name):
        yield InputFile(name, Path(name), None)
        return
    with open_bytes(path) as file:
        yield InputFile(file.name, file.path, file)
