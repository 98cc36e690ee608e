"""Which reader reads a file: the one that was named, or the only one that its content fits; never a guess."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_ireval.errors import InputError, Problem, did_you_mean
from pytest_ireval.plurals import counted
from pytest_ireval.retrieval.formats.input_file import InputFile
from pytest_ireval.retrieval.formats.reader import Content, Reader, fits
from pytest_ireval.retrieval.formats.shapes import begins_like_a_book, has_header, has_texts_as_ids, is_text
from pytest_ireval.retrieval.formats.table_columns import lack

Format = str | Reader | None
"""A name, a reader that need not be registered, or None: to be recognised."""


def reader_for(
    file: InputFile, content: Content, readers: Sequence[Reader], named: Format = None, option: str = ""
) -> Reader:
    """The reader that is named, or the one that recognises ``file`` as something that holds ``content``.

    ``option`` is how the user names a format, for messages.
    """
    option = option or f"{content}_format=…, --{content}-format"
    if isinstance(named, Reader):
        return _handed_over(named, content)
    if named is not None:
        return _known(named, content, readers)
    fitting = readers_that_fit(file, content, readers)
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        complaint = f"its {content} could be in format {_either(reader.name for reader in fitting)}"
        raise InputError(Problem(complaint, place=file.name, suggestion=f"say which: {option}"))
    raise _unknown(file, content, readers, option)


def readers_that_fit(file: InputFile, content: Content, readers: Sequence[Reader]) -> list[Reader]:
    """The readers that recognise ``file`` as something that holds ``content``."""
    return [reader for reader in readers if reader.holds == content and fits(reader, file)]


def _handed_over(reader: Reader, content: Content) -> Reader:
    if reader.holds != content:
        raise InputError(f"reader {reader.name!r} holds {reader.holds}, not {content}")
    return reader


def _known(name: str, content: Content, readers: Sequence[Reader]) -> Reader:
    able = {called: reader for reader in readers if reader.holds == content for called in (reader.name, *reader.also)}
    if name in able:
        return able[name]
    complaint = f"there is no format {name!r} of {content}"
    names = sorted({reader.name for reader in able.values()})
    allowed = f"formats of {content}: {', '.join(names)}"
    raise InputError(Problem(complaint, suggestion=did_you_mean(name, able), allowed=allowed))


def _unknown(file: InputFile, content: Content, readers: Sequence[Reader], option: str) -> InputError:
    """Says what the file seems to be instead, or how it begins."""
    others = [reader for reader in readers if reader.holds != content and fits(reader, file)]
    if others:
        seems = _either(f"{reader.holds} (format {reader.name})" for reader in others)
        complaint = f"holds no {content}: it looks like {seems}"
        swapped = content != "queries" and any(reader.holds != "queries" for reader in others)
        suggestion = "are judgments and rankings swapped?" if swapped else ""
        return InputError(Problem(complaint, place=file.name, suggestion=suggestion))
    layouts = [f"{reader.name}: {reader.summary}" for reader in readers if reader.holds == content]
    complaint = f"holds no {content} in a known format: {_beginning(file)}"
    lacking = lack(file.header, content) if is_text(file) and len(file.header) > 1 else None
    if lacking is not None:  # it is a table, so that other formats are out of question
        suggestion = f"as a table it has {lacking.there}, and no column for the {lacking.missing}{_book(file)}"
        return InputError(Problem(complaint, file.name, suggestion=suggestion, allowed=lacking.known))
    allowed = "\n  ".join([f"formats of {content} ({option}):", *sorted(layouts)])
    return InputError(Problem(complaint, file.name, suggestion=_hint(file), allowed=allowed))


def _beginning(file: InputFile) -> str:
    if file.is_folder:
        return "it is a folder"
    return f"it begins with {file.first_lines[0][:60]!r}" if file.first_lines else "there is no text in it"


def _hint(file: InputFile) -> str:
    """What a table, pairs or columns of words lack."""
    if "\0" in file.head:
        return "it holds zero bytes: is this UTF-16, or no text at all?"
    if not is_text(file):
        return ""
    if len(file.header) == 2 and has_texts_as_ids(file) and not has_header(file):
        return "as pairs of id and text it needs ids: the first cell of most lines is several words"
    if len(file.header) > 1:
        columns = ", ".join(repr(name) for name in file.header)
        return f"as a table it must name its columns in the first line, and these are not enough: {columns}"
    widths = sorted({len(words) for words in file.first_words})
    lines = " or ".join(map(str, widths[:3]))
    return f"as columns of words its lines have {lines} of them" if widths and widths != [1] else _one_word(file)


def _book(file: InputFile) -> str:
    return "; if the others are judges, it is format quepid-book" if begins_like_a_book(file) else ""


def _one_word(file: InputFile) -> str:
    return f"its first {counted(len(file.first_lines), 'line')} hold one word each"


def _either(names: Iterable[str]) -> str:
    words = list(names)
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]
