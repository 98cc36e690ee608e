"""Registers the built-in sources, rules and diagnoses, through the hooks that are open to all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ireval.plugins.hookspecs import hookimpl
from pytest_ireval.plugins.plugin_types import LateSource

if TYPE_CHECKING:
    from pytest_ireval.plugins.plugin_types import DiagnosisKind, RuleKind

SOURCES = {
    "run": "run",
    "python": "python",
    "command": "command",
    "http": "live.http",
    "elasticsearch": "live.elasticsearch",
    "opensearch": "live.elasticsearch",
    "solr": "live.solr",
    "vespa": "live.vespa",
    "sql": "sql",
}
"""By the key in a suite: the module, in ``sources``."""


@hookimpl
def ireval_sources() -> list[LateSource]:
    """All of them."""
    return [LateSource(name, f"pytest_ireval.sources.{module}") for name, module in SOURCES.items()]


@hookimpl
def ireval_rules() -> list[RuleKind]:
    """All of them; imported late, because they load the models of suites."""
    from pytest_ireval.rules.churn import churn
    from pytest_ireval.rules.equivalent import equivalent
    from pytest_ireval.rules.expect import expect
    from pytest_ireval.rules.new_document import new_document
    from pytest_ireval.rules.no_regression import no_regression
    from pytest_ireval.rules.threshold import threshold
    from pytest_ireval.rules.worsened import worsened

    return [threshold, no_regression, equivalent, worsened, churn, new_document, expect]


@hookimpl
def ireval_diagnoses() -> list[DiagnosisKind]:
    """All of them, the more specific first."""
    from pytest_ireval.causes.diagnoses import DIAGNOSES

    return DIAGNOSES
