"""Files of other tools: Quepid, Rated Ranking Evaluator, Elasticsearch's ranking evaluation, LETOR, and TREC topics.

Quepid and Rated Ranking Evaluator know queries by their text, so the text is the id. TREC topics are blocks of
``<top>`` whose tags are not closed, or XML with an element a topic.
"""

from __future__ import annotations

import html
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any

from pytest_ireval.errors import InputError, Mistakes, Problem
from pytest_ireval.retrieval.formats.input_file import InputFile, words
from pytest_ireval.retrieval.formats.reader import Reading
from pytest_ireval.retrieval.formats.recognised import is_text
from pytest_ireval.retrieval.formats.row_files import Node, delimited_table, document
from pytest_ireval.retrieval.tables import Table, at_lines, column_for, named, selected, table_of_rows

Rows = Iterator[tuple[dict[str, Any], str]]
"""Rows, each with its place."""


def _of_json(rows: Callable[[Node], Rows]) -> Callable[[InputFile], Table]:
    """A reader of the rows in a JSON document."""
    return lambda file: table_of_rows(rows(document(file)), file.name)


def case_queries(file: InputFile) -> Table:
    """Each query once, with its information need and notes if the file has them."""
    if is_text(file):
        cells = _cells(file)
        first = {query: row for row, query in reversed(list(enumerate(cells.columns["query"])))}
        chosen = selected(cells, sorted(first.values()))
        texts = chosen.columns["query"]
        return Table({"id": texts, "text": texts}, chosen.origin, chosen.place)
    return table_of_rows(_case_queries(document(file)), file.name)


def case_judgments(file: InputFile) -> Table:
    """A row for each rating; documents without a rating are not judged."""
    if is_text(file):
        cells = _cells(file)
        return selected(cells, [row for row, grade in enumerate(cells.columns["grade"]) if grade])
    return table_of_rows(_case_ratings(document(file)), file.name)


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


def _case_queries(case: Node) -> Rows:
    for query in case.each("queries"):
        text = _text_of(query)
        about = {"information_need": query.text("information_need"), "notes": query.text("notes")}
        yield {"id": text, "text": text, **about}, query.place


def _case_ratings(case: Node) -> Rows:
    for query in case.each("queries"):
        if not query.has("ratings"):
            continue
        ratings = query.get("ratings")
        if isinstance(ratings.value, dict):  # the ratings alone: {document: rating}
            for identifier, rating in ratings.entries():
                if rating.value is not None:
                    row = {"query": _text_of(query), "document": identifier, "grade": rating.value}
                    yield row, rating.place
            continue
        for rating in query.each("ratings"):
            if not rating.has("rating"):
                continue
            row = {"query": _text_of(query), "document": rating.text("doc_id"), "grade": rating.text("rating")}
            yield {**row, "judge": rating.text("user_email")}, rating.place


def _text_of(query: Node) -> str:
    return query.text("query_text") or query.required("query")


def book_queries(file: InputFile) -> Table:
    """Each query once, with its information need if the file has it."""
    seen: dict[str, tuple[dict[str, Any], str]] = {}
    for row, place in _csv_book_queries(file) if is_text(file) else _book_queries(document(file)):
        seen.setdefault(row["id"], (row, place))
    return table_of_rows(iter(seen.values()), file.name)


def book_judgments(file: InputFile) -> Table:
    """A row for each judgment of each judge."""
    return table_of_rows(_csv_book_judgments(file) if is_text(file) else _book_judgments(document(file)), file.name)


def _csv_book_queries(file: InputFile) -> Rows:
    cells = delimited_table(file)
    for row, query in enumerate(cells.column("query")):
        yield {"id": query.strip(), "text": query.strip()}, cells.place(row)


def _csv_book_judgments(file: InputFile) -> Rows:
    cells = delimited_table(file)
    query, identifier = (column_for(cells.columns, kind, file.name) for kind in ("query", "document"))
    judges = [name for name in cells.columns if name not in (query, identifier)]
    for row in cells.rows:
        for judge in judges:
            grade = cells.columns[judge][row].strip()
            if grade:
                pair = {"query": cells.columns[query][row].strip(), "document": cells.columns[identifier][row].strip()}
                yield {**pair, "grade": grade, "judge": judge}, cells.place(row)


def _book_queries(book: Node) -> Rows:
    for pair in book.each("query_doc_pairs"):
        text = pair.required("query_text")
        yield {"id": text, "text": text, "information_need": pair.text("information_need")}, pair.place


def _book_judgments(book: Node) -> Rows:
    for pair in book.each("query_doc_pairs"):
        for judgment in pair.each("judgements"):
            if judgment.has("rating") and not _is_set(judgment, "unrateable") and not _is_set(judgment, "judge_later"):
                row = {"query": pair.required("query_text"), "document": pair.text("doc_id")}
                about = {"judge": judgment.text("user_email"), "explanation": judgment.text("explanation")}
                yield {**row, "grade": judgment.text("rating"), **about}, judgment.place


def _is_set(judgment: Node, key: str) -> bool:
    return judgment.has(key) and judgment.get(key).value is True


@_of_json
def rre_queries(whole: Node) -> Rows:
    """Each query once: several templates may have the same text."""
    seen: dict[str, tuple[dict[str, Any], str]] = {}
    for query, _, about in _with_owners(whole):
        text = _placed_text(query, whole)
        seen.setdefault(text, ({"id": text, "text": text, **about}, query.place))
    yield from seen.values()


@_of_json
def rre_judgments(whole: Node) -> Rows:
    """A row for each query and document of its own list, or of its group's."""
    for query, group, _ in _with_owners(whole):
        holder = query if query.has("relevant_documents") else group
        if not holder.has("relevant_documents"):
            raise query.error("neither the query nor its group has 'relevant_documents'")
        for identifier, grade, place in _relevant(holder.get("relevant_documents")):
            yield {"query": _placed_text(query, whole), "document": identifier, "grade": grade}, place


def _with_owners(whole: Node) -> Iterator[tuple[Node, Node, dict[str, str]]]:
    """Every query with its owner (a group of a subject, a group, or the file itself) and the names of the owner."""
    for subject in (*whole.each("topics"), whole):
        about = {} if subject is whole else {"subject": subject.text("description") or subject.text("name")}
        for group in (*subject.each("query_groups"), subject):
            of_group = about if group is subject else {**about, "group": group.text("name")}
            for query in group.each("queries"):
                yield query, group, of_group


def _placed_text(query: Node, whole: Node) -> str:
    """The value of the placeholder for the query's text."""
    return query.get("placeholders").required(whole.text("query_placeholder") or "$query")


def _relevant(documents: Node) -> Iterator[tuple[str, Any, str]]:
    """Document, grade and place: from ``{document: {gain: 3}}``, or from ``{"3": [document, …]}``."""
    for key, node in documents.entries():
        if isinstance(node.value, list):
            for identifier in node.value:
                yield identifier, key, node.place
        else:
            grade = node.get("gain") if node.has("gain") else node.get("rating")
            yield key, grade.value, node.place


PARAMETERS = ("query_string", "query", "q", "text")
"""Parameters of a template that hold the text, best first."""

OF_ONE_FIELD = ("match", "match_phrase", "term", "match_bool_prefix", "match_phrase_prefix")


@_of_json
def elasticsearch_queries(whole: Node) -> Rows:
    """A row for each request."""
    for request in whole.each("requests"):
        row = {"id": request.required("id"), "text": _searched(request), "template": request.text("template_id")}
        yield row, request.place


@_of_json
def elasticsearch_judgments(whole: Node) -> Rows:
    """A row for each rating; where there are several indices, a document's id is written ``index/id``."""
    ratings = [(request, rating) for request in whole.each("requests") for rating in request.each("ratings")]
    several = len({rating.text("_index") for _, rating in ratings}) > 1
    for request, rating in ratings:
        identifier = f"{rating.text('_index')}/{rating.text('_id')}" if several else rating.text("_id")
        row = {"query": request.required("id"), "document": identifier, "grade": rating.get("rating").value}
        yield row, rating.place


def _searched(request: Node) -> str:
    """The words that are searched for: a parameter of the template, or the only text in the query; else nothing."""
    if request.has("params"):
        parameters = dict(request.get("params").entries())
        name = next((name for name in PARAMETERS if name in parameters), next(iter(parameters), ""))
        value = parameters[name].value if name else ""
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if not request.has("request"):
        return ""
    body = request.get("request")
    texts = set(_texts(body.get("query").value)) if body.has("query") or body.text("query") else set()
    return texts.pop() if len(texts) == 1 else ""


def _texts(query: Any) -> Iterator[str]:
    """Texts of clauses such as match or query_string."""
    for key, value in query.items() if isinstance(query, dict) else ():
        if key in OF_ONE_FIELD and isinstance(value, dict):
            for sought in value.values():
                yield str(sought.get("query", sought.get("value", "")) if isinstance(sought, dict) else sought)
        elif key in ("multi_match", "query_string", "simple_query_string") and isinstance(value, dict):
            yield str(value.get("query", ""))
        else:
            for part in value if isinstance(value, list) else [value]:
                yield from _texts(part)


REMARK = re.compile(r"(^|\s)#")
"""The mark of a comment; inside a word it is part of the word."""

DOCUMENT = re.compile(r"\bdoc_?(?:id|no)\s*=\s*(\S+)", re.IGNORECASE)


def letor_judgments(file: InputFile, how: Reading) -> Table:
    """Query, document and grade of every line: ``grade qid:query 1:feature … # document``; features are ignored.

    The comment has the document's id: ``docid = GX001``, or else its first word. In files without comments the
    documents of a query are numbered from 1, if the format was named: rankings must then use these numbers.
    """
    columns: dict[str, list[str]] = {"query": [], "document": [], "grade": []}
    lines: list[int] = []
    mistakes = Mistakes()
    for number, line in enumerate(file.lines(), 1):
        content, _, comment = REMARK.sub("\n", line, count=1).partition("\n")
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
