"""Markdown as a code host shows it: what it is made of, and what of it acts."""

import re

from markdown_it import MarkdownIt

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
ACTING = [
    re.compile(r"(?:^|(?<=\W))@(?=[A-Za-z0-9])"),  # mentions
    re.compile(r"(?:^|(?<=\W))(?:#|!|GH-)(?=\d)", re.IGNORECASE),  # references
    re.compile(r"#(?=\d)"),
    re.compile(r"(?:https?|ftp)://|\bwww\.", re.IGNORECASE),  # addresses
    re.compile(r":[\w+-]+:"),  # emoji
]


class Page:
    """A page of Markdown, taken apart."""

    def __init__(self, text):
        self.text = text
        self.tokens = READER.parse(text)
        self.inline = [child for token in self.tokens for child in token.children or ()]

    @property
    def prose(self):
        """What readers see outside of code."""
        return [child.content for child in self.inline if child.type == "text"]

    @property
    def html(self):
        """HTML that a browser would obey, each tag with what stands in it."""
        blocks = [token.content.strip() for token in self.tokens if token.type == "html_block"]
        return blocks + [child.content for child in self.inline if child.type == "html_inline"]

    @property
    def links(self):
        return [dict(child.attrs)["href"] for child in self.inline if child.type == "link_open"]

    @property
    def emphasised(self):
        return [child.type for child in self.inline if child.type in ("em_open", "s_open", "image")]

    @property
    def tables(self):
        """Lines of each; a cell too many is dropped without a word, and one too few is filled up."""
        lines = self.text.split("\n")
        return [lines[slice(*token.map)] for token in self.tokens if token.type == "table_open"]

    @property
    def acting(self):
        """What a code host would make a mention, a reference or a link of."""
        return [text for text in self.prose for pattern in ACTING if pattern.search(text)]
