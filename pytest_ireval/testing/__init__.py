"""The contract kit for authors of metrics: ``test_contract = metric_contract(my_metrics.ireval_metrics())``."""

from __future__ import annotations

from pytest_ireval.testing.contract import Finding, check_metric, metric_contract, promises

__all__ = ["Finding", "check_metric", "metric_contract", "promises"]
