"""The history of runs in a database beside the suites, and the questions it answers."""

from __future__ import annotations

from pytest_ireval.history.trends import Point, spreads, trend

__all__ = ["Point", "spreads", "trend"]
