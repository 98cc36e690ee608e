"""Commands that a reader may paste into a shell, and the anchors that links of a page lead to."""

from __future__ import annotations

import re
import shlex
from urllib.parse import quote

from pytest_ireval.results.suite_result import SuiteResult


def format_accept_command(suite: SuiteResult, *, new: bool) -> str:
    """Accepts what was measured; ``new`` where there is no baseline yet."""
    how = "--ireval-update-new" if new else '--ireval-update --ireval-reason "..."'
    return f"{_format_variables(suite)}pytest --ireval {_quote_path(node_path(suite))} {how}"


def describe_obstacle(suite: SuiteResult) -> str:
    """``, once threshold::nDCG_10 is green``: the first red check that no baseline settles, if there is one."""
    obstacles = (
        outcome.id
        for outcome in suite.outcomes
        if outcome.verdict in ("fail", "error") and not outcome.acceptable and not outcome.missing_baseline
    )
    first = next(obstacles, "")
    return f", once {first} is green" if first else ""


def format_why_command(suite: SuiteResult, metric: str, query: str) -> str:
    """Shows the arithmetic of a metric on a query."""
    named = f" --named {quote_word(suite.name)}" if suite.matrix else ""
    command = f"ireval why {quote_word(metric)} --suite {_quote_path(suite.path)}{named} --query {quote_word(query)}"
    return f"{_format_variables(suite)}{command}"


def _format_variables(suite: SuiteResult) -> str:
    """The variables that this run had, without which the suite would be another one."""
    shown = ((name, text if text == "…" else quote_word(text)) for name, text in suite.variables.items())
    return "".join(f"{name}={text} " for name, text in shown)


def node_path(suite: SuiteResult) -> str:
    """The suite as pytest is asked for it: its file, and of a matrix its values."""
    return f"{suite.path}::{'.'.join(suite.matrix.values())}" if suite.matrix else suite.path


def _quote_path(path: str) -> str:
    """A path as one word, which no program takes for an option."""
    return quote_word(f"./{path}" if path.startswith("-") else path)


def quote_word(text: str) -> str:
    """A text as one word; control characters spelled out as bash and zsh read them."""
    if text.isprintable():
        if "'" in text and not set('"$`\\!') & set(text):
            return f'"{text}"'  # easier to read than quotes in quotes
        return shlex.quote(text)
    escaped = text.encode("unicode_escape").decode().replace("'", "\\'")
    return f"$'{escaped}'"


PAGE = "index.html"
SAFE_IN_FRAGMENT = "!$'()*+,;:@/?-._~=&"
"""Characters that a fragment may hold as they are."""


def make_suite_anchor(suite: SuiteResult) -> str:
    """The id of a suite's part: its name, which is unique in a run."""
    return replace_unreadable(suite.name)


def make_rule_anchor(suite: SuiteResult, rule: str) -> str:
    """The id of a rule's part: ``shop::no_regression::nDCG_10.all``."""
    return replace_unreadable(f"{suite.name}::{rule}")


def make_query_anchor(suite: SuiteResult, query: str) -> str:
    """The id of a query's view: ``shop::q=q001``."""
    return replace_unreadable(f"{suite.name}::q={query}")


def make_fragment(anchor: str) -> str:
    """The part of an address that leads there: ``#shop::q=red%20mug``."""
    return f"#{quote(anchor, SAFE_IN_FRAGMENT)}"


UNREADABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, of which a page keeps some and drops others, and halves of characters, which stand for bytes that
are not UTF-8. The joiners of emoji and of letters of other scripts stay.
"""


def replace_unreadable(text: str) -> str:
    """The text as a page can hold it: with the mark for unreadable characters in place of those."""
    return text if text.isprintable() else UNREADABLE.sub("\ufffd", text)
