"""What runs came to, one after the other, in a database beside the suites; and what can be asked of it."""

from __future__ import annotations

from pytest_ireval.history.trends import Point, spreads, trend

__all__ = ["Point", "spreads", "trend"]
