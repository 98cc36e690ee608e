"""Commands that a reader may paste into a shell, and the anchors that links of a page lead to."""

from __future__ import annotations

import re
import shlex
from urllib.parse import quote

from pytest_ireval.results.suite_result import SuiteResult


def accept_command(suite: SuiteResult, *, new: bool) -> str:
    """Accepts what was measured; ``new`` where there is no baseline yet."""
    how = "--ireval-update-new" if new else '--ireval-update --ireval-reason "..."'
    return f"pytest --ireval {_shell_path(node_path(suite))} {how}"


def why_command(suite: SuiteResult, metric: str, query: str) -> str:
    """Shows the arithmetic of a metric on a query."""
    named = f" --named {shell_word(suite.name)}" if suite.matrix else ""
    return f"ireval why {shell_word(metric)} --suite {_shell_path(suite.path)}{named} --query {shell_word(query)}"


def node_path(suite: SuiteResult) -> str:
    """The suite as pytest is asked for it: its file, and of a matrix its values."""
    return f"{suite.path}::{'.'.join(suite.matrix.values())}" if suite.matrix else suite.path


def _shell_path(path: str) -> str:
    """A path as one word, which no program takes for an option."""
    return shell_word(f"./{path}" if path.startswith("-") else path)


def shell_word(text: str) -> str:
    """A text as one word; control characters spelled out as bash and zsh read them."""
    if text.isprintable():
        if "'" in text and not set('"$`\\!') & set(text):
            return f'"{text}"'  # easier to read than quotes in quotes
        return shlex.quote(text)
    escaped = text.encode("unicode_escape").decode().replace("'", "\\'")
    return f"$'{escaped}'"


PAGE = "index.html"
KEPT = "!$'()*+,;:@/?-._~=&"
"""Characters that a fragment may hold as they are."""


def suite_anchor(suite: SuiteResult) -> str:
    """The id of a suite's part: its name, which is unique in a run."""
    return sound(suite.name)


def rule_anchor(suite: SuiteResult, rule: str) -> str:
    """The id of a rule's part: ``shop::no_regression::nDCG_10.all``."""
    return sound(f"{suite.name}::{rule}")


def query_anchor(suite: SuiteResult, query: str) -> str:
    """The id of a query's view: ``shop::q=q001``."""
    return sound(f"{suite.name}::q={query}")


def link_to(anchor: str) -> str:
    """The part of an address that leads there: ``#shop::q=red%20mug``."""
    return f"#{quote(anchor, KEPT)}"


UNSOUND = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, of which a page keeps some and drops others, and halves of characters, which stand for bytes that
are not UTF-8. The joiners of emoji and of letters of other scripts stay.
"""


def sound(text: str) -> str:
    """The text as a page can hold it: with the mark for unreadable characters in place of those."""
    return text if text.isprintable() else UNSOUND.sub("\ufffd", text)
