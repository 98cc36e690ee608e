"""Files of test collections: LETOR and SVMlight, topics of TREC, NTCIR and CLEF, ``id:text``, CAR, and SMART.

TREC topics are blocks of ``<top>`` whose tags are not closed, or XML with an element a topic.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from pytest_ireval.data.formats.input_file import InputFile, open_input, split_words
from pytest_ireval.data.formats.reader import Reading
from pytest_ireval.data.formats.recognition import ID_PRIORITY_TEXT, find_file_of_groups, is_listed
from pytest_ireval.data.tables import Table, place_by_line, tabulate_rows
from pytest_ireval.errors import InputError, Mistakes, Problem, quote
from pytest_ireval.words import format_count

REMARK = re.compile(r"(^|\s)#")
"""The mark of a comment; inside a word it is part of the word."""

DOCUMENT = re.compile(r"\bdoc_?(?:id|no)\s*=\s*(\S+)", re.IGNORECASE)


def read_letor_judgments(file: InputFile, how: Reading) -> Table:
    """Query, document and grade of every line: ``grade qid:query 1:feature … # document``; features are ignored.

    The comment has the document's id: ``docid = GX001``, or else its first word. In files without comments the
    documents of a query are numbered from 1, if the format was named: rankings must then use these numbers. Lines
    without ``qid:`` belong to the queries of a second file, ``NAME.group`` or ``NAME.query``: a size on each line.
    """
    columns: dict[str, list[str]] = {"query": [], "document": [], "grade": []}
    lines: list[int] = []
    mistakes = Mistakes()
    queries = _read_groups(file)
    for number, line in enumerate(file.lines(), 1):
        content, _, comment = REMARK.sub("\n", line, count=1).partition("\n")
        found = split_words(content)
        if not found:
            continue
        query = next(queries, "") if queries else found[1][4:] if found[1:] and found[1].startswith("qid:") else ""
        if not query:
            mistakes.add(_describe_missing_query(file, number, queries is not None))
            continue
        for column, value in zip(columns.values(), (query, _find_document(comment), found[0]), strict=True):
            column.append(value)
        lines.append(number)
    if queries and not mistakes.count and (left := sum(1 for _ in queries)):
        complaint = f"has groups for {format_count(left, 'line')} more than {file.name} has"
        mistakes.add(Problem(complaint, place=str(find_file_of_groups(file))))
    mistakes.refuse()
    _number_documents(file, columns, lines, how)
    return Table(columns, file.name, place_by_line(file.name, lines))


def _read_groups(file: InputFile) -> Iterator[str] | None:
    """The query of each line, counted from 1, by the file of groups; None without one, or if lines name queries."""
    groups = find_file_of_groups(file)
    if groups is None or any(len(found) > 1 and found[1].startswith("qid:") for found in file.first_words):
        return None
    with open_input(groups) as inside:
        sizes = [(number, line.strip()) for number, line in enumerate(inside.lines(), 1) if line.strip()]
        mistakes = Mistakes()
        for number, size in sizes:
            if not (size.isascii() and size.isdigit() and len(size) < 10):
                complaint = f"{quote(size)} is not the number of lines of a query"
                mistakes.add(Problem(complaint, place=f"{inside.name}:{number}"))
        mistakes.refuse()
    return (str(query) for query, (_, size) in enumerate(sizes, 1) for _ in range(int(size)))


def _describe_missing_query(file: InputFile, number: int, grouped: bool) -> Problem:
    place = f"{file.name}:{number}"
    if grouped:
        return Problem(f"is in no group of {find_file_of_groups(file)}", place=place)
    named = any(found[1:] and found[1].startswith("qid:") for found in file.first_words)
    groups = "" if named else "without qid:, put the number of lines of each query into a file NAME.group beside it"
    allowed = "a line is: grade qid:query 1:feature … # document"
    return Problem("has no qid: after the grade", place=place, suggestion=groups, allowed=allowed)


def _find_document(comment: str) -> str:
    named = DOCUMENT.search(comment)
    return (named[1] if named else next(iter(comment.split()), "")).rstrip(";,")


def _number_documents(file: InputFile, columns: dict[str, list[str]], lines: list[int], how: Reading) -> None:
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


TOPIC, QUERY, DOC = (
    re.compile(rf"<(?P<closes>/?)(?:{name})\b(?P<attributes>[^<>]*?)(?P<empty>/?)>", re.IGNORECASE)
    for name in ("top|topic", "query", "doc")
)
"""A block; NTCIR and CLEF also write ``<query>`` for one, where TREC has it for a field, and CACM has ``<DOC>``."""
TAG = re.compile(
    r"<(?P<closes>/?)(?P<name>[A-Za-z][\w-]*)(?P<attributes>(?:\s+[\w:-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*/?>"
)
"""A tag; any other ``<`` is text: ``price < 1000``."""

ATTRIBUTE = re.compile(r"""(?<![\w:-])([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
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

IDS = ("number", "id", "qid", "topic_id", "query_id", "identifier", "docno")
LANGUAGE = re.compile(r"[a-z]{2}-(?=(title|desc|narr)$)")
"""The language before a field in topics of CLEF: ``<EN-title>``."""
TEXTS = ("title", "query", "content", "description", "question", "text", "docid")
"""Fields with the text of a query, best first; a topic of TREC's news track is a document, named by its id."""


def read_topic_queries(file: InputFile) -> Table:
    """A row for each topic: id, text, and every other field."""
    topics: list[dict[str, str]] = []
    lines: list[int] = []
    mistakes = Mistakes()
    for line, attributes, body in _split_topics(file):
        every = _read_fields(attributes, body)
        fields = {name: "; ".join(values) for name, values in every.items()}
        id_name = next((name for name in IDS if fields.get(name)), "")
        ids = list(dict.fromkeys(every.get(id_name, [""])))
        query = ids[0]
        words = next((fields[name] for name in TEXTS if fields.get(name)), "")
        missing = "no number" if not query else "no title, query or description" if not words else ""
        if missing or len(ids) > 1:
            complaint = missing or f"the numbers {' and '.join(ids)}: is the end of a topic missing?"
            mistakes.add(Problem(f"this topic has {complaint}", place=f"{file.name}:{line}"))
            continue
        rest = {name: value for name, value in fields.items() if name not in (id_name, "text")}
        topics.append({"id": query, "text": words, **{f"{n}_" if n == "id" else n: v for n, v in rest.items()}})
        lines.append(line)
    mistakes.refuse()
    names = dict.fromkeys(name for topic in topics for name in topic)
    columns = {name: [topic.get(name, "") for topic in topics] for name in names}
    return Table(columns, file.name, place_by_line(file.name, lines))


def _split_topics(file: InputFile) -> Iterator[tuple[int, str, str]]:
    """The line on which each topic begins, its attributes, and its content."""
    text = _replace_parts(COMMENT, "-->", _blank_out, file.text())
    ends = [match.start() for match in re.finditer("\n", text)]
    opened: re.Match[str] | None = None
    block = next((each for each in (TOPIC, QUERY) if each.search(text)), DOC)
    for tag in block.finditer(_replace_parts(QUOTED, "]]>", _blank_out, text)):
        line = bisect_left(ends, (opened or tag).start()) + 1
        if tag["empty"] and not opened:
            yield line, tag["attributes"], ""
            continue
        if bool(tag["closes"]) != (opened is not None):
            if opened:
                raise _describe_unclosed(file, line, opened, f"before line {bisect_left(ends, tag.start()) + 1}")
            raise InputError(Problem("a topic ends here, but none has begun", place=f"{file.name}:{line}"))
        if opened:
            yield line, opened["attributes"], text[opened.end() : tag.start()]
        opened = None if tag["closes"] else tag
    if opened:
        raise _describe_unclosed(file, bisect_left(ends, opened.start()) + 1, opened)
    if opened is None and not block.search(text):
        raise InputError(Problem("the file contains no topics", place=file.name))


def _describe_unclosed(file: InputFile, line: int, opened: re.Match[str], before: str = "") -> InputError:
    where = f"{before}, where the next topic begins" if before else "at the end of the file"
    remedy = f"write </{opened.group()[1:].split()[0].rstrip('>')}> {where}"
    return InputError(Problem("this topic is not closed", place=f"{file.name}:{line}", suggestion=remedy))


def _replace_parts(pattern: re.Pattern[str], end: str, change: Callable[[re.Match[str]], str], text: str) -> str:
    """The text with each part that the pattern matches, up to ``end``, changed; a part without end is text."""
    before, found, after = text.rpartition(end)  # no search for an end behind the last one, which takes long
    return pattern.sub(change, before + found) + after


def _blank_out(match: re.Match[str]) -> str:
    """The same number of spaces, and all line ends: the following text stays on its line."""
    return re.sub(r"[^\n]", " ", match.group())


def _read_fields(attributes: str, body: str) -> dict[str, list[str]]:
    """The values of attributes and elements by name; empty elements do not count."""
    fields = {name.lower(): [_unescape(double or single)] for name, double, single in ATTRIBUTE.findall(attributes)}
    for name, value in _split_fields(body):
        if value:
            fields[name] = [*filter(None, fields.get(name, ())), value]
    return fields


def _split_fields(body: str) -> Iterator[tuple[str, str]]:
    """Each field of a topic with its text; the part before the first tag is the field ``text``."""
    body = _replace_parts(QUOTED, "]]>", lambda match: html.escape(match[1]), body)
    tags = [tag for tag in TAG.finditer(body) if tag["name"].lower() not in INLINE]
    name, start = "text", 0
    for tag in [*tags, None]:
        text = body[start : tag.start() if tag else len(body)]
        yield name, _remove_label(name, _unescape(TAG.sub("", text)))
        if tag:
            field = LANGUAGE.sub("", tag["name"].lower())
            name = "text" if tag["closes"] else NAMES.get(field, field)
            start = tag.end()


def _remove_label(name: str, text: str) -> str:
    """The text without the label that old topics put before it."""
    label = LABELS.get(name)
    return text[len(label) + 1 :].strip() if label and text.lower().startswith(f"{label.lower()}:") else text


def _unescape(text: str) -> str:
    return " ".join(html.unescape(text).split())


def read_id_text_pairs(file: InputFile) -> Table:
    """Columns id and text, with a colon between them; TREC's million-query track has a priority in the middle."""
    rows = [(number, line.rstrip("\r\n")) for number, line in enumerate(file.lines(), 1) if line.strip()]
    with_priority = all(ID_PRIORITY_TEXT.match(line) for line in file.first_lines)
    names = ("id", "priority", "text") if with_priority else ("id", "text")
    cells: list[list[str]] = []
    mistakes = Mistakes()
    for number, line in rows:
        found = [cell.strip() for cell in line.split(":", len(names) - 1)]
        if len(found) < len(names) or not all(found):
            mistakes.add(Problem(f"is not {':'.join(names)}", place=f"{file.name}:{number}"))
        cells.append(found)
    mistakes.refuse()
    columns = {name: [row[at] for row in cells] for at, name in enumerate(names)}
    return Table(columns, file.name, place_by_line(file.name, [number for number, _ in rows]))


def read_heading_queries(file: InputFile) -> Table:
    """The path of headings on each line is an id; its text is the headings, decoded."""
    ids: list[str] = []
    lines: list[int] = []
    mistakes = Mistakes()
    for number, line in enumerate(file.lines(), 1):
        found = split_words(line)
        if len(found) > 1:
            complaint = f"has {len(found)} words, but a path of headings is one word"
            mistakes.add(Problem(complaint, place=f"{file.name}:{number}"))
        elif found:
            ids.append(found[0])
            lines.append(number)
    mistakes.refuse()
    texts = [" ".join(map(unquote, query.removeprefix("enwiki:").split("/"))) for query in ids]
    return Table({"id": ids, "text": texts}, file.name, place_by_line(file.name, lines))


SMART_FIELDS = {"T": "title", "W": "text", "A": "author", "B": "source", "K": "keywords"}
SMART_FIELD = re.compile(r"\.([A-Z])(?:\s+(\S.*))?")
SMART_COLUMNS = "query document grade, or query document 0 0.000000"


def read_smart_queries(file: InputFile) -> Table:
    """A row for each ``.I id``; ``.W`` is its text, and other fields are kept."""
    rows: list[tuple[dict[str, str], str]] = []
    field = ""
    mistakes = Mistakes()
    for number, line in enumerate(file.lines(), 1):
        place = f"{file.name}:{number}"
        mark = SMART_FIELD.fullmatch(line.strip())
        if mark and mark[1] == "I":
            rows.append(({"id": mark[2] or ""}, place))
            field = ""
        elif not rows and line.strip():
            mistakes.add(Problem("comes before the first query, which begins with .I and its id", place=place))
        elif mark:
            field = SMART_FIELDS.get(mark[1], mark[1].lower())
        elif field and line.strip():
            row = rows[-1][0]
            row[field] = f"{row.get(field, '')} {line.strip()}".strip()
    for row, place in rows:
        if not row.get("text") and not row.get("title"):
            mistakes.add(Problem("this query has no text (.W)", place=place))
        row.setdefault("text", row.get("title", ""))
    mistakes.refuse()
    return tabulate_rows(rows, file.name)


def read_smart_judgments(file: InputFile) -> Table:
    """Query, document and grade of every line; documents that are listed without a grade are relevant, with grade 1."""
    columns: dict[str, list[str]] = {"query": [], "document": [], "grade": []}
    lines: list[int] = []
    mistakes = Mistakes()
    for number, line in enumerate(file.lines(), 1):
        found = split_words(line)
        if not found:
            continue
        listed = len(found) == 4 and is_listed(found)
        if len(found) != 3 and not listed:
            complaint = f"has {format_count(len(found), 'column')}" if len(found) != 4 else "does not end in 0 0.000000"
            mistakes.add(Problem(complaint, place=f"{file.name}:{number}", allowed=f"columns: {SMART_COLUMNS}"))
            continue
        for column, value in zip(columns.values(), (*found[:2], "1" if listed else found[2]), strict=True):
            column.append(value)
        lines.append(number)
    mistakes.refuse()
    return Table(columns, file.name, place_by_line(file.name, lines))
