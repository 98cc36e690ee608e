"""Where things stand on the page: a suite, a rule, a query; what people copy, so none of it may change."""

from __future__ import annotations

import re
from urllib.parse import quote

from pytest_ireval.results.suite_result import SuiteResult

PAGE = "index.html"
KEPT = "!$'()*+,;:@/?-._~=&"
"""Characters that a fragment may hold as they are."""


def suite_anchor(suite: SuiteResult) -> str:
    """The id of a suite's part: its name, which is unique in a run."""
    return sound(suite.name)


def rule_anchor(suite: SuiteResult, rule: str) -> str:
    """The id of what is said of a rule: ``shop::no_regression::nDCG_10.all``."""
    return sound(f"{suite.name}::{rule}")


def query_anchor(suite: SuiteResult, query: str) -> str:
    """The id of a query's view: ``shop::q=q001``."""
    return sound(f"{suite.name}::q={query}")


def link_to(anchor: str) -> str:
    """The part of an address that leads there: ``#shop::q=red%20mug``."""
    return f"#{quote(anchor, KEPT)}"


UNSOUND = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, of which a page keeps some and drops others, and halves of characters, which stand for bytes that
are no UTF-8. What joins emoji and letters of other scripts stays."""


def sound(text: str) -> str:
    """The text as a page can hold it: with the mark for unreadable characters in place of those."""
    return text if text.isprintable() else UNSOUND.sub("\ufffd", text)
