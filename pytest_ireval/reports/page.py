"""A run as one page that needs nothing else: the verdict, what broke, and everything behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_ireval.plurals import magnitude
from pytest_ireval.reports.anchors import link_to, query_anchor
from pytest_ireval.reports.figures import change, figure, interval, percent
from pytest_ireval.reports.markdown_text import SourceLinks
from pytest_ireval.reports.page_assets import SCRIPTS, STYLES, Asset, asset, policy
from pytest_ireval.reports.page_findings import findings_of
from pytest_ireval.reports.page_suite import suite_view, tone_of
from pytest_ireval.reports.summary_table import verdicts_in_words
from pytest_ireval.reports.verdict_words import words_of
from pytest_ireval.reports.whose import owners_of
from pytest_ireval.results.suite_result import MetricFigures, RunResult, SuiteResult
from pytest_ireval.text_table import printable

if TYPE_CHECKING:
    import jinja2
