"""The arithmetic of a metric on one query of a suite: the baseline beside the rankings of the last run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.baselines.reading import read_baseline
from pytest_ireval.errors import BaselineError, MetricError, Problem, SuiteError, did_you_mean
from pytest_ireval.explaining.why import why
from pytest_ireval.gate.circumstances import today_of
from pytest_ireval.gate.fingerprinting import judgment_prints, prints_of
from pytest_ireval.gate.gate import material_of
from pytest_ireval.gate.gathering import as_told, gathered
from pytest_ireval.gate.last_run import FILE, LastRun, baseline_print, changed_since, last_run
from pytest_ireval.plugins.conftests import Conftests
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import Progress
from pytest_ireval.reports.results_json import FOLDER
from pytest_ireval.results.explanation import Explanation
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.suites.loading import load_suites
from pytest_ireval.suites.suite import Suite


class Sides(NamedTuple):
    """What is explained: the rankings beside the baseline, and in words where they come from."""

    judgments: Judgments | None
    now: Rankings
    before: Rankings | None
    explains: str
    baseline_error: BaselineError | None = None


def why_in_suite(
    path: Path,
    name: str | None,
    metric: str,
    query: str | None,
    progress: Progress,
    *,
    ask: bool = False,
    report: Path | None = None,
) -> Explanation:
    """Why ``metric`` has its value; ``name`` chooses one suite of a matrix.

    The rankings are those of the last run, which left them in the folder ``report``; ``ask`` asks the source instead.
    """
    registry = Conftests().registry_for(path)
    suite = _chosen(path, name, registry)
    (wanted,) = registry.parse_metrics([metric])
    if "reference" in wanted.needs:
        raise MetricError(Problem("compares two lists and has no arithmetic of one", place=str(wanted)))
    sides = _sides(suite, registry, progress, ask=ask, report=report)
    if sides.judgments is None:
        raise SuiteError(Problem("has no judgments, so no metric to explain", place=str(suite.place)))
    if query is None and sides.baseline_error is not None:
        alone = Problem("without a baseline to compare with, --query says which ranking of now is explained")
        raise BaselineError(*sides.baseline_error.problems, alone)
    policies = suite.policies
    explanation = why(
        as_told(suite, wanted),
        sides.judgments,
        sides.now if sides.before is None else sides.before,
        query,
        None if sides.before is None else sides.now,
        ties=policies.ties,  # type: ignore[arg-type]  # checked when the suite was read
        unjudged=policies.unjudged,  # type: ignore[arg-type]  # as above
        grades=policies.grades,  # type: ignore[arg-type]  # as above
        depth=suite.depth,
        scale=policies.scale,
        collection=policies.collection,
        registry=registry,
        progress=progress,
    )
    return replace(explanation, explains=sides.explains)


def _sides(suite: Suite, registry: Registry, progress: Progress, *, ask: bool, report: Path | None) -> Sides:
    """Those of the last run, if there is one and it still fits; else what the source returns now."""
    if ask:
        return _asked(suite, registry, progress, "what the source returns now")
    run = _last_run(suite, report)
    if run is None:
        where = report if report is not None else Path(FOLDER)
        none = f"there is no run of this suite in {where.as_posix()}"
        return _asked(suite, registry, progress, f"what the source returns now; {none}")
    base = gathered(suite, registry, today_of(), progress)
    prints = prints_of(suite, base, "", judgment_prints(base))
    changed = " and ".join(changed_since(run, suite, prints))
    if changed:
        return _asked(suite, registry, progress, f"what the source returns now; {changed} changed since {run}")
    explains = f"the rankings of {run}; --ask asks the source again"
    try:
        stored = read_baseline(suite.baselines, suite.name)
    except BaselineError as error:
        return Sides(base.population.judgments, run.rankings, None, explains, error)
    if stored is None:
        return Sides(base.population.judgments, run.rankings, None, explains)
    if baseline_print(stored) != run.record["baseline"]:
        explains = f"{explains}; the baseline was accepted after this run"
    before = replace(base.names.in_rankings(stored.rankings[0]), origin=f"the baseline of {stored.accepted.date}")
    return Sides(base.population.judgments, run.rankings, before, explains)


def _asked(suite: Suite, registry: Registry, progress: Progress, explains: str) -> Sides:
    material = material_of(suite, registry, today_of(), progress)
    now, baseline = replace(material.now.rankings[0], origin=material.source), material.baseline
    before = None if baseline is None else replace(baseline.rankings[0], origin=baseline.origin)
    error = material.baseline_error
    return Sides(
        material.population.judgments, now, before, explains, error if isinstance(error, BaselineError) else None
    )


def _last_run(suite: Suite, report: Path | None) -> LastRun | None:
    """The newest of the runs that left a report here, above here, or above the suite."""
    folders = [report] if report is not None else dict.fromkeys(_near(suite))
    found = [run for folder in folders if (folder / FILE).is_file() and (run := last_run(folder / FILE, suite))]
    return max(found, key=lambda run: run.date, default=None)


def _near(suite: Suite) -> Iterator[Path]:
    """The report folders that pytest may have written for this suite."""
    here = Path.cwd()
    for folder in (here, *here.parents, *suite.path.parents):
        yield folder / FOLDER


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
