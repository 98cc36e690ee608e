"""What is known of a suite before its source is asked: its queries, its baseline's figures, its history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from pytest_ireval.baselines.reading import read_record
from pytest_ireval.errors import HistoryError, Problem, one_line
from pytest_ireval.gate.gathering import queries_of, weights_of
from pytest_ireval.gate.outlook import Known, Outlook
from pytest_ireval.history import spreads
from pytest_ireval.history.place import history_for
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.plurals import counted, magnitude, roughly
from pytest_ireval.rules.drawing import drawing_of
from pytest_ireval.rules.no_regression import LOW_BASELINE
from pytest_ireval.rules.planning import planned
from pytest_ireval.suites.suite import Suite


def known_of(suite: Suite, registry: Registry, today: date) -> Known:
    """Raises SuiteError for rules that make no sense, and BaselineError for a baseline that cannot be read."""
    queries = queries_of(suite, registry)
    checks = planned(suite, queries)
    record = read_record(suite.baselines, suite.name)
    waived = frozenset(waiver.query for waiver in suite.waivers if waiver.until >= today)
    weights = None if queries is None else weights_of(suite, queries)
    drawing = None if queries is None else drawing_of(suite, queries)
    stored = None if record is None else record.baseline
    return with_runs(Known(suite, checks, queries, weights, waived, stored, drawing=drawing))


def with_runs(known: Known) -> Known:
    """Add the spreads that runs of the baseline's branch saw, from the history near the suite or the working folder.

    Other branches try changes that may be broken: one bug there would change what the suite is told it needs.
    """
    if known.stored is None:
        return known
    places = (history_for(folder) for folder in (known.suite.path.parent, Path.cwd()))
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        return known
    try:
        return replace(known, runs=spreads(found, known.suite.name, known.stored.accepted.branch))
    except HistoryError as error:  # what acceptances kept is known all the same
        return replace(known, trouble=one_line(error))


def too_low(found: Sequence[Outlook]) -> Iterator[Problem]:
    """Tolerances that are a share of nearly nothing."""
    for each in found:
        if each.relative and each.mean is not None and abs(each.mean) < LOW_BASELINE:
            yield Problem(
                f"the baseline of {each.metric}{_on(each)} is {each.mean:.4f}: a share of so little is noise",
                place=str(each.check.place),
                suggestion=f"write an amount: tolerance: {{absolute: {magnitude(each.resolution or 0.01)}}}",
            )


def beyond_sight(found: Sequence[Outlook]) -> Iterator[str]:
    """Tolerances that are less than the queries can show."""
    for each in found:
        if not each.blind or each.tolerance is None:
            continue
        place = f"{each.check.place.file}:{each.check.place.line}"
        share = f" ({each.asked})" if each.relative else ""
        needed = f": about {roughly(each.needed):,} queries would be needed" if each.needed else ""
        yield (
            f"{place}: {each.check.family} {each.mean_of}{_on(each)}: {shown_by(each)}; "
            f"the tolerance is {magnitude(each.tolerance)}{share}{needed}{_guess(each)}"
        )


def shown_by(each: Outlook) -> str:
    """``12 queries can show a drop of 0.34``; that they can show none, where there is no such drop."""
    metric = each.check.part.metric
    drop = "rise" if metric is not None and metric.direction == "lower" else "drop"
    queries = counted(each.queries, metric.unit if metric is not None else "query")
    queries += "" if each.clusters is None else f" in {counted(each.clusters, 'cluster')}"
    if each.hopeless:
        return f"{queries} cannot show any {drop}"
    return f"{queries} can show a {drop} of {magnitude(each.resolution or 0.0)}"


def _on(each: Outlook) -> str:
    return "" if each.slice == "all" else f" on {each.slice}"


def _guess(each: Outlook) -> str:
    return f" (the spread of changes is {each.usual.origin})" if each.usual is not None and each.usual.assumed else ""
