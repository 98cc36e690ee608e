"""The rankings and judgments of a baseline as text: one query a line, checked when they are read."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.errors import shown
from pytest_ireval.retrieval.ids import BLOCK, Ids, concatenated, mapped, parts_of
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.scan.kept import Lines, repeated_documents
from pytest_ireval.retrieval.scan.numbers import exactly, numbers
from pytest_ireval.retrieval.scan.tokens import (
    KEEP,
    NEWLINE,
    TAB,
    BadLines,
    Chunk,
    Offsets,
    Ranks,
    Span,
    begins_of,
    mixed,
    small_ranks_of,
)

JUDGMENTS_HEAD = b"# ireval judgments, format 1\n"
MOST_PAIRS = 200_000
"""A baseline keeps no more; then a fingerprint of each query's judgments still says which queries changed."""


class StoredGrades(Mapping[str, Mapping[str, float]]):
    """Grades by query and document; a query's line is only parsed when it is looked up."""

    def __init__(self, lines: Mapping[str, bytes]) -> None:
        self.lines = lines
        """By query, what follows its id: document, grade, document, grade …, sorted by document."""

    def __getitem__(self, query: str) -> dict[str, float]:
        cells = self.lines[query].decode().split("\t")
        return {_meant_text(cells[i]): float(cells[i + 1]) for i in range(0, len(cells) - 1, 2)}

    def __iter__(self) -> Iterator[str]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def encoded(self) -> bytes:
        """The whole text of a file."""
        table = str.maketrans(_ESCAPES)
        heads = ((query.translate(table).encode(), line) for query, line in self.lines.items())
        return JUDGMENTS_HEAD + b"".join(b"%b\t%b\n" % head for head in sorted(heads))


def grades_of_judgments(judgments: Judgments) -> StoredGrades:
    """The judgments as they will be stored, independent of their order."""
    names = Ids.of(judgments.queries)
    order = _rows_by_id(np.zeros(len(names), np.int64), names)
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    queries = [judgments.queries[i] for i in order.tolist()]
    return _stored(queries, names.take(order), rank[judgments.query], judgments.documents, judgments.grade)


def encoded_grades(grades: Mapping[str, Mapping[str, float]]) -> bytes:
    """The whole text of a file."""
    if isinstance(grades, StoredGrades):
        return grades.encoded()
    documents = Ids.of([document for of_query in grades.values() for document in of_query])
    count = [len(of_query) for of_query in grades.values()]
    query = np.repeat(np.arange(len(count)), count)
    values = np.array([grade for of_query in grades.values() for grade in of_query.values()], np.float64)
    return _stored(list(grades), Ids.of(list(grades)), query, documents, values).encoded()


def _stored(queries: list[str], names: Ids, query: Offsets, documents: Ids, grade: NDArray[np.float64]) -> StoredGrades:
    """The grades of judgments that are given by row; ``names`` are the ids of ``queries``."""
    rows = _rows_by_id(query, documents)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(query, minlength=len(queries)))))
    cells = _alternating(documents.take(rows), _numbers_as_ids(grade[rows]))
    lines = _written(names, 2 * first, cells).split(b"\n")
    return StoredGrades({name: line.partition(b"\t")[2] for name, line in zip(queries, lines, strict=False)})


def decoded_grades(data: bytes) -> StoredGrades:
    """The judgments in the text of a file, or Damage."""
    if not data.startswith(JUDGMENTS_HEAD):
        raise Damage(f"does not begin with the line {JUDGMENTS_HEAD.decode().strip()!r}", 1)
    _refuse_other_encodings(data)
    _refuse_cut_off(data)
    lines: dict[str, bytes] = {}
    rows = data[len(JUDGMENTS_HEAD) : -1].split(b"\n") if len(data) > len(JUDGMENTS_HEAD) else ()
    for number, line in enumerate(rows, 2):
        head, _, cells = line.partition(b"\t")
        query = _meant_text(head.decode())
        if not head or query in lines or not _are_pairs(cells):
            raise Damage("is not a query, then documents with their grades", number)
        lines[query] = cells
    return StoredGrades(lines)


def encoded_lists(entries: Mapping[str, Any]) -> bytes:
    """The whole text of a file: a JSON list of a key and its values a line, as of a query and its times."""
    lists = (
        [key, values] if isinstance(values, Mapping) else [key, *values] for key, values in sorted(entries.items())
    )
    lines = (json.dumps(each, ensure_ascii=False, sort_keys=True) for each in lists)
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


def decoded_fields(data: bytes) -> Mapping[str, Mapping[str, Any]]:
    """The fields of documents in the text of a file, or Damage."""
    found: dict[str, Mapping[str, Any]] = {}
    for number, line in enumerate(data.splitlines(), 1):
        try:
            document, fields = json.loads(line)
            found[_text(document)] = {_text(name): value for name, value in fields.items()}
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise Damage("is not a JSON list of the id and the fields of a document", number) from None
    return found


def decoded_timings(data: bytes) -> Mapping[str, tuple[float | None, ...]]:
    """The seconds of each query in the text of a file, or Damage."""
    found: dict[str, tuple[float | None, ...]] = {}
    for number, line in enumerate(data.splitlines(), 1):
        try:
            query, *times = json.loads(line)
            found[_text(query)] = tuple(None if each is None else float(each) for each in times)
        except (ValueError, TypeError, OverflowError, RecursionError):
            raise Damage("is not a JSON list of a query and its seconds", number) from None
    return found


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _are_pairs(cells: bytes) -> bool:
    found = cells.split(b"\t")
    if len(found) % 2 or not all(found):
        return False
    return b"".join(found[1::2]).isdigit() or all(map(_is_number, found[1::2]))


def _is_number(cell: bytes) -> bool:
    try:
        return bool(np.isfinite(float(cell)))
    except ValueError:
        return False


def _meant_text(text: str) -> str:
    return _ESCAPE.sub(lambda found: _MEANT.get(found[0], found[0]), text) if "\\" in text else text


def encoded_rankings(rankings: Rankings, depth: int, *, scored: bool) -> bytes:
    """The whole text of a file; queries sorted by id, so that it does not depend on the order of a source."""
    return ranking_lines(rankings, depth, scored=scored, head=_head(depth, scored=scored))


def packed_rankings(rankings: Rankings, depth: int, *, scored: bool) -> bytes:
    """The text of :func:`encoded_rankings` by gzip: several members, one after the other."""

    def pack(text: bytes) -> bytes:
        return gzip.compress(text, compresslevel=1, mtime=0)

    return pack(_head(depth, scored=scored)) + ranking_lines(rankings, depth, scored=scored, pack=pack)


def _head(depth: int, *, scored: bool) -> bytes:
    return f"# ireval rankings, format 1, depth {depth}{', with scores' if scored else ''}\n".encode()


def ranking_lines(
    rankings: Rankings,
    depth: int | None = None,
    *,
    scored: bool = False,
    head: bytes = b"",
    pack: Callable[[bytes], bytes] = bytes,
) -> bytes:
    """The lines of the queries, after the ``head``; ``pack`` makes something else of each part of the lines."""
    names = Ids.of(rankings.queries)
    order = _rows_by_id(np.zeros(len(names), np.int64), names)
    count = np.diff(rankings.first)[order]
    if depth is not None:
        count = np.minimum(count, depth)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(count)))
    text = BytesIO(head)
    text.seek(len(head))

    def lines(part: tuple[int, int]) -> bytes:
        begin, end = part
        here = order[begin:end]
        edge = first[begin : end + 1] - first[begin]
        rows = np.repeat(rankings.first[:-1][here] - edge[:-1], count[begin:end]) + np.arange(int(edge[-1]))
        documents = rankings.documents.take(rows)
        if scored:
            edge, documents = 2 * edge, _alternating(documents, _numbers_as_ids(rankings.score[rows]))
        return pack(_lines(names.take(here), edge, documents))

    for each in mapped(lines, parts_of(first, BLOCK)):  # so that temporaries stay small
        text.write(each)
    return text.getvalue()


def _alternating(one: Ids, other: Ids) -> Ids:
    """Both, by turns: the first of one, the first of the other, the second of one, and so on."""
    both = concatenated([one, other])
    row = np.arange(2 * len(one)).reshape(2, -1).T.ravel()
    return Ids(both.chunk, Span(both.span.start[row], both.span.end[row]))


def _numbers_as_ids(values: NDArray[np.float64]) -> Ids:
    """Numbers as their shortest text, whole numbers without a point."""
    different, place = np.unique(values, return_inverse=True)
    ids = Ids.of([str(int(v)) if v.is_integer() and abs(v) < 1e15 else repr(v) for v in different.tolist()])
    return Ids(ids.chunk, Span(ids.span.start[place], ids.span.end[place]))


def decoded_rankings(data: bytes, depth: int, origin: str, *, scored: bool, accepted: bool = False) -> Rankings:
    """The rankings in the text of a file, or Damage. Text that was ``accepted`` as it is ranks no document twice."""
    head = re.match(rb"# ireval rankings, format (\d{1,9}), depth (\d{1,10})(, with scores)?\n", data)
    if not head:
        raise Damage("does not begin with the line '# ireval rankings, format 1, depth …'", 1)
    if head[1] != b"1":
        raise Damage(f"has format {head[1].decode()}; this version of pytest-ireval reads format 1", 1)
    if int(head[2]) != depth or bool(head[3]) != scored:
        raise Damage("has a depth or scores that differ from its .json file", 1)
    lines = _taken_apart(data)
    score = None
    if scored:
        lines, score = _with_scores(lines)
    deeper = np.diff(lines.first) > depth
    if deeper.any():
        raise Damage(f"has more than {depth} documents", int(np.argmax(deeper)) + 2)
    if not accepted:
        _refuse_repeated_documents(lines)
    return _rankings(lines, score, origin)


def _with_scores(lines: _QueryLines) -> tuple[_QueryLines, NDArray[np.float64]]:
    odd = np.flatnonzero(np.diff(lines.first) % 2)
    if odd.size:
        raise Damage("has a document without a score", int(odd[0]) + 2)
    chunk, (start, end) = lines.cells.chunk, lines.cells.span
    span = Span(start[1::2], end[1::2])
    try:
        read = numbers(chunk, span, "score")
    except BadLines as bad:
        row = int(np.searchsorted(span.start, bad.complaints[0][0]))
        line = int(np.searchsorted(lines.first // 2, row, side="right")) + 1
        raise Damage(bad.complaints[0][1], line) from None
    inexact = np.flatnonzero(read.inexact)
    read.value[inexact] = exactly(chunk, span, inexact)
    documents = Ids(chunk, Span(start[0::2], end[0::2]))
    return _QueryLines(lines.queries, lines.first // 2, documents), read.value


def _refuse_repeated_documents(lines: _QueryLines) -> None:
    query_key = mixed(Ids.of(lines.queries).keys())

    def refuse(part: tuple[int, int]) -> None:
        begin, end = part
        document = lines.cells.at(np.arange(lines.first[begin], lines.first[end]))
        score = np.zeros(len(document))
        found = Lines(
            chunk=document.chunk,
            query_id=[name.encode() for name in lines.queries[begin:end]],
            query_key=query_key[begin:end],
            first=lines.first[begin : end + 1] - lines.first[begin],
            document=document.span,
            document_key=document.keys(),
            score_text=document.span,
            score=score,
            inexact=score.astype(bool),
        )
        _, later = repeated_documents(found, found.pair_key)
        if later.size:
            line = begin + int(np.searchsorted(found.first, later[0], side="right")) + 1
            raise Damage(f"document {shown(document[int(later[0])])} is ranked twice", line)

    list(mapped(refuse, parts_of(lines.first, BLOCK)))


def _rankings(lines: _QueryLines, score: NDArray[np.float64] | None, origin: str) -> Rankings:
    """Queries with an empty ranking come last, as everywhere; that moves no document."""
    count = np.diff(lines.first)
    filled, empty = np.flatnonzero(count), np.flatnonzero(count == 0)
    order = np.concatenate((filled, empty))
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(count[order])))
    rank = small_ranks_of(lines.first)
    tied_from, tied_to = (rank, rank) if score is None else _ties(score, lines.first, rank)
    return Rankings(
        queries=tuple(lines.queries[i] for i in order.tolist()),
        retrieved=count[order],
        first=first,
        documents=lines.cells,
        score=np.subtract(1, rank, dtype=np.float64) if score is None else score,
        tied_from=tied_from,
        tied_to=tied_to,
        origin=origin,
    )


def _ties(score: NDArray[np.float64], first: Offsets, rank: Ranks) -> tuple[Ranks, Ranks]:
    new = np.ones(score.size, bool)
    new[1:] = score[1:] != score[:-1]
    new[first[:-1][np.diff(first) > 0]] = True
    start = np.flatnonzero(new)
    group = np.cumsum(new) - 1
    end = np.append(start[1:], score.size) - 1
    return rank[start[group]] if score.size else rank, rank[end[group]] if score.size else rank


_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_MEANT = {escape: character for character, escape in _ESCAPES.items()}
_ESCAPE = re.compile(r"\\.?", re.DOTALL)


class Damage(Exception):  # noqa: N818 - it says what was found
    """Text that is not what was written: the complaint, and the line (0: no line in particular)."""

    def __init__(self, complaint: str, line: int = 0) -> None:
        super().__init__(complaint)
        self.complaint = complaint
        self.line = line


class _QueryLines(NamedTuple):
    """The cells of query i are ``first[i]`` to ``first[i + 1]``; their line is ``i + 2``, after the head line."""

    queries: tuple[str, ...]
    first: Offsets
    cells: Ids


def _written(queries: Ids, first: Offsets, cells: Ids) -> bytes:
    """A line for each query: its id, then its cells."""
    return b"".join(
        _lines(
            _some(queries, begin, end), first[begin : end + 1] - first[begin], _some(cells, first[begin], first[end])
        )
        for begin, end in parts_of(first, BLOCK)
    )


def _some(ids: Ids, begin: int, end: int) -> Ids:
    return ids.take(np.arange(begin, end))


def _lines(queries: Ids, first: Offsets, cells: Ids) -> bytes:
    """A line for each query: its id, then its cells, with tabs between them."""
    filled = np.diff(first) > 0
    after = np.full(len(cells), TAB, np.uint8)
    after[first[1:][filled] - 1] = NEWLINE
    rest = iter(_escaped(cells).followed_by(after).split(b"\n"))
    heads = _escaped(queries)
    names = heads.chunk.tokens(*heads.span)
    return b"".join(
        b"%b\t%b\n" % (name, next(rest)) if full else name + b"\n"
        for name, full in zip(names, filled.tolist(), strict=True)
    )


PIECE = 1 << 22
"""Bytes of text that are taken apart at a time."""


def _taken_apart(data: bytes) -> _QueryLines:
    _refuse_cut_off(data)
    _refuse_other_encodings(data)
    names: list[str] = []
    counts, cells = [np.zeros(0, np.int64)], []
    at = data.index(b"\n") + 1
    while at < len(data):
        end = data.index(b"\n", min(at + PIECE, len(data)) - 1) + 1
        piece = _piece(data[at:end], 2 + len(names))
        names += piece.queries
        counts.append(piece.first)
        cells.append(piece.cells.take(np.arange(len(piece.cells))))
        at = end
    if len(set(names)) < len(names):
        _refuse_repeated(names)
    return _QueryLines(tuple(names), begins_of(np.concatenate(counts)), concatenated(cells))


def _piece(data: bytes, line: int) -> _QueryLines:
    """Some lines, from number ``line`` on, with the number of cells of each in place of their begins."""
    chunk = Chunk.of(data)
    separator = np.flatnonzero((chunk.text == TAB) | (chunk.text == NEWLINE))
    start, end = np.concatenate((np.zeros(1, np.int64), separator[:-1] + 1)), separator
    last = np.flatnonzero(chunk.text[separator] == NEWLINE)
    begins = np.concatenate((np.zeros(1, np.int64), last[:-1] + 1))
    empty = np.flatnonzero(start == end)
    if empty.size:
        raise Damage("an id is missing", line + int(np.searchsorted(last, empty[0])))
    is_cell = np.ones(start.size, bool)
    is_cell[begins] = False
    queries = _meant(Ids(chunk, Span(start[begins], end[begins])), data)
    cells = _meant(Ids(chunk, Span(start[is_cell], end[is_cell])), data)
    return _QueryLines(tuple(queries.texts()), last - begins, cells)


def _rows_by_id(group: NDArray[np.int64], ids: Ids) -> Offsets:
    """Rows sorted by group, then by the bytes of the id."""
    start, length = ids.span.start, ids.span.end - ids.span.start
    words = max(1, -(-int(length.max()) // 8)) if length.size else 1
    if words > 8:  # ids of more words are not sorted by whole arrays
        tokens = ids.chunk.tokens(*ids.span)
        rank = np.empty(len(tokens), np.int64)
        rank[sorted(range(len(tokens)), key=tokens.__getitem__)] = np.arange(len(tokens))
        return np.lexsort((rank, group))
    loaded = ids.chunk.windows_after(words)[start].view(">u8").reshape(-1, words).astype(np.uint64)
    keys = [loaded[:, j] & KEEP.take(length - 8 * j, mode="clip") for j in range(words)]
    return np.lexsort((length, *reversed(keys), group))  # the length decides among ids that end in zero bytes


def _refuse_cut_off(data: bytes) -> None:
    if not data.endswith(b"\n"):
        raise Damage("is cut off: its last line has no end", data.count(b"\n") + 1)


def _refuse_other_encodings(data: bytes) -> None:
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise Damage("is not UTF-8", data.count(b"\n", 0, error.start) + 1) from None


def _refuse_repeated(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for number, name in enumerate(names, 2):
        if name in seen:
            raise Damage(f"duplicate query {name!r}", number)
        seen.add(name)


def _escaped(ids: Ids) -> Ids:
    """With escapes for characters that would end a cell."""
    text = ids.chunk.text.tobytes()
    if not any(character.encode() in text for character in _ESCAPES):
        return ids
    table = str.maketrans(_ESCAPES)
    return Ids.of([name.translate(table) for name in ids.texts()])


def _meant(ids: Ids, data: bytes) -> Ids:
    return Ids.of([_meant_text(name) for name in ids.texts()]) if b"\\" in data else ids
