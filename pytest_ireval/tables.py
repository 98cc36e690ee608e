"""Tables of queries and judgments, for packages that read and write them row by row: files, columns, cells.

``read_judgments`` and ``read_queries`` of ``pytest_ireval`` give arrays, each pair once. Whoever merges several judges,
converts files or reads logs needs the rows.
"""

from __future__ import annotations

from pytest_ireval.data.formats.input_file import FilePath, open_input
from pytest_ireval.data.formats.row_files import parse_json, parse_json_lines, read_delimited_rows
from pytest_ireval.data.formats.writers import write_files, write_table, write_tables
from pytest_ireval.data.from_objects import (
    make_judgments_of_table,
    make_queries_of_table,
    read_graded_rows,
    rename_judgment_columns,
)
from pytest_ireval.data.side_data import read_document_fields, read_fields, read_table
from pytest_ireval.data.tables import (
    COLUMN_NAMES,
    Table,
    Unfit,
    find_column,
    format_cell,
    normalize_name,
    parse_id,
    require_column,
    tabulate_judgments,
    tabulate_rows,
)
from pytest_ireval.reading import FileContents, read_contents, read_judges

__all__ = [
    "COLUMN_NAMES",
    "FileContents",
    "FilePath",
    "Table",
    "Unfit",
    "find_column",
    "format_cell",
    "make_judgments_of_table",
    "make_queries_of_table",
    "normalize_name",
    "open_input",
    "parse_id",
    "parse_json",
    "parse_json_lines",
    "read_contents",
    "read_delimited_rows",
    "read_document_fields",
    "read_fields",
    "read_graded_rows",
    "read_judges",
    "read_table",
    "rename_judgment_columns",
    "require_column",
    "tabulate_judgments",
    "tabulate_rows",
    "write_files",
    "write_table",
    "write_tables",
]
