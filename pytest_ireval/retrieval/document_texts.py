"""Titles, addresses and other fields of documents: read from a file, or returned by a source; shown beside ids."""

from __future__ import annotations

import base64
import csv
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from pytest_ireval.errors import InputError, Problem, shown
from pytest_ireval.results.outcome import DocumentText, Placed, QueryChange
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.retrieval.formats.input_file import FilePath, InputFile, input_file, near
from pytest_ireval.retrieval.tables import COLUMN_NAMES, cell_text, plain_name
from pytest_ireval.text_table import counted

TITLES = ("title", "name", "headline", "label", "text", "body", "content", "description")
URLS = ("url", "link", "href", "uri")
IMAGES = ("image", "imageurl", "img", "thumbnail", "picture")
LONGEST_TITLE, LONGEST_FIELD, MOST_FIELDS = 120, 200, 12
IDS = ("id", "_id", *(plain_name(name) for group in COLUMN_NAMES["document"] for name in group))
"""Names of the field that holds the id, the first that is there."""
PARQUET = b"PAR1"
PICTURES = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp"}
"""Kinds of pictures by their first bytes."""
LARGEST_PICTURE, LARGEST_PICTURES = 50_000, 3_000_000
SHOWABLE = "give files of PNG, JPEG, GIF or WebP below the folder of texts, up to 50 kB each and 3 MB together"


def document_text(fields: Mapping[str, Any]) -> DocumentText:
    """Choose title, address and image by their usual names; the other fields are kept, cut to one line each."""
    fields = dict(_flat(fields))
    by_name = {plain_name(name): name for name in fields}

    def first(names: tuple[str, ...]) -> tuple[str, str]:
        found = ((by_name[name], _line(fields[by_name[name]])) for name in names if name in by_name)
        return next((each for each in found if each[1]), ("", ""))

    title, url, image = first(TITLES), first(URLS), first(IMAGES)
    used = {title[0], url[0], image[0]}
    others = {name: text for name in fields if name not in used and (text := _line(fields[name])[:LONGEST_FIELD])}
    return DocumentText(title[1][:LONGEST_TITLE], url[1], image[1], dict(list(others.items())[:MOST_FIELDS]))


def _flat(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Put the fields of an object in a field, such as ``metadata``, beside the others."""
    for name, value in fields.items():
        yield from ((str(each), part) for each, part in (value if isinstance(value, dict) else {name: value}).items())


def _line(value: Any) -> str:
    whole = cell_text(value).encode("utf-8", "replace").decode()  # half a character cannot be written
    return " ".join(whole.split())


def read_document_texts(path: FilePath, wanted: Collection[str]) -> dict[str, DocumentText]:
    """Read JSON lines, a table with a header (CSV, TSV) or Parquet; only the wanted documents are kept.

    The first row of a document counts.
    """
    found: dict[str, DocumentText] = {}
    with input_file(path) as file:
        for fields in _rows(file):
            name = next(_names_of_ids(fields), None)
            if name is None:
                allowed = f"a field {', '.join(dict.fromkeys(IDS))}"
                raise InputError(
                    Problem(f"no field is the id of a document: {_some(fields)}", file.name, allowed=allowed)
                )
            document = cell_text(fields[name]).strip()
            if document in wanted and document not in found:
                found[document] = document_text({each: value for each, value in fields.items() if each != name})
            if len(found) == len(wanted):
                break
    return found


def _names_of_ids(fields: Mapping[str, Any]) -> Iterator[str]:
    by_name = {plain_name(name): name for name in fields}
    return (by_name[name] for name in IDS if name in by_name)


def _some(fields: Mapping[str, Any]) -> str:
    return f"the fields are {', '.join(map(shown, list(fields)[:MOST_FIELDS]))}"


def _rows(file: InputFile) -> Iterator[Mapping[str, Any]]:
    if file.bytes.head(4) == PARQUET:
        from pytest_ireval.retrieval.formats.parquet import parquet

        columns = parquet(file).columns
        yield from (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    elif file.head.lstrip().startswith("{"):
        yield from _json_rows(file)
    else:
        yield from _table_rows(file)


def _json_rows(file: InputFile) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(file.lines(), 1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(
                Problem(f"is not JSON: {error}", f"{file.name}:{number}", allowed="one object a line")
            ) from None
        if not isinstance(fields, dict):
            raise InputError(Problem("is not a JSON object", f"{file.name}:{number}", allowed="one object a line"))
        yield fields


def _table_rows(file: InputFile) -> Iterator[Mapping[str, Any]]:
    if file.delimiter == "\t":
        reader: Iterator[list[str]] = (line.rstrip("\r\n").split("\t") for line in file.lines())
    else:
        reader = csv.reader(file.lines(), delimiter=file.delimiter)
    try:
        names = next(reader, [])
        for row in reader:
            if row:
                yield dict(zip(names, row, strict=False))
    except csv.Error as error:
        raise InputError(Problem(f"is not CSV: {error}", file.name)) from None


def titles_of(
    wanted: Collection[str], described: Mapping[str, Mapping[str, Any]], path: Path | None
) -> Mapping[str, str]:
    """The titles of documents; those of a file that cannot be read are left out, which :func:`with_texts` reports."""
    found = {each: document_text(described[each]).title for each in wanted if each in described}
    if path is not None:
        with suppress(InputError, OSError):
            texts = read_document_texts(near(path), set(wanted) - set(found))
            found |= {each: text.title for each, text in texts.items()}
    return {each: title for each, title in found.items() if title}


def with_texts(
    result: SuiteResult, described: Mapping[str, Mapping[str, Any]], path: Path | None, *, pictures: bool = False
) -> SuiteResult:
    """Put titles beside all documents that a result shows, from fields by document, then from a file.

    With ``pictures``, small files beside that file become part of the result. A file that cannot be read is a note:
    titles and pictures decide nothing.
    """
    if path is None and not described:
        return result
    wanted = set(_shown_documents(result))
    texts = {document: document_text(described[document]) for document in wanted if document in described}
    if path is not None:
        try:
            texts |= read_document_texts(near(path), wanted - set(texts))
            trouble = "" if texts or not wanted else f"{near(path)}: none of the shown documents is in this file"
        except (InputError, OSError) as error:
            trouble = " ".join(str(error).split())
        if trouble:
            result = replace(result, notes=(*result.notes, f"documents have no titles: {trouble}"))
    if pictures:
        texts, left_out = _with_pictures(texts, path.parent if path else Path.cwd())
        if left_out:
            result = replace(
                result, notes=(*result.notes, f"{counted(left_out, 'picture')} cannot be shown: {SHOWABLE}")
            )
    titles = {document: text.title for document, text in texts.items() if text.title}
    return replace(
        result,
        outcomes=tuple(replace(each, queries=_titled_queries(each.queries, titles)) for each in result.outcomes),
        since_base=result.since_base
        and replace(result.since_base, queries=_titled_queries(result.since_base.queries, titles)),
        documents=tuple(
            replace(each, documents=tuple(_titled(placed, titles) for placed in each.documents))
            for each in result.documents
        ),
        to_judge=tuple(replace(each, title=titles.get(each.document, "")) for each in result.to_judge),
        texts=texts,
    )


def _with_pictures(texts: Mapping[str, DocumentText], folder: Path) -> tuple[dict[str, DocumentText], int]:
    """The same with the content of pictures in place of their paths, and the number of those that cannot be shown."""
    found, left_out, room = {}, 0, LARGEST_PICTURES
    for document, text in texts.items():
        picture = _picture(text.image, folder)
        left_out += bool(text.image) and not 0 < len(picture) <= room
        picture = picture if len(picture) <= room else ""
        room -= len(picture)
        found[document] = replace(text, image=picture)
    return found, left_out


def _picture(image: str, folder: Path) -> str:
    """A small picture as a page may hold it: ``data:image/png;base64,…``; empty if it is none, or an address."""
    if not image or "\0" in image or ":" in image:
        return ""
    file = (folder / image).resolve()
    if not file.is_relative_to(folder.resolve()) or not file.is_file() or file.stat().st_size > LARGEST_PICTURE:
        return ""
    content = file.read_bytes()
    kind = next((kind for start, kind in PICTURES.items() if content.startswith(start)), "")
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}" if kind else ""


def _shown_documents(result: SuiteResult) -> Iterator[str]:
    lists = [outcome.queries for outcome in result.outcomes]
    for query in chain(*lists, result.since_base.queries if result.since_base else ()):
        yield from (placed.document for placed in (*query.top, *([query.best] if query.best else [])))
    for each in result.documents:
        yield from (placed.document for placed in each.documents)
    yield from (each.document for each in result.to_judge)


def _titled_queries(queries: Iterable[QueryChange], titles: Mapping[str, str]) -> tuple[QueryChange, ...]:
    return tuple(_titled_query(query, titles) for query in queries)


def _titled_query(query: QueryChange, titles: Mapping[str, str]) -> QueryChange:
    best = None if query.best is None else _titled(query.best, titles)
    return replace(query, best=best, top=tuple(_titled(placed, titles) for placed in query.top))


def _titled(placed: Placed, titles: Mapping[str, str]) -> Placed:
    return replace(placed, title=titles.get(placed.document, ""))
