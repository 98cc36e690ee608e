"""Which reader reads a file: the one that was named, or the only one that its content fits; never a guess."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_ireval.errors import InputError, Problem, did_you_mean
from pytest_ireval.retrieval.formats.input_file import InputFile
from pytest_ireval.retrieval.formats.reader import Content, Reader


def reader_for(file: InputFile, content: Content, readers: Sequence[Reader], name: str | None = None) -> Reader:
    """The reader of that name, or the one that recognises ``file`` as something that holds ``content``."""
    able = {reader.name: reader for reader in readers if reader.holds == content}
    if name is not None:
        return _named(name, content, able)
    fitting = readers_that_fit(file, content, readers)
    if len(fitting) == 1:
        return able[fitting[0]]
    if fitting:
        complaint = f"its {content} could be in format {_either(fitting)}"
        raise InputError(Problem(complaint, place=file.name, suggestion=f"say which: {option_of(content)}"))
    raise _unknown(file, content, readers)


def readers_that_fit(file: InputFile, content: Content, readers: Sequence[Reader]) -> list[str]:
    """The names of the readers that recognise ``file`` as something that holds ``content``."""
    return [reader.name for reader in readers if reader.holds == content and reader.fits(file)]


def option_of(content: Content) -> str:
    """How a format is named in Python and on the command line."""
    return f"{content}_format=…, --{content}-format"


def _named(name: str, content: Content, able: dict[str, Reader]) -> Reader:
    if name in able:
        return able[name]
    complaint = f"there is no format {name!r} of {content}"
    allowed = f"formats of {content}: {', '.join(sorted(able))}"
    raise InputError(Problem(complaint, suggestion=did_you_mean(name, able), allowed=allowed))


def _unknown(file: InputFile, content: Content, readers: Sequence[Reader]) -> InputError:
    """Says what the file seems to be instead, or how it begins."""
    others = [reader for reader in readers if reader.holds != content and reader.fits(file)]
    if others:
        seems = _either(f"{reader.holds} (format {reader.name})" for reader in others)
        complaint = f"holds no {content}: it looks like {seems}"
        swapped = content != "queries" and any(reader.holds != "queries" for reader in others)
        suggestion = "are judgments and rankings swapped?" if swapped else ""
        return InputError(Problem(complaint, place=file.name, suggestion=suggestion))
    layouts = [f"{reader.name}: {reader.summary}" for reader in readers if reader.holds == content]
    return InputError(
        Problem(
            f"holds no {content} in a known format: {_beginning(file)}",
            place=file.name,
            allowed="\n  ".join([f"formats of {content} ({option_of(content)}):", *sorted(layouts)]),
        )
    )


def _beginning(file: InputFile) -> str:
    if file.is_folder:
        return "it is a folder"
    return f"it begins with {file.first_lines[0][:60]!r}" if file.first_lines else "there is no text in it"


def _either(names: Iterable[str]) -> str:
    words = list(names)
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]
