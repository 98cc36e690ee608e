"""Parquet, Arrow files and Arrow streams through pyarrow: columns become arrays without a Python object a row.

Where unjudged documents do not matter, rankings are read batch by batch, and their rows are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.formats.input_file import InputFile
from pytest_ireval.data.formats.reader import Reading
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.rankings import Rankings, rank_columns
from pytest_ireval.data.scan import (
    BadLines,
    Ids,
    JudgedRows,
    RankedRows,
    ScatteredQueryError,
    add_new_queries,
    gather_rows,
    keep_judged_rows,
)
from pytest_ireval.data.tables import RankingColumns, Table, find_column, find_ranking_columns, place_by_number
from pytest_ireval.data.threads import map_on_threads
from pytest_ireval.errors import InputError, Problem

BATCH, ROWS, BUFFER = 1 << 15, 1 << 18, 1 << 18
"""Rows that are read at a time, rows for which a Parquet file is opened, and bytes of a column that are read ahead."""


def read_columnar_table(file: InputFile) -> Table:
    """All columns."""
    return _convert_table(_read_table(file), file.name)


def read_stream_table(stream: Any, origin: str) -> Table:
    """All columns of an Arrow stream."""
    with _name_damage(origin, "Arrow stream"):
        import pyarrow as arrow

        return _convert_table(arrow.table(stream), origin)


def _convert_table(found: Any, origin: str) -> Table:
    columns = zip(found.column_names, found.columns, strict=True)
    return Table({name: column.to_pylist() for name, column in columns}, origin, place_by_number(origin))


def read_columnar_rankings(file: InputFile, how: Reading) -> Rankings:
    """Rankings by score, descending; by rank if there are no scores."""
    found, in_path = _read_table(file), _find_query_in_path(file)
    if in_path is not None and in_path.is_missing(found.column_names):
        import pyarrow as arrow

        found = found.append_column(in_path.name, arrow.repeat(in_path.value, found.num_rows))
    return _convert_rankings(found, file.name, how)


def _convert_rankings(found: Any, origin: str, how: Reading) -> Rankings:
    if not found.num_rows:
        raise InputError(Problem("it contains no rankings", place=origin))
    wanted = find_ranking_columns(found.column_names, origin)
    coded = _read_texts(found, wanted.query, origin).dictionary_encode()
    score = _read_numbers(found, wanted.number, origin)
    return rank_columns(
        coded.dictionary.to_pylist(),
        coded.indices.to_numpy(zero_copy_only=False).astype(np.int64),
        _read_ids(_read_texts(found, wanted.document, origin)),
        -score if wanted.by_rank else score,
        origin,
        how.depth,
        by_id=how.by_id,
        place=place_by_number(origin),
        rank=_read_ranks(found, wanted.rank),
    )


def read_stream_rankings(stream: Any, origin: str, how: Reading) -> Rankings | None:
    """Rankings in an Arrow stream; None: as :func:`read_judged_in_stream`."""
    try:
        source = _open_stream(stream, origin)
        wanted = find_ranking_columns(source.names, origin).names
        with _name_damage(origin, source.kind):
            found = list(source.batches(wanted))
        return _convert_rankings(_join_batches(found), origin, how) if found else None
    except InputError:
        return None


def read_judged_in_columns(file: InputFile, judgments: Judgments, how: Reading) -> list[JudgedRows] | None:
    """The judged documents of the rankings in the file; None: the reader of all rows must name mistakes."""
    try:
        with _open_source(file) as source:
            return _scan_source(source, judgments, how)
    except InputError:
        return None


def read_judged_in_stream(stream: Any, origin: str, judgments: Judgments, how: Reading) -> list[JudgedRows] | None:
    """The judged documents of the rankings in an Arrow stream that can be read twice.

    None: the reader of Python values must name mistakes, or take what only it takes, such as blanks around ids.
    """
    try:
        return _scan_source(_open_stream(stream, origin), judgments, how)
    except InputError:
        return None


def _scan_source(source: _Source, judgments: Judgments, how: Reading) -> list[JudgedRows] | None:
    scan = _Scan(source, find_ranking_columns(source.names, source.origin), judgments, how)
    try:
        try:
            return scan.read() or None
        except ScatteredQueryError:
            return scan.read_scattered()
    except BadLines:
        return None


@contextmanager
def make_readable_twice(stream: Any, origin: str) -> Iterator[Any]:
    """Rankings that can be read twice; what comes once, such as a reader of batches, is first written to disk."""
    if hasattr(type(stream), "__len__"):
        yield stream
        return
    import tempfile

    with tempfile.TemporaryDirectory(prefix="ireval-", ignore_cleanup_errors=True) as folder:
        with _name_damage(origin, "Arrow stream"):
            import pyarrow as arrow
            from pyarrow import ipc

            reader = arrow.RecordBatchReader.from_stream(stream)
            wanted = find_ranking_columns(reader.schema.names, origin).names
            place = f"{folder}/spooled"
            schema = arrow.schema([reader.schema.field(name) for name in wanted])
            with arrow.OSFile(place, "wb") as sink, ipc.new_file(sink, schema) as copy:
                for batch in reader:
                    copy.write_batch(batch.select(wanted))
            table = ipc.open_file(arrow.memory_map(place)).read_all()
        yield table


class _Scan(NamedTuple):
    """Rankings as they are read, batch by batch."""

    source: _Source
    wanted: RankingColumns
    judgments: Judgments
    how: Reading

    def read(self) -> list[JudgedRows]:
        """The judged rows of each query, in order; ScatteredQueryError if its rows do not follow each other."""
        found, seen = [], set[str]()
        for part in map_on_threads(
            self._keep_table, self._cut_pieces()
        ):  # the next ones are read while some are searched
            add_new_queries(seen, part.queries)
            found.append(part)
        return found

    def read_scattered(self) -> list[JudgedRows]:
        """The same for a file with the rows of a query in several places: one sort over all of it."""
        pieces = (_join_batches([batch]) for batch in self._read_batches("sorting rankings"))
        whole = gather_rows(list(map_on_threads(lambda piece: gather_rows([self._read_rows(piece)]), pieces)))
        return [self._keep(whole)]

    def _cut_pieces(self) -> Iterator[Any]:
        """All rows, cut between queries."""
        held = list[Any]()
        for batch in self._read_batches("reading rankings"):
            held.append(batch)
            if held[0].column(0)[0].as_py() == batch.column(0)[-1].as_py():  # one query so far, most likely
                continue
            table = _join_batches(held)
            if at := _find_last_query(table.column(0)):
                yield table.slice(0, at)
                held = table.slice(at).to_batches()
        if held:
            yield _join_batches(held)

    def _keep_table(self, table: Any) -> JudgedRows:
        return self._keep(self._read_rows(table))

    def _keep(self, rows: RankedRows) -> JudgedRows:
        return keep_judged_rows(rows, self.judgments.index, self.judgments.position, by_id=self.how.by_id)

    def _read_rows(self, table: Any) -> RankedRows:
        queries, documents = (_read_ids(_read_texts(table, name, self.source.origin)) for name in self.wanted[:2])
        score = _read_numbers(table, self.wanted.number, self.source.origin)
        score, rank = -score if self.wanted.by_rank else score, _read_ranks(table, self.wanted.rank)
        return RankedRows.of(queries, documents, score, self.judgments.index, rank)

    def _read_batches(self, what: str) -> Iterator[Any]:
        size, rows = self.source.size, self.source.rows
        self.how.progress.expect(size, what)
        with _name_damage(self.source.origin, self.source.kind):
            for batch in self.source.batches(self.wanted.names):
                if batch.num_rows:
                    yield batch
                    self.how.progress.advance(size * batch.num_rows // rows if rows else batch.nbytes)


def _find_last_query(queries: Any) -> int:
    """The first row of the last query, or of one shortly before; 0 if no row with another one is found."""
    last, low, high = queries[-1].as_py(), len(queries) - 1, len(queries)
    while low > 0 and queries[low].as_py() == last:  # three times as far from the end each time
        low, high = max(0, 3 * low - 2 * len(queries)), low
    if queries[low].as_py() == last:
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if queries[middle].as_py() == last else (middle, high)
    return high


def _join_batches(batches: list[Any]) -> Any:
    import pyarrow as arrow

    return arrow.Table.from_batches(batches)


class _Source(NamedTuple):
    """A file or a stream: its columns, rows and bytes (0: unknown), and some of its columns in batches."""

    origin: str
    kind: str
    names: list[str]
    rows: int
    size: int
    batches: Callable[[list[str]], Iterator[Any]]


LARGEST = 1 << 30
"""Bytes of text that fit into one array with offsets of 32 bits."""


@contextmanager
def _open_source(file: InputFile) -> Iterator[_Source]:
    with _name_damage(file.name, _name_kind(file)):
        if file.bytes.magic == b"PAR1":
            from pyarrow import parquet

            with parquet.ParquetFile(file.path) as opened:
                about, names = opened.metadata, opened.schema_arrow.names
            batches = partial(_read_parquet_batches, file, about)
            source = _Source(file.name, _name_kind(file), names, about.num_rows, file.bytes.size, batches)
        else:
            source = _open_arrow(file)
        in_path = _find_query_in_path(file)
        yield source if in_path is None or not in_path.is_missing(source.names) else in_path.add_to(source)


class _QueryInPath(NamedTuple):
    """The query of all rows of a file in a folder such as ``query_id=q1``: Spark and others write partitions so."""

    name: str
    value: str

    def is_missing(self, names: Sequence[str]) -> bool:
        """Tell whether a file with these columns has no query of its own."""
        return find_column(names, "query") is None

    def add_to(self, source: _Source) -> _Source:
        """The source with this column."""

        def batches(wanted: list[str]) -> Iterator[Any]:
            import pyarrow as arrow

            for batch in source.batches([name for name in wanted if name != self.name]):
                columns = {name: batch.column(name) for name in wanted if name != self.name}
                columns[self.name] = arrow.repeat(self.value, batch.num_rows)
                yield arrow.RecordBatch.from_pydict({name: columns[name] for name in wanted})

        return source._replace(names=[*source.names, self.name], batches=batches)


def _find_query_in_path(file: InputFile) -> _QueryInPath | None:
    parts = [part.partition("=") for part in re.split(r"[/\\]", file.name)[:-1]]
    found = [(name, unquote(value)) for name, _, value in parts if value and find_column([name], "query") is not None]
    return _QueryInPath(*found[-1]) if found else None


def _read_parquet_batches(file: InputFile, about: Any, wanted: list[str]) -> Iterator[Any]:
    """Some columns of all row groups, a few at a time: pyarrow keeps their memory until the file is closed."""
    from pyarrow import parquet

    for groups in _group_row_groups(about):
        with parquet.ParquetFile(file.path, metadata=about, buffer_size=BUFFER) as source:
            for batch in source.iter_batches(BATCH, row_groups=groups, columns=wanted, use_threads=False):
                yield batch.select(wanted)


def _group_row_groups(about: Any) -> Iterator[list[int]]:
    """The numbers of row groups that follow each other and together have several batches of rows."""
    groups, rows = [], 0
    for group in range(about.num_row_groups):
        groups.append(group)
        rows += about.row_group(group).num_rows
        if rows >= ROWS or group == about.num_row_groups - 1:
            yield groups
            groups, rows = [], 0


def _open_arrow(file: InputFile) -> _Source:
    import pyarrow as arrow
    from pyarrow import ipc

    def batches(wanted: list[str]) -> Iterator[Any]:
        some = ipc.IpcReadOptions(included_fields=[names.index(name) for name in wanted])
        with arrow.OSFile(str(file.path)) as stream, ipc.open_file(stream, options=some) as source:
            for number in range(source.num_record_batches):
                batch = source.get_batch(number).select(wanted)
                yield from (batch.slice(at, BATCH) for at in range(0, batch.num_rows, BATCH))

    with arrow.OSFile(str(file.path)) as stream, ipc.open_file(stream) as source:
        names = source.schema.names
        return _Source(file.name, _name_kind(file), names, 0, file.bytes.size, batches)


def _open_stream(stream: Any, origin: str) -> _Source:
    with _name_damage(origin, "Arrow stream"):
        import pyarrow as arrow

        def batches(wanted: list[str]) -> Iterator[Any]:
            for batch in arrow.RecordBatchReader.from_stream(stream):
                some = batch.select(wanted)
                _refuse_other_values(some)
                yield from (some.slice(at, BATCH) for at in range(0, some.num_rows, BATCH))

        return _Source(origin, "Arrow stream", arrow.RecordBatchReader.from_stream(stream).schema.names, 0, 0, batches)


class _OtherValuesError(InputError):
    """The reader of Python values has to read this."""


def _refuse_other_values(batch: Any) -> None:
    """Leave to the reader of Python values what columns of ids and numbers read otherwise."""
    from pyarrow import compute, types

    *ids, number = batch.columns[:3]
    if not any(fits(number.type) for fits in (types.is_integer, types.is_floating, types.is_decimal)):
        raise _OtherValuesError
    for column in ids:
        texts = column.dictionary if types.is_dictionary(column.type) else column
        if not types.is_integer(texts.type):
            texts = texts.cast("large_string")
            if not compute.utf8_trim_whitespace(texts).equals(texts):
                raise _OtherValuesError


def _read_table(file: InputFile) -> Any:
    with _name_damage(file.name, _name_kind(file)):
        if file.bytes.magic == b"PAR1":
            from pyarrow import parquet

            return parquet.read_table(file.path, partitioning=None)
        from pyarrow import feather

        return feather.read_table(file.path, memory_map=False)


def _name_kind(file: InputFile) -> str:
    return "Parquet file" if file.bytes.magic == b"PAR1" else "Arrow file"


@contextmanager
def _name_damage(origin: str, kind: str) -> Iterator[None]:
    """Turn errors of pyarrow into one that names the file."""
    try:
        import pyarrow as arrow
    except ImportError:
        complaint = f"this is {'a' if kind.startswith('P') else 'an'} {kind}, but pyarrow is not installed"
        suggestion = 'pip install "pytest-ireval[parquet]"'
        raise InputError(Problem(complaint, place=origin, suggestion=suggestion)) from None
    try:
        yield
    except (arrow.ArrowException, OSError) as error:
        data = kind.split(maxsplit=1)[0]
        raise InputError(Problem(f"the {data} data cannot be read ({error})", place=origin)) from error


def _read_ranks(table: Any, name: str | None) -> NDArray[Any] | None:
    """The ranks beside the scores, missing ones as NaN; None without any, or if they are no numbers."""
    from pyarrow import types

    column = None if name is None else table.column(name)
    if column is None or not (types.is_integer(column.type) or types.is_floating(column.type)):
        return None
    numbers: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return numbers


def _read_texts(table: Any, name: str, origin: str) -> Any:
    """A column of ids as one array of text; whole numbers are written out."""
    import pyarrow as arrow
    from pyarrow import types

    column = table.column(name)
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if types.is_string_view(kind):
        column = column.cast(arrow.large_string())
        kind = column.type
    if not (types.is_string(kind) or types.is_large_string(kind) or types.is_integer(kind)):
        raise _make_error(origin, f"column {name!r} is {kind}, not an id; ids are text (or whole numbers)")
    if types.is_integer(kind) or column.nbytes > LARGEST:  # casts are slow to import
        column = column.cast(arrow.large_string())
    texts = column.combine_chunks()
    _refuse_empty(texts, name, origin)
    if _has_blank_edges(texts):
        from pyarrow import compute

        texts = compute.utf8_trim_whitespace(texts)  # as in every other format
        _refuse_empty(texts, name, origin)
    return texts


def _refuse_empty(texts: Any, name: str, origin: str) -> None:
    edge = _find_edges(texts)
    empty = (edge[1:] == edge[:-1]) | _find_nulls(texts)
    if empty.any():
        raise _make_error(origin, f"column {name!r} is empty", int(np.flatnonzero(empty)[0]))


def _has_blank_edges(texts: Any) -> bool:
    """Tell whether a text may begin or end with a blank; beyond ASCII any character may be one."""
    if not len(texts):
        return False
    data, edge = np.frombuffer(texts.buffers()[2], np.uint8), _find_edges(texts)
    return any(bool(((at <= ord(" ")) | (at >= 0x80)).any()) for at in (data[edge[:-1]], data[edge[1:] - 1]))


def _read_numbers(table: Any, name: str, origin: str) -> NDArray[np.float64]:
    import pyarrow as arrow

    column = table.column(name)
    try:
        if column.type != arrow.float64():
            column = column.cast(arrow.float64(), safe=False)
    except arrow.ArrowException as error:
        raise _make_error(origin, f"column {name!r} is {column.type}, not a number ({error})") from error
    array = column.combine_chunks()
    values = np.frombuffer(array.buffers()[1], np.float64)[array.offset : array.offset + len(array)]  # no pandas
    wrong = np.flatnonzero(~np.isfinite(values) | _find_nulls(array))
    if wrong.size:
        raise _make_error(origin, f"column {name!r} holds no finite number", int(wrong[0]))
    return values


def _find_nulls(array: Any) -> NDArray[np.bool_]:
    """A mask of the entries of an array that are missing."""
    if not array.null_count:
        return np.zeros(len(array), bool)
    nulls: NDArray[np.bool_] = array.is_null().to_numpy(zero_copy_only=False)
    return nulls


def _make_error(origin: str, complaint: str, row: int | None = None) -> InputError:
    return InputError(Problem(complaint, place=origin if row is None else place_by_number(origin)(row)))


def _find_edges(texts: Any) -> NDArray[np.int64]:
    """The begin of each text in the data of an array, and the end of the last one."""
    from pyarrow import types

    kind = np.int64 if types.is_large_string(texts.type) else np.int32
    found = np.frombuffer(texts.buffers()[1], kind)[texts.offset : texts.offset + len(texts) + 1]
    return found.astype(np.int64, copy=False)


def _read_ids(texts: Any) -> Ids:
    return Ids.of_buffer(np.frombuffer(texts.buffers()[2], np.uint8), _find_edges(texts))
