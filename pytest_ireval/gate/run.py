"""The gate: a suite goes in, its result comes out. Read this file first.

    collect   read and fetch what the suite names: queries, judgments, rankings of now and of every reference
    score     give each side its values by query
    apply     apply every rule once to each of its slices
    explain   find causes, the documents behind the worst queries, and what to judge next
    report    make plain data of it all, which workers send and reports keep

Each step is a function in a file of that name, the last one in result.py, and takes and returns frozen values.
"""

from __future__ import annotations

from collections.abc import Container
from datetime import date
from typing import NamedTuple

from pytest_ireval.clock import read_date
from pytest_ireval.data.queries import Queries
from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.apply import apply_checks
from pytest_ireval.gate.collect import Inputs, collect_inputs
from pytest_ireval.gate.explain import explain_outcomes
from pytest_ireval.gate.needs import needs_columns, refuse_unmet_needs, refuse_wrong_requests, requests_name_columns
from pytest_ireval.gate.outcomes import report_broken_suite
from pytest_ireval.gate.planning import LOWERING, Check, needs_queries, plan_checks
from pytest_ireval.gate.queries_and_judgments import read_suite_judgments, read_suite_queries
from pytest_ireval.gate.result import make_broken_result, make_result
from pytest_ireval.gate.run_context import RunContext
from pytest_ireval.gate.score import Scores, score_inputs
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.repositories.tree import BaseRef
from pytest_ireval.results.plain import mask_secrets
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.suite.suite import Suite


class Plan(NamedTuple):
    """The checks of a suite, and its queries, if they had to be read to know them."""

    checks: tuple[Check, ...]
    queries: Queries | None = None


class GatedSuite(NamedTuple):
    """A suite that went through the gate, with all that a new baseline is made of; None where inputs are broken."""

    result: SuiteResult
    inputs: Inputs | None = None
    scores: Scores | None = None


def run_gate(
    suite: Suite,
    *,
    registry: Registry | None = None,
    today: date | None = None,
    progress: Progress = SILENT,
    base: str = "",
    lowering_fails: bool = False,
) -> SuiteResult:
    """Return the verdict of a suite, with the evidence for every rule.

    ``today`` decides whether waivers have ended. Broken inputs are a verdict, too (``error``); an exception is raised
    only for a suite whose rules make no sense. With the git ref ``base``, the stored baseline is compared with the one
    at the merge base of HEAD and ``base``: a lower one is a warning, or fails with ``lowering_fails``.
    """
    registry = registry or installed_registry()
    run = RunContext(today or read_date(), BaseRef(base) if base else None, lowering_fails)
    return gate_suite(suite, registry, make_plan(suite, registry, with_base=bool(base)), run, progress=progress).result


def make_plan(suite: Suite, registry: Registry, *, with_base: bool = False) -> Plan:
    """Make the plan of a suite; raises SuiteError for rules that make no sense.

    Queries are read only if slices are made of them, or metrics or requests need them, judgments only if a metric needs
    their subtopics.
    """
    wanted = needs_queries(suite) or needs_columns(suite) or requests_name_columns(suite)
    queries = read_suite_queries(suite, registry) if wanted else None
    subtopics = any("subtopics" in metric.needs for metric in suite.metrics)
    refuse_unmet_needs(suite, read_suite_judgments(suite, registry) if subtopics else None, queries)
    refuse_wrong_requests(suite, queries)
    return Plan(plan_checks(suite, queries, lowering=with_base), queries)


def gate_suite(
    suite: Suite,
    registry: Registry,
    plan: Plan,
    run: RunContext,
    selected: Container[str] | None = None,
    progress: Progress = SILENT,
) -> GatedSuite:
    """Check a suite, or its ``selected`` checks only."""
    chosen = [check for check in plan.checks if selected is None or check.id in selected]
    base = run.base if any(check.id == LOWERING for check in chosen) else None
    try:
        versus = None if run.versus is None else run.versus.find(suite.name)
        inputs = collect_inputs(suite, registry, run.today, progress, queries=plan.queries, base=base, versus=versus)
        scores = score_inputs(inputs)
    except IrevalError as error:  # a verdict of every check; what later steps find wrong is one of single checks
        errors = [report_broken_suite(check, error) for check in chosen]
        return GatedSuite(mask_secrets(make_broken_result(suite, registry, plan.checks, errors, error)))
    outcomes = apply_checks(plan.checks, inputs, scores, run, selected)
    explained = explain_outcomes(inputs, scores, plan.checks, outcomes, run.last_run)
    result = make_result(inputs, scores, plan.checks, explained)
    return GatedSuite(mask_secrets(result), inputs, scores)
