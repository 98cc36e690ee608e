"""Titles, addresses and other fields of documents: read from a file, or returned by a source; shown next to ids."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from pytest_ireval.data.formats.input_file import FilePath, shorten_path
from pytest_ireval.data.side_data import MOST_FIELDS, flatten_fields, read_fields
from pytest_ireval.data.tables import format_cell, normalize_name
from pytest_ireval.errors import InputError
from pytest_ireval.results.outcome import DocumentText, Placed, QueryChange
from pytest_ireval.results.suite_result import SuiteResult

TITLES = ("title", "name", "headline", "label", "text", "body", "content", "page_content", "description")
URLS = ("url", "link", "href", "uri")
LONGEST_TITLE, LONGEST_FIELD = 120, 200


def make_document_text(fields: Mapping[str, Any]) -> DocumentText:
    """Title and address by their usual names; the other fields are kept, cut to one line each."""
    fields = dict(flatten_fields(fields))
    by_name = {normalize_name(name): name for name in fields}

    def first(names: tuple[str, ...]) -> tuple[str, str]:
        found = ((by_name[name], _format_line(fields[by_name[name]])) for name in names if name in by_name)
        return next((each for each in found if each[1]), ("", ""))

    title, url = first(TITLES), first(URLS)
    used = {title[0], url[0]}
    others = {
        name: text for name in fields if name not in used and (text := _format_line(fields[name])[:LONGEST_FIELD])
    }
    return DocumentText(title[1][:LONGEST_TITLE], url[1], dict(list(others.items())[:MOST_FIELDS]))


def _format_line(value: Any) -> str:
    whole = format_cell(value).encode("utf-8", "replace").decode()  # half a character cannot be written
    return " ".join(whole.split())


def read_document_texts(path: FilePath, wanted: Collection[str]) -> dict[str, DocumentText]:
    """The titles, addresses and other fields of the wanted documents, to be shown."""
    return {document: make_document_text(fields) for document, fields in read_fields(path, wanted).items()}


class DocumentTexts(NamedTuple):
    """The fields of documents that the source returned, and the file that has more of them."""

    returned: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    file: Path | None = None

    def find_titles(self, wanted: Collection[str]) -> dict[str, str]:
        """The titles of documents. A file that cannot be read has none here; :func:`add_texts` reports it."""
        found = {each: make_document_text(self.returned[each]).title for each in wanted if each in self.returned}
        if self.file is not None:
            with suppress(InputError, OSError):
                texts = read_document_texts(shorten_path(self.file), set(wanted) - set(found))
                found |= {each: text.title for each, text in texts.items()}
        return {each: title for each, title in found.items() if title}


def add_texts(result: SuiteResult, described: Mapping[str, Mapping[str, Any]], path: Path | None) -> SuiteResult:
    """The result with the titles of all documents that it shows, from fields by document, then from a file.

    A file that cannot be read is a note: it decides nothing.
    """
    if path is None and not described:
        return result
    wanted = set(_list_shown_documents(result))
    texts = {document: make_document_text(described[document]) for document in wanted if document in described}
    if path is not None:
        try:
            texts |= read_document_texts(shorten_path(path), wanted - set(texts))
            trouble = (
                "" if texts or not wanted else f"{shorten_path(path)}: none of the shown documents is in this file"
            )
        except (InputError, OSError) as error:
            trouble = " ".join(str(error).split())
        if trouble:
            result = replace(result, notes=(*result.notes, f"documents have no titles: {trouble}"))
    titles = {document: text.title for document, text in texts.items() if text.title}
    base = result.since_base
    return replace(
        result,
        outcomes=tuple(replace(each, queries=_add_titles_to_queries(each.queries, titles)) for each in result.outcomes),
        since_base=base and replace(base, queries=_add_titles_to_queries(base.queries, titles)),
        documents=tuple(replace(each, documents=_add_titles(each.documents, titles)) for each in result.documents),
        to_judge=tuple(replace(each, title=titles.get(each.document, "")) for each in result.to_judge),
        texts=texts,
    )


def _list_shown_documents(result: SuiteResult) -> Iterator[str]:
    lists = [outcome.queries for outcome in result.outcomes]
    for query in chain(*lists, result.since_base.queries if result.since_base else ()):
        yield from (placed.document for placed in (*query.top, *([query.best] if query.best else [])))
    for each in result.documents:
        yield from (placed.document for placed in each.documents)
    yield from (each.document for each in result.to_judge)


def _add_titles_to_queries(queries: Iterable[QueryChange], titles: Mapping[str, str]) -> tuple[QueryChange, ...]:
    return tuple(
        replace(query, best=query.best and _add_titles([query.best], titles)[0], top=_add_titles(query.top, titles))
        for query in queries
    )


def _add_titles(documents: Iterable[Placed], titles: Mapping[str, str]) -> tuple[Placed, ...]:
    return tuple(replace(placed, title=titles.get(placed.document, "")) for placed in documents)
