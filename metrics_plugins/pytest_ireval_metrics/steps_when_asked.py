"""The steps of the metrics, imported when somebody asks why; most who evaluate never do."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_ireval import JudgedRankings, Steps


def steps_in(module: str, function: str) -> Callable[..., Steps]:
    """``function`` of the module ``steps_of_…``."""

    def steps(judged: JudgedRankings, **settings: object) -> Steps:
        found: Steps = getattr(import_module(f"pytest_ireval_metrics.steps_of_{module}"), function)(judged, **settings)
        return found

    return steps
