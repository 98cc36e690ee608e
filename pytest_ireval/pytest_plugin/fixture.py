"""The fixture ``ireval``: evaluating and gating from Python tests, with the plugins that serve what is looked at."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_ireval.errors import IrevalError
from pytest_ireval.evaluating.evaluation import evaluate
from pytest_ireval.gate.material import moment_of, written
from pytest_ireval.gate.run import run_gate
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.pytest_plugin.run_plugins import ADOPTING, RunPlugins, plugins_of
from pytest_ireval.pytest_plugin.selection import CLAIMS, GATED, Branch, branch_of, claim
from pytest_ireval.pytest_plugin.terminal import as_printed, width_of
from pytest_ireval.report.failure_text import failure_text
from pytest_ireval.results.evaluation import Evaluation
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.suite.loading import load_suite, load_suites
from pytest_ireval.suite.suite import Suite


@dataclass(eq=False)
class Gatekeeper:
    """The fixture of a Python test. Paths are relative to the test's file; an error fails the test."""

    file: Path
    plugins: RunPlugins
    width: int
    branch: Branch
    claimed: list[str]
    gated: list[tuple[str, str]]

    def evaluate(
        self, judgments: Any, rankings: Any, metrics: str | Metric | Iterable[str | Metric], **more: Any
    ) -> Evaluation:
        """:func:`pytest_ireval.evaluate` with metrics and formats of the folder's conftest.py."""
        with _told():
            registry = self.plugins.registry_for(self.file)
            return evaluate(self._placed(judgments), self._placed(rankings), metrics, registry=registry, **more)

    def gate(self, suite: str | os.PathLike[str]) -> SuiteResult:
        """The result of a suite: ``assert ireval.gate("shop.ireval.yaml").verdict == "pass"``."""
        path = self._path(suite)
        with _told():
            registry = self.plugins.registry_beside(path)
            return self._gated(load_suite(path, registry), registry)

    def gates(self, suites: str | os.PathLike[str]) -> tuple[SuiteResult, ...]:
        """The results of all suites of a file with a matrix."""
        path = self._path(suites)
        with _told():
            registry = self.plugins.registry_beside(path)
            return tuple(self._gated(suite, registry) for suite in load_suites(path, registry))

    def check(self, suites: str | os.PathLike[str]) -> tuple[SuiteResult, ...]:
        """The same; the test fails with the gate's text of everything that did not pass."""
        results = self.gates(suites)
        texts = [text for result in results for text in self._failures(result)]
        if texts:
            pytest.fail(as_printed("\n\n".join(texts)), pytrace=False)
        return results

    def _gated(self, suite: Suite, registry: Registry) -> SuiteResult:
        self.claimed.append(claim(suite.baselines, suite.name))
        result = run_gate(suite, registry=registry, **self.branch._asdict())
        self.gated.append((result.name, result.verdict))  # the report of the run says what no test asserts
        return result

    def _failures(self, result: SuiteResult) -> Iterator[str]:
        if result.error:
            yield f"{result.name}: {result.error}"
            return
        with _told():
            date = written(moment_of())
        for outcome in result.outcomes:
            if outcome.verdict != "pass":
                yield failure_text(outcome, result, date=date, width=self.width)

    def _path(self, suites: str | os.PathLike[str]) -> Path:
        return Path(os.path.abspath(self.file.parent / suites))

    def _placed(self, source: Any) -> Any:
        return self.file.parent / source if isinstance(source, str | os.PathLike) and source != "-" else source


@contextmanager
def _told() -> Iterator[None]:
    """Fail the test with the text of a user's error, without our traceback."""
    try:
        yield
    except IrevalError as error:
        pytest.fail(as_printed(str(error)), pytrace=False)


def gatekeeper(request: pytest.FixtureRequest) -> Gatekeeper:
    """The fixture of one test."""
    adopting = request.config.pluginmanager.get_plugin(ADOPTING)
    with _told():
        plugins: RunPlugins = adopting.plugins if adopting is not None else plugins_of(request.config)
        branch = branch_of(request.config)
    claimed, gated = request.node.stash.setdefault(CLAIMS, []), request.node.stash.setdefault(GATED, [])
    return Gatekeeper(request.path, plugins, width_of(request.config), branch, claimed, gated)
