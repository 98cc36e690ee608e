"""The contract kit for authors of plugins: what metrics, rules, sources and readers promise, checked in one line."""

from __future__ import annotations

from pytest_ireval.testing.contract import Finding, check_metric, metric_contract
from pytest_ireval.testing.plugin_types import RULES, SOURCES, check_rule, check_source, make_request, make_rule_context
from pytest_ireval.testing.promises import PROMISES
from pytest_ireval.testing.readers import READERS, check_reader

__all__ = [
    "Finding",
    "check_metric",
    "check_reader",
    "check_rule",
    "check_source",
    "list_promises",
    "make_request",
    "make_rule_context",
    "metric_contract",
]


def list_promises(of: str = "metric") -> list[tuple[str, str]]:
    """The name of every promise of a metric, rule, source or reader, and its text."""
    if of == "metric":
        return [(promise.name, promise.says) for promise in PROMISES]
    return [(promise.name, promise.says) for promise in {"rule": RULES, "source": SOURCES, "reader": READERS}[of]]
