"""The fixture ``ireval``: evaluating and gating from Python tests, with the plugins that serve the test's folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pytest_ireval.errors import IrevalError
from pytest_ireval.evaluating.evaluation import evaluate
from pytest_ireval.gate.gate import run_gate
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.pytest_adapter.run_plugins import RunPlugins, plugins_of
from pytest_ireval.results.evaluation import Evaluation
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.suites.loading import load_suite

SESSION = "ireval-session"


class Gatekeeper:
    """What a Python test can ask for. Paths are relative to the test's file."""

    def __init__(self, folder: Path, registry: Registry) -> None:
        self.folder = folder
        self.registry = registry

    def evaluate(
        self, judgments: Any, rankings: Any, metrics: str | Metric | Iterable[str | Metric], **more: Any
    ) -> Evaluation:
        """:func:`pytest_ireval.evaluate` with metrics and formats of the folder's conftest.py."""
        return evaluate(self._placed(judgments), self._placed(rankings), metrics, registry=self.registry, **more)

    def gate(self, suite: str | os.PathLike[str]) -> SuiteResult:
        """The result of a suite: ``assert ireval.gate("shop.ireval.yaml").verdict == "pass"``."""
        return run_gate(load_suite(self.folder / suite, self.registry), registry=self.registry)

    def _placed(self, source: Any) -> Any:
        return self.folder / source if isinstance(source, str | os.PathLike) and source != "-" else source


def gatekeeper(request: pytest.FixtureRequest) -> Gatekeeper:
    """For one test."""
    session = request.config.pluginmanager.get_plugin(SESSION)
    try:
        plugins: RunPlugins = session.plugins if session is not None else plugins_of(request.config)
        return Gatekeeper(request.path.parent, plugins.registry_for(request.path))
    except IrevalError as error:
        return pytest.fail(str(error), pytrace=False)
