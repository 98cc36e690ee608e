"""Texts of other people inside Markdown: shown as they are, and without any effect."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from pytest_ireval.text_table import escape_unprintable

MAX_LENGTH = 300
"""A longer text is cut; ids, reasons and queries are shorter unless they are an attack."""
INVISIBLE = "\u200b"
"""Takes no room, and parts what a code host would take for a mention, a reference, an emoji or an address."""

_CUTOFF = r"(?<=\w)@(?=\d+(?![\w.-]))"
"""``nDCG@10``: a mention begins after a blank."""
_REFERENCE = re.compile(rf"(?!{_CUTOFF})[@#!~$%^&](?=[\w/\"'+-])|:(?=//|[\w+-])|\b(?:www|gh)(?=[.-])", re.IGNORECASE)
_MARKUP = re.compile(r"[&<*`\[\]|\\~$]|(?<![^\W_])_|_(?![^\W_])")
_BLOCK = re.compile(r"^(?:[-+](?=\s|$)|[-=](?=[-=\s]*$)|#(?=[#\s]|$)|>|\d(?=\d*[.)](?:\s|$)))")
"""The beginning of a list, a heading, a quotation or a line."""
_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_PLAIN = re.compile(r"[^`|\\\s](?:[^`|\\]*[^`|\\\s])?")
FENCE = 80
"""Readers of Markdown count no more than 255 backticks, and take a fence of more for one of 255."""
_MANY = re.compile(f"`{{{FENCE + 1},}}")


def _shorten(text: str, most: int = MAX_LENGTH) -> str:
    """In one line, control characters and those that turn the direction of writing spelled out."""
    line = escape_unprintable(" ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def escape_markdown(text: str, most: int = MAX_LENGTH) -> str:
    """A part of a sentence: without markup, HTML, mentions and links."""
    parted = _REFERENCE.sub(lambda found: found[0] + INVISIBLE, _shorten(text, most))
    return _BLOCK.sub(_make_entity, _MARKUP.sub(_make_entity, parted))


def _make_entity(found: re.Match[str]) -> str:
    """A character as HTML writes it: Markdown takes it for itself."""
    return _NAMED.get(found[0], f"&#{ord(found[0])};")


def format_code(text: str, most: int = MAX_LENGTH) -> str:
    """Code, where it can be set off from the Markdown around it, tables too."""
    line = _shorten(text, most)
    return f"`{line}`" if _PLAIN.fullmatch(line) else escape_markdown(line, most)


def format_code_block(text: str, language: str = "", most: int = 4000) -> str:
    """A block of code, with the lines of ``text``."""
    lines = [_MANY.sub(f"{'`' * FENCE}…", escape_unprintable(line)) for line in text.splitlines()]
    shown = "\n".join(lines)
    if len(shown) > most:
        shown = f"{shown[:most]}…"
    longest = max((len(found) for found in re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def format_markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Cells that are Markdown already; columns in ``right`` are aligned to the right."""
    ruler = ["---:" if i in right else "---" for i in range(len(header))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, ruler, *rows))


def format_details(title: str, text: str) -> str:
    """A text that a reader can unfold; ``title`` is ours."""
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


class SourceLinks(NamedTuple):
    """Where a code host shows the files of the commit that was looked at."""

    base: str = ""
    """``https://github.com/OWNER/NAME/blob/COMMIT``; empty: nowhere."""
    folder: str = ""
    """Where the run began, from the top of the repository."""
    top: str = ""
    """The top of the repository; files outside the folder where the run began are named from the root."""

    def path(self, file: str) -> str:
        """A file from the top of the repository; empty if it is outside."""
        if not file or (posixpath.isabs(file) and not self.top):
            return ""
        path = posixpath.relpath(posixpath.join("/", self.top, self.folder, file), posixpath.join("/", self.top))
        return "" if path.split("/")[0] in ("..", ".") else path

    def place(self, file: str, line: int) -> str:
        """``file:line``, as a link where there is something to link to."""
        shown = format_code(f"{file}:{line}" if line else file)
        address = self.address(file, line)
        return f"[{shown}]({address})" if address else shown

    def address(self, file: str, line: int) -> str:
        """Where the code host shows it; empty where there is nothing to link to."""
        path = self.path(file)
        if not self.base or not path:
            return ""
        return f"{self.base}/{quote(path, errors='replace')}{f'#L{line}' if line else ''}"


NOWHERE = SourceLinks()
