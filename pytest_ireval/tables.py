"""Tables of queries and judgments, for packages that read and write them row by row: files, columns, cells.

``read_judgments`` and ``read_queries`` of ``pytest_ireval`` give arrays, each pair once. Whoever merges several judges,
converts files or reads logs needs the rows.
"""

from __future__ import annotations

from pytest_ireval.data.formats.input_file import FilePath, input_file
from pytest_ireval.data.formats.row_files import delimited_rows, objects_of, parsed
from pytest_ireval.data.formats.writers import write_files, write_table, write_tables
from pytest_ireval.data.from_objects import graded_rows, judgment_columns, judgments_of_columns, queries_of_table
from pytest_ireval.data.side_data import document_fields, read_fields, read_table
from pytest_ireval.data.tables import (
    COLUMN_NAMES,
    Table,
    Unfit,
    cell_text,
    column_for,
    id_in,
    named,
    plain_name,
    table_of_judgments,
    table_of_rows,
)
from pytest_ireval.reading import FileContents, read_contents, read_judges

__all__ = [
    "COLUMN_NAMES",
    "FileContents",
    "FilePath",
    "Table",
    "Unfit",
    "cell_text",
    "column_for",
    "delimited_rows",
    "document_fields",
    "graded_rows",
    "id_in",
    "input_file",
    "judgment_columns",
    "judgments_of_columns",
    "named",
    "objects_of",
    "parsed",
    "plain_name",
    "queries_of_table",
    "read_contents",
    "read_fields",
    "read_judges",
    "read_table",
    "table_of_judgments",
    "table_of_rows",
    "write_files",
    "write_table",
    "write_tables",
]
