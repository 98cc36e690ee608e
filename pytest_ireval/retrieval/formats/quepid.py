"""Exports of Quepid: cases and books, as JSON or CSV.

Quepid knows queries by their text, so the text is the id.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_ireval.retrieval.formats.delimited import delimited_table
from pytest_ireval.retrieval.formats.input_file import InputFile
from pytest_ireval.retrieval.formats.json_text import Node, document
from pytest_ireval.retrieval.formats.recognised import is_text
from pytest_ireval.retrieval.tables import Table, column_for, named, selected, table_of_rows

_Rows = Iterator[tuple[dict[str, str], str]]


def case_queries(file: InputFile) -> Table:
    """Each query once, with its information need and notes if the file has them."""
    if is_text(file):
        cells = _cells(file)
        first = {query: row for row, query in reversed(list(enumerate(cells.columns["query"])))}
        chosen = selected(cells, sorted(first.values()))
        texts = chosen.columns["query"]
        return Table({"id": texts, "text": texts}, chosen.origin, chosen.place)
    return table_of_rows(_json_queries(document(file)), file.name)


def case_judgments(file: InputFile) -> Table:
    """A row for each rating; documents without a rating are not judged."""
    if is_text(file):
        cells = _cells(file)
        return selected(cells, [row for row, grade in enumerate(cells.columns["grade"]) if grade])
    return table_of_rows(_json_ratings(document(file)), file.name)


def _cells(file: InputFile) -> Table:
    """Query, document and grade; Quepid puts a space before cells that a spreadsheet would take for a formula."""
    cells = delimited_table(file, short_rows=True)  # Quepid leaves out the cells of a query without ratings
    text = named(cells.columns, "text") or column_for(cells.columns, "query", file.name)
    names = {"query": text, **{kind: column_for(cells.columns, kind, file.name) for kind in ("document", "grade")}}
    return Table(
        {ours: [cell.strip() for cell in cells.columns[theirs]] for ours, theirs in names.items()},
        cells.origin,
        cells.place,
    )


def _json_queries(case: Node) -> _Rows:
    for query in case.each("queries"):
        text = _text(query)
        about = {"information_need": query.text("information_need"), "notes": query.text("notes")}
        yield {"id": text, "text": text, **about}, query.place


def _json_ratings(case: Node) -> _Rows:
    for query in case.each("queries"):
        if not query.has("ratings"):
            continue
        ratings = query.get("ratings")
        if isinstance(ratings.value, dict):  # the ratings alone: {document: rating}
            for identifier, rating in ratings.entries():
                if rating.value is not None:
                    row = {"query": _text(query), "document": identifier, "grade": rating.value}
                    yield row, rating.place
            continue
        for rating in query.each("ratings"):
            if not rating.has("rating"):
                continue
            row = {"query": _text(query), "document": rating.text("doc_id"), "grade": rating.text("rating")}
            yield {**row, "judge": rating.text("user_email")}, rating.place


def _text(query: Node) -> str:
    return query.text("query_text") or query.required("query")


def book_queries(file: InputFile) -> Table:
    """Each query once, with its information need if the file has it."""
    seen: dict[str, tuple[dict[str, str], str]] = {}
    for row, place in _csv_pairs(file) if is_text(file) else _json_pairs(document(file)):
        seen.setdefault(row["id"], (row, place))
    return table_of_rows(iter(seen.values()), file.name)


def book_judgments(file: InputFile) -> Table:
    """A row for each judgment of each judge."""
    return table_of_rows(_csv_judgments(file) if is_text(file) else _json_judgments(document(file)), file.name)


def _csv_pairs(file: InputFile) -> _Rows:
    cells = delimited_table(file)
    for row, query in enumerate(cells.column("query")):
        yield {"id": query.strip(), "text": query.strip()}, cells.place(row)


def _csv_judgments(file: InputFile) -> _Rows:
    cells = delimited_table(file)
    query, identifier = (column_for(cells.columns, kind, file.name) for kind in ("query", "document"))
    judges = [name for name in cells.columns if name not in (query, identifier)]
    for row in cells.rows:
        for judge in judges:
            grade = cells.columns[judge][row].strip()
            if grade:
                pair = {"query": cells.columns[query][row].strip(), "document": cells.columns[identifier][row].strip()}
                yield {**pair, "grade": grade, "judge": judge}, cells.place(row)


def _json_pairs(book: Node) -> _Rows:
    for pair in book.each("query_doc_pairs"):
        text = pair.required("query_text")
        yield {"id": text, "text": text, "information_need": pair.text("information_need")}, pair.place


def _json_judgments(book: Node) -> _Rows:
    for pair in book.each("query_doc_pairs"):
        for judgment in pair.each("judgements"):
            if judgment.has("rating") and not _is_set(judgment, "unrateable") and not _is_set(judgment, "judge_later"):
                row = {"query": pair.required("query_text"), "document": pair.text("doc_id")}
                about = {"judge": judgment.text("user_email"), "explanation": judgment.text("explanation")}
                yield {**row, "grade": judgment.text("rating"), **about}, judgment.place


def _is_set(judgment: Node, key: str) -> bool:
    return judgment.has(key) and judgment.get(key).value is True
