"""Titles, addresses and other fields of documents: read from a file, or returned by a source; shown next to ids."""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from pytest_ireval.errors import InputError
from pytest_ireval.results.outcome import DocumentText, Placed, QueryChange
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.retrieval.companions import MOST_FIELDS, flat_fields, read_fields
from pytest_ireval.retrieval.formats.input_file import FilePath, near
from pytest_ireval.retrieval.tables import cell_text, plain_name
from pytest_ireval.text_table import counted

TITLES = ("title", "name", "headline", "label", "text", "body", "content", "page_content", "description")
URLS = ("url", "link", "href", "uri")
IMAGES = ("image", "imageurl", "img", "thumbnail", "picture")
LONGEST_TITLE, LONGEST_FIELD = 120, 200
PICTURES = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp"}
"""Kinds of pictures by their first bytes."""
LARGEST_PICTURE, LARGEST_PICTURES = 50_000, 3_000_000
SHOWABLE = "give files of PNG, JPEG, GIF or WebP below the folder of fields, up to 50 kB each and 3 MB together"


def document_text(fields: Mapping[str, Any]) -> DocumentText:
    """Title, address and image by their usual names; the other fields are kept, cut to one line each."""
    fields = dict(flat_fields(fields))
    by_name = {plain_name(name): name for name in fields}

    def first(names: tuple[str, ...]) -> tuple[str, str]:
        found = ((by_name[name], _line(fields[by_name[name]])) for name in names if name in by_name)
        return next((each for each in found if each[1]), ("", ""))

    title, url, image = first(TITLES), first(URLS), first(IMAGES)
    used = {title[0], url[0], image[0]}
    others = {name: text for name in fields if name not in used and (text := _line(fields[name])[:LONGEST_FIELD])}
    return DocumentText(title[1][:LONGEST_TITLE], url[1], image[1], dict(list(others.items())[:MOST_FIELDS]))


def _line(value: Any) -> str:
    whole = cell_text(value).encode("utf-8", "replace").decode()  # half a character cannot be written
    return " ".join(whole.split())


def read_document_texts(path: FilePath, wanted: Collection[str]) -> dict[str, DocumentText]:
    """The titles, addresses and other fields of the wanted documents, to be shown."""
    return {document: document_text(fields) for document, fields in read_fields(path, wanted).items()}


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


def kept_titles(
    wanted: Collection[str], described: Mapping[str, Mapping[str, Any]], path: Path | None
) -> dict[str, tuple[str, str]]:
    """Title and address of documents, as a baseline keeps them; raises InputError or OSError for the file.

    An address that is longer than a title may be is left out: a part of it leads elsewhere.
    """
    texts = {each: document_text(described[each]) for each in wanted if each in described}
    if path is not None:
        texts |= read_document_texts(near(path), set(wanted) - set(texts))
    kept = {each: (text.title, text.url if len(text.url) <= LONGEST_TITLE else "") for each, text in texts.items()}
    return {each: texts for each, texts in kept.items() if any(texts)}


def with_texts(
    result: SuiteResult,
    described: Mapping[str, Mapping[str, Any]],
    path: Path | None,
    *,
    pictures: bool = False,
    kept: Mapping[str, tuple[str, str]] | None = None,
) -> SuiteResult:
    """The result with the titles of all documents that it shows, from fields by document, then from a file.

    Documents that are in neither have the titles that the baseline ``kept``. With ``pictures``, small files in the
    folder of that file become part of the result. A file that cannot be read is a note: it decides nothing.
    """
    if path is None and not described and not kept:
        return result
    wanted = set(_shown_documents(result))
    texts = {document: document_text(described[document]) for document in wanted if document in described}
    if path is not None:
        try:
            texts |= read_document_texts(near(path), wanted - set(texts))
            found = bool(texts) or not wanted - set(kept or ())
            trouble = "" if found else f"{near(path)}: none of the shown documents is in this file"
        except (InputError, OSError) as error:
            trouble = " ".join(str(error).split())
        if trouble:
            result = replace(result, notes=(*result.notes, f"documents have no titles: {trouble}"))
    for document in (wanted & set(kept or ())) - set(texts):
        texts[document] = DocumentText(*(kept or {})[document])
    if pictures:
        texts, left_out = _with_pictures(texts, path.parent if path else Path.cwd())
        if left_out:
            note = f"{counted(left_out, 'picture')} cannot be shown: {SHOWABLE}"
            result = replace(result, notes=(*result.notes, note))
    titles = {document: text.title for document, text in texts.items() if text.title}
    base = result.since_base
    return replace(
        result,
        outcomes=tuple(replace(each, queries=_titled_queries(each.queries, titles)) for each in result.outcomes),
        since_base=base and replace(base, queries=_titled_queries(base.queries, titles)),
        documents=tuple(replace(each, documents=_titled(each.documents, titles)) for each in result.documents),
        to_judge=tuple(replace(each, title=titles.get(each.document, "")) for each in result.to_judge),
        texts=texts,
    )


def _with_pictures(texts: Mapping[str, DocumentText], folder: Path) -> tuple[dict[str, DocumentText], int]:
    """The same with the content of pictures in place of their paths, and the number of those that are left out."""
    found, left_out, room = {}, 0, LARGEST_PICTURES
    for document, text in texts.items():
        picture = _picture(text.image, folder)
        left_out += bool(text.image) and not 0 < len(picture) <= room
        picture = picture if len(picture) <= room else ""
        room -= len(picture)
        found[document] = replace(text, image=picture)
    return found, left_out


def _picture(image: str, folder: Path) -> str:
    """A small picture for a page: ``data:image/png;base64,…``; empty if it is an address or not a picture."""
    if not image or "\0" in image or ":" in image:
        return ""
    try:
        file = (folder / image).resolve()
        if not file.is_relative_to(folder.resolve()) or not file.is_file() or file.stat().st_size > LARGEST_PICTURE:
            return ""
        content = file.read_bytes()
    except (OSError, RuntimeError):  # a name that is too long, a file of another user, links in a circle
        return ""
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
    return tuple(
        replace(query, best=query.best and _titled([query.best], titles)[0], top=_titled(query.top, titles))
        for query in queries
    )


def _titled(documents: Iterable[Placed], titles: Mapping[str, str]) -> tuple[Placed, ...]:
    return tuple(replace(placed, title=titles.get(placed.document, "")) for placed in documents)
