"""The fixture ``ireval``: evaluating and gating from Python tests, with the plugins that serve the files named."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_ireval.clock import format_moment, read_clock, read_date
from pytest_ireval.errors import IrevalError
from pytest_ireval.evaluating.evaluation import evaluate
from pytest_ireval.gate.run import gate_suite, make_plan
from pytest_ireval.gate.run_context import RunContext
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.conftests import MENTIONED
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.pytest_plugin.branch import make_run_context
from pytest_ireval.pytest_plugin.code_host import make_printable
from pytest_ireval.pytest_plugin.planned_suite import make_baseline_key
from pytest_ireval.pytest_plugin.python_gates import GATES, Gate
from pytest_ireval.pytest_plugin.run_plugins import RunPlugins, find_plugins
from pytest_ireval.pytest_plugin.terminal import get_width
from pytest_ireval.pytest_plugin.versus import VERSUS
from pytest_ireval.report.failure_text import format_failure
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
    run: RunContext
    gates_so_far: list[Gate]

    def evaluate(
        self, judgments: Any, rankings: Any, metrics: str | Metric | Iterable[str | Metric], **more: Any
    ) -> Evaluation:
        """:func:`pytest_ireval.evaluate` with metrics and formats of the folder's conftest.py."""
        with _fail_on_error():
            registry = self.plugins.registry_for(self.file)
            return evaluate(self._resolve(judgments), self._resolve(rankings), metrics, registry=registry, **more)

    def gate(self, suite: str | os.PathLike[str]) -> SuiteResult:
        """The result of a suite: ``assert ireval.gate("shop.ireval.yaml").verdict == "pass"``."""
        path = self._absolute(suite)
        with _fail_on_error():
            registry = self._make_registry(path)
            return self._run_gate(load_suite(path, registry), registry)

    def gates(self, suites: str | os.PathLike[str]) -> tuple[SuiteResult, ...]:
        """The results of all suites of a file with a matrix."""
        path = self._absolute(suites)
        with _fail_on_error():
            registry = self._make_registry(path)
            return tuple(self._run_gate(suite, registry) for suite in load_suites(path, registry))

    def check(self, suites: str | os.PathLike[str]) -> tuple[SuiteResult, ...]:
        """The same; the test fails with the gate's text of everything that did not pass."""
        results = self.gates(suites)
        texts = [text for result in results for text in self._format_failures(result)]
        if texts:
            pytest.fail(make_printable("\n\n".join(texts)), pytrace=False)
        return results

    def _make_registry(self, path: Path) -> Registry:
        self.plugins.adopt_conftests(path, MENTIONED)  # the suite may be in a folder that pytest does not collect
        return self.plugins.registry_for(path)

    def _run_gate(self, suite: Suite, registry: Registry) -> SuiteResult:
        verdict = ""
        try:
            plan = make_plan(suite, registry, with_base=self.run.base is not None)
            result = gate_suite(suite, registry, plan, self.run).result
            verdict = result.verdict
        finally:
            self.gates_so_far.append(Gate(make_baseline_key(suite.baselines, suite.name), suite.name, verdict))
        return result

    def _format_failures(self, result: SuiteResult) -> Iterator[str]:
        if result.error:
            yield f"{result.name}: {result.error}"
            return
        with _fail_on_error():
            date = format_moment(read_clock())
        for outcome in result.outcomes:
            if outcome.verdict != "pass":
                yield format_failure(outcome, result, date=date, width=self.width)

    def _absolute(self, path: str | os.PathLike[str]) -> Path:
        return Path(os.path.abspath(self.file.parent / path))

    def _resolve(self, source: Any) -> Any:
        return self.file.parent / source if isinstance(source, str | os.PathLike) and source != "-" else source


@contextmanager
def _fail_on_error() -> Iterator[None]:
    """Fail the test with the text of a user's error, without our traceback."""
    try:
        yield
    except IrevalError as error:
        pytest.fail(make_printable(str(error)), pytrace=False)


def make_gatekeeper(request: pytest.FixtureRequest) -> Gatekeeper:
    with _fail_on_error():
        plugins, versus = find_plugins(request.config), request.config.stash.get(VERSUS, None)
        run = make_run_context(request.config, read_date(), None, versus)
    gates = request.node.stash.setdefault(GATES, [])
    return Gatekeeper(request.path, plugins, get_width(request.config), run, gates)
