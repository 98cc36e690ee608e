"""Books of Quepid: the whole book as JSON, or its judgments as CSV with a column a judge.

Quepid knows queries by their text, so the text is the id. What a judge called unrateable, or put off, is no judgment.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_ireval.retrieval.formats.delimited import table
from pytest_ireval.retrieval.formats.input_file import InputFile
from pytest_ireval.retrieval.formats.json_nodes import Node, document
from pytest_ireval.retrieval.formats.shapes import is_text
from pytest_ireval.retrieval.tables import Table, column_for, table_of_rows

Rows = Iterator[tuple[dict[str, str], str]]


def queries(file: InputFile) -> Table:
    """Each query once, with its information need where the file has it."""
    seen: dict[str, tuple[dict[str, str], str]] = {}
    for row, place in _csv_pairs(file) if is_text(file) else _json_pairs(document(file)):
        seen.setdefault(row["id"], (row, place))
    return table_of_rows(iter(seen.values()), file.name)


def judgments(file: InputFile) -> Table:
    """A row for each judgment of each judge."""
    return table_of_rows(_csv_judgments(file) if is_text(file) else _json_judgments(document(file)), file.name)


def _csv_pairs(file: InputFile) -> Rows:
    cells = table(file)
    for row, query in enumerate(cells.column("query")):
        yield {"id": query.strip(), "text": query.strip()}, cells.place(row)


def _csv_judgments(file: InputFile) -> Rows:
    cells = table(file)
    query, identifier = (column_for(cells.columns, kind, file.name) for kind in ("query", "document"))
    judges = [name for name in cells.columns if name not in (query, identifier)]
    for row in cells.rows:
        for judge in judges:
            grade = cells.columns[judge][row].strip()
            if grade:
                pair = {"query": cells.columns[query][row].strip(), "document": cells.columns[identifier][row].strip()}
                yield {**pair, "grade": grade, "judge": judge}, cells.place(row)


def _json_pairs(book: Node) -> Rows:
    for pair in book.each("query_doc_pairs"):
        text = pair.required("query_text")
        yield {"id": text, "text": text, "information_need": pair.text("information_need")}, pair.place


def _json_judgments(book: Node) -> Rows:
    for pair in book.each("query_doc_pairs"):
        for judgment in pair.each("judgements"):
            if judgment.has("rating") and not _is_set(judgment, "unrateable") and not _is_set(judgment, "judge_later"):
                row = {"query": pair.required("query_text"), "document": pair.text("doc_id")}
                about = {"judge": judgment.text("user_email"), "explanation": judgment.text("explanation")}
                yield {**row, "grade": judgment.text("rating"), **about}, judgment.place


def _is_set(judgment: Node, key: str) -> bool:
    return judgment.has(key) and judgment.get(key).value is True
