"""Ratings of Rated Ranking Evaluator: groups of queries that share their relevant documents.

The text of a query is its id; its group and the group's subject are kept as columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_ireval.retrieval.formats.input_file import InputFile
from pytest_ireval.retrieval.formats.json_text import Node, document
from pytest_ireval.retrieval.tables import Table, table_of_rows

Rows = Iterator[tuple[dict[str, Any], str]]


def rre_queries(file: InputFile) -> Table:
    """Each query once: several templates may have the same text."""
    whole = document(file)
    seen: dict[str, tuple[dict[str, Any], str]] = {}
    for query, _, about in _queries(whole):
        text = _text(query, whole)
        seen.setdefault(text, ({"id": text, "text": text, **about}, query.place))
    return table_of_rows(iter(seen.values()), file.name)


def rre_judgments(file: InputFile) -> Table:
    """A row for each query and document of its own list, or of its group's."""
    return table_of_rows(_judgments(document(file)), file.name)


def _judgments(whole: Node) -> Rows:
    for query, group, _ in _queries(whole):
        holder = query if query.has("relevant_documents") else group
        if not holder.has("relevant_documents"):
            raise query.error("neither the query nor its group has 'relevant_documents'")
        for identifier, grade, place in _relevant(holder.get("relevant_documents")):
            yield {"query": _text(query, whole), "document": identifier, "grade": grade}, place


def _queries(whole: Node) -> Iterator[tuple[Node, Node, dict[str, str]]]:
    """Every query with its owner (a group of a subject, a group, or the file itself) and the names of the owner."""
    for subject in (*whole.each("topics"), whole):
        about = {} if subject is whole else {"subject": subject.text("description") or subject.text("name")}
        for group in (*subject.each("query_groups"), subject):
            of_group = about if group is subject else {**about, "group": group.text("name")}
            for query in group.each("queries"):
                yield query, group, of_group


def _text(query: Node, whole: Node) -> str:
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
