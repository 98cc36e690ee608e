"""Queries, judgments and rankings written to files, in the format that the file's name ends in.

``.tsv``, ``.csv`` and ``.jsonl`` keep every column; ``.txt``, ``.trec``, ``.qrels`` and ``.run`` are TREC's columns of
words. Content that a format cannot store is refused, and the file appears whole or not at all.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pytest_ireval.data.formats.input_file import FilePath
from pytest_ireval.data.from_objects import convert_judgments, convert_queries, convert_rankings
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.tables import is_quoted, tabulate_judgments
from pytest_ireval.errors import InputError, Problem, quote

Cells = Sequence[str | float]
IDS = ("id", "query", "document")
"""Names of columns with ids."""
Encode = Callable[[Sequence[str], Iterable[Cells], str], Iterator[str]]


def write_queries(queries: Queries | Any, path: FilePath) -> None:
    """Columns id and text, then all others."""
    replace_files({path: encode_queries(queries, path)})


def encode_queries(queries: Queries | Any, path: FilePath) -> list[str]:
    """The lines of such a file."""
    found = queries if isinstance(queries, Queries) else convert_queries(queries)
    _refuse_padded(found.ids, path)
    rows = zip(found.ids, found.text, *found.columns.values(), strict=True)
    return list(_choose_encoder(path, None)(("id", "text", *found.columns), rows, os.fspath(path)))


def write_judgments(judgments: Judgments | Any, path: FilePath) -> None:
    """Columns query, document and grade, then all others; judgments of subtopics have a row for each."""
    replace_files({path: encode_judgments(judgments, path)})


def encode_judgments(judgments: Judgments | Any, path: FilePath) -> list[str]:
    """The lines of such a file."""
    found = judgments if isinstance(judgments, Judgments) else convert_judgments(judgments, grades="float")
    columns = tabulate_judgments(found).columns
    _refuse_padded((*found.queries, *columns["document"]), path)
    encode = _choose_encoder(path, _encode_qrels)
    if encode is _encode_qrels and found.columns:
        complaint = f"TREC files cannot store the columns {', '.join(found.columns)}"
        remedy = "write .tsv, .csv or .jsonl, or remove the columns: replace(judgments, columns={})"
        raise _make_error(path, complaint, remedy)
    return list(encode(tuple(columns), zip(*columns.values(), strict=True), os.fspath(path)))


def write_rankings(rankings: Rankings | Any, path: FilePath) -> None:
    """Columns query, document and score; a query with an empty ranking cannot be written."""
    found = rankings if isinstance(rankings, Rankings) else convert_rankings(rankings)
    count = np.diff(found.first)
    empty = [query for query, documents in zip(found.queries, count.tolist(), strict=True) if not documents]
    if empty:
        raise _make_error(path, f"a file cannot store the empty ranking of query {quote(empty[0])}")
    _refuse_padded((*found.queries, *found.documents.texts()), path)
    names = (found.queries[i] for i in np.repeat(np.arange(len(found)), count).tolist())
    rows = zip(names, found.documents.texts(), found.score.tolist(), strict=True)
    replace_files({path: _choose_encoder(path, _encode_run)(("query", "document", "score"), rows, os.fspath(path))})


def write_files(files: Mapping[FilePath, Queries | Judgments | Iterable[str]]) -> None:
    """Write queries, judgments and lines of text to several files; if one cannot be written, none is."""
    replace_files({path: _encode(content, path) for path, content in files.items()})


def _encode(content: Queries | Judgments | Iterable[str], path: FilePath) -> Iterable[str]:
    if isinstance(content, Queries):
        return encode_queries(content, path)
    return encode_judgments(content, path) if isinstance(content, Judgments) else content


def write_table(names: Sequence[str], rows: Iterable[Cells], path: FilePath) -> None:
    """Any columns; the cells of ``query`` and ``document`` are ids."""
    write_tables(names, {path: rows})


def write_tables(names: Sequence[str], tables: Mapping[FilePath, Iterable[Cells]]) -> None:
    """The same for several files; if one cannot be written, none is."""
    ready: dict[FilePath, Iterable[str] | bytes] = {}
    for path, rows in tables.items():
        listed = list(rows)
        cells = (str(cell) for row in listed for name, cell in zip(names, row, strict=True) if name in IDS)
        _refuse_padded(cells, path)
        ready[path] = list(_choose_encoder(path, None)(names, listed, os.fspath(path)))
    replace_files(ready)


def _refuse_padded(ids: Iterable[str], path: FilePath) -> None:
    """Refuse ids with spaces around them, which would be lost when the file is read."""
    for name in ids:
        if name != name.strip() or name.startswith("\ufeff"):
            raise _make_error(path, f"files cannot store the spaces around the id {quote(name)}")


def _choose_encoder(path: FilePath, trec: Encode | None) -> Encode:
    ending = Path(path).suffix.lower()
    encoders: dict[str, Encode] = {".tsv": _encode_tsv, ".csv": _encode_csv, ".jsonl": _encode_jsonl}
    if trec is not None:
        encoders |= dict.fromkeys((".txt", ".trec", ".qrels", ".run"), trec)
    if ending not in encoders:
        raise _make_error(
            path, f"unknown format for {ending or 'a file without ending'}", f"endings: {', '.join(encoders)}"
        )
    return encoders[ending]


def _format_value(value: str | float) -> str:
    """A cell as text; whole numbers without a point."""
    if isinstance(value, str):
        return value
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def _encode_tsv(names: Sequence[str], rows: Iterable[Cells], path: str) -> Iterator[str]:
    for row in (names, *rows):
        cells = [_format_value(cell) for cell in row]
        for name, cell in zip(names, cells, strict=True):
            if name in IDS and is_quoted(cell):
                raise _make_error(path, f"TSV cannot store quotes around the id {cell}", "write .csv or .jsonl")
            if not cell.isprintable() and any(mark in cell for mark in "\t\n\r"):
                complaint = f"TSV cannot store the tab or line end in {quote(cell)}"
                raise _make_error(path, complaint, "write .csv or .jsonl (ireval import: --ending csv)")
        yield "\t".join(cells) + "\n"


def _encode_csv(names: Sequence[str], rows: Iterable[Cells], path: str) -> Iterator[str]:  # noqa: ARG001 - holds anything
    import csv
    import io

    for row in (names, *rows):
        line = io.StringIO()
        cells = [_format_value(cell) for cell in row]
        spaces = any(cell[:1].isspace() for cell in cells)  # which count only inside quotes
        csv.writer(line, lineterminator="\n", quoting=csv.QUOTE_ALL if spaces else csv.QUOTE_MINIMAL).writerow(cells)
        yield line.getvalue()


def _encode_jsonl(names: Sequence[str], rows: Iterable[Cells], path: str) -> Iterator[str]:  # noqa: ARG001 - holds anything
    import json

    for row in rows:
        numbers = [int(c) if isinstance(c, float) and c.is_integer() and abs(c) < 1e15 else c for c in row]
        yield json.dumps(dict(zip(names, numbers, strict=True)), ensure_ascii=False) + "\n"


def _encode_qrels(names: Sequence[str], rows: Iterable[Cells], path: str) -> Iterator[str]:
    for cells in rows:
        row = dict(zip(names, cells, strict=True))
        words = [_check_word(each, path) for each in (row["query"], row.get("subtopic", "0"), row["document"])]
        yield f"{' '.join(words)} {_format_value(row['grade'])}\n"


def _encode_run(names: Sequence[str], rows: Iterable[Cells], path: str) -> Iterator[str]:  # noqa: ARG001 - without names
    before, rank = None, 0
    for query, document, score in rows:
        rank = rank + 1 if query == before else 1
        before = query
        yield f"{_check_word(query, path)} Q0 {_check_word(document, path)} {rank} {_format_value(score)} ireval\n"


def _check_word(text: str | float, path: str) -> str:
    word = str(text)
    if word.split() != [word] or word.startswith(("#", "\ufeff")):
        raise _make_error(path, f"TREC files cannot store the id {quote(word)}", "write .tsv, .csv or .jsonl")
    return word


def _make_error(path: FilePath, complaint: str, suggestion: str = "") -> InputError:
    return InputError(Problem(complaint, place=os.fspath(path), suggestion=suggestion))


def replace_files(files: Mapping[FilePath, Iterable[str] | bytes]) -> None:
    """Write all files next to the old ones, then replace those: if one cannot be written, none is."""
    ready: dict[str, Path] = {}
    try:
        for path, content in files.items():
            target = Path(path)
            if not target.parent.exists():
                raise _make_error(
                    path, f"there is no folder {quote(str(target.parent))}", "create it, or choose another one"
                )
            handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
            ready[temporary] = target
            with open(handle, "wb") as file:
                file.writelines([content] if isinstance(content, bytes) else (line.encode() for line in content))
            os.chmod(temporary, 0o666 & ~_read_umask())
        for temporary, target in [*ready.items()]:
            os.replace(temporary, target)
            del ready[temporary]
    finally:
        for temporary in ready:
            Path(temporary).unlink(missing_ok=True)


def _read_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
