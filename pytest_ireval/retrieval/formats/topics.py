"""TREC topics: ``<top>`` blocks whose tags are not closed, or XML with an element a topic."""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Iterator

from pytest_ireval.errors import InputError, Mistakes, Problem
from pytest_ireval.retrieval.formats.input_file import InputFile
from pytest_ireval.retrieval.tables import Table, at_lines

TOPIC = re.compile(r"<(?P<closes>/?)(?:top|topic)\b(?P<attributes>[^<>]*?)(?P<empty>/?)>", re.IGNORECASE)
TAG = re.compile(
    r"<(?P<closes>/?)(?P<name>[A-Za-z]\w*)(?P<attributes>(?:\s+[\w:-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*/?>"
)
"""A tag; any other ``<`` is text: ``price < 1000``."""

ATTRIBUTE = re.compile(r"""([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
QUOTED = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
INLINE = {"a", "b", "br", "code", "em", "font", "i", "p", "small", "span", "strong", "sub", "sup", "tt", "u"}
"""Tags inside text that do not name a field."""

NAMES = {"num": "number", "desc": "description", "narr": "narrative", "smry": "summary", "con": "concepts"}
LABELS = {
    "number": "Number",
    "title": "Topic",
    "description": "Description",
    "narrative": "Narrative",
    "summary": "Summary",
    "concepts": "Concept(s)",
}
"""Labels that old topics repeat after a tag: ``<num> Number: 301``."""

IDS = ("number", "id", "qid", "topic_id", "query_id")
TEXTS = ("title", "query", "description", "question", "text")
"""Fields with the text of a query, best first."""


def topic_queries(file: InputFile) -> Table:
    """A row for each topic: id, text, and every other field."""
    topics: list[dict[str, str]] = []
    lines: list[int] = []
    mistakes = Mistakes()
    for line, attributes, body in _blocks(file):
        fields = _fields(attributes, body)
        id_name = next((name for name in IDS if fields.get(name)), "")
        query = fields.get(id_name, "")
        words = next((fields[name] for name in TEXTS if fields.get(name)), "")
        missing = "no number" if not query else "no title, query or description" if not words else ""
        if missing:
            mistakes.add(Problem(f"this topic has {missing}", place=f"{file.name}:{line}"))
            continue
        rest = {name: value for name, value in fields.items() if name not in (id_name, "text")}
        topics.append({"id": query, "text": words, **{f"{n}_" if n == "id" else n: v for n, v in rest.items()}})
        lines.append(line)
    mistakes.refuse()
    names = dict.fromkeys(name for topic in topics for name in topic)
    columns = {name: [topic.get(name, "") for topic in topics] for name in names}
    return Table(columns, file.name, at_lines(file.name, lines))


def _blocks(file: InputFile) -> Iterator[tuple[int, str, str]]:
    """The line on which each topic begins, its attributes, and its content."""
    text = COMMENT.sub(_blanks, file.text())
    ends = [match.start() for match in re.finditer("\n", text)]
    opened: re.Match[str] | None = None
    for tag in TOPIC.finditer(QUOTED.sub(_blanks, text)):
        line = bisect_left(ends, (opened or tag).start()) + 1
        if tag["empty"] and not opened:
            yield line, tag["attributes"], ""
            continue
        if bool(tag["closes"]) != (opened is not None):
            what = "this topic is not closed" if opened else "a topic ends here, but none has begun"
            raise InputError(Problem(what, place=f"{file.name}:{line}"))
        if opened:
            yield line, opened["attributes"], text[opened.end() : tag.start()]
        opened = None if tag["closes"] else tag
    if opened:
        place = f"{file.name}:{bisect_left(ends, opened.start()) + 1}"
        raise InputError(Problem("this topic is not closed", place=place))
    if opened is None and not TOPIC.search(text):
        raise InputError(Problem("the file contains no topics", place=file.name))


def _blanks(match: re.Match[str]) -> str:
    """The same number of spaces, and all line ends: the following text stays on its line."""
    return re.sub(r"[^\n]", " ", match.group())


def _fields(attributes: str, body: str) -> dict[str, str]:
    """Attributes and elements by name; elements of one name are joined with ``; ``."""
    fields = {name.lower(): _plain(double or single) for name, double, single in ATTRIBUTE.findall(attributes)}
    for name, value in _parts(body):
        if value:
            fields[name] = f"{fields[name]}; {value}" if fields.get(name) else value
    return fields


def _parts(body: str) -> Iterator[tuple[str, str]]:
    """Each field of a topic with its text; the part before the first tag is the field ``text``."""
    body = QUOTED.sub(lambda match: html.escape(match[1]), body)
    tags = [tag for tag in TAG.finditer(body) if tag["name"].lower() not in INLINE]
    name, start = "text", 0
    for tag in [*tags, None]:
        text = body[start : tag.start() if tag else len(body)]
        yield name, _labelled(name, _plain(TAG.sub("", text)))
        if tag:
            name = "text" if tag["closes"] else NAMES.get(tag["name"].lower(), tag["name"].lower())
            start = tag.end()


def _labelled(name: str, text: str) -> str:
    """The text without the label that old topics put before it."""
    label = LABELS.get(name)
    return text[len(label) + 1 :].strip() if label and text.lower().startswith(f"{label.lower()}:") else text


def _plain(text: str) -> str:
    return " ".join(html.unescape(text).split())
