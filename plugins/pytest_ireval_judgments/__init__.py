"""Judgments as a craft: pools, several judges, clicks, and the quality of a test collection.

A package beside the core: it brings commands of ``ireval``, and uses public names alone.
"""

from __future__ import annotations

from pytest_ireval_judgments.click_policies import ClickedSearch, ClickPolicy, click_policy

__all__ = ["ClickPolicy", "ClickedSearch", "click_policy"]
