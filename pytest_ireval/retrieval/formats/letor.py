"""Judgments in LETOR and SVMlight files: ``grade qid:query 1:feature … # document``.

The document's id is what the comment says: ``docid = GX001``, or else its first word. In files without comments the
documents of a query are numbered from 1. Features are not looked at.
"""

from __future__ import annotations

import re

from pytest_ireval.errors import Mistakes, Problem
from pytest_ireval.retrieval.formats.input_file import InputFile
from pytest_ireval.retrieval.tables import Table, at_lines

DOCUMENT = re.compile(r"\bdoc_?(?:id|no)\s*=\s*(\S+)", re.IGNORECASE)


def judgments(file: InputFile) -> Table:
    """Query, document and grade of every line."""
    columns: dict[str, list[str]] = {"query": [], "document": [], "grade": []}
    lines: list[int] = []
    mistakes = Mistakes()
    for number, line in enumerate(file.lines(), 1):
        content, _, comment = line.partition("#")
        words = content.split()
        if not words:
            continue
        if len(words) < 2 or not words[1].startswith("qid:") or len(words[1]) == 4:
            allowed = "a line is: grade qid:query 1:feature … # document"
            mistakes.add(Problem("has no qid: behind the grade", place=f"{file.name}:{number}", allowed=allowed))
            continue
        for column, value in zip(columns.values(), (words[1][4:], _document(comment), words[0]), strict=True):
            column.append(value)
        lines.append(number)
    mistakes.refuse()
    _number(file, columns, lines)
    return Table(columns, file.name, at_lines(file.name, lines))


def _document(comment: str) -> str:
    named = DOCUMENT.search(comment)
    return named[1] if named else next(iter(comment.split()), "")


def _number(file: InputFile, columns: dict[str, list[str]], lines: list[int]) -> None:
    """Number the documents of every query if no line names its document; some of both is refused."""
    documents = columns["document"]
    nameless = [row for row, document in enumerate(documents) if not document]
    if not nameless:
        return
    if len(nameless) < len(documents):
        mistakes = Mistakes()
        for row in nameless:
            mistakes.add(Problem("names no document, and other lines do", place=f"{file.name}:{lines[row]}"))
        mistakes.refuse()
    count: dict[str, int] = {}
    for row, query in enumerate(columns["query"]):
        count[query] = count.get(query, 0) + 1
        documents[row] = str(count[query])
