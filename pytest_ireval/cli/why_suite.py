"""The arithmetic of a metric on one query of a suite: the baseline beside what the source returns now."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_ireval.errors import BaselineError, MetricError, Problem, SuiteError, did_you_mean
from pytest_ireval.explaining.why import why
from pytest_ireval.gate.circumstances import today_of
from pytest_ireval.gate.gate import material_of
from pytest_ireval.gate.gathering import as_told
from pytest_ireval.plugins.conftests import Conftests
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import Progress
from pytest_ireval.results.explanation import Explanation
from pytest_ireval.suites.loading import load_suites
from pytest_ireval.suites.suite import Suite


def why_in_suite(path: Path, name: str | None, metric: str, query: str | None, progress: Progress) -> Explanation:
    """Why ``metric`` has its value; ``name`` chooses one suite of a matrix."""
    registry = Conftests().registry_for(path)
    suite = _chosen(path, name, registry)
    (wanted,) = registry.parse_metrics([metric])
    if "reference" in wanted.needs:
        raise MetricError(Problem("compares two lists and has no arithmetic of one", place=str(wanted)))
    material = material_of(suite, registry, today_of(), progress)
    if material.population.judgments is None:
        raise SuiteError(Problem("has no judgments, so no metric to explain", place=str(suite.place)))
    if query is None and material.baseline_error is not None:
        alone = Problem("without a baseline to compare with, --query says which ranking of now is explained")
        raise BaselineError(*material.baseline_error.problems, alone)
    now = replace(material.now.rankings[0], origin=material.source)
    baseline = material.baseline
    before = None if baseline is None else replace(baseline.rankings[0], origin=baseline.origin)
    policies = suite.policies
    return why(
        as_told(suite, wanted),
        material.population.judgments,
        now if before is None else before,
        query,
        None if before is None else now,
        ties=policies.ties,  # type: ignore[arg-type]  # checked when the suite was read
        unjudged=policies.unjudged,  # type: ignore[arg-type]  # as above
        grades=policies.grades,  # type: ignore[arg-type]  # as above
        depth=suite.depth,
        scale=policies.scale,
        collection=policies.collection,
        registry=registry,
        progress=progress,
    )


def _chosen(path: Path, name: str | None, registry: Registry) -> Suite:
    """The suite of the file; of a matrix, the one that is named."""
    suites = {suite.name: suite for suite in load_suites(path, registry)}
    if name is None and len(suites) == 1:
        return next(iter(suites.values()))
    if name in suites:
        return suites[name]
    complaint = "has several suites: which one?" if name is None else f"has no suite {name!r}"
    meant = did_you_mean(name or "", suites)
    raise SuiteError(Problem(complaint, str(path), suggestion=meant, allowed=f"--named is one of {', '.join(suites)}"))
