"""Parquet files, through pyarrow; rankings become arrays without a Python object a row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.retrieval.formats.input_file import InputFile
from pytest_ireval.retrieval.formats.reader import Reading
from pytest_ireval.retrieval.ids import Ids
from pytest_ireval.retrieval.judgments import numbered
from pytest_ireval.retrieval.rankings import Rankings, rankings_of_columns
from pytest_ireval.retrieval.scan.tokens import ROOM, Chunk, Span
from pytest_ireval.retrieval.tables import Table, column_for, named


def parquet(file: InputFile) -> Table:
    """All columns."""
    found = _read(file)
    columns = {name: found.column(name).to_pylist() for name in found.column_names}
    return Table(columns, file.name, numbered(file.name))


def rankings(file: InputFile, how: Reading) -> Rankings:
    """Rankings by score, descending; by rank if there are no scores."""
    found = _read(file)
    names = found.column_names
    if not found.num_rows:
        raise InputError(Problem("it contains no rankings", place=file.name))
    by_rank = named(names, "score") is None and named(names, "rank") is not None
    query, document, number = (
        column_for(names, kind, file.name) for kind in ("query", "document", "rank" if by_rank else "score")
    )
    coded = _texts(found, query, file).dictionary_encode()
    score = _numbers(found, number, file)
    return rankings_of_columns(
        coded.dictionary.to_pylist(),
        coded.indices.to_numpy(zero_copy_only=False).astype(np.int64),
        _ids(_texts(found, document, file)),
        -score if by_rank else score,
        file.name,
        how.depth,
        by_id=how.by_id,
        place=numbered(file.name),
    )


def _read(file: InputFile) -> Any:
    try:
        import pyarrow as arrow
        from pyarrow import parquet as arrow_parquet
    except ImportError:
        complaint = "this is a Parquet file, but pyarrow is not installed"
        suggestion = 'pip install "pytest-ireval[parquet]"'
        raise InputError(Problem(complaint, place=file.name, suggestion=suggestion)) from None
    try:
        return arrow_parquet.read_table(file.path)
    except (arrow.ArrowException, OSError) as error:
        raise InputError(Problem(f"the Parquet data cannot be read ({error})", place=file.name)) from error


def _texts(table: Any, name: str, file: InputFile) -> Any:
    """A column of ids as one array of text; whole numbers are written out."""
    import pyarrow as arrow
    from pyarrow import compute, types

    column = table.column(name)
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if not (types.is_string(kind) or types.is_large_string(kind) or types.is_integer(kind)):
        raise _unfit(file, f"column {name!r} is {kind}, not an id; ids are text (or whole numbers)")
    texts = column.cast(arrow.large_string()).combine_chunks()
    empty = compute.fill_null(compute.equal(compute.utf8_length(texts), 0), True).to_numpy(zero_copy_only=False)
    if empty.any():
        raise _unfit(file, f"column {name!r} is empty", int(np.flatnonzero(empty)[0]))
    return texts


def _numbers(table: Any, name: str, file: InputFile) -> NDArray[np.float64]:
    import pyarrow as arrow

    column = table.column(name)
    try:
        values: NDArray[np.float64] = column.cast(arrow.float64(), safe=False).to_numpy()
    except arrow.ArrowException as error:
        raise _unfit(file, f"column {name!r} is {column.type}, not a number ({error})") from error
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise _unfit(file, f"column {name!r} holds no finite number", int(wrong[0]))
    return values


def _unfit(file: InputFile, complaint: str, row: int | None = None) -> InputError:
    return InputError(Problem(complaint, place=file.name if row is None else numbered(file.name)(row)))


def _ids(texts: Any) -> Ids:
    """The bytes of an array of text, copied once, with room around them for scans."""
    _, offsets, data = texts.buffers()
    end = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    begin, size = int(end[0]), int(end[-1] - end[0])
    buffer = np.zeros(size + 2 * ROOM, np.uint8)
    buffer[ROOM : ROOM + size] = np.frombuffer(data, np.uint8)[begin : begin + size]
    return Ids(Chunk(buffer, size), Span(end[:-1] - begin, end[1:] - begin))
