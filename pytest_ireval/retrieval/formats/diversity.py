"""Judgments of subtopics as TREC's diversity tasks have them: ``query subtopic document grade``."""

from __future__ import annotations

from pytest_ireval.errors import Mistakes, Problem
from pytest_ireval.plurals import counted
from pytest_ireval.retrieval.formats.input_file import InputFile, words
from pytest_ireval.retrieval.tables import Table, at_lines

NAMES = ("query", "subtopic", "document", "grade")


def judgments(file: InputFile) -> Table:
    """The four columns of every line."""
    columns: tuple[list[str], ...] = ([], [], [], [])
    lines: list[int] = []
    mistakes = Mistakes()
    for number, line in enumerate(file.lines(), 1):
        found = words(line)
        if not found or found[0].startswith("#"):
            continue
        if len(found) != len(NAMES):
            complaint = f"has {counted(len(found), 'column')}"
            allowed = f"diversity judgments have {len(NAMES)} columns: {' '.join(NAMES)}"
            mistakes.add(Problem(complaint, place=f"{file.name}:{number}", allowed=allowed))
            continue
        lines.append(number)
        for column, word in zip(columns, found, strict=True):
            column.append(word)
    mistakes.refuse()
    return Table(dict(zip(NAMES, columns, strict=True)), file.name, at_lines(file.name, lines))
