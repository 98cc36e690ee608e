"""TREC topics: ``<top>`` blocks whose tags are not closed, or XML with an element a topic."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from pytest_ireval.errors import InputError, Mistakes, Problem
from pytest_ireval.retrieval.formats.input_file import InputFile
from pytest_ireval.retrieval.tables import Table, at_lines

BLOCK = re.compile(r"<(?P<tag>top|topic)\b(?P<attributes>[^>]*)>(?P<body>.*?)</(?P=tag)\s*>", re.DOTALL | re.IGNORECASE)
ATTRIBUTE = re.compile(r"""([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
FIELD = re.compile(r"<(?P<name>\w+)\b(?P<attributes>[^>]*)>(?P<text>[^<]*)")
LABEL = re.compile(r"\s*(number|description|narrative|topic|title|smry|summary|concepts?)\s*:", re.IGNORECASE)
"""What the tags of old topics repeat in words: ``<num> Number: 301``."""

NAMES = {"num": "number", "desc": "description", "narr": "narrative"}
IDS = ("number", "id", "qid", "topic_id", "query_id")
TEXTS = ("title", "query", "description", "question")
"""Where the text of a query is, best place first."""


def queries(file: InputFile) -> Table:
    """A row for each topic: id, text, and every other field."""
    text = file.text()
    topics: list[dict[str, str]] = []
    lines: list[int] = []
    mistakes = Mistakes()
    for line, attributes, body in _blocks(file, text):
        fields = _fields(attributes, body)
        query = next((fields[name] for name in IDS if fields.get(name)), "")
        words = next((fields[name] for name in TEXTS if fields.get(name)), "")
        missing = "no number" if not query else "no title, query or description" if not words else ""
        if missing:
            mistakes.add(Problem(f"this topic has {missing}", place=f"{file.name}:{line}"))
            continue
        rest = {name: value for name, value in fields.items() if name not in IDS and name not in ("text", "id")}
        topics.append({"id": query, "text": words, **rest})
        lines.append(line)
    mistakes.refuse()
    names = dict.fromkeys(name for topic in topics for name in topic)
    columns = {name: [topic.get(name, "") for topic in topics] for name in names}
    return Table(columns, file.name, at_lines(file.name, lines))


def _blocks(file: InputFile, text: str) -> Iterator[tuple[int, str, str]]:
    """The line on which each topic begins, its attributes, and what is inside."""
    begun = [match.start() for match in re.finditer(r"<(?:top|topic)\b", text, re.IGNORECASE)]
    matches = list(BLOCK.finditer(text))
    unclosed = sorted(set(begun) - {match.start() for match in matches})
    if unclosed:
        line = text.count("\n", 0, unclosed[0]) + 1
        raise InputError(Problem("this topic is not closed, or holds another one", place=f"{file.name}:{line}"))
    if not matches:
        raise InputError(Problem("there are no topics in it", place=file.name))
    for match in matches:
        yield text.count("\n", 0, match.start()) + 1, match["attributes"], match["body"]


def _fields(attributes: str, body: str) -> dict[str, str]:
    """Attributes and elements by name; elements of one name are joined with ``; ``."""
    fields = {name.lower(): _plain(double or single) for name, double, single in ATTRIBUTE.findall(attributes)}
    for match in FIELD.finditer(body):
        name = NAMES.get(match["name"].lower(), match["name"].lower())
        value = _plain(LABEL.sub("", match["text"], count=1))
        fields[name] = f"{fields[name]}; {value}" if fields.get(name) and value else fields.get(name) or value
    return fields


def _plain(text: str) -> str:
    return " ".join(html.unescape(text).split())
