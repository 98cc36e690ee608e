"""Queries, judgments and rankings written to files, in the format that the file's name ends in.

``.tsv``, ``.csv`` and ``.jsonl`` keep every column; ``.txt``, ``.trec``, ``.qrels`` and ``.run`` are TREC's columns of
words. What a format cannot hold is refused, and the file appears whole or not at all.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from pytest_ireval.errors import InputError, Problem, shown
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.tables import table_of_judgments

Cells = Sequence[str | float]
Encode = Callable[[Sequence[str], Iterable[Cells], str], Iterator[str]]

TREC_ENDINGS = (".txt", ".trec", ".qrels", ".run")


def write_queries(queries: Queries, path: str | os.PathLike[str]) -> None:
    """Columns id and text, then all others."""
    names = ("id", "text", *queries.columns)
    rows = zip(queries.ids, queries.text, *queries.columns.values(), strict=True)
    _write(path, _encoder(path, None)(names, rows, os.fspath(path)))


def write_judgments(judgments: Judgments, path: str | os.PathLike[str]) -> None:
    """Columns query, document and grade, then all others; judgments of subtopics have a row for each."""
    columns = table_of_judgments(judgments).columns
    _write(path, _encoder(path, _qrels)(tuple(columns), zip(*columns.values(), strict=True), os.fspath(path)))


def write_rankings(rankings: Rankings, path: str | os.PathLike[str]) -> None:
    """Columns query, document and score; a query with an empty ranking cannot be written."""
    empty = [
        query for query, count in zip(rankings.queries, np.diff(rankings.first).tolist(), strict=True) if not count
    ]
    if empty:
        raise _unfit(path, f"a file has no place for the empty ranking of query {shown(empty[0])}")
    query = np.repeat(np.arange(len(rankings)), np.diff(rankings.first)).tolist()
    names = (rankings.queries[i] for i in query)
    rows = zip(names, rankings.documents.texts(), rankings.score.tolist(), strict=True)
    _write(path, _encoder(path, _run)(("query", "document", "score"), rows, os.fspath(path)))


def _encoder(path: str | os.PathLike[str], trec: Encode | None) -> Encode:
    ending = Path(path).suffix.lower()
    encoders: dict[str, Encode] = {".tsv": _tsv, ".csv": _csv, ".jsonl": _jsonl}
    if trec is not None:
        encoders |= dict.fromkeys(TREC_ENDINGS, trec)
    if ending not in encoders:
        raise _unfit(path, f"the format of {ending or 'no ending'} is not known", f"endings: {', '.join(encoders)}")
    return encoders[ending]


def _text(value: str | float) -> str:
    """A cell as text; whole numbers without a point."""
    if isinstance(value, str):
        return value
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def _tsv(names: Sequence[str], rows: Iterable[Cells], path: str) -> Iterator[str]:
    for row in (names, *rows):
        cells = [_text(cell) for cell in row]
        for cell in cells:
            if not cell.isprintable() and any(mark in cell for mark in "\t\n\r"):
                raise _unfit(path, f"TSV has no place for the tab or line end in {shown(cell)}", "write .csv or .jsonl")
        yield "\t".join(cells) + "\n"


def _csv(names: Sequence[str], rows: Iterable[Cells], path: str) -> Iterator[str]:  # noqa: ARG001 - holds anything
    import csv
    import io

    for row in (names, *rows):
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow([_text(cell) for cell in row])
        yield line.getvalue()


def _jsonl(names: Sequence[str], rows: Iterable[Cells], path: str) -> Iterator[str]:  # noqa: ARG001 - holds anything
    import json

    for row in rows:
        numbers = [int(c) if isinstance(c, float) and c.is_integer() and abs(c) < 1e15 else c for c in row]
        yield json.dumps(dict(zip(names, numbers, strict=True)), ensure_ascii=False) + "\n"


def _qrels(names: Sequence[str], rows: Iterable[Cells], path: str) -> Iterator[str]:
    for cells in rows:
        row = dict(zip(names, cells, strict=True))
        second = _word(row.get("subtopic", "0"), path)
        yield f"{_word(row['query'], path)} {second} {_word(row['document'], path)} {_text(row['grade'])}\n"


def _run(names: Sequence[str], rows: Iterable[Cells], path: str) -> Iterator[str]:  # noqa: ARG001 - without names
    before, rank = None, 0
    for query, document, score in rows:
        rank = rank + 1 if query == before else 1
        before = query
        yield f"{_word(query, path)} Q0 {_word(document, path)} {rank} {_text(score)} ireval\n"


def _word(text: str | float, path: str) -> str:
    word = str(text)
    if word.split() != [word] or word.startswith("#"):
        raise _unfit(path, f"TREC files have no place for the id {shown(word)}", "write .tsv, .csv or .jsonl")
    return word


def _unfit(path: str | os.PathLike[str], complaint: str, suggestion: str = "") -> InputError:
    return InputError(Problem(complaint, place=os.fspath(path), suggestion=suggestion))


def _write(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Write a new file beside the old one, then put it in its place."""
    target = Path(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.writelines(lines)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
