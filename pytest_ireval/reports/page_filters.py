"""How templates of the page write figures, names and addresses: the filters that they know besides Jinja's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pytest_ireval.plurals import magnitude
from pytest_ireval.reports.anchors import link_to, query_anchor, sound
from pytest_ireval.reports.figures import change, figure, interval, percent
from pytest_ireval.reports.page_suite import Cell, tone_of
from pytest_ireval.reports.query_view import worst_views
from pytest_ireval.reports.summary_table import chance_words
from pytest_ireval.results.suite_result import MetricFigures, SuiteResult
from pytest_ireval.text_table import printable


def spread(each: MetricFigures | Cell) -> str:
    """The interval of a change."""
    return "-" if each.low is None or each.high is None else interval(each.low, each.high)


def sight(resolution: float | None) -> str:
    """The smallest change that so many queries show."""
    return "-" if resolution is None else magnitude(resolution)


def moment(date: str) -> str:
    """``2027-03-03 09:00 UTC``."""
    day, _, time = date.partition("T")
    return f"{day} {time[:5]} UTC" if time.endswith("Z") else date


def first_line(text: str) -> str:
    """What stands before the first end of a line."""
    return text.strip().partition("\n")[0]


def printable_lines(text: str) -> str:
    """Lines with whatever has no picture spelled out."""
    return "\n".join(printable(line) for line in text.splitlines())


def query_link(suite: SuiteResult, query: str) -> str:
    """The address of a query's view."""
    return link_to(query_anchor(suite, query))


FILTERS: Mapping[str, Callable[..., Any]] = {
    "chance_words": chance_words,
    "change": change,
    "figure": figure,
    "first_line": first_line,
    "link": link_to,
    "moment": moment,
    "percent": percent,
    "printable": printable,
    "printable_lines": printable_lines,
    "query_link": query_link,
    "sight": sight,
    "sound": sound,
    "spread": spread,
    "tone": tone_of,
    "worst_views": worst_views,
}
