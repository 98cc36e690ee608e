"""Judgments in LETOR and SVMlight files: ``grade qid:query 1:feature … # document``.

The comment has the document's id: ``docid = GX001``, or else its first word. In files without comments the documents of
a query are numbered from 1, if the format was named: rankings must then use these numbers. Features are ignored.
"""

from __future__ import annotations

import re

from pytest_ireval.errors import InputError, Mistakes, Problem
from pytest_ireval.retrieval.formats.input_file import InputFile, words
from pytest_ireval.retrieval.formats.reader import Reading
from pytest_ireval.retrieval.tables import Table, at_lines

COMMENT = re.compile(r"(^|\s)#")
"""The mark of a comment; inside a word it is part of the word."""

DOCUMENT = re.compile(r"\bdoc_?(?:id|no)\s*=\s*(\S+)", re.IGNORECASE)


def letor_judgments(file: InputFile, how: Reading) -> Table:
    """Query, document and grade of every line."""
    columns: dict[str, list[str]] = {"query": [], "document": [], "grade": []}
    lines: list[int] = []
    mistakes = Mistakes()
    for number, line in enumerate(file.lines(), 1):
        content, _, comment = COMMENT.sub("\n", line, count=1).partition("\n")
        found = words(content)
        if not found:
            continue
        if len(found) < 2 or not found[1].startswith("qid:") or len(found[1]) == 4:
            allowed = "a line is: grade qid:query 1:feature … # document"
            mistakes.add(Problem("has no qid: after the grade", place=f"{file.name}:{number}", allowed=allowed))
            continue
        for column, value in zip(columns.values(), (found[1][4:], _document(comment), found[0]), strict=True):
            column.append(value)
        lines.append(number)
    mistakes.refuse()
    _number(file, columns, lines, how)
    return Table(columns, file.name, at_lines(file.name, lines))


def _document(comment: str) -> str:
    named = DOCUMENT.search(comment)
    return (named[1] if named else next(iter(comment.split()), "")).rstrip(";,")


def _number(file: InputFile, columns: dict[str, list[str]], lines: list[int], how: Reading) -> None:
    """Number the documents of every query if no line names its document; refuse a mixture."""
    documents = columns["document"]
    nameless = [row for row, document in enumerate(documents) if not document]
    if not nameless:
        return
    if len(nameless) < len(documents):
        mistakes = Mistakes()
        for row in nameless:
            mistakes.add(Problem("names no document, but other lines do", place=f"{file.name}:{lines[row]}"))
        mistakes.refuse()
    if how.recognised:
        complaint = "names no documents; a document is named by a comment such as # docid = GX001"
        remedy = "to number the documents of each query from 1, set format letor"
        raise InputError(Problem(complaint, place=file.name, suggestion=remedy))
    count: dict[str, int] = {}
    for row, query in enumerate(columns["query"]):
        count[query] = count.get(query, 0) + 1
        documents[row] = str(count[query])
