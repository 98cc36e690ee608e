"""Where things stand on the page: a suite, a rule, a query; what people copy, so none of it may change."""

from __future__ import annotations

from urllib.parse import quote

from pytest_ireval.reports.sound_text import sound
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
